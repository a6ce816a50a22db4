//! What all tasks of one transport share.
//!
//! Locks are held for a few instructions and never across an await.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tanist_core::Time;
use tanist_core::membership::NodeId;
use tokio::net::UdpSocket;
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore, mpsc};

use super::admission::Why;
use super::carrying::Carrying;
use super::counters::{Cell, Cells};
use super::introduction::{About, Heard, Introduction};
use super::limits::Limits;
use super::link::Established;
use super::question::{Asking, Taker};
use super::queue::Queue;
use super::reading::Reading;
use super::session::Session;
use super::sessions::Sessions;
use super::throttle::Throttle;
use super::unconfirmed::Unconfirmed;
use super::version::Versions;
use super::{Config, Incoming, PeerView, Secrets};
use crate::clock;
use crate::key::{KeyId, Proof, PublicKey};
use crate::settings::Settings;

/// The common ground of a transport's tasks.
#[derive(Debug)]
pub(super) struct Hub {
    pub(super) me: NodeId,
    pub(super) group: Arc<str>,
    pub(super) settings: Settings,
    pub(super) versions: Versions,
    pub(super) about: About,
    pub(super) limits: Limits,
    pub(super) incarnation: u64,
    pub(super) udp: UdpSocket,
    pub(super) incoming: mpsc::Sender<Incoming>,
    pub(super) peers: BTreeMap<NodeId, Arc<PeerState>>,
    pub(super) sessions: Sessions,
    pub(super) counters: Cells,
    /// Places for accepted connections.
    pub(super) places: Arc<Semaphore>,
    /// For what strangers do at our port.
    pub(super) warning: Throttle,
    /// Where handshakes and dials are done.
    pub(super) handshakes: Handle,
    /// Where questions of peers go.
    pub(super) taker: Taker,
    secrets: Mutex<Arc<Secrets>>,
    is_ipv6: bool,
    dials: AtomicU64,
}

impl Hub {
    /// The hub, and where each peer's task hears of accepted links, in order of id.
    pub(super) fn new(
        config: Config,
        incarnation: u64,
        udp: UdpSocket,
        handshakes: Handle,
        incoming: mpsc::Sender<Incoming>,
    ) -> (Self, Vec<mpsc::Receiver<Established>>) {
        let Config { me, group, secrets, settings, versions, about, peers, limits } = config;
        let addresses: BTreeMap<NodeId, String> =
            peers.into_iter().filter(|(id, _)| *id != me).collect();
        let mut states = BTreeMap::new();
        let mut arrivals = Vec::new();
        for (id, address) in addresses {
            let (sender, receiver) = mpsc::channel(limits.links_per_peer_max.max(1));
            let called = Called { id, name: settings.names.of(id).to_string() };
            states.insert(id, Arc::new(PeerState::new(called, address, &limits, sender)));
            arrivals.push(receiver);
        }
        let hub = Self {
            me,
            group,
            settings,
            versions,
            about,
            handshakes,
            taker: Taker::default(),
            secrets: Mutex::new(Arc::new(secrets)),
            incarnation,
            is_ipv6: udp.local_addr().is_ok_and(|address| address.is_ipv6()),
            udp,
            incoming,
            peers: states,
            sessions: Sessions::new(limits.linger),
            counters: Cells::default(),
            places: Arc::new(Semaphore::new(limits.connections_max)),
            warning: Throttle::default(),
            dials: AtomicU64::new(0),
            limits,
        };
        (hub, arrivals)
    }

    /// Tells the driver of a peer's process, unless it knows or the peer is blocked.
    pub(super) async fn meet(&self, peer: &PeerState, incarnation: u64) {
        if peer.has_met(incarnation) {
            return;
        }
        // A driver that has stopped receives nothing more, and the tasks end with the transport.
        let Ok(place) = self.incoming.reserve().await else { return };
        if !peer.is_blocked() && peer.note_met(incarnation) {
            place.send(Incoming::Met { peer: peer.id, incarnation });
        }
    }

