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
//! The side that dialled a link makes a new one when it is old, or rests on another key than the
//! one in use; the two are weighed as any two links are, and no frame is lost.
//!
//! An accepted link ends a dial of ours that is still going on: the dialler may walk away until it
//! has written its first record, and the other side then never counts it as a link. Two links that
//! both became links are weighed by [`Claim`], the same way on both sides.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use super::Incoming;
use super::admission::{explain, explain_identity};
use super::claim::Claim;
use super::dial::{DialError, Dialled, dial};
use super::fallback;
use super::handshake::{Refusal, Refused};
use super::handshake_thread::HandshakeTask;
use super::hub::{Hub, PeerState, Route};
use super::link::{self, Closes, Established, Retired, Retirement};
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
    dialling: Option<HandshakeTask<Dialled>>,
    next_dial_due: Option<Instant>,
    backoff: Option<Backoff>,
    /// The process and session that we had last.
    last: Option<(u64, SessionId)>,
}

/// The link that frames are written to.
struct Current {
    task: AbortHandle,
    retirement: Retirement,
    claim: Claim,
    incarnation: u64,
    /// When a link that this side dialled is to be replaced by one with new keys.
    rekey_at: Option<Instant>,
}

/// For how long the peer is left alone.
#[derive(Clone, Copy)]
struct Backoff {
    until: Instant,
    span: Duration,
}

