//! The sessions whose datagrams are taken, by name.
//!
//! The session of a link that is gone stays for a moment, so that datagrams in flight are not
//! lost. There is no timer for that: what is over is removed at the next look.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tanist_core::membership::NodeId;

use super::session::{Session, SessionId};

/// All sessions of one transport.
#[derive(Debug)]
pub(super) struct Sessions {
    linger: Duration,
    by_id: Mutex<BTreeMap<SessionId, Entry>>,
}

#[derive(Debug)]
struct Entry {
    peer: NodeId,
    session: Arc<Session>,
    until: Option<Instant>,
}

impl Sessions {
    pub(super) fn new(linger: Duration) -> Self {
        Self { linger, by_id: Mutex::default() }
    }

    /// Adds the session of a link with this peer.
    pub(super) fn add(&self, peer: NodeId, session: Arc<Session>) {
        let now = Instant::now();
        let mut by_id = self.lock();
        by_id.retain(|_, entry| !entry.is_over(now));
        by_id.insert(session.id(), Entry { peer, session, until: None });
    }

    /// The link is gone: its datagrams are taken for a moment only.
    pub(super) fn retire(&self, id: SessionId) {
        if let Some(entry) = self.lock().get_mut(&id) {
            entry.until.get_or_insert(Instant::now() + self.linger);
        }
    }

    /// Whose session this is.
    pub(super) fn find(&self, id: SessionId) -> Option<(NodeId, Arc<Session>)> {
        let by_id = self.lock();
        let entry = by_id.get(&id).filter(|entry| !entry.is_over(Instant::now()))?;
        Some((entry.peer, Arc::clone(&entry.session)))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, Entry>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::super::handshake::tests::session_pair;
    use super::*;

    #[test]
    fn a_retired_session_is_found_until_its_time_is_over() {
        for (linger, is_found) in [(Duration::from_secs(1000), true), (Duration::ZERO, false)] {
            let sessions = Sessions::new(linger);
            let (ours, _) = session_pair();
            let id = ours.id();
            sessions.add(NodeId(1), Arc::new(ours));
            assert!(sessions.find(id).is_some());
            sessions.retire(id);
            assert_eq!(sessions.find(id).is_some(), is_found);
        }
    }

    #[test]
    fn sessions_that_are_over_do_not_pile_up() {
        let sessions = Sessions::new(Duration::ZERO);
        for _ in 0..10 {
            let (ours, _) = session_pair();
            let id = ours.id();
            sessions.add(NodeId(1), Arc::new(ours));
            sessions.retire(id);
        }
        assert_eq!(sessions.lock().len(), 1);
    }
}
