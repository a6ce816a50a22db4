//! A part of a run for a story or a diagram: a span of time, without traffic that is not wanted.
//!
//! What a part leaves out is counted, so that its reader can be told. Counts and verdicts are not
//! made from a part.

use std::collections::BTreeMap;

use tanist_core::trace::{Entry, Event, Kind, TimerName};
use tanist_core::{Membership, NodeId};

use crate::recorded::Window;

/// Traffic that a picture can leave out. Heartbeats are left out always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Traffic {
    /// Whether known nodes are alive: what coordinators and members ask in every period.
    Checks,
    /// Acknowledgements of tokens in a ring, and of questions in a radio network.
    Acks,
    /// What follows an election: followers, the definition and its answers.
    HandOver,
    /// Timers that ran out.
    Timers,
    /// Counters that were saved.
    Saves,
}

impl Traffic {
    /// All of it.
    pub const ALL: &'static [Self] =
        &[Self::Checks, Self::Acks, Self::HandOver, Self::Timers, Self::Saves];

    /// What it is called on the command line and in pictures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Checks => "checks",
            Self::Acks => "acks",
            Self::HandOver => "hand-over",
            Self::Timers => "timers",
            Self::Saves => "saves",
        }
    }

    /// Whether an event is of it.
    #[must_use]
    pub fn has(self, event: &Event) -> bool {
        if let Event::Timer { timer, .. } = event {
            return self == Self::Timers || self.timers().contains(timer);
        }
        if matches!(event, Event::Save { .. }) {
            return self == Self::Saves;
        }
        event.message().is_some_and(|message| self.kinds().contains(&message.kind))
    }

    const fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Checks => &[
                Kind::AreYouNormal,
                Kind::AynAnswer,
                Kind::AreYouCoordinator,
                Kind::AycAnswer,
                Kind::AreYouThere,
                Kind::AytAnswer,
                Kind::Probe,
                Kind::Reply,
            ],
            Self::Acks => &[Kind::Ack],
            Self::HandOver => &[
                Kind::Follow,
                Kind::Told,
                Kind::NewState,
                Kind::NsAnswer,
                Kind::Ready,
                Kind::ReadyAnswer,
            ],
            Self::Timers | Self::Saves => &[],
        }
    }

    /// Timers that only begin or end such traffic.
    const fn timers(self) -> &'static [TimerName] {
        match self {
            Self::Checks => &[TimerName::Check, TimerName::Timeout, TimerName::Probe],
            Self::HandOver => &[TimerName::Handover],
            Self::Acks | Self::Timers | Self::Saves => &[],
        }
    }
}

/// Which part of a run is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// From when to when; none for all of it.
    pub window: Option<Window>,
    /// What is left out.
    pub hidden: Vec<Traffic>,
}

/// The entries of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// What describes the global state at its beginning, as entries of that time; empty for a run
    /// that is shown from its start.
    pub beginning: Vec<Entry>,
    /// Nodes that are not up then.
    pub down: Vec<NodeId>,
    /// The entries that are shown.
    pub entries: Vec<Entry>,
    /// How many entries of the span each kind of traffic would have had.
    pub hidden: BTreeMap<Traffic, usize>,
}

impl Part {
    /// Takes the part out of the entries of a run.
    #[must_use]
    pub fn of(&self, members: &Membership, entries: &[Entry]) -> Shown {
        let mut shown = Shown::default();
        let mut inside = entries.to_vec();
        if let Some(window) = self.window {
            shown.beginning = window.beginning(members, entries);
            shown.down = down(members, &shown.beginning);
            inside = window.entries(entries);
        }
        shown.hidden = self.hidden.iter().map(|traffic| (*traffic, 0)).collect();
        inside.retain(|entry| {
            let mut hiding = shown.hidden.iter_mut();
            let hiding = hiding.find(|(traffic, _)| traffic.has(&entry.event));
            let is_shown = hiding.is_none();
            if let Some((_, count)) = hiding {
                *count += 1;
            }
            is_shown
        });
        shown.entries = inside;
        shown
    }
}

impl Shown {
    /// All entries, those of the beginning first: what a diagram is drawn from.
    #[must_use]
    pub fn drawn(&self) -> Vec<Entry> {
        self.beginning.iter().chain(&self.entries).cloned().collect()
    }
}

