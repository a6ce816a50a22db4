//! How nodes reach their neighbours without knowing them: by broadcast, one hop far.
//!
//! ```text
//! driver --broadcast--> one datagram per interface ---> all nodes in reach       sealed
//! driver --send-------> the same, with an addressee --> the others ignore it
//! driver <--Incoming-- packets of neighbours that have answered a question of ours
//! ```
//!
//! There are no links: nothing is retransmitted, order is not guaranteed, and there is never
//! evidence that a node is gone. Forwarding to nodes further away is the protocol's own business.
//! A process with the group's key and a configured id may send; everything else is dropped and
//! counted. A packet that is replayed is refused (`neighbour.rs`).
//!
//! Leaves out: frames longer than one datagram, and interfaces that appear while the node runs.

mod antenna;
mod neighbour;
#[doc(hidden)]
pub mod offline;
mod packet;
mod seal;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tanist_core::Time;
use tanist_core::membership::NodeId;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use self::antenna::Antenna;
pub use self::antenna::{AntennaError, Antennas, Cast, CastError, Interfaces, Reach};
use self::neighbour::{Neighbour, Reaction, Said};
use self::packet::{Body, Kind, PACKET_MAX, PAYLOAD_MAX, Packet, PacketError};
use self::seal::{IncarnationId, Seal};
use super::Throttle;
use super::counters::{Cells, Counters};
use super::session::SealError;
use super::{GROUP_NAME_MAX, Incoming, PeerView, StartError};
use crate::clock;
use crate::key::Keyring;
use crate::panics::guarded;

/// Who a node is and whom it may hear.
#[derive(Clone, Debug)]
pub struct RadioConfig {
    /// This node.
    pub me: NodeId,
    /// The name of the group.
    pub group: Arc<str>,
    /// The keys that the group shares: packets are sealed with the first, and opened with any.
    pub keyring: Keyring,
    /// The other nodes.
    pub peers: Vec<NodeId>,
    /// A node that was silent for this long is no neighbour any more.
    pub suspect_after: Duration,
}

/// All that one node says and hears on its interfaces. Dropping it closes them.
#[derive(Debug)]
pub struct Radio {
    station: Arc<Station>,
    // Dropping the set ends its tasks, and with them their sockets.
    _tasks: JoinSet<()>,
}

impl Radio {
    /// Says that the node is there and begins to hear, with tasks on the current runtime. What is
    /// heard goes to `incoming`; what finds no room there is dropped and counted.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, and on one without its I/O driver.
    pub fn start(
        config: RadioConfig,
        antennas: Antennas,
        incoming: mpsc::Sender<Incoming>,
    ) -> Result<Self, StartError> {
        if config.group.len() > GROUP_NAME_MAX {
            return Err(StartError::GroupName { length: config.group.len() });
        }
        let incarnation = IncarnationId::new().map_err(StartError::Incarnation)?;
        let greeting = getrandom::u64().map_err(StartError::Incarnation)?;
        let seal = Seal::new(config.keyring.active(), &config.group, config.me, incarnation);
        let now = clock::now();
        let mut neighbours: BTreeMap<NodeId, Neighbour> =
            config.peers.iter().map(|peer| (*peer, Neighbour::default())).collect();
        neighbours.remove(&config.me);
        for neighbour in neighbours.values_mut() {
            // Every node that receives the greeting answers it, and is known from then on.
            neighbour.greet(now, greeting);
        }
        let body = Body::new(Kind::Ask, None, greeting, &[]);
        let bytes = packet::encode(&seal, config.me, incarnation, 0, &body);
        let antennas = antennas.greet(&bytes.expect("a question fits into a packet"))?;
        let mut sockets = Vec::new();
        for antenna in &antennas {
            let socket = antenna.socket.try_clone().map_err(StartError::Sockets)?;
            sockets.push(UdpSocket::from_std(socket).map_err(StartError::Sockets)?);
        }
        let station = Arc::new(Station {
            config,
            incarnation,
            seal,
            sequence: AtomicU64::new(1),
            antennas,
            neighbours: Mutex::new(neighbours),
            incoming,
            counters: Cells::default(),
            warning: Throttle::default(),
        });
        let mut tasks = JoinSet::new();
        for (at, socket) in sockets.into_iter().enumerate() {
            tasks.spawn(guarded(listen(Arc::clone(&station), at, socket)));
        }
        Ok(Self { station, _tasks: tasks })
    }

