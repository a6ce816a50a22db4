//! A test bench for one state machine: events in, effects out as short lines. No network, no clock.
//!
//! A test reads as a script: put a machine on the bench, act, compare the lines. The bench keeps
//! the timers: only a running one can fire, and only the cancelling of a running one is a line.

mod scripts;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use crate::config::{ConfigError, GroupConfig, GroupSettings};
use crate::dice::Fixed;
use crate::election::{self, Algorithm, ElectionAlgorithm, EstablishedGroup, Reports};
use crate::group::{Counter, GroupNumber};
use crate::membership::{Membership, NodeId, NodeSet};
use crate::options::Options;
use crate::payload::{Definition, Report};
use crate::protocol::{Context, Effect, Effects, Event, Protocol};
use crate::recall::RecallMode;
use crate::time::Time;
use crate::timing::{Timing, TimingConfig};
use crate::trace::MessageFacts;

/// No effects.
pub(crate) const NOTHING: [&str; 0] = [];

/// Nodes 1..=n with Tm = 10 ms and Tp = 5 ms, so T = 25 ms, T' = 50 ms, T_merge = 40 ms, S = 515
/// ms.
pub(crate) fn group_of(algorithm: Algorithm, n: u32, options: &[(&str, &str)]) -> TestGroup {
    let mut chosen = Options::default();
    for (name, value) in options {
        chosen.set(algorithm, name, value).unwrap();
    }
    let (tm, tp) = (Duration::from_millis(10), Duration::from_millis(5));
    let timing = Timing::new(TimingConfig::bounded_by(tm, tp)).unwrap();
    TestGroup {
        members: Membership::numbered(n).unwrap(),
        settings: GroupSettings { options: chosen, ..GroupSettings::new(algorithm, timing) },
    }
}

/// What the nodes of a test have in common.
#[derive(Clone)]
pub(crate) struct TestGroup {
    pub(crate) settings: GroupSettings,
    pub(crate) members: Membership,
}

impl TestGroup {
    /// The same nodes, which remember each other's numbers.
    pub(crate) fn recalling(self) -> Self {
        Self { settings: GroupSettings { recall: RecallMode::On, ..self.settings }, ..self }
    }

    pub(crate) fn config(&self) -> Result<GroupConfig, ConfigError> {
        GroupConfig::new(self.settings)
    }
}

pub(crate) fn number(counter: u64, node: u32) -> GroupNumber {
    Counter(counter).group(NodeId(node))
}

pub(crate) fn nodes<const N: usize>(ids: [u32; N]) -> NodeSet {
    ids.into_iter().map(NodeId).collect()
}

/// The command that ends a hand-over whose definition all members took.
pub(crate) fn settled<const N: usize>(members: [u32; N]) -> election::Command {
    election::Command::Settled { missing: NodeSet::new(), members: nodes(members) }
}

/// A machine on the bench.
pub(crate) struct Bench<P: Scripted> {
    pub(crate) machine: P,
    /// The effects of the start, or of beginning in an established group.
    pub(crate) began: Vec<String>,
    pub(crate) dice: Fixed,
    me: NodeId,
    config: GroupConfig,
    members: Membership,
    running: Vec<P::Timer>,
}

impl<P: Scripted> Bench<P> {
    /// A node that starts with what its disk kept.
    pub(crate) fn coming_up(group: TestGroup, me: u32, saved: Option<P::Record>) -> Self {
        Self::begun(group, me, |cx, out| P::start(cx, saved, out))
    }

