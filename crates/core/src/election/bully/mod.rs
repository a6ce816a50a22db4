//! Garcia-Molina's bully algorithm in the textbook's full version (listings 10.16 to 10.21).
//!
//! A node that detects the failure of its coordinator asks every node of higher rank whether it is
//! up. If none answers, it halts every node of lower rank, appoints itself, and hands out the
//! state:
//!
//! ```text
//!   Down --+                                              higher node answers: wait for it
//!          v             T: no answer            all answered
//!   any --Asking--------------------> Halting --------------------> Appointing --> HandingOver
//!         AreYouUp to higher          Enter_Election to lower       Set_Coordinator   New_State
//!   status  as before      c1         Election         c2           Reorganization c3   c4 Normal
//! ```
//!
//! Assumes the synchronous model: messages within Tm, answers within Tp, no partition (F-05 to
//! F-11). Leaves out: the New_State round, which is [`crate::reorganization`]'s, and matching
//! AreYouUp and AreYouNormal with their answers: a late answer says that the peer was up a moment
//! ago, which delays an election by one period and breaks nothing. Every message that changes a
//! node's state carries the group number that its election would get (E-13).

mod candidate;
mod halted;
mod incumbent;
mod message;
mod options;
mod succession;
#[cfg(test)]
mod tests;
mod triggers;
mod vetting;

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

pub use message::Message;
pub use options::{
    Answers, CheckRule, Halted, Halting, Nudge, OPTIONS, Options, Recheck, Rounds, TimeoutRule,
    Waits,
};

use self::incumbent::{Candidate, Standing, may_keep_leading};
use self::vetting::Vetting;
use super::{
    Command, ElectionAlgorithm, EstablishedGroup, Notice, Reports, View, advance_to, plain,
};
use crate::election::descriptor::{
    Adjustable, Descriptor, Groups, Handover, MessageInfo, Model, Network, TimerInfo, Topic, rows,
};
use crate::group::{Counter, GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::mutants;
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::timing::Timing;
use crate::trace::{Contents, Kind, MessageFacts, TimerName};

/// A node that runs the bully algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bully {
    status: Status,
    coordinator: Option<NodeId>,
    group: Option<GroupNumber>,
    up: NodeSet,
    /// The election that last halted this node, its own included.
    halted: Option<Candidate>,
    counter: Counter,
    task: Task,
    /// Set for a time T after the node started.
    vetting: Option<Vetting>,
    /// Whether this node coordinates, and keeps that when a higher node joins (`incumbent.rs`).
    leads: bool,
    /// Whether the coordinator has failed by evidence, and has not answered since.
    has_lost_coordinator: bool,
}

/// The procedure that a node is executing; each has at most one wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Task {
    Idle,
    /// Coordinator_Timeout has asked the coordinator whether it is up.
    Probing,
    /// A lower candidate was refused; this node has asked the one that halted it whether it is up.
    Doubting,
    /// Check has asked every other node.
    Checking {
        awaiting: NodeSet,
        has_changed: bool,
    },
    /// Election has asked every node of higher rank.
    Asking {
        attempt: u8,
        awaiting: NodeSet,
    },
    /// An election that failed more than once waits before the next attempt (E-16).
    BackingOff {
        attempt: u8,
    },
    /// Election is halting every node of lower rank.
    Halting(HaltingRound),
    /// Election has told the members who coordinates them.
    Appointing {
        attempt: u8,
        awaiting: NodeSet,
        missing: NodeSet,
        reports: Reports,
    },
    /// The definition is on its way to the members.
    HandingOver {
        attempt: u8,
    },
    /// Halted by a higher node, which gets its answer when the application has stopped.
    Answering {
        is_appointed: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct HaltingRound {
    attempt: u8,
    group: GroupNumber,
    awaiting: NodeSet,
    /// Still to be asked, highest last, when halting one by one.
    queue: Vec<NodeId>,
    reports: Reports,
    /// This node's own application has stopped.
    has_stopped: bool,
    /// The wait is over; nodes that have not answered count as failed.
    is_over: bool,
    /// Whether this node leads.
    leads: bool,
}

/// Timers, named for what they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The wait for answers of the current task.
    Answers,
    /// The time between two checks.
    Check,
    /// The wait for another node's election in Down or Election.
    Stall,
    /// The pause before the next attempt.
    Retry,
    /// The time after the start in which candidates are vetted.
    Vet,
}

