//! What a node was and is, and why it changed.
//!
//! Every change has a number; a reader that went away comes back with the last number it saw and
//! misses nothing and sees nothing twice, as long as the changes since are remembered. Readers
//! share one buffer, so a slow one costs no memory; one that is slower than the buffer is told so.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tanist::{Activities, Change, Group, Lead, NodeId, NodeNames, Role, Suspension, Why};
use tokio::sync::watch;

use super::recorder::ChangeRecorder;
use crate::agent::change::RoleChange;
use crate::terminal::moment;

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
    /// Follows a node, in a task that ends with it. The first entry is always that it starts.
    pub(crate) async fn follow(group: &Group, activity: &Activities) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let incarnation = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let shared = Arc::new(Shared { incarnation, changes: Mutex::default() });
        let (numbers, newest) = watch::channel(None);
        let names = Arc::new(group.names().clone());
        let recorder =
            ChangeRecorder::new(group.me(), Arc::clone(&names), incarnation, group.suspect_after());
        let mut writer = Writer { shared: Arc::clone(&shared), names, numbers, recorder };
        let (mut changes, mut activity) = (group.changes(), activity.clone());
        // What the node is at the moment is there at once.
        if let Some(first) = changes.next().await {
            writer.begin(&first, &group.farewells());
        }
        let group = group.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    // A leadership is told before it is active.
                    biased;
                    change = changes.next() => match change {
                        Some(change) => writer.take(&change, &group.farewells()),
                        None => return,
                    },
                    // None: the node has stopped, and its last change says so.
                    Some(()) = activity.changed() => {}
                }
                writer.activate(activity.active());
            }
        });
        Self { shared, newest }
    }

    /// The incarnation that it belongs to: indexes of another one mean nothing here.
    pub(crate) fn incarnation(&self) -> u64 {
        self.shared.incarnation
    }

    /// The index of the newest change.
    pub(crate) fn index(&self) -> u64 {
        self.newest.borrow().unwrap_or_default()
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

/// Who writes a history: what it adds is numbered, told in the log, and seen by all readers.
struct Writer {
    shared: Arc<Shared>,
    names: Arc<NodeNames>,
    numbers: watch::Sender<Option<u64>>,
    recorder: ChangeRecorder,
}

impl Writer {
    /// The first change that was read. A node may be in a group already.
    fn begin(&mut self, first: &Change, farewells: &[NodeId]) {
        let start = self.recorder.start(first);
        self.push(start);
        let is_starting = |suspension: &Suspension| suspension.why == Why::Starting;
        if !matches!(&first.role, Role::Suspended(suspension) if is_starting(suspension)) {
            self.take(first, farewells);
        }
    }

    fn take(&mut self, change: &Change, farewells: &[NodeId]) {
        let entry = self.recorder.take(change, farewells);
        log_leader(&entry.called(&self.names));
        self.push(entry);
    }

    fn activate(&mut self, active: Option<Lead>) {
        if let Some(entry) = self.recorder.activate(active) {
            let group_number = entry.group_number.map(tracing::field::display);
            tracing::info!(group_number, "active as leader");
            self.push(entry);
        }
    }

    fn push(&self, entry: RoleChange) {
        let index = entry.index;
        self.shared.push(entry);
        self.numbers.send_replace(Some(index));
    }
}

/// Says that the node has another leader than before, and why.
fn log_leader(entry: &RoleChange<String>) {
    let (Some(new), Some(number)) = (&entry.coordinator, entry.group_number) else { return };
    if !entry.is_in_group() || entry.old_leader.as_ref() == Some(new) {
        return;
    }
    let old = entry.old_leader.as_deref().unwrap_or("none");
    let evidence = entry.lost.iter().find(|lost| Some(&lost.node) == entry.old_leader.as_ref());
    let cause = match evidence {
        Some(lost) => format!("{}: {lost}", entry.reason.name()),
        None => entry.reason.name().to_owned(),
    };
    let gap = entry.gap.map_or_else(|| "none".to_owned(), moment::span);
    tracing::info!(
        old_leader = old, new_leader = %new, cause, gap, group_number = %number,
        "leader changed"
    );
}

/// Enough for a reader that was away during a storm of elections, in a few hundred kilobytes.
const REMEMBERED_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use tanist_core::Time;

    use super::*;

    /// A history as a node's changes would make it.
    fn history_of(indices: std::ops::Range<u64>) -> (History, watch::Sender<Option<u64>>) {
        let shared = Arc::new(Shared { incarnation: 7, changes: Mutex::default() });
        let (numbers, newest) = watch::channel(None);
        for index in indices {
            let start = RoleChange::start(NodeId(1), Time::ZERO, SystemTime::UNIX_EPOCH);
            shared.push(RoleChange { index, ..start });
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