    pub(crate) fn begun(
        group: TestGroup,
        me: u32,
        begin: impl FnOnce(&mut Context<'_>, &mut Effects<P>) -> P,
    ) -> Self {
        let (me, mut dice, mut out) = (NodeId(me), Fixed(0), Effects::new());
        let (config, members) = (group.config().unwrap(), group.members);
        let mut cx =
            Context { me, now: Time::ZERO, dice: &mut dice, config: &config, members: &members };
        let machine = begin(&mut cx, &mut out);
        let (began, running) = (Vec::new(), Vec::new());
        let mut bench = Self { machine, began, dice, me, config, members, running };
        bench.began = bench.carry_out(out);
        bench
    }

    pub(crate) fn receive(&mut self, from: u32, message: P::Message) -> Vec<String> {
        self.step(Event::Message { from: NodeId(from), message })
    }

    pub(crate) fn tell(&mut self, command: P::Command) -> Vec<String> {
        self.step(Event::Command(command))
    }

    /// Lets a timer run out, which must be running.
    pub(crate) fn ring(&mut self, timer: P::Timer) -> Vec<String> {
        assert!(self.is_running(timer), "{timer:?} is not running; {:?} are", self.running);
        self.running.retain(|running| *running != timer);
        self.step(Event::Timer(timer))
    }

    pub(crate) fn is_running(&self, timer: P::Timer) -> bool {
        self.running.contains(&timer)
    }

    /// The timers that are running, in the order in which they were set.
    pub(crate) fn running(&self) -> &[P::Timer] {
        &self.running
    }

    fn step(&mut self, event: Event<P>) -> Vec<String> {
        let mut out = Effects::new();
        let mut cx = Context {
            me: self.me,
            now: Time::ZERO,
            dice: &mut self.dice,
            config: &self.config,
            members: &self.members,
        };
        self.machine.step(&mut cx, event, &mut out);
        self.carry_out(out)
    }

    fn carry_out(&mut self, mut effects: Effects<P>) -> Vec<String> {
        let mut lines = Vec::new();
        for effect in effects.drain() {
            match effect {
                Effect::Send { to, message } => {
                    lines.push(format!("send {to} {}", P::message(&message)));
                }
                Effect::Broadcast(message) => {
                    lines.push(format!("broadcast {}", P::message(&message)));
                }
                Effect::SetTimer { timer, after } => {
                    self.running.retain(|running| *running != timer);
                    self.running.push(timer);
                    lines.push(format!("set {} {after:?}", P::timer(timer)));
                }
                Effect::CancelTimer(timer) => {
                    if self.is_running(timer) {
                        self.running.retain(|running| *running != timer);
                        lines.push(format!("cancel {}", P::timer(timer)));
                    }
                }
                Effect::Save(record) => lines.push(format!("save {}", P::record(&record))),
                Effect::Notify(notice) => lines.push(P::notice(&notice)),
            }
        }
        lines
    }
}

impl<P: Scripted + ElectionAlgorithm> Bench<P> {
    /// A node that has long been Normal in group 1 of this coordinator, with every configured node.
    pub(crate) fn established(group: TestGroup, me: u32, coordinator: u32) -> Self {
        let members = group.members.all().iter().map(|member| member.id).collect();
        Self::established_among(group, me, coordinator, members)
    }

    /// The same, with these members.
    pub(crate) fn established_among(
        group: TestGroup,
        me: u32,
        coordinator: u32,
        members: NodeSet,
    ) -> Self {
        let saved = Counter(u64::from(me == coordinator));
        let established = EstablishedGroup {
            group: number(1, coordinator),
            coordinator: NodeId(coordinator),
            members,
        };
        Self::begun(group, me, |cx, out| P::established(cx, saved, &established, out))
    }

    /// The defining state in one line.
    pub(crate) fn state(&self) -> String {
        let view = self.machine.view();
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "none".to_string());
        format!(
            "{} under {} in {} with {}",
            view.status,
            or_none(view.coordinator.map(|node| node.to_string())),
            or_none(view.group.map(|group| group.to_string())),
            view.up,
        )
    }

    /// The application has drained.
    pub(crate) fn stopped(&mut self, report: &str) -> Vec<String> {
        self.tell(election::Command::Stopped(Report::from(report)))
    }
}

/// How the messages, timers and notices of a machine read in a script.
pub(crate) trait Scripted: Protocol<Timer: Copy + PartialEq> {
    fn message(message: &Self::Message) -> String;
    fn timer(timer: Self::Timer) -> String;
    fn record(record: &Self::Record) -> String {
        format!("{record:?}")
    }
    fn notice(notice: &Self::Notice) -> String;
}

pub(crate) fn of_facts(facts: MessageFacts) -> String {
    let mut line = facts.kind.to_string();
    if let Some(group) = facts.group {
        line += &format!(" {group}");
    }
    match facts.ok {
        Some(true) => line += " yes",
        Some(false) => line += " no",
        None => {}
    }
    line
}

pub(crate) fn of_election(notice: &election::Notice) -> String {
    use election::Notice;
    match notice {
        Notice::Stop => "stop".to_string(),
        Notice::Yield => "yield".to_string(),
        Notice::Formed(formation) => format!(
            "form {} with {}{}{}{}",
            formation.group,
            formation.members,
            of_reports(&formation.reports),
            if formation.is_strict { "" } else { ", leniently" },
            if formation.waits_full { ", in full" } else { "" },
        ),
        Notice::Joined { group, coordinator } => format!("join {group} under {coordinator}"),
        Notice::Followed { group, coordinator } => format!("follow {coordinator} as {group}"),
        Notice::Watch(peers) => format!("watch {peers}"),
        Notice::Called => "called".to_string(),
        Notice::Ended(outcome) => format!("ended {outcome:?}"),
    }
}

fn of_plan(group: GroupNumber, members: &NodeSet, reports: &Reports) -> String {
    format!("plan {group} for {members}{}", of_reports(reports))
}

fn of_begin(
    group: GroupNumber,
    coordinator: NodeId,
    members: &NodeSet,
    definition: &Definition,
) -> String {
    format!("begin {group} under {coordinator} of {members}: {definition}")
}

pub(crate) fn of_report(report: &Report) -> String {
    if report.as_bytes().is_empty() { String::new() } else { format!(" {report}") }
}

fn of_reports(reports: &Reports) -> String {
    reports
        .iter()
        .filter(|(_, report)| !report.as_bytes().is_empty())
        .map(|(node, report)| format!(" {node}:{report}"))
        .collect()
}