    /// Broadcasts a frame to all nodes in reach. Never waits.
    pub fn broadcast(&mut self, id: u64, payload: &[u8]) {
        self.station.say(Kind::Frame, None, id, payload);
    }

    /// Says a frame that only one node takes, if it is in reach. Never waits.
    pub fn send(&mut self, to: NodeId, id: u64, payload: &[u8]) {
        self.station.say_to(Kind::Frame, to, id, payload);
    }

    /// Sends a heartbeat that only one node accepts, if it is in reach.
    pub fn send_datagram(&mut self, to: NodeId, payload: &[u8]) {
        self.station.say_to(Kind::Datagram, to, 0, payload);
    }

    /// Asks a node whether it is in reach, which shows in [`Self::peers`] when it answers.
    pub fn probe(&mut self, to: NodeId) {
        let fresh = self.station.fresh();
        let asked = self.station.lock().get_mut(&to).map(|of| of.ask(clock::now(), fresh));
        if let Some(number) = asked {
            self.station.say_to(Kind::Ask, to, number, &[]);
        }
    }

    /// A socket of this node. That it is held has no effect: nothing is ever refused here.
    pub fn hold_port(&self) -> io::Result<OwnedFd> {
        let first = self.station.antennas.first().ok_or(io::ErrorKind::NotConnected)?;
        first.socket.try_clone().map(OwnedFd::from)
    }

    /// All counters, as they are.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.station.counters.snapshot()
    }

    /// What is known of each configured node, in order of id. One that was heard lately counts as
    /// connected; its address is where it was heard from.
    #[must_use]
    pub fn peers(&self) -> Vec<PeerView> {
        let (now, suspect_after) = (clock::now(), self.station.config.suspect_after);
        let neighbours = self.station.lock();
        let view = |(id, of): (&NodeId, &Neighbour)| PeerView {
            id: *id,
            address: of.place.clone().unwrap_or_default(),
            is_connected: of.is_near(now, suspect_after),
            is_refused: false,
            heard: of.heard,
            is_blocked: of.is_blocked,
            refusal: None,
            refused_here: None,
            differences: Vec::new(),
            told: None,
            key: None,
            proof: None,
            version: None,
            round_trip: of.round_trip.filter(|_| of.is_near(now, suspect_after)),
            datagrams_in: None,
            datagrams_out: None,
            bytes_out: 0,
            bytes_in: of.bytes_in,
        };
        neighbours.iter().map(view).collect()
    }

    /// For experiments: discards everything to and from these nodes, in addition to those that are
    /// blocked already. Broadcasts still go out, and are discarded where they are received.
    pub fn block(&mut self, peers: &[NodeId]) {
        let mut neighbours = self.station.lock();
        for peer in peers {
            if let Some(of) = neighbours.get_mut(peer) {
                of.is_blocked = true;
            }
        }
    }

    /// Ends what [`Self::block`] began.
    pub fn unblock_all(&mut self) {
        self.station.lock().values_mut().for_each(|of| of.is_blocked = false);
    }
}

/// What the tasks of one node share. Its lock is held for a few instructions and never across an
/// await.
#[derive(Debug)]
struct Station {
    config: RadioConfig,
    incarnation: IncarnationId,
    seal: Seal,
    sequence: AtomicU64,
    antennas: Vec<Antenna>,
    neighbours: Mutex<BTreeMap<NodeId, Neighbour>>,
    incoming: mpsc::Sender<Incoming>,
    counters: Cells,
    warning: Throttle,
}