/// The nodes that the beginning of a part does not start.
fn down(members: &Membership, beginning: &[Entry]) -> Vec<NodeId> {
    let is_up = |id: NodeId| {
        beginning.iter().any(|entry| matches!(entry.event, Event::Start { node, .. } if node == id))
    };
    let mut down: Vec<NodeId> =
        members.all().iter().map(|member| member.id).filter(|id| !is_up(*id)).collect();
    down.sort_unstable();
    down
}

#[cfg(test)]
mod tests {
    use tanist_core::Time;

    use super::*;
    use crate::pictures::story::story_of_part;
    use crate::scenario::library;
    use crate::{Scenario, run};

    fn told(name: &str, part: &Part) -> (Shown, Vec<String>) {
        let text = library::find(name).expect("it comes with the program");
        let scenario = Scenario::parse(text).expect("it can be read");
        let trace = run(&scenario, scenario.seed).recording;
        let shown = part.of(&scenario.members, &trace.entries);
        let mut text = String::new();
        story_of_part(&trace.header, &shown, &mut text).expect("a string can be written to");
        (shown, text.lines().skip(3).map(str::to_owned).collect())
    }

    fn window(from: u64, to: u64) -> Option<Window> {
        Some(Window { from: Time::from_micros(from), to: Time::from_micros(to) })
    }

    #[test]
    fn a_part_begins_with_what_every_node_is() {
        let hidden = vec![Traffic::Acks, Traffic::Checks];
        let part = Part { window: window(9_000, 9_500), hidden };
        let (shown, lines) = told("ring-list-six-processes", &part);
        let plan = "definition plan 1 for 1.n6 {n0 n1 n3 n4 n5 ...";
        let is = |node: u32| format!("    9.000  {node}    is Election, group 2.n{node}, {plan}");
        let happened = [
            "    9.000  6    is down",
            "    9.500  3    hears election with the list [3 5 0 1 4] from 4 (group 2.n3)",
            "    9.500  3    Election -> Reorganization, coordinator 5, group 2.n5",
            "    9.500  3    yields in its election",
            "    9.500  3    sends follow to 5 (group 2.n5)",
            "    9.500  3    sends coordinator naming 5 as coordinator with the list [3 5 0 1 4] to \
             5 (group",
            "                  2.n5)",
        ];
        let expected: Vec<String> =
            [0, 1, 3, 4, 5].map(is).into_iter().chain(happened.map(str::to_owned)).collect();
        assert_eq!(lines, expected);
        assert_eq!(shown.hidden, BTreeMap::from([(Traffic::Checks, 0), (Traffic::Acks, 1)]));
        assert_eq!(shown.down, [NodeId(6)]);
    }

    #[test]
    fn withdrawn_nodes_and_cut_links_are_told_at_the_beginning() {
        let (_, lines) =
            told("bully-step-aside", &Part { window: window(99_000, 99_000), hidden: vec![] });
        assert!(lines.iter().any(|line| line.ends_with("has withdrawn")), "{lines:#?}");
        let part = Part { window: window(50_000, 50_000), hidden: vec![] };
        let (_, lines) = told("invitation-partition-and-merge", &part);
        assert!(lines.iter().any(|line| line.ends_with("are cut")), "{lines:#?}");
    }

    #[test]
    fn a_run_shown_from_its_start_begins_with_its_first_event() {
        let (shown, lines) =
            told("bully-figure-10-8", &Part { window: window(0, 0), hidden: vec![] });
        assert_eq!(shown.beginning, []);
        assert!(lines[0].ends_with("starts"), "{lines:?}");
    }

    #[test]
    fn traffic_that_is_hidden_is_counted_and_gone() {
        let all = Part { window: None, hidden: Traffic::ALL.to_vec() };
        let (shown, lines) = told("bully-heartbeats-stop", &all);
        assert!(shown.hidden[&Traffic::Timers] > 0 && shown.hidden[&Traffic::HandOver] > 0);
        for gone in ["AreYouNormal", "New_State", "saves", "gives up", "checks on"] {
            assert!(!lines.iter().any(|line| line.contains(gone)), "{gone}: {lines:#?}");
        }
        assert!(lines.iter().any(|line| line.contains("WINS")), "{lines:#?}");
    }

    #[test]
    fn every_kind_of_traffic_has_its_own_messages() {
        let twice = Kind::ALL.iter().filter(|kind| {
            Traffic::ALL.iter().filter(|traffic| traffic.kinds().contains(kind)).count() > 1
        });
        assert_eq!(twice.count(), 0);
    }
}
