//! Which sessions with one peer may still bring frames.
//!
//! When one link takes over from another, the new one must not be read before the old one is at
//! its end, or frames would overtake each other.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::session::SessionId;

/// The sessions of one peer that are being read, or soon will be.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    sessions: Mutex<BTreeSet<SessionId>>,
    ended: Notify,
}

impl Reading {
    /// Notes that this session may bring frames until the place is dropped.
    pub(super) fn begin(&self, session: SessionId) -> ReadingPlace {
        self.lock().insert(session);
        ReadingPlace { reading: self.clone(), session }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Waits until this session brings nothing more.
    pub(super) async fn ended(&self, session: SessionId) {
        loop {
            let ended = self.0.ended.notified();
            let mut ended = std::pin::pin!(ended);
            // Listen before looking, or an end in between would be missed.
            ended.as_mut().enable();
            if !self.lock().contains(&session) {
                return;
            }
            ended.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<SessionId>> {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session that may still bring frames.
#[derive(Debug)]
pub(super) struct ReadingPlace {
    reading: Reading,
    session: SessionId,
}

impl Drop for ReadingPlace {
    fn drop(&mut self) {
        self.reading.lock().remove(&self.session);
        self.reading.0.ended.notify_waiters();
    }
}