    /// The keys as they are at the moment.
    pub(super) fn secrets(&self) -> Arc<Secrets> {
        Arc::clone(&self.secrets.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Uses other keys from here on; the tasks of the peers see to their links.
    pub(super) fn set_secrets(&self, secrets: Secrets) {
        *self.secrets.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(secrets);
        for peer in self.peers.values() {
            peer.attention.notify_one();
        }
    }

    /// The address in the family of our socket: one that takes both families writes the older
    /// kind of address in the newer way.
    pub(super) fn datagram_address(&self, address: SocketAddr) -> SocketAddr {
        match address.ip() {
            IpAddr::V4(ip) if self.is_ipv6 => {
                SocketAddr::new(IpAddr::V6(ip.to_ipv6_mapped()), address.port())
            }
            IpAddr::V4(_) | IpAddr::V6(_) => address,
        }
    }

    /// Where this node listens, unless that is everywhere.
    pub(super) fn listening_ip(&self) -> Option<IpAddr> {
        let address = self.udp.local_addr().ok()?;
        Some(address.ip()).filter(|ip| !ip.is_unspecified())
    }

    /// The number of the next dial of this process.
    pub(super) fn next_dial(&self) -> u64 {
        self.dials.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// What all tasks know about one peer.
#[derive(Debug)]
pub(super) struct PeerState {
    pub(super) id: NodeId,
    /// What people call it.
    pub(super) name: String,
    pub(super) address: String,
    pub(super) queue: Queue,
    pub(super) reading: Reading,
    pub(super) unconfirmed: Unconfirmed,
    pub(super) arrivals: mpsc::Sender<Established>,
    /// Tells the peer's task to look at the flags.
    pub(super) attention: Notify,
    pub(super) warning: Throttle,
    /// For what is wrong with a peer that has the right key and is refused here.
    pub(super) refused_warning: Throttle,
    /// Questions to it and of it.
    pub(super) asking: Asking,
    /// For datagrams of the peer that do not arrive here.
    pub(super) missing_in: Throttle,
    /// For datagrams of this node that do not arrive there.
    pub(super) missing_out: Throttle,
    pub(super) bytes_in: Cell,
    pub(super) bytes_out: Cell,
    is_blocked: AtomicBool,
    has_overflowed: AtomicBool,
    has_many_records: AtomicBool,
    is_refused: AtomicBool,
    /// On the boot-time clock, in microseconds; zero if nothing was heard yet.
    heard: AtomicU64,
    asked: AtomicU64,
    echo: Echo,
    route: Mutex<Option<Route>>,
    carrying: Mutex<Carrying>,
    /// Why the peer, which is there and has the right key, gives us no link.
    refusal: Mutex<Option<Why>>,
    /// Why it was given no link here although it has the right key, and when it asked last.
    refused_here: Mutex<Option<(Time, Why)>>,
    /// What it told about itself when it was last met.
    introduction: Mutex<Option<Heard>>,
    /// The process that the driver knows of.
    met: Mutex<Option<u64>>,
}

/// Where datagrams go while there is a link, and what the link rests on.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) session: Arc<Session>,
    pub(super) incarnation: u64,
    pub(super) address: SocketAddr,
    pub(super) round_trip: Duration,
    pub(super) key: KeyId,
    pub(super) proof: Proof,
    /// The key that this node has shown.
    pub(super) own: PublicKey,
}

/// The last question whether the peer is there, and the last answer, by number.
#[derive(Debug, Default)]
struct Echo {
    asked: AtomicU64,
    answered: AtomicU64,
    changed: Notify,
}

/// A peer by its number and its name.
struct Called {
    id: NodeId,
    name: String,
}

impl PeerState {
    fn new(
        called: Called,
        address: String,
        limits: &Limits,
        arrivals: mpsc::Sender<Established>,
    ) -> Self {
        let Called { id, name } = called;
        Self {
            id,
            name,
            address,
            queue: Queue::new(limits),
            reading: Reading::default(),
            unconfirmed: Unconfirmed::default(),
            arrivals,
            attention: Notify::new(),
            warning: Throttle::default(),
            refused_warning: Throttle::default(),
            asking: Asking::default(),
            missing_in: Throttle::default(),
            missing_out: Throttle::default(),
            bytes_in: Cell::default(),
            bytes_out: Cell::default(),
            is_blocked: AtomicBool::new(false),
            has_overflowed: AtomicBool::new(false),
            has_many_records: AtomicBool::new(false),
            is_refused: AtomicBool::new(false),
            heard: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            echo: Echo::default(),
            route: Mutex::default(),
            carrying: Mutex::default(),
            refusal: Mutex::default(),
            refused_here: Mutex::default(),
            introduction: Mutex::default(),
            met: Mutex::default(),
        }
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked.load(Ordering::Relaxed)
    }

    /// Begins to discard; tells how many waiting frames were discarded.
    pub(super) fn block(&self) -> usize {
        self.is_blocked.store(true, Ordering::Relaxed);
        self.queue.clear()
    }

    pub(super) fn unblock(&self) {
        if self.is_blocked.swap(false, Ordering::Relaxed) {
            self.attention.notify_one();
        }
    }

    /// Asks the peer's task to drop the link, since its queue has overflowed.
    pub(super) fn drop_link(&self) {
        self.has_overflowed.store(true, Ordering::Relaxed);
        self.attention.notify_one();
    }

    /// Whether the queue has overflowed since the last call.
    pub(super) fn take_overflow(&self) -> bool {
        self.has_overflowed.swap(false, Ordering::Relaxed)
    }

    /// Tells the peer's task once that the current link has carried enough records.
    pub(super) fn note_records(&self, count: u64, count_max: u64) {
        if count >= count_max && !self.has_many_records.swap(true, Ordering::Relaxed) {
            self.attention.notify_one();
        }
    }

    /// Whether the current link has carried enough records.
    pub(super) fn has_many_records(&self) -> bool {
        self.has_many_records.load(Ordering::Relaxed)
    }

    /// A new link has carried none.
    pub(super) fn forget_records(&self) {
        self.has_many_records.store(false, Ordering::Relaxed);
    }

    /// Something authentic has come from the peer just now.
    pub(super) fn note_heard(&self) {
        self.heard.store(clock::now().as_micros(), Ordering::Relaxed);
    }

    /// The peer is about to be asked whether it is there; the number of the question.
    pub(super) fn note_asked(&self) -> u64 {
        self.asked.store(clock::now().as_micros(), Ordering::Relaxed);
        self.echo.asked.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// It has answered this question: the way to it and back took so long.
    pub(super) fn note_echo(&self, number: u64) {
        // A peer that answers what was never asked gains nothing.
        if number <= self.echo.asked.load(Ordering::Relaxed) {
            self.echo.answered.fetch_max(number, Ordering::Relaxed);
            self.echo.changed.notify_waiters();
        }
        let asked = self.asked.swap(0, Ordering::Relaxed);
        if asked > 0
            && let Some(route) = &mut *self.lock_route()
        {
            let took = clock::now().as_micros().saturating_sub(asked);
            route.round_trip = Duration::from_micros(took);
        }
    }

    /// Waits until this question is answered, or the link with this process is gone: then false.
    pub(super) async fn echoed(&self, number: u64, incarnation: u64) -> bool {
        loop {
            let changed = self.echo.changed.notified();
            let mut changed = std::pin::pin!(changed);
            // Listen before looking, or a change in between would be missed.
            changed.as_mut().enable();
            if self.linked().is_none_or(|(linked, _)| linked != incarnation) {
                return false;
            }
            if self.echo.answered.load(Ordering::Relaxed) >= number {
                return true;
            }
            changed.await;
        }
    }

    /// The peer has proven more, or less, by the list of keys as it is now.
    pub(super) fn set_proof(&self, proof: Proof) {
        if let Some(route) = &mut *self.lock_route() {
            route.proof = proof;
        }
    }

    /// The process that the current link is with, and where it is.
    pub(super) fn linked(&self) -> Option<(u64, SocketAddr)> {
        self.lock_route().as_ref().map(|route| (route.incarnation, route.address))
    }

    /// Notes why there is no link although the peer is there and has the right key.
    pub(super) fn set_refusal(&self, refusal: Option<Why>) {
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = refusal;
    }

    fn refusal(&self) -> Option<Why> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes why this node gives the peer no link; none once it has one, or is gone.
    pub(super) fn set_refused_here(&self, why: Option<Why>) {
        let noted = why.map(|why| (clock::now(), why));
        *self.refused_here.lock().unwrap_or_else(PoisonError::into_inner) = noted;
    }

    /// A peer that asks no more has been stopped or put right; nothing else tells this node so.
    fn refused_here(&self) -> Option<Why> {
        let noted = self.refused_here.lock().unwrap_or_else(PoisonError::into_inner).clone();
        noted.filter(|(at, _)| clock::now() < *at + REFUSED_HERE_FOR).map(|(_, why)| why)
    }

    /// Notes what the peer told about itself; nothing from a release that does not.
    pub(super) fn note_introduction(&self, introduction: Option<Introduction>) {
        let heard = introduction.map(Heard::now);
        *self.introduction.lock().unwrap_or_else(PoisonError::into_inner) = heard;
    }

    /// Whether the last dial was refused, so that no process listens there.
    pub(super) fn set_refused(&self, is_refused: bool) {
        self.is_refused.store(is_refused, Ordering::Relaxed);
    }

    fn has_met(&self, incarnation: u64) -> bool {
        *self.lock_met() == Some(incarnation)
    }

    /// Notes the process that the driver hears of; tells whether it is another one than before.
    fn note_met(&self, incarnation: u64) -> bool {
        self.lock_met().replace(incarnation) != Some(incarnation)
    }

    fn lock_met(&self) -> MutexGuard<'_, Option<u64>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_route(&self, route: Option<Route>) {
        *self.lock_route() = route;
        self.echo.changed.notify_waiters();
    }

    pub(super) fn route(&self) -> Option<Route> {
        self.lock_route().clone()
    }

    /// The port of the configured address, where the peer takes datagrams too.
    pub(super) fn port(&self) -> Option<u16> {
        self.address.rsplit_once(':')?.1.parse().ok()
    }

    /// Which datagrams arrive, and which the link carries.
    pub(super) fn carrying(&self) -> MutexGuard<'_, Carrying> {
        self.carrying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn view(&self, own: &About) -> PeerView {
        let route = self.route();
        let (refusal, refused_here) = (self.refusal(), self.refused_here());
        let why = [&refusal, &refused_here].into_iter().flatten();
        let why = why.map(|why| why.differences.clone()).find(|all| !all.is_empty());
        let differences = why.unwrap_or_default();
        let heard = self.introduction.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let carrying = Some(*self.carrying()).filter(|_| route.is_some());
        let now = clock::now();
        PeerView {
            id: self.id,
            address: self.address.clone(),
            is_connected: route.is_some(),
            is_refused: self.is_refused.load(Ordering::Relaxed),
            heard: Some(self.heard.load(Ordering::Relaxed))
                .filter(|heard| *heard > 0)
                .map(Time::from_micros),
            is_blocked: self.is_blocked(),
            differences,
            refusal: refusal.map(|why| why.text),
            refused_here: refused_here.map(|why| why.text),
            told: heard.map(|heard| heard.told(own)),
            key: route.as_ref().map(|route| route.key),
            proof: route.as_ref().map(|route| route.proof),
            version: route.as_ref().map(|route| route.session.version()),
            round_trip: route.map(|route| route.round_trip),
            datagrams_in: carrying.and_then(|carrying| carrying.inbound(now)),
            datagrams_out: carrying.and_then(|carrying| carrying.outbound(now)),
            bytes_out: self.bytes_out.value(),
            bytes_in: self.bytes_in.value(),
        }
    }

    fn lock_route(&self) -> MutexGuard<'_, Option<Route>> {
        self.route.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For how long a peer that was refused here counts as one that still tries. It tries again within
/// the longest back-off or the period of its checks, both of which are a few seconds.
const REFUSED_HERE_FOR: Duration = Duration::from_secs(60);