impl Protocol for Bully {
    type Message = Message;
    type Timer = Timer;
    type Record = Counter;
    type Command = Command;
    type Notice = Notice;

    /// Recovery (B-06, B-18): Down, then Election.
    fn start(cx: &mut Context<'_>, saved: Option<Counter>, out: &mut Effects<Self>) -> Self {
        let mut node = Self {
            status: Status::Down,
            coordinator: None,
            group: None,
            up: NodeSet::new(),
            halted: None,
            counter: saved.unwrap_or_default(),
            task: Task::Idle,
            vetting: None,
            leads: false,
            has_lost_coordinator: false,
        };
        node.elect(cx, 0, out);
        node.begin_vetting(cx, out);
        node
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message } => self.on_message(cx, from, message, out),
            Event::Timer(Timer::Answers) => self.give_up_waiting(cx, out),
            Event::Timer(Timer::Check) => self.check_again(cx, out),
            Event::Timer(Timer::Stall) => self.stalled(cx, out),
            Event::Timer(Timer::Retry) => self.retry(cx, out),
            Event::Timer(Timer::Vet) => self.conclude_vetting(cx, out),
            Event::Command(command) => self.on_command(cx, command, out),
        }
    }
}

impl Bully {
    /// Requests go to the monitor of listing 10.21, answers to the procedure that waits for them.
    fn on_message(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        message: Message,
        out: &mut Effects<Self>,
    ) {
        match message {
            Message::AreYouUp { nudge } => {
                out.send(
                    from,
                    Message::AyuAnswer { leads: self.leads || self.is_handing_over(cx) },
                );
                if nudge {
                    self.nudged(cx, out);
                }
            }
            Message::AyuAnswer { leads } => {
                let answer = Standing { node: from, leads };
                self.found_up(cx, answer, out);
                self.vet(cx, answer, true, out);
            }
            Message::AreYouNormal => {
                let is_normal = self.status == Status::Normal;
                out.send(from, Message::AynAnswer { is_normal, group: self.group });
            }
            Message::AynAnswer { is_normal, group } => {
                self.found_normal(from, is_normal && group == self.group);
            }
            Message::EnterElection { group, appoints, leads } => {
                self.halt(cx, from, Candidate { group, leads }, appoints, out);
            }
            Message::EeAnswer { group, ok, report } => {
                self.count_halted(cx, from, group, ok, report, out);
            }
            Message::SetCoordinator { group } => self.follow(cx, from, group, out),
            Message::ScAnswer { group, ok } => self.count_appointed(cx, from, group, ok, out),
        }
    }

    fn on_command(&mut self, cx: &mut Context<'_>, command: Command, out: &mut Effects<Self>) {
        match command {
            Command::Stopped(report) => self.stopped(cx, report, out),
            Command::Settled { missing, members } => self.settled(cx, &missing, members, out),
            Command::Unsettled { missing: _ } => {
                if let Task::HandingOver { attempt } = self.task {
                    self.start_over(cx, attempt, out);
                }
            }
            Command::Silent(peer) => self.silent(cx, peer, out),
            Command::Failed(peer) => {
                self.failed(cx, peer, out);
                self.vet(cx, Standing { node: peer, leads: false }, false, out);
            }
            Command::Succeed(peer) => self.succeed(cx, peer, out),
            Command::Suspect => self.coordinator_timeout(cx, out),
            Command::Call => self.elect(cx, 0, out),
            Command::Check => self.check(cx, out),
            Command::AdvanceTo(seen) => advance_to(&mut self.counter, seen, out),
        }
    }