impl Station {
    fn say_to(&self, kind: Kind, to: NodeId, number: u64, payload: &[u8]) {
        match self.lock().get(&to).map(|of| of.is_blocked) {
            Some(false) => {}
            Some(true) => return self.counters.discarded_blocked.bump(),
            None => return self.counters.refused_unknown_peer.bump(),
        }
        self.say(kind, Some(to), number, payload);
    }

    fn say(&self, kind: Kind, to: Option<NodeId>, number: u64, payload: &[u8]) {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let body = Body::new(kind, to, number, payload);
        match packet::encode(&self.seal, self.config.me, self.incarnation, sequence, &body) {
            Ok(bytes) => self.transmit(kind, &bytes),
            Err(SealError::Exhausted) => self.counters.datagrams_dropped.bump(),
            Err(SealError::TooLong) => {
                self.counters.refused_too_long.bump();
                if let Some(held_back) = self.warning.pass() {
                    tracing::warn!(
                        length = payload.len(),
                        held_back,
                        "a message is longer than the {PAYLOAD_MAX} bytes that fit into one packet, \
                         so it is not sent; a smaller group has shorter messages"
                    );
                }
            }
        }
    }

    fn transmit(&self, kind: Kind, bytes: &[u8]) {
        let mut is_out = false;
        for antenna in &self.antennas {
            // An interface that is down, or has no room, loses the packet; so may the air.
            match antenna.send(bytes) {
                Ok(length) => {
                    is_out = true;
                    self.counters.datagrams_out.bump();
                    self.counters.bytes_out.add(length);
                }
                Err(error) => {
                    self.counters.datagrams_dropped.bump();
                    tracing::debug!(interface = antenna.interface, %error, "nothing was sent");
                }
            }
        }
        if is_out && kind == Kind::Frame {
            self.counters.frames_out.bump();
        }
    }

    /// Takes what came in on an interface.
    fn take(&self, bytes: &[u8], from: SocketAddr, interface: &str) {
        self.receive(bytes, (from, interface), (clock::now(), self.fresh()), |kind, to, number| {
            self.say_to(kind, to, number, &[]);
        });
    }

    /// The same at a given time, with the number of a new question, and with what becomes of the
    /// replies.
    fn receive(
        &self,
        bytes: &[u8],
        (from, interface): (SocketAddr, &str),
        (now, fresh): (Time, u64),
        say_to: impl Fn(Kind, NodeId, u64),
    ) {
        let counters = &self.counters;
        let packet = match Packet::decode(bytes) {
            Ok(packet) => packet,
            Err(PacketError::Version) => return counters.refused_version.bump(),
            Err(PacketError::TooLong) => return counters.refused_too_long.bump(),
            Err(PacketError::Short) => return counters.refused_malformed.bump(),
        };
        if packet.sender == self.config.me {
            return self.notice_own_id(&packet);
        }
        let mut neighbours = self.lock();
        let Some(of) = neighbours.get_mut(&packet.sender) else {
            return counters.refused_unknown_peer.bump();
        };
        let opened = match of.seal(packet.incarnation) {
            Some(seal) => packet.open(seal).ok().map(|plaintext| (None, plaintext)),
            None => self.open_new(&packet).map(|(seal, plaintext)| (Some(seal), plaintext)),
        };
        let Some((new, plaintext)) = opened else {
            return counters.refused_seal.bump();
        };
        let Some(body) = Body::decode(&plaintext) else {
            return counters.refused_malformed.bump();
        };
        let Some(kind) = Kind::of(body.kind) else {
            return counters.refused_kind.bump();
        };
        if of.is_blocked {
            return counters.discarded_blocked.bump();
        }
        let is_for_us = body.to.is_none_or(|to| to == self.config.me.0);
        let said = Said { kind, number: body.number, payload: body.payload.to_vec(), is_for_us };
        let packet_of = (packet.incarnation, new, packet.sequence);
        let reaction = of.receive(packet_of, said, now, fresh);
        if reaction.is_replayed {
            return counters.refused_replay.bump();
        }
        of.bytes_in += bytes.len() as u64;
        // An interface may have no address at all.
        of.place = Some(match from.ip() {
            ip if ip.is_unspecified() => format!("on {interface}"),
            ip => format!("{ip} on {interface}"),
        });
        counters.bytes_in.add(bytes.len());
        self.hand_over(packet.sender, &reaction);
        // Other tasks want the lock, and speaking needs it.
        drop(neighbours);
        if let Some(number) = reaction.answer {
            say_to(Kind::Answer, packet.sender, number);
        }
        if let Some(number) = reaction.ask {
            say_to(Kind::Ask, packet.sender, number);
        }
    }

