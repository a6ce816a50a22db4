//! What only grows: counted from the history as it is written, since the history forgets.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::exposition::Histogram;
use crate::agent::change::{Changed, Reason, RoleChange};
use crate::agent::history::History;

/// Counts of one incarnation of a node.
#[derive(Debug)]
pub(super) struct Counters {
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

impl Counters {
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
    pub(super) async fn follow(&self, history: &History) {
        let mut seen = None;
        while let Some(later) = history.after(seen).await {
            for change in later.changes {
                seen = Some(change.index);
                self.lock().take(&change);
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
        // No holder can panic: numbers are only added.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn take(&mut self, change: &RoleChange) {
        if !change.is_in_group() || change.event == Changed::Activity {
            return;
        }
        let is_new_leader = change.coordinator != change.old_leader;
        if is_new_leader {
            *self.leader_changes.entry(change.reason.name()).or_default() += 1;
        }
        let Some(gap) = change.gap else { return };
        self.elections.add(gap);
        if is_new_leader && change.reason == Reason::Failure {
            self.failovers.add(gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use tanist::{NodeId, RoleKind};
    use tanist_core::Time;

    use super::*;

    fn change(
        role: RoleKind,
        leader: u32,
        old: Option<u32>,
        reason: Reason,
        gap: u64,
    ) -> RoleChange {
        RoleChange {
            index: 1,
            role,
            group_number: None,
            coordinator: Some(NodeId(leader)),
            members: Vec::new(),
            reason,
            old_leader: old.map(NodeId),
            gap: Some(Duration::from_millis(gap)),
            ..RoleChange::start(NodeId(1), Time::ZERO, SystemTime::UNIX_EPOCH)
        }
    }

    #[test]
    fn a_lost_leader_is_a_failover_and_a_lost_member_is_not() {
        let counters = Counters::new();
        for change in [
            change(RoleKind::Member, 3, None, Reason::Start, 40),
            change(RoleKind::Suspended, 3, Some(3), Reason::Election, 0),
            change(RoleKind::Member, 2, Some(3), Reason::Failure, 300),
            change(RoleKind::Member, 2, Some(2), Reason::Failure, 20),
        ] {
            counters.lock().take(&change);
        }
        let counts = counters.read();
        assert_eq!(counts.leader_changes["start"], 1);
        assert_eq!(counts.leader_changes["failure"], 1);
        assert_eq!(counts.elections.count(), 3);
        assert_eq!(counts.failovers.count(), 1);
    }
}
