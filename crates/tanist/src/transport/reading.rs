//! Which sessions with one peer may still bring frames.
//!
//! When one link takes over from another, the new one must not be read before the old one is at
//! its end, or frames would overtake each other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::session::SessionId;

/// The sessions of one peer that are being read, or soon will be.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Whether each is confirmed.
    sessions: Mutex<BTreeMap<SessionId, bool>>,
    ended: Notify,
}

impl Reading {
    /// Notes that this session may bring frames until the place is dropped.
    pub(super) fn begin(&self, session: SessionId) -> ReadingPlace {
        self.lock().insert(session, false);
        ReadingPlace { reading: self.clone(), session }
    }

    /// How many are confirmed: an answered handshake is not a link yet.
    pub(super) fn confirmed(&self) -> usize {
        self.lock().values().filter(|is_confirmed| **is_confirmed).count()
    }

    /// Waits until this session brings nothing more.
    pub(super) async fn ended(&self, session: SessionId) {
        loop {
            let ended = self.0.ended.notified();
            let mut ended = std::pin::pin!(ended);
            // Listen before looking, or an end in between would be missed.
            ended.as_mut().enable();
            if !self.lock().contains_key(&session) {
                return;
            }
            ended.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, bool>> {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session that may still bring frames.
#[derive(Debug)]
pub(super) struct ReadingPlace {
    reading: Reading,
    session: SessionId,
}

impl ReadingPlace {
    /// The session is a link's.
    pub(super) fn confirm(&self) {
        self.reading.lock().insert(self.session, true);
    }
}

impl Drop for ReadingPlace {
    fn drop(&mut self) {
        self.reading.lock().remove(&self.session);
        self.reading.0.ended.notify_waiters();
    }
}