    fn give_up_waiting(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        match &mut self.task {
            Task::Idle
            | Task::BackingOff { .. }
            | Task::HandingOver { .. }
            | Task::Answering { .. } => {}
            Task::Probing => {
                self.task = Task::Idle;
                self.elect(cx, 0, out);
            }
            Task::Doubting => {
                self.halted = None;
                self.task = Task::Idle;
            }
            Task::Checking { .. } => self.conclude_check(cx, out),
            Task::Asking { attempt, .. } => {
                let attempt = *attempt;
                self.conclude_asking(cx, attempt, out);
            }
            Task::Halting(_) => self.end_of_halting_wait(cx, out),
            Task::Appointing { .. } => self.conclude_appointing(cx, out),
        }
    }
}

impl ElectionAlgorithm for Bully {
    fn established(
        cx: &mut Context<'_>,
        saved: Counter,
        established: &EstablishedGroup,
        out: &mut Effects<Self>,
    ) -> Self {
        let mut up = established.members.clone();
        up.remove(cx.me);
        if established.coordinator == cx.me {
            out.set_timer(Timer::Check, cx.config.timing().check_every());
        } else {
            out.notify(Notice::Watch([established.coordinator].into_iter().collect()));
        }
        Self {
            status: Status::Normal,
            coordinator: Some(established.coordinator),
            group: Some(established.group),
            up,
            halted: Some(Candidate { group: established.group, leads: false }),
            counter: saved,
            task: Task::Idle,
            vetting: None,
            leads: established.coordinator == cx.me && cx.config.preempt().is_sticky(),
            has_lost_coordinator: false,
        }
    }

    fn view(&self) -> View<'_> {
        View { status: self.status, coordinator: self.coordinator, group: self.group, up: &self.up }
    }

    fn counter(&self) -> Counter {
        self.counter
    }

    fn timers(_: &Context<'_>) -> Vec<Timer> {
        vec![Timer::Answers, Timer::Check, Timer::Stall, Timer::Retry, Timer::Vet]
    }

    fn period(timer: &Timer, timing: &Timing) -> Option<Duration> {
        match timer {
            Timer::Check => Some(timing.check_every()),
            Timer::Answers | Timer::Stall | Timer::Retry | Timer::Vet => None,
        }
    }

    fn highest_counter(message: &Message) -> Counter {
        match message {
            Message::AreYouUp { .. } | Message::AyuAnswer { .. } | Message::AreYouNormal => {
                Counter::default()
            }
            Message::AynAnswer { group, .. } => Counter::of(*group),
            Message::EnterElection { group, .. }
            | Message::EeAnswer { group, .. }
            | Message::SetCoordinator { group }
            | Message::ScAnswer { group, .. } => Counter(group.counter),
        }
    }

    fn facts(message: &Message) -> MessageFacts {
        let about = |kind, group, ok| MessageFacts::new(kind, Some(group), ok);
        match message {
            Message::AreYouUp { .. } => plain(Kind::AreYouUp),
            Message::AyuAnswer { .. } => plain(Kind::AyuAnswer),
            Message::AreYouNormal => plain(Kind::AreYouNormal),
            Message::AynAnswer { is_normal, group } => {
                MessageFacts::new(Kind::AynAnswer, *group, Some(*is_normal))
            }
            Message::EnterElection { group, .. } => about(Kind::EnterElection, *group, None),
            Message::EeAnswer { group, ok, .. } => about(Kind::EeAnswer, *group, Some(*ok)),
            Message::SetCoordinator { group } => about(Kind::SetCoordinator, *group, None),
            Message::ScAnswer { group, ok } => about(Kind::ScAnswer, *group, Some(*ok)),
        }
    }

    fn contents(message: &Message) -> Contents {
        match message {
            Message::EnterElection { group, appoints: true, .. }
            | Message::SetCoordinator { group } => Contents::coordinator(group.node),
            Message::EnterElection { appoints: false, .. }
            | Message::AreYouUp { .. }
            | Message::AyuAnswer { .. }
            | Message::AreYouNormal
            | Message::AynAnswer { .. }
            | Message::EeAnswer { .. }
            | Message::ScAnswer { .. } => Contents::default(),
        }
    }

    fn timer_name(timer: &Timer) -> TimerName {
        match timer {
            Timer::Answers => TimerName::Answers,
            Timer::Check => TimerName::Check,
            Timer::Stall => TimerName::Stall,
            Timer::Vet => TimerName::Vet,
            Timer::Retry => TimerName::Retry,
        }
    }

    #[cfg(test)]
    fn examples() -> Vec<Message> {
        use crate::testing;
        let group = testing::number(7, 3);
        let (report, ok) = (crate::payload::Report::from("half done"), true);
        vec![
            Message::AreYouUp { nudge: true },
            Message::AyuAnswer { leads: false },
            Message::AyuAnswer { leads: true },
            Message::AreYouNormal,
            Message::AynAnswer { is_normal: true, group: Some(group) },
            Message::AynAnswer { is_normal: false, group: None },
            Message::EnterElection { group, appoints: false, leads: true },
            Message::EeAnswer { group, ok, report },
            Message::SetCoordinator { group },
            Message::ScAnswer { group, ok },
        ]
    }
}

