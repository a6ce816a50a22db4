//! What only grows: counted from the record as it is written, since the record forgets.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::exposition::Histogram;
use crate::agent::change::{ChangeLine, Reason};
use crate::agent::history::Record;

/// Counts of one life of a node.
#[derive(Debug)]
pub(super) struct Tally {
    counts: Mutex<Counts>,
}

/// The counts at one moment.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// New leaders, by reason.
    pub(super) leader_changes: BTreeMap<&'static str, u64>,
    /// How long the node was in no group, each time.
    pub(super) elections: Histogram,
    /// The same, when the leader was lost.
    pub(super) failovers: Histogram,
    /// Answers over HTTP, by status.
    pub(super) answers: BTreeMap<u16, u64>,
}

impl Tally {
    /// Nothing was counted yet.
    pub(super) fn new() -> Self {
        // What may be counted is there from the beginning, so that the first one is an increase.
        let reasons =
            [Reason::Start, Reason::Failure, Reason::StepDown, Reason::Merge, Reason::Election];
        let counts = Counts {
            leader_changes: reasons.map(|reason| (reason.name(), 0)).into(),
            elections: Histogram::new(),
            failovers: Histogram::new(),
            answers: BTreeMap::new(),
        };
        Self { counts: Mutex::new(counts) }
    }

    /// Counts every change, until the node ends.
    pub(super) async fn follow(&self, record: &Record) {
        let mut seen = None;
        while let Some(later) = record.after(seen).await {
            for line in later.lines {
                seen = Some(line.index);
                self.lock().take(&line);
            }
        }
    }

    /// Counts an answer.
    pub(super) fn answered(&self, status: u16) {
        *self.lock().answers.entry(status).or_default() += 1;
    }

    /// All counts.
    pub(super) fn read(&self) -> Counts {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        // Nobody panics while holding it: numbers are only added.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn take(&mut self, line: &ChangeLine) {
        if !line.is_in_group() {
            return;
        }
        let is_new_leader = line.coordinator != line.old_leader;
        if is_new_leader {
            *self.leader_changes.entry(line.reason.name()).or_default() += 1;
        }
        let Some(gap) = line.gap_ms else { return };
        self.elections.add_ms(gap);
        if is_new_leader && line.reason == Reason::Failure {
            self.failovers.add_ms(gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(role: &str, leader: &str, old: Option<&str>, reason: Reason, gap: u64) -> ChangeLine {
        ChangeLine {
            index: 1,
            at_us: 0,
            when_ms: 0,
            node: "n1".to_owned(),
            role: role.to_owned(),
            group: None,
            coordinator: Some(leader.to_owned()),
            members: Vec::new(),
            reason,
            old_leader: old.map(str::to_owned),
            gap_ms: Some(gap),
            missed: 0,
            text: String::new(),
        }
    }

    #[test]
    fn a_lost_leader_is_a_failover_and_a_lost_member_is_not() {
        let tally = Tally::new();
        for line in [
            line("member", "n3", None, Reason::Start, 40),
            line("suspended", "n3", Some("n3"), Reason::Election, 0),
            line("member", "n2", Some("n3"), Reason::Failure, 300),
            line("member", "n2", Some("n2"), Reason::Failure, 20),
        ] {
            tally.lock().take(&line);
        }
        let counts = tally.read();
        assert_eq!(counts.leader_changes["start"], 1);
        assert_eq!(counts.leader_changes["failure"], 1);
        assert_eq!(counts.elections.count(), 3);
        assert_eq!(counts.failovers.count(), 1);
    }
}
