//! One peer: which link is current, when to dial, and what a dial proves.
//!
//! ```text
//!              frame waits                 message 2
//!   [no link] -------------> [dialling] ---------------> [linked] <--- accepted, from any state
//!       ^                        |  ^                        |
//!       |   refused: Gone        |  |   the link ended       |
//!       +------------------------+  +------------------------+
//!       |   failed: back off     |
//!       +------------------------+
//! ```
//!
//! An accepted link ends a dial of ours that is still going on: the dialler may walk away until it
//! has written its first record, and the other side then never counts it as a link. Two links that
//! both became links are weighed by [`Claim`], the same way on both sides.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use super::Incoming;
use super::claim::Claim;
use super::dial::{DialError, Dialled, dial};
use super::hub::{Hub, PeerState, Route};
use super::link::{self, Established, Patience};
use super::listener::count_refusal;
use super::queue::Ticket;
use super::session::SessionId;

/// The task of one peer.
pub(super) struct Peer {
    hub: Arc<Hub>,
    state: Arc<PeerState>,
    arrivals: mpsc::Receiver<Established>,
    links: JoinSet<()>,
    current: Option<Current>,
    dialling: Option<Pin<Box<dyn Future<Output = Dialled> + Send>>>,
    next_dial_due: Option<Instant>,
    backoff: Option<Backoff>,
    /// The process and session that we had last.
    last: Option<(u64, SessionId)>,
}

/// The link that frames are written to.
struct Current {
    task: AbortHandle,
    patience: watch::Sender<Patience>,
    claim: Claim,
    incarnation: u64,
}

/// For how long the peer is left alone.
#[derive(Clone, Copy)]
struct Backoff {
    until: Instant,
    span: Duration,
}

enum Happening {
    Arrived(Established),
    Ended(tokio::task::Id),
    Dialled(Dialled),
    Wanted,
    Attention,
}

impl Peer {
    pub(super) fn new(
        hub: Arc<Hub>,
        state: Arc<PeerState>,
        arrivals: mpsc::Receiver<Established>,
    ) -> Self {
        Self {
            hub,
            state,
            arrivals,
            links: JoinSet::new(),
            current: None,
            dialling: None,
            next_dial_due: None,
            backoff: None,
            last: None,
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            match self.next().await {
                Happening::Arrived(link) => self.weigh(link),
                Happening::Ended(task) => self.notice_end(task),
                Happening::Dialled(outcome) => self.conclude(outcome).await,
                Happening::Wanted => self.want(),
                Happening::Attention => self.attend().await,
            }
        }
    }

    async fn next(&mut self) -> Happening {
        let is_idle = self.current.is_none() && self.dialling.is_none();
        // In this order: an end is seen before the frame that would be written to a dead link.
        tokio::select! {
            biased;
            Some(link) = self.arrivals.recv() => Happening::Arrived(link),
            Some(ended) = self.links.join_next_with_id(), if !self.links.is_empty() => {
                Happening::Ended(ended.map_or_else(|error| error.id(), |(id, ())| id))
            }
            () = self.state.attention.notified() => Happening::Attention,
            outcome = poll(&mut self.dialling), if self.dialling.is_some() => {
                Happening::Dialled(outcome)
            }
            () = self.state.queue.wanted(), if is_idle => Happening::Wanted,
        }
    }

    /// Decides between a new link and the current one.
    fn weigh(&mut self, link: Established) {
        let Some(current) = &self.current else {
            return self.adopt(link);
        };
        if link.incarnation != current.incarnation {
            self.hub.tally.links_replaced.bump();
            self.give_up();
            return self.adopt(link);
        }
        self.hub.tally.links_superseded.bump();
        if !link.claim.beats(&current.claim) {
            let (patience, _) = watch::channel(Some(self.hub.limits.drain));
            self.spawn(link, None, patience);
            return;
        }
        // A link that the peer has lost brings nothing that is not here already.
        let is_lost = link.claim.lost == Some(current.claim.session);
        let patience = if is_lost { LOST_PATIENCE } else { self.hub.limits.drain };
        current.patience.send_replace(Some(patience));
        self.give_up();
        self.adopt(link);
    }

    /// Makes a link the current one.
    fn adopt(&mut self, link: Established) {
        self.dialling = None;
        self.backoff = None;
        self.hub.tally.links_made.bump();
        let (incarnation, claim) = (link.incarnation, link.claim);
        if self.last.is_some_and(|last| last.0 != incarnation) {
            // The old process is gone; what it may have left unread is nobody's.
            self.links.abort_all();
        }
        let after = self.last.filter(|last| last.0 == incarnation).map(|last| last.1);
        self.last = Some((incarnation, claim.session));
        self.hub.sessions.add(self.state.id, Arc::clone(&link.session));
        self.state.set_route(Some(Route {
            session: Arc::clone(&link.session),
            address: link.address,
            round_trip: link.round_trip,
        }));
        self.state.set_refused(false);
        let (patience, _) = watch::channel(None);
        let task = self.spawn(link, after, patience.clone());
        self.current = Some(Current { task, patience, claim, incarnation });
    }