/// The facts about the textbook's bully algorithm.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "bully",
    source: "Garcia-Molina 1982, as in Chow and Johnson 1997, listings 10.16 to 10.21",
    guarantee: "assertions 1 and 2: one coordinator and one definition among all nodes that are \
                Reorganization or Normal; after the last failure all live nodes are Normal under \
                the highest",
    summary: "one coordinator and one definition among all live nodes",
    network: Network::Links,
    model: Model::Synchronous,
    groups: Groups::One,
    handover: Some(Handover {
        has_verdict: |options| options.bully.answers != Answers::Literal,
        ..Handover::NEW_STATE
    }),
    adjustable: Some(Adjustable { priorities: None, preempt: may_keep_leading }),
    options: OPTIONS,
    messages: MESSAGES,
    timers: TIMERS,
    mutants: &[MUTANTS, incumbent::MUTANTS],
};

pub(crate) const MESSAGES: &[MessageInfo] = &[
    MessageInfo::request(Kind::AreYouUp, Topic::Discovery),
    MessageInfo::answer(Kind::AyuAnswer, Topic::Discovery, &[Kind::AreYouUp]),
    rows::ARE_YOU_NORMAL,
    rows::AYN_ANSWER,
    MessageInfo { forms_group: true, ..MessageInfo::request(Kind::EnterElection, Topic::Election) },
    MessageInfo {
        promises_stop: true,
        ..MessageInfo::answer(Kind::EeAnswer, Topic::Election, &[Kind::EnterElection])
    },
    MessageInfo::request(Kind::SetCoordinator, Topic::Announcement),
    MessageInfo::answer(Kind::ScAnswer, Topic::Announcement, &[Kind::SetCoordinator]),
];

pub(crate) const TIMERS: &[TimerInfo] = &[
    rows::ANSWERS,
    rows::CHECK,
    rows::STALL,
    TimerInfo {
        is_wait: true,
        blocked_by: &[Kind::EnterElection],
        ..TimerInfo::new(TimerName::Vet, "has been up for long enough to obey any candidate")
    },
    TimerInfo::new(TimerName::Retry, "tries again"),
];

mutants! {
    /// Bully: a node probes all but the highest of those above it.
    PROBE_ALL_BUT_HIGHEST = "probe-all-but-highest",
    /// Bully: a Set_Coordinator is obeyed from any node, not only the one that halted this node.
    OBEY_ANY_COORDINATOR = "obey-any-coordinator",
    /// Bully: a halted node lets its own election run on.
    KEEP_RUNNING_WHEN_HALTED = "keep-running-when-halted",
    /// Bully: monotone halted compares with `<=` turned round, so lower candidates replace higher.
    HALTED_THE_WRONG_WAY = "halted-the-wrong-way",
    /// Bully: Enter_Election is not sent to the lowest node.
    FORGET_LOWEST_NODE = "forget-lowest-node",
    /// Bully: nothing is done when the wait in Down or Election runs out.
    IGNORE_STALL = "ignore-stall",
}
