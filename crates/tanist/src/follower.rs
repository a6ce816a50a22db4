//! What waits for one reader of a node's changes.
//!
//! The driver appends and never waits for a reader: both hold the lock for one operation on the
//! queue. A reader that stops reading costs a bounded number of changes; the oldest are dropped
//! first, since the newest says what the node is.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use crate::status::Change;

/// The driver's end. Dropping it ends the reader's stream, after what already waits.
#[derive(Debug)]
pub(crate) struct Follower(Weak<Queue>);

/// The reader's end.
#[derive(Debug)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    changes: VecDeque<Arc<Change>>,
    waker: Option<Waker>,
    is_over: bool,
}

/// A new queue, with its two ends.
pub(crate) fn queue() -> (Follower, Arc<Queue>) {
    let queue = Arc::new(Queue { inner: Mutex::default() });
    (Follower(Arc::downgrade(&queue)), queue)
}

impl Follower {
    /// Appends a change. False: the reader is gone.
    pub(crate) fn push(&self, change: Arc<Change>) -> bool {
        let Some(queue) = self.0.upgrade() else { return false };
        let mut inner = queue.lock();
        let dropped = (inner.changes.len() >= WAITING_MAX).then(|| inner.changes.pop_front());
        inner.changes.push_back(change);
        let waker = inner.waker.take();
        drop(inner);
        drop(dropped);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let Some(queue) = self.0.upgrade() else { return };
        let mut inner = queue.lock();
        inner.is_over = true;
        let waker = inner.waker.take();
        drop(inner);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Queue {
    /// The oldest change that waits; none when the node has stopped.
    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Arc<Change>>> {
        let mut inner = self.lock();
        if let Some(change) = inner.changes.pop_front() {
            return Poll::Ready(Some(change));
        }
        if inner.is_over {
            return Poll::Ready(None);
        }
        inner.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No holder can panic: every change is a single operation on the queue.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// More changes than any reader that still reads can be behind.
pub(crate) const WAITING_MAX: usize = 1024;