    fn spawn(
        &mut self,
        link: Established,
        after: Option<SessionId>,
        patience: watch::Sender<Patience>,
    ) -> AbortHandle {
        let (hub, state) = (Arc::clone(&self.hub), Arc::clone(&self.state));
        self.links.spawn(link::run(hub, state, link, after, patience))
    }

    /// Forgets the current link; its task goes its own way.
    fn give_up(&mut self) {
        if let Some(current) = self.current.take() {
            self.hub.sessions.retire(current.claim.session);
            self.state.set_route(None);
        }
    }

    /// A link's task has ended: if it was the current one, see at once whether the peer is there.
    fn notice_end(&mut self, task: tokio::task::Id) {
        if self.current.as_ref().is_some_and(|current| current.task.id() == task) {
            self.hub.tally.links_lost.bump();
            self.give_up();
            if !self.state.is_blocked() {
                self.begin_dial();
            }
        }
    }

    /// A frame waits and there is no link.
    fn want(&mut self) {
        if self.backoff.is_some_and(|backoff| Instant::now() < backoff.until) {
            let dropped = self.state.queue.clear();
            self.hub.tally.frames_dropped.add(dropped);
        } else {
            self.begin_dial();
        }
    }

    fn begin_dial(&mut self) {
        let now = Instant::now();
        // A few dials may follow each other at once; in the long run they keep their distance.
        let due = self.next_dial_due.map_or(now, |due| due.max(now));
        let earliest = due.checked_sub(DIALS_APART * DIALS_AT_ONCE).map_or(now, |at| at.max(now));
        self.next_dial_due = Some(due + DIALS_APART);
        let (hub, state) = (Arc::clone(&self.hub), Arc::clone(&self.state));
        let lost = self.last.map(|last| last.1);
        self.dialling = Some(Box::pin(dial(hub, state, lost, earliest)));
    }

    async fn conclude(&mut self, outcome: Dialled) {
        self.dialling = None;
        match outcome {
            Dialled::Linked(link) => self.adopt(*link),
            Dialled::Refused { covers } => self.bury(covers).await,
            Dialled::Failed(error) => self.back_off(&error),
        }
    }

    /// Nobody is there: what was handed over before the dial is lost, and the driver hears of it.
    async fn bury(&mut self, covers: Ticket) {
        self.hub.tally.dials_refused.bump();
        self.state.set_refused(true);
        self.backoff = None;
        let dropped = self.state.queue.discard_up_to(covers);
        self.hub.tally.frames_dropped.add(dropped);
        self.tell(Incoming::Gone { peer: self.state.id, ticket: covers }).await;
    }

    fn back_off(&mut self, error: &DialError) {
        self.hub.tally.dials_failed.bump();
        // It was there to be asked, or nothing is known: either way not what a refusal says.
        self.state.set_refused(false);
        match error {
            DialError::Refused(refusal) => count_refusal(&self.hub, *refusal),
            DialError::Closed | DialError::Handshake(_) => self.hub.tally.handshakes_failed.bump(),
            DialError::Lookup(_) | DialError::Connect(_) | DialError::Silent => {}
        }
        let dropped = self.state.queue.clear();
        self.hub.tally.frames_dropped.add(dropped);
        let limits = &self.hub.limits;
        let span = self.backoff.map_or(limits.backoff_min, |last| last.span * 2);
        let span = span.min(limits.backoff_max);
        self.backoff = Some(Backoff { until: Instant::now() + with_jitter(span), span });
        if let Some(held_back) = self.state.warning.pass() {
            tracing::warn!(
                peer = %self.state.id, address = self.state.address, %error, dropped, held_back,
                "cannot reach a peer"
            );
        }
    }

    /// Looks at what was asked of this task.
    async fn attend(&mut self) {
        if self.state.take_overflow()
            && let Some(current) = &self.current
        {
            current.task.abort();
            self.give_up();
        }
        if let Some(current) = &self.current {
            self.hub.meet(&self.state, current.incarnation).await;
        }
    }

    async fn tell(&mut self, incoming: Incoming) {
        if !self.state.is_blocked() {
            // A driver that has ended hears nothing more, and the tasks end with the transport.
            let _ = self.hub.incoming.send(incoming).await;
        }
    }
}

/// Waits for a dial; for ever if there is none.
async fn poll(dialling: &mut Option<Pin<Box<dyn Future<Output = Dialled> + Send>>>) -> Dialled {
    match dialling {
        Some(dialling) => dialling.await,
        None => std::future::pending().await,
    }
}

/// Half of the span, and a random part of the other half: peers must not return in step.
fn with_jitter(span: Duration) -> Duration {
    let chance = getrandom::u32().unwrap_or(u32::MAX / 2);
    span / 2 + (span / 2).mul_f64(f64::from(chance) / f64::from(u32::MAX))
}

/// A dead peer on the same machine refuses in microseconds; this keeps a busy sender from
/// dialling in a loop.
const DIALS_APART: Duration = Duration::from_millis(1);
/// An election that begins because of a refused dial asks that peer once more, and should not wait.
const DIALS_AT_ONCE: u32 = 4;
const LOST_PATIENCE: Duration = Duration::from_millis(50);