enum PeerEvent {
    Arrived(Established),
    Ended(tokio::task::Id),
    Dialled(Dialled),
    Wanted,
    Attention,
    RekeyDue,
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
                PeerEvent::Arrived(link) => self.weigh(link),
                PeerEvent::Ended(task) => self.notice_end(task),
                PeerEvent::Dialled(outcome) => self.conclude(outcome).await,
                PeerEvent::Wanted => self.want(),
                PeerEvent::Attention => self.attend().await,
                PeerEvent::RekeyDue => self.rekey(),
            }
        }
    }

    async fn next(&mut self) -> PeerEvent {
        let is_idle = self.current.is_none() && self.dialling.is_none();
        let rekey_at = self.current.as_ref().and_then(|current| current.rekey_at);
        let rekey_at = rekey_at.filter(|_| self.dialling.is_none());
        // In this order: an end is seen before the frame that would be written to a dead link.
        tokio::select! {
            biased;
            Some(link) = self.arrivals.recv() => PeerEvent::Arrived(link),
            Some(ended) = self.links.join_next_with_id(), if !self.links.is_empty() => {
                PeerEvent::Ended(ended.map_or_else(|error| error.id(), |(id, ())| id))
            }
            () = self.state.attention.notified() => PeerEvent::Attention,
            outcome = poll(&mut self.dialling), if self.dialling.is_some() => {
                PeerEvent::Dialled(outcome)
            }
            () = self.state.queue.wanted(), if is_idle => PeerEvent::Wanted,
            () = until(rekey_at), if rekey_at.is_some() => PeerEvent::RekeyDue,
        }
    }

    /// Decides between a new link and the current one.
    fn weigh(&mut self, link: Established) {
        let Some(current) = &self.current else {
            return self.adopt(link);
        };
        if link.incarnation != current.incarnation {
            self.hub.counters.links_replaced.bump();
            self.give_up();
            return self.adopt(link);
        }
        self.hub.counters.links_superseded.bump();
        if !link.claim.beats(&current.claim) {
            let closes = self.closes(&current.claim);
            let retired = Retired { patience: self.hub.limits.drain, closes };
            let (retirement, _) = watch::channel(Some(retired));
            self.spawn(link, None, retirement);
            return;
        }
        // A link that the peer has lost brings nothing that is not here already.
        let is_lost = link.claim.lost == Some(current.claim.session);
        let is_ours = link.claim.dialler == self.hub.me;
        let patience = if is_lost && !is_ours { LOST_PATIENCE } else { self.hub.limits.drain };
        let closes = self.closes(&link.claim);
        current.retirement.send_replace(Some(Retired { patience, closes }));
        self.give_up();
        self.adopt(link);
    }

    /// When the loser of two links is closed: the side that dialled the winner has it first, and
    /// waits until the other side has it too.
    fn closes(&self, winner: &Claim) -> Closes {
        if winner.dialler == self.hub.me { Closes::AfterPeer } else { Closes::Now }
    }

    /// Makes a link the current one.
    fn adopt(&mut self, link: Established) {
        self.dialling = None;
        self.backoff = None;
        self.hub.counters.links_made.bump();
        let (incarnation, claim) = (link.incarnation, link.claim);
        let is_ours = claim.dialler == self.hub.me;
        let rekey_at = is_ours.then(|| Instant::now() + self.hub.limits.rekey);
        if self.last.is_some_and(|last| last.0 != incarnation) {
            // The old process is gone; what it may have left unread is lost.
            self.links.abort_all();
        }
        let after = self.last.filter(|last| last.0 == incarnation).map(|last| last.1);
        self.last = Some((incarnation, claim.session));
        self.hub.sessions.add(self.state.id, Arc::clone(&link.session));
        self.state.set_route(Some(Route {
            session: Arc::clone(&link.session),
            incarnation,
            address: link.address,
            round_trip: link.round_trip,
            key: link.key,
            proof: link.proof,
            own: link.own,
        }));
        self.state.set_refused(false);
        self.state.set_refusal(None);
        self.state.set_refused_here(None);
        self.state.forget_records();
        fallback::remind(&self.hub, &self.state);
        let (retirement, _) = watch::channel(None);
        let task = self.spawn(link, after, retirement.clone());
        self.current = Some(Current { task, retirement, claim, incarnation, rekey_at });
        // The keys may have changed since its handshake began.
        self.state.attention.notify_one();
    }

    fn spawn(
        &mut self,
        link: Established,
        after: Option<SessionId>,
        retirement: Retirement,
    ) -> AbortHandle {
        let (hub, state) = (Arc::clone(&self.hub), Arc::clone(&self.state));
        self.links.spawn(link::run(hub, state, link, after, retirement))
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
            self.hub.counters.links_lost.bump();
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
            self.hub.counters.frames_dropped.add(dropped);
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
        let handshakes = self.hub.handshakes.clone();
        self.dialling = Some(HandshakeTask::spawn(&handshakes, dial(hub, state, lost, earliest)));
    }

    async fn conclude(&mut self, outcome: Dialled) {
        self.dialling = None;
        match outcome {
            Dialled::Linked(link) => match &self.current {
                None => self.adopt(*link),
                Some(current) if current.incarnation == link.incarnation => {
                    self.hub.counters.links_rekeyed.bump();
                    self.weigh(*link);
                }
                // Another process answers at the peer's address: the one that is linked stays.
                Some(_) => self.go_without_rekey(),
            },
            // The link that is there is well; only its successor did not come about.
            Dialled::Refused { .. } | Dialled::Failed(_) if self.current.is_some() => {
                self.go_without_rekey();
            }
            Dialled::Refused { covers } => self.mark_refused(covers).await,
            Dialled::Failed(error) => self.back_off(&error).await,
        }
    }

    /// Makes a link with new keys, which takes the place of the current one on both sides: of two
    /// links that one side dialled the later stays, and one that the dialler has given up goes.
    fn rekey(&mut self) {
        let Some(current) = &mut self.current else { return };
        if self.dialling.is_some() {
            return;
        }
        current.rekey_at = None;
        let is_ours = current.claim.dialler == self.hub.me;
        let lost = (!is_ours).then_some(current.claim.session);
        let (hub, state) = (Arc::clone(&self.hub), Arc::clone(&self.state));
        let handshakes = self.hub.handshakes.clone();
        self.dialling =
            Some(HandshakeTask::spawn(&handshakes, dial(hub, state, lost, Instant::now())));
    }

    /// A link with new keys did not come about: the old one goes on for a while, unless its key is
    /// no longer accepted.
    fn go_without_rekey(&mut self) {
        let pause = (self.hub.limits.rekey / 60).max(self.hub.limits.backoff_min);
        let (Some(current), Some(route)) = (&mut self.current, self.state.route()) else { return };
        if self.hub.secrets().keyring.find(route.key).is_some() {
            current.rekey_at = Some(Instant::now() + pause);
        } else {
            self.close("its key was removed, and no link with another key could be made");
        }
    }

    /// Closes the current link, and sees whether there can be another.
    fn close(&mut self, why: &'static str) {
        if let Some(current) = &self.current {
            tracing::warn!(peer = self.state.name, "closed a link: {why}");
            current.task.abort();
            self.give_up();
            self.begin_dial();
        }
    }

    /// No process listens there: what was handed over before the dial is lost, and the driver is
    /// told.
    async fn mark_refused(&mut self, covers: Ticket) {
        self.hub.counters.dials_refused.bump();
        self.state.set_refused(true);
        self.state.set_refusal(None);
        self.state.set_refused_here(None);
        self.backoff = None;
        let dropped = self.state.queue.discard_up_to(covers);
        self.hub.counters.frames_dropped.add(dropped);
        self.tell(Incoming::Gone { peer: self.state.id, ticket: covers }).await;
    }

    async fn back_off(&mut self, error: &DialError) {
        self.hub.counters.dials_failed.bump();
        // It was there to be asked, or nothing is known: either way not what a refusal says.
        self.state.set_refused(false);
        let mut refusal = None;
        match error {
            DialError::Refused(refused) => {
                count_refusal(&self.hub, refused.reason);
                self.hub.counters.refused_by_peers.bump();
                refusal = Some(explain(&self.hub, self.state.id, refused));
            }
            DialError::Identity(error) => {
                self.hub.counters.refused_identity.bump();
                self.state.set_refused_here(Some(explain_identity(&error.to_string())));
            }
            DialError::Closed | DialError::Handshake(_) => {
                self.hub.counters.handshakes_failed.bump()
            }
            DialError::Lookup(_) | DialError::Connect(_) | DialError::Silent => {}
        }
        self.state.set_refusal(refusal.clone());
        let dropped = self.state.queue.clear();
        self.hub.counters.frames_dropped.add(dropped);
        let limits = &self.hub.limits;
        let span = self.backoff.map_or(limits.backoff_min, |last| last.span * 2);
        let span = span.min(limits.backoff_max);
        self.backoff = Some(Backoff { until: Instant::now() + with_jitter(span), span });
        let address = &self.state.address;
        match (refusal, self.state.warning.pass()) {
            (_, None) => {}
            (Some(why), Some(held_back)) => {
                let (peer, why) = (&self.state.name, why.text);
                tracing::error!(%peer, address, dropped, held_back, "{peer} refuses a link: {why}");
            }
            (None, Some(held_back)) => {
                let peer = &self.state.name;
                tracing::warn!(%peer, address, %error, dropped, held_back, "cannot reach a peer");
            }
        }
        if let DialError::Refused(Refused { reason: Refusal::Twin, detail }) = error {
            let detail = detail.clone();
            self.tell(Incoming::Twin { peer: self.state.id, detail }).await;
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
        self.look_at_keys();
    }

    /// Whether the current link still rests on keys that count, and on those in use.
    fn look_at_keys(&mut self) {
        let (Some(current), Some(route)) = (&self.current, self.state.route()) else { return };
        let secrets = self.hub.secrets();
        let shown = route.session.remote_identity();
        let proof = shown.map(|shown| secrets.identities.prove(self.state.id, shown));
        let Some(Ok(proof)) = proof else {
            return self.close("the peer's identity is no longer accepted");
        };
        if proof != route.proof {
            self.state.set_proof(proof);
        }
        // Whose key a link has, the dialling side decides; what a node shows, the node itself.
        let is_ours = current.claim.dialler == self.hub.me;
        let is_removed = secrets.keyring.find(route.key).is_none();
        let is_other_key = is_ours && secrets.keyring.active().id() != route.key;
        let is_old = is_ours && self.state.has_many_records();
        let is_other_self = secrets.identities.own().public() != route.own;
        if is_removed || is_other_key || is_old || is_other_self {
            self.rekey();
        }
    }

    async fn tell(&mut self, incoming: Incoming) {
        if !self.state.is_blocked() {
            // A driver that has stopped receives nothing more, and the tasks end with the
            // transport.
            let _ = self.hub.incoming.send(incoming).await;
        }
    }
}

/// Waits for a dial; without one, until something else happens.
async fn poll(dialling: &mut Option<HandshakeTask<Dialled>>) -> Dialled {
    match dialling {
        Some(dialling) => dialling.await,
        None => std::future::pending().await,
    }
}

/// Waits for a moment; without one, until something else happens.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
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
