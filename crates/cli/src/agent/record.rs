//! What a node was and is, and why it changed.
//!
//! Every change has a number; a reader that went away comes back with the last number it saw and
//! misses nothing and sees nothing twice, as long as the changes since are remembered. Readers share
//! one buffer, so a slow one costs no memory; one that is slower than the buffer is told so.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tanist::{Change, Group, NodeId, Role, View, Why};
use tanist_core::Time;
use tokio::sync::watch;

use crate::live::change::{ChangeLine, Reason};

/// The record of one life of a node. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    shared: Arc<Shared>,
    newest: watch::Receiver<Option<u64>>,
}

#[derive(Debug)]
struct Shared {
    life: u64,
    lines: Mutex<VecDeque<Arc<ChangeLine>>>,
}

/// What came after a number.
#[derive(Clone, Debug)]
pub(crate) struct Later {
    /// In order.
    pub(crate) lines: Vec<Arc<ChangeLine>>,
    /// Whether some that came before these are forgotten.
    pub(crate) has_gap: bool,
}

impl Record {
    /// Follows a node, in a task that ends with it.
    pub(crate) fn follow(group: &Group) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let life = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let shared = Arc::new(Shared { life, lines: Mutex::default() });
        let (numbers, newest) = watch::channel(None);
        let (writer, mut changes) = (Arc::clone(&shared), group.changes());
        let mut clerk = Clerk::new(group.me());
        tokio::spawn(async move {
            while let Some(change) = changes.next().await {
                writer.push(clerk.take(&change, &[]));
                numbers.send_replace(Some(change.index));
            }
        });
        Self { shared, newest }
    }

    /// Which life of the node it is of: numbers of another one mean nothing here.
    pub(crate) fn life(&self) -> u64 {
        self.shared.life
    }

    /// All that is remembered, oldest first.
    pub(crate) fn all(&self) -> Vec<Arc<ChangeLine>> {
        self.shared.lock().iter().cloned().collect()
    }

    /// The newest change, once there is one.
    pub(crate) fn last(&self) -> Option<Arc<ChangeLine>> {
        self.shared.lock().back().cloned()
    }

    /// What came after a number; waits until something did. None: the node has ended, and no more
    /// will come.
    pub(crate) async fn after(&self, index: Option<u64>) -> Option<Later> {
        let mut newest = self.newest.clone();
        let is_news = |newest: &Option<u64>| *newest > index;
        let has_ended = newest.wait_for(is_news).await.is_err();
        let lines = self.shared.lock();
        let is_later = |line: &&Arc<ChangeLine>| index.is_none_or(|index| line.index > index);
        let later: Vec<_> = lines.iter().filter(is_later).cloned().collect();
        if has_ended && later.is_empty() {
            return None;
        }
        let first = later.first().map_or(0, |line| line.index);
        let has_gap = index.is_some_and(|index| first > index + 1);
        Some(Later { lines: later, has_gap })
    }
}

impl Shared {
    fn push(&self, line: ChangeLine) {
        let mut lines = self.lock();
        if lines.len() >= REMEMBERED_MAX {
            lines.pop_front();
        }
        lines.push_back(Arc::new(line));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<ChangeLine>>> {
        // Nobody panics while holding it: lines are only moved.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes lines from changes: remembers what the node was before.
#[derive(Debug)]
struct Clerk {
    me: NodeId,
    /// The last group that it was in, in this life.
    before: Option<View>,
    /// Since when it is in none.
    left_at: Option<Time>,
}

impl Clerk {
    const fn new(me: NodeId) -> Self {
        Self { me, before: None, left_at: None }
    }

    /// The line for a change; some peers had said goodbye before it.
    fn take(&mut self, change: &Change, farewells: &[NodeId]) -> ChangeLine {
        let mut line = ChangeLine::new(self.me, change);
        line.old_leader = self.before.as_ref().map(|before| before.coordinator().to_string());
        match &change.role {
            Role::Suspended(suspension) => {
                self.left_at.get_or_insert(change.at);
                line.reason = match suspension.why {
                    Why::Starting => Reason::Start,
                    Why::Election => Reason::Election,
                    Why::Ended => Reason::Stop,
                };
            }
            Role::Leader(_) | Role::Member(_) => {
                let now = change.role.view();
                line.reason = reason(self.before.as_ref(), now, farewells);
                let gap = self.left_at.take().map(|left| change.at.since(left).as_millis());
                line.gap_ms = gap.and_then(|gap| u64::try_from(gap).ok());
                self.before = now.cloned();
            }
        }
        line
    }
}

/// Why a node that was in one group is now in another.
fn reason(before: Option<&View>, now: Option<&View>, farewells: &[NodeId]) -> Reason {
    let (Some(before), Some(now)) = (before, now) else { return Reason::Start };
    let lost: Vec<NodeId> =
        before.members().iter().filter(|node| !now.members().contains(*node)).collect();
    let has_gained = now.members().iter().any(|node| !before.members().contains(node));
    if lost.contains(&before.coordinator()) {
        let is_orderly = farewells.contains(&before.coordinator());
        return if is_orderly { Reason::StepDown } else { Reason::Failure };
    }
    match (lost.is_empty(), has_gained) {
        (_, true) => Reason::Merge,
        (false, false) if lost.iter().all(|node| farewells.contains(node)) => Reason::StepDown,
        (false, false) => Reason::Failure,
        (true, false) => Reason::Election,
    }
}

/// Enough for a reader that was away during a storm of elections, in a few hundred kilobytes.
const REMEMBERED_MAX: usize = 1024;
