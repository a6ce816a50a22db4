//! Messages that were sent and that nobody took up.
//!
//! Nobody writes a loss down, so it is worked out, and with it why and when: at once if the
//! addressee was down or the link cut, at the moment of its death if it died on the way, and T after
//! the sending if nothing else explains it. What was sent less than T before the end, or to a node
//! that stood still, may be on its way; and of a node whose lines are missing nothing is known.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tanist_core::trace::{Entry, Event, Header, Loss};
use tanist_core::{NodeId, NodeSet, Time};

use super::faults::Faults;
use super::{Known, Source};

/// The losses that follow from these entries.
pub(super) fn find(header: &Header, entries: &[Known], gaps: &NodeSet) -> Vec<Known> {
    let told = told(entries);
    let all = || entries.iter().map(|known| &known.entry);
    let facts = Facts {
        answer: Duration::from_micros(header.answer_us),
        end: entries.last().map_or(Time::ZERO, |known| known.entry.at),
        turns: turns(entries),
        faults: Faults::among(all()),
    };
    let mut losses = Vec::new();
    for (index, entry) in all().enumerate() {
        let Event::Send { node, to, id, message } = entry.event else { continue };
        if told.contains(&(node, to, id)) || gaps.contains(to) {
            continue;
        }
        if let Some((at, why)) = facts.fate(index, entry.at, node, to) {
            let entry = Entry { at, event: Event::Lose { node, to, id, message, why } };
            losses.push(Known { entry, by: Source::Inferred });
        }
    }
    losses
}

struct Facts<'a> {
    answer: Duration,
    end: Time,
    turns: BTreeMap<NodeId, Vec<Turn>>,
    faults: Faults<'a>,
}

/// A node came up or died.
struct Turn {
    index: usize,
    at: Time,
    is_up: bool,
}

impl Facts<'_> {
    /// When and why a message was lost that was never taken up.
    fn fate(&self, sent: usize, at: Time, from: NodeId, to: NodeId) -> Option<(Time, Loss)> {
        let turns = self.turns.get(&to).map_or(&[][..], Vec::as_slice);
        let (before, after) = turns.split_at(turns.partition_point(|turn| turn.index < sent));
        if !before.last().is_some_and(|turn| turn.is_up) {
            return Some((at, Loss::Down));
        }
        let latest = at + self.answer;
        let cut = self.faults.cut(from, to, at, latest);
        if cut.is_some_and(|cut| cut <= at) {
            return Some((at, Loss::Cut));
        }
        let stands_still = self.faults.is_paused(to, latest);
        let death = after.iter().find(|turn| !turn.is_up);
        if let Some(death) = death.filter(|death| death.at <= latest || stands_still) {
            return Some((death.at, Loss::Down));
        }
        if let Some(cut) = cut {
            return Some((cut, Loss::Cut));
        }
        (latest <= self.end && !stands_still).then_some((latest, Loss::Dropped))
    }
}

/// The messages of which the trace says what became of them.
fn told(entries: &[Known]) -> BTreeSet<(NodeId, NodeId, u64)> {
    let mut told = BTreeSet::new();
    for known in entries {
        if let Event::Receive { node: to, from, id, .. } | Event::Lose { node: from, to, id, .. } =
            known.entry.event
        {
            told.insert((from, to, id));
        }
    }
    told
}

fn turns(entries: &[Known]) -> BTreeMap<NodeId, Vec<Turn>> {
    let mut turns: BTreeMap<NodeId, Vec<Turn>> = BTreeMap::new();
    for (index, known) in entries.iter().enumerate() {
        let (Event::Start { node, .. } | Event::Crash { node }) = known.entry.event else {
            continue;
        };
        let is_up = matches!(known.entry.event, Event::Start { .. });
        turns.entry(node).or_default().push(Turn { index, at: known.entry.at, is_up });
    }
    turns
}
