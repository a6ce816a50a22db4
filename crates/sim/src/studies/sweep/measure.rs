//! The figures of a run: how many messages count, and how long it took.

use tanist_core::trace::{Event, Kind};
use tanist_core::{NodeId, Status};

use crate::studies::run::Report;

/// How the figures of a run are computed.
#[derive(Clone, Copy)]
pub(crate) enum Measure {
    /// All messages; until a node's state last changed.
    Whole,
    /// All messages; until the last one arrived.
    LastArrival,
    /// Messages of the merge; from the merge's beginning until a node's state last changed.
    Merge,
    /// Messages of these kinds; until the last node knew its coordinator.
    Known(&'static [Kind]),
    /// Messages of these kinds; from the call of an election until a node's state last changed.
    Called(&'static [Kind]),
    /// Messages of these kinds; until the last of them arrived.
    Rounds(&'static [Kind]),
}

impl Measure {
    /// Messages, and microseconds.
    pub(super) fn figures(self, report: &Report) -> (u64, u64) {
        let settled = report.settled.as_micros();
        match self {
            Self::Whole => (report.counts.sent, settled),
            Self::LastArrival => {
                let entries = report.recording.entries.iter().rev();
                let last = entries
                    .clone()
                    .find(|entry| matches!(entry.event, Event::Receive { .. }))
                    .map_or(0, |entry| entry.at.as_micros());
                (report.counts.sent, last)
            }
            Self::Merge => {
                let counts = &report.counts;
                let kinds = [
                    Kind::Invitation,
                    Kind::Accept,
                    Kind::AcceptAnswer,
                    Kind::Ready,
                    Kind::ReadyAnswer,
                ];
                let began = report.recording.entries.iter().find(|entry| {
                    matches!(&entry.event, Event::State { state, .. } if state.status == Status::Election)
                });
                let began = began.map_or(0, |entry| entry.at.as_micros());
                (counts.of_all(&kinds), settled.saturating_sub(began))
            }
            Self::Known(kinds) => (report.counts.of_all(kinds), all_know(report)),
            Self::Called(kinds) => {
                (report.counts.of_all(kinds), settled.saturating_sub(called(report)))
            }
            Self::Rounds(kinds) => (report.counts.of_all(kinds), last_arrival(report, kinds)),
        }
    }
}

/// When the first election began.
fn called(report: &Report) -> u64 {
    let mut entries = report.recording.entries.iter();
    let call = entries.find(|entry| matches!(entry.event, Event::Call { .. }));
    call.map_or(0, |entry| entry.at.as_micros())
}

/// When the last node learned who coordinates it.
fn all_know(report: &Report) -> u64 {
    let mut known: Vec<(NodeId, Status)> = Vec::new();
    let mut last = 0;
    for entry in &report.recording.entries {
        let Event::State { node, state } = &entry.event else { continue };
        let before = known.iter().find(|(id, _)| id == node).map(|(_, status)| *status);
        known.retain(|(id, _)| id != node);
        known.push((*node, state.status));
        if state.status == Status::Reorganization && before != Some(Status::Reorganization) {
            last = entry.at.as_micros();
        }
    }
    last
}

/// When the last message of these kinds arrived.
fn last_arrival(report: &Report, kinds: &[Kind]) -> u64 {
    let mut last = 0;
    for entry in &report.recording.entries {
        if let Event::Receive { message, .. } = &entry.event
            && kinds.contains(&message.kind)
        {
            last = entry.at.as_micros();
        }
    }
    last
}
