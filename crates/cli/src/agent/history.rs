//! What a node was and is, and why it changed.
//!
//! Every change has a number; a reader that went away comes back with the last number it saw and
//! misses nothing and sees nothing twice, as long as the changes since are remembered. Readers
//! share one buffer, so a slow one costs no memory; one that is slower than the buffer is told so.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tanist::{Change, Group, NodeId, NodeSet, Role, View, Why};
use tanist_core::Time;
use tokio::sync::watch;

use crate::agent::change::{Reason, RoleChange};

/// The history of one incarnation of a node. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct History {
    shared: Arc<Shared>,
    newest: watch::Receiver<Option<u64>>,
}

#[derive(Debug)]
struct Shared {
    incarnation: u64,
    changes: Mutex<VecDeque<Arc<RoleChange>>>,
}

/// What came after a number.
#[derive(Clone, Debug)]
pub(crate) struct Later {
    /// In order.
    pub(crate) changes: Vec<Arc<RoleChange>>,
    /// Whether some that came before these are forgotten.
    pub(crate) has_gap: bool,
}

impl History {
    /// Follows a node, in a task that ends with it.
    pub(crate) fn follow(group: &Group) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let incarnation = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let shared = Arc::new(Shared { incarnation, changes: Mutex::default() });
        let (numbers, newest) = watch::channel(None);
        let (writer, mut changes) = (Arc::clone(&shared), group.changes());
        let (mut recorder, group) = (ChangeRecorder::new(group.me()), group.clone());
        tokio::spawn(async move {
            while let Some(change) = changes.next().await {
                writer.push(recorder.take(&change, &group.farewells()));
                numbers.send_replace(Some(change.index));
            }
        });
        Self { shared, newest }
    }

    /// The incarnation that it belongs to: indexes of another one mean nothing here.
    pub(crate) fn incarnation(&self) -> u64 {
        self.shared.incarnation
    }

    /// All that is remembered, oldest first.
    pub(crate) fn all(&self) -> Vec<Arc<RoleChange>> {
        self.shared.lock().iter().cloned().collect()
    }

    /// The newest change, once there is one.
    pub(crate) fn last(&self) -> Option<Arc<RoleChange>> {
        self.shared.lock().back().cloned()
    }

    /// What came after a number; waits until something did. None: the node has stopped, and no more
    /// will come.
    pub(crate) async fn after(&self, index: Option<u64>) -> Option<Later> {
        let mut newest = self.newest.clone();
        let is_news = |newest: &Option<u64>| *newest > index;
        let has_ended = newest.wait_for(is_news).await.is_err();
        let changes = self.shared.lock();
        // Numbers only grow, so the first one that is later is found without looking at all.
        let from =
            changes.partition_point(|change| index.is_some_and(|index| change.index <= index));
        let later: Vec<_> = changes.range(from..).cloned().collect();
        drop(changes);
        if has_ended && later.is_empty() {
            return None;
        }
        let first = later.first().map_or(0, |change| change.index);
        let has_gap = index.is_some_and(|index| first > index + 1);
        Some(Later { changes: later, has_gap })
    }
}

