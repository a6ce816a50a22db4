//! Handshakes of one peer that are answered and not confirmed yet: a few, and the newest stay.
//!
//! The dialler of such a handshake has shown a group key and freshness, and may still walk away. A
//! real peer confirms within a round trip, so the oldest gives way to the newest.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The unconfirmed handshakes of one peer, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Unconfirmed(Arc<Mutex<VecDeque<oneshot::Sender<()>>>>);

impl Unconfirmed {
    /// Adds one; if there are too many, the oldest is told to go. What comes back resolves when it
    /// is this one's turn to go; dropping it makes room.
    pub(super) fn enter(&self) -> oneshot::Receiver<()> {
        let (evict, evicted) = oneshot::channel();
        let mut waiting = self.lock();
        waiting.retain(|other| !other.is_closed());
        if waiting.len() >= UNCONFIRMED_MAX
            && let Some(oldest) = waiting.pop_front()
        {
            // One that ended in this very moment needs no notice.
            let _ = oldest.send(());
        }
        waiting.push_back(evict);
        evicted
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<oneshot::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Two dials that cross, some after a break, and room for those whose confirmation is on its way.
const UNCONFIRMED_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_gives_way_and_those_that_ended_do_not_count() {
        let pool = Unconfirmed::default();
        let mut first = pool.enter();
        let mut others: Vec<_> = (1..UNCONFIRMED_MAX).map(|_| pool.enter()).collect();
        drop(others.pop());
        let _newest = pool.enter();
        assert!(first.try_recv().is_err());
        let _one_more = pool.enter();
        assert_eq!(first.try_recv(), Ok(()));
        assert!(others[0].try_recv().is_err());
    }
}
