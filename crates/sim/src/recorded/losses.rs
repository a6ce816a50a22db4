//! Messages that were sent and never received.
//!
//! No process records a loss, so its cause and time are inferred: at once if the receiver was down
//! or the link cut, at the time of the crash if the receiver crashed while the message was in
//! flight, and T after the sending if nothing else explains it. A message that was sent less than T
//! before the end, or to a paused node, may still be in flight; and nothing is inferred about a
//! node whose lines are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tanist_core::trace::{Entry, Event, Header, Loss};
use tanist_core::{NodeId, NodeSet, Time};

use super::faults::Faults;
use super::{Known, Source};

/// The losses that are inferred from these entries.
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
        let Event::Send { node, to, id, message, contents } = &entry.event else { continue };
        let (node, to, id, message) = (*node, *to, *id, *message);
        if told.contains(&(node, to, id)) || gaps.contains(to) {
            continue;
        }
        if let Some((at, why)) = facts.fate(index, entry.at, node, to) {
            let contents = contents.clone();
            let entry = Entry { at, event: Event::Lose { node, to, id, message, contents, why } };
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

/// A start or a crash of a node.
struct Turn {
    index: usize,
    at: Time,
    is_up: bool,
}

impl Facts<'_> {
    /// When and why a message was lost that was never received.
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
        let crash = after.iter().find(|turn| !turn.is_up);
        if let Some(crash) = crash.filter(|crash| crash.at <= latest || stands_still) {
            return Some((crash.at, Loss::Down));
        }
        if let Some(cut) = cut {
            return Some((cut, Loss::Cut));
        }
        (latest <= self.end && !stands_still).then_some((latest, Loss::Dropped))
    }
}

/// The messages whose receipt or loss the trace records.
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