    /// Opens a packet of an incarnation that is not known yet, with whichever key it was sealed.
    fn open_new(&self, packet: &Packet<'_>) -> Option<(Seal, Vec<u8>)> {
        let RadioConfig { keyring, group, .. } = &self.config;
        keyring.keys().iter().find_map(|key| {
            let seal = Seal::new(key, group, packet.sender, packet.incarnation);
            let opened = packet.open(&seal).ok()?;
            Some((seal, opened))
        })
    }

    /// Tells the driver, in order: the lock of the neighbours is held meanwhile.
    fn hand_over(&self, peer: NodeId, reaction: &Reaction) {
        let met = reaction
            .met
            .map(|incarnation| Incoming::Met { peer, incarnation: incarnation.short() });
        let said = reaction.take.iter().filter_map(|said| {
            let payload = said.payload.clone();
            match said.kind {
                Kind::Frame => Some(Incoming::Frame { from: peer, id: said.number, payload }),
                Kind::Datagram => Some(Incoming::Datagram { from: peer, payload }),
                Kind::Ask | Kind::Answer => None,
            }
        });
        for incoming in met.into_iter().chain(said) {
            let is_frame = matches!(incoming, Incoming::Frame { .. });
            let is_datagram = matches!(incoming, Incoming::Datagram { .. });
            match self.incoming.try_send(incoming) {
                Ok(()) if is_frame => self.counters.frames_in.bump(),
                Ok(()) if is_datagram => self.counters.datagrams_in.bump(),
                Ok(()) => {}
                Err(_) => self.counters.datagrams_dropped.bump(),
            }
        }
    }

    /// Our own voice comes back from most interfaces; another one's with our id should not.
    fn notice_own_id(&self, packet: &Packet<'_>) {
        if packet.incarnation == self.incarnation {
            return;
        }
        let me = self.config.me;
        if self.open_new(packet).is_none() {
            return self.counters.refused_seal.bump();
        }
        self.counters.refused_own_id.bump();
        if let Some(held_back) = self.warning.pass() {
            tracing::warn!(
                node = %me, held_back,
                "another process sends with this node's id, or an old recording is replayed; if it \
                 continues, look for a second node with the same `node`"
            );
        }
    }

    /// A number by which the answer to a new question is recognised. If the system gives no random
    /// number, one that was not used before is the next best.
    fn fresh(&self) -> u64 {
        getrandom::u64().unwrap_or_else(|_| self.sequence.load(Ordering::Relaxed))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<NodeId, Neighbour>> {
        self.neighbours.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Receives from one interface, until the task is dropped.
async fn listen(station: Arc<Station>, at: usize, socket: UdpSocket) {
    let interface = &station.antennas[at].interface;
    // One byte more than allowed, so that a longer packet shows.
    let mut buffer = [0; PACKET_MAX + 1];
    loop {
        match socket.recv_from(&mut buffer).await {
            Ok((length, from)) => station.take(&buffer[..length], from, interface),
            Err(error) => {
                tracing::debug!(%interface, %error, "cannot hear; trying again");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

const RETRY: Duration = Duration::from_millis(100);
