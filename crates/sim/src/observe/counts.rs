//! The counters of a run: messages by kind, and elections.

use std::collections::BTreeMap;

use tanist_core::trace::{Event, Kind, Outcome};

/// The counters of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Messages handed to the network, including those to crashed nodes.
    pub sent: u64,
    /// Messages that arrived; copies count.
    pub delivered: u64,
    /// Messages that were lost.
    pub dropped: u64,
    by_kind: [u64; Kind::ALL.len()],
    /// Elections that nodes called.
    pub elections_called: u64,
    /// Elections that ended with their caller as coordinator.
    pub elections_won: u64,
}

impl Default for Counts {
    /// Written out, since only arrays of up to 32 have a default.
    fn default() -> Self {
        Self {
            sent: 0,
            delivered: 0,
            dropped: 0,
            by_kind: [0; Kind::ALL.len()],
            elections_called: 0,
            elections_won: 0,
        }
    }
}

impl Counts {
    /// Messages sent of one kind.
    #[must_use]
    pub const fn of(&self, kind: Kind) -> u64 {
        self.by_kind[kind as usize]
    }

    /// How many transmissions there were: a broadcast is one.
    #[must_use]
    pub const fn transmissions(&self) -> u64 {
        self.sent
    }

    /// How many receptions there were: a broadcast has one for each node in reach.
    #[must_use]
    pub const fn receptions(&self) -> u64 {
        self.delivered
    }

    /// Messages sent of these kinds.
    #[must_use]
    pub fn of_all(&self, kinds: &[Kind]) -> u64 {
        kinds.iter().map(|kind| self.of(*kind)).sum()
    }

    /// Messages sent by kind, for kinds that occurred.
    #[must_use]
    pub fn by_kind(&self) -> BTreeMap<&'static str, u64> {
        let kinds = Kind::ALL.iter().map(|kind| (kind.name(), self.of(*kind)));
        kinds.filter(|(_, count)| *count > 0).collect()
    }

    pub(super) fn note(&mut self, event: &Event) {
        if let Event::Send { message, .. } | Event::Broadcast { message, .. } = event {
            self.sent += 1;
            self.by_kind[message.kind as usize] += 1;
        } else if matches!(event, Event::Receive { .. }) {
            self.delivered += 1;
        } else if matches!(event, Event::Lose { .. }) {
            self.dropped += 1;
        } else if matches!(event, Event::Call { .. }) {
            self.elections_called += 1;
        } else if matches!(event, Event::End { outcome: Outcome::Won, .. }) {
            self.elections_won += 1;
        }
    }
}