impl Shared {
    fn push(&self, change: RoleChange) {
        let mut changes = self.lock();
        if changes.len() >= REMEMBERED_MAX {
            changes.pop_front();
        }
        changes.push_back(Arc::new(change));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<RoleChange>>> {
        // No holder can panic: changes are only moved.
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds to each change its reason, and for how long the node was in no group: remembers the last
/// one.
#[derive(Debug)]
struct ChangeRecorder {
    me: NodeId,
    /// The last group that it was in, in this incarnation.
    before: Option<View>,
    /// Since when it is in none.
    left_at: Option<Time>,
}

impl ChangeRecorder {
    const fn new(me: NodeId) -> Self {
        Self { me, before: None, left_at: None }
    }

    /// The entry for a change; these peers had said farewell before it.
    fn take(&mut self, change: &Change, farewells: &[NodeId]) -> RoleChange {
        let mut entry = RoleChange::new(self.me, change);
        entry.old_leader = self.before.as_ref().map(|before| before.coordinator());
        match &change.role {
            Role::Suspended(suspension) => {
                self.left_at.get_or_insert(change.at);
                entry.reason = match suspension.why {
                    Why::Starting => Reason::Start,
                    Why::Election => Reason::Election,
                    Why::Withdrawn => Reason::StepDown,
                    Why::Stopped => Reason::Stop,
                };
            }
            Role::Leader(_) | Role::Member(_) => {
                let now = change.role.view();
                entry.reason = reason(self.before.as_ref(), now, farewells);
                entry.gap = self.left_at.take().map(|left| change.at.since(left));
                self.before = now.cloned();
            }
        }
        entry
    }
}

/// Why a node that was in one group is now in another.
fn reason(before: Option<&View>, now: Option<&View>, farewells: &[NodeId]) -> Reason {
    let (Some(before), Some(now)) = (before, now) else { return Reason::Start };
    let coordinator = before.coordinator();
    reason_of_difference(coordinator, before.members(), now.members(), farewells)
}

/// The same from what matters: who led, who was there, who is there now, and who said goodbye.
fn reason_of_difference(
    coordinator: NodeId,
    before: &NodeSet,
    now: &NodeSet,
    farewells: &[NodeId],
) -> Reason {
    let lost: Vec<NodeId> = before.iter().filter(|node| !now.contains(*node)).collect();
    let has_gained = now.iter().any(|node| !before.contains(node));
    let is_orderly = |node: &NodeId| farewells.contains(node);
    if lost.contains(&coordinator) {
        return if is_orderly(&coordinator) { Reason::StepDown } else { Reason::Failure };
    }
    match (lost.is_empty(), has_gained) {
        (true | false, true) => Reason::Merge,
        (false, false) if lost.iter().all(is_orderly) => Reason::StepDown,
        (false, false) => Reason::Failure,
        (true, false) => Reason::Election,
    }
}

/// Enough for a reader that was away during a storm of elections, in a few hundred kilobytes.
const REMEMBERED_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(ids: &[u32]) -> NodeSet {
        ids.iter().copied().map(NodeId).collect()
    }

    #[test]
    fn a_change_is_explained_by_who_came_and_who_went() {
        let was_led_by_3 = |before: &[u32], now: &[u32], farewells: &[u32]| {
            let farewells: Vec<NodeId> = farewells.iter().copied().map(NodeId).collect();
            reason_of_difference(NodeId(3), &nodes(before), &nodes(now), &farewells)
        };
        assert_eq!(was_led_by_3(&[1, 2, 3], &[1, 2], &[]), Reason::Failure);
        assert_eq!(was_led_by_3(&[1, 2, 3], &[1, 2], &[3]), Reason::StepDown);
        assert_eq!(was_led_by_3(&[1, 2, 3], &[1, 3], &[]), Reason::Failure);
        assert_eq!(was_led_by_3(&[1, 2, 3], &[1, 3], &[2]), Reason::StepDown);
        assert_eq!(was_led_by_3(&[2, 3], &[1, 2, 3], &[]), Reason::Merge);
        assert_eq!(was_led_by_3(&[1, 2, 3], &[1, 2, 3], &[]), Reason::Election);
        // The leader is gone, and another node has come back meanwhile: the loss is the cause.
        assert_eq!(was_led_by_3(&[2, 3], &[1, 2], &[]), Reason::Failure);
    }

    /// A history as a node's changes would make it.
    fn history_of(indices: std::ops::Range<u64>) -> (History, watch::Sender<Option<u64>>) {
        let shared = Arc::new(Shared { incarnation: 7, changes: Mutex::default() });
        let (numbers, newest) = watch::channel(None);
        for index in indices {
            let line = format!(
                r#"{{"index":{index},"at_us":0,"when_ms":0,"node":"n1","role":"member","group_number":null,
                "coordinator":null,"members":[],"text":""}}"#
            );
            shared.push(serde_json::from_str(&line).unwrap());
            numbers.send_replace(Some(index));
        }
        (History { shared, newest }, numbers)
    }

    async fn numbers_after(history: &History, index: Option<u64>) -> (Vec<u64>, bool) {
        let later = history.after(index).await.unwrap();
        (later.changes.iter().map(|change| change.index).collect(), later.has_gap)
    }

    #[tokio::test]
    async fn a_reader_that_comes_back_misses_nothing_and_sees_nothing_twice() {
        let (history, writer) = history_of(0..5);
        assert_eq!(numbers_after(&history, None).await, (vec![0, 1, 2, 3, 4], false));
        assert_eq!(numbers_after(&history, Some(2)).await, (vec![3, 4], false));
        drop(writer);
        assert!(history.after(Some(4)).await.is_none(), "the node has stopped");
    }

    #[tokio::test]
    async fn a_reader_that_was_away_for_too_long_is_told() {
        let length = REMEMBERED_MAX as u64;
        let (history, _writer) = history_of(0..length + 10);
        let (numbers, has_gap) = numbers_after(&history, Some(3)).await;
        assert_eq!((numbers[0], numbers.len(), has_gap), (10, REMEMBERED_MAX, true));
        assert_eq!(numbers_after(&history, Some(length + 8)).await, (vec![length + 9], false));
    }
}
