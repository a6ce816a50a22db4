//! How nodes reach each other.
//!
//! ```text
//! driver --send--> queue --> link (TCP, sealed) -------> peer      one link per pair, on demand
//! driver --send_datagram---> datagram (UDP, sealed) ---> peer      with the keys of the link;
//!                                     over the link where UDP does not pass (carrying.rs)
//! driver <--Incoming-- links, datagrams, and evidence of death
//! ```
//!
//! The transport knows nothing of elections: what it carries are bytes. Frames arrive in the order
//! in which they were handed over, unless their link breaks; then some may be missing. A link that
//! ends is no proof of death, so the transport dials at once to see; only a refused connection
//! becomes [`Incoming::Gone`]. Silence is never evidence here, it is for the detector to judge.
//!
//! Assumes that peers and their addresses are known from the start, and that a process with the
//! group's key may take part. Nothing ticks while nothing happens.

mod admission;
mod carrying;
mod claim;
mod counters;
pub mod datagram;
mod dial;
mod fallback;
pub mod frame;
pub mod greeting;
pub mod handshake;
mod handshake_thread;
mod hub;
pub mod introduction;
mod limits;
mod link;
mod listener;
mod overflow;
mod peer;
pub mod question;
mod queue;
pub mod radio;
mod reading;
pub mod session;
mod sessions;
mod sockets;
mod throttle;
mod unconfirmed;
pub mod version;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tanist_core::Time;
use tanist_core::membership::NodeId;
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use self::carrying::{DatagramPath, Report};
pub use self::counters::Counters;
use self::handshake_thread::{HandshakeTask, HandshakeThread};
use self::hub::Hub;
use self::introduction::{About, Told};
pub use self::limits::Limits;
#[doc(hidden)]
pub use self::link::end_of_record;
use self::peer::Peer;
use self::question::{AnswerSlot, AskError, Question};
use self::queue::Pushed;
pub use self::queue::Ticket;
pub use self::sockets::{BindError, Sockets};
pub use self::throttle::Throttle;
use self::version::Versions;
use crate::key::{GenerateKeyError, GroupKey, Identities, KeyId, Keyring, Proof};
use crate::panics::guarded;
use crate::settings::{Difference, Settings};

/// Who a node is and whom it talks to.
#[derive(Clone, Debug)]
pub struct Config {
    /// This node.
    pub me: NodeId,
    /// The name of the group, at most [`GROUP_NAME_MAX`] bytes.
    pub group: Arc<str>,
    /// The group's keys, and the nodes' own.
    pub secrets: Secrets,
    /// What all nodes of the group must be told alike.
    pub settings: Settings,
    /// The versions of the wire that this node speaks.
    pub versions: Versions,
    /// What it tells its peers about itself.
    pub about: About,
    /// The other nodes, with `host:port`. Names are looked up at each dial.
    pub peers: Vec<(NodeId, String)>,
    /// How much of everything is allowed.
    pub limits: Limits,
}

/// The keys of one node.
#[derive(Clone, Debug)]
pub struct Secrets {
    /// The keys that the group shares.
    pub keyring: Keyring,
    /// This node's own key, and those of its peers.
    pub identities: Identities,
}

impl Secrets {
    /// One group key, and no identities.
    pub fn of(key: GroupKey) -> Result<Self, GenerateKeyError> {
        Ok(Self { keyring: Keyring::of(key), identities: Identities::unconfigured()? })
    }
}

/// What the transport tells its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A frame over the link.
    Frame {
        /// Who sent it; the handshake vouches for it.
        from: NodeId,
        /// The sender's number for it.
        id: u64,
        /// What it carries.
        payload: Vec<u8>,
    },
    /// A datagram, or the link carried it because datagrams do not arrive.
    Datagram {
        /// Who sent it.
        from: NodeId,
        /// What it carries.
        payload: Vec<u8>,
    },
    /// No process listens there: a connection was refused that was tried after the frame with this
    /// ticket had been handed over. All frames up to it are lost, or were taken before the death.
    /// It says nothing about later frames; those cause a dial of their own.
    Gone {
        /// Who is gone.
        peer: NodeId,
        /// The last frame handed over before the dial began; the default if there was none.
        ticket: Ticket,
    },
    /// The peer's process is another one than before, or this is the first contact. Comes before
    /// the frames of that process.
    Met {
        /// Who it is.
        peer: NodeId,
        /// Which process of it: a random number that it chose when it started.
        incarnation: u64,
    },
    /// The peer has a link with another process that has this node's id, and that answers.
    Twin {
        /// Who says so.
        peer: NodeId,
        /// Where the other process is, as the peer tells it.
        detail: String,
    },
}

/// What is known about the way to one peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PeerView {
    /// Who it is.
    pub id: NodeId,
    /// Where it should be.
    pub address: String,
    /// Whether there is a link.
    pub is_connected: bool,
    /// Whether the last dial was refused: no process listens there.
    pub is_refused: bool,
    /// When something came from it last, on the boot-time clock.
    pub heard: Option<Time>,
    /// Whether it is blocked for an experiment.
    pub is_blocked: bool,
    /// Why it gives this node no link although it is there and has the right key.
    pub refusal: Option<String>,
    /// Why this node gave it no link although it has the right key, if it asked within the last
    /// minute.
    pub refused_here: Option<String>,
    /// What it and this node were told differently, if one of the two refuses the other for that.
    pub differences: Vec<Difference>,
    /// What it told about itself when it was last met; nothing from a release that does not.
    pub told: Option<Told>,
    /// The group key of the link.
    pub key: Option<KeyId>,
    /// What it has proven about itself.
    pub proof: Option<Proof>,
    /// The version of the wire on the link.
    pub version: Option<u8>,
    /// How long the way there and back took: the link's handshake, or the last echo.
    pub round_trip: Option<Duration>,
    /// Whether its datagrams arrive here; none without a link, and if none was due for a minute.
    pub datagrams_in: Option<DatagramPath>,
    /// Whether this node's datagrams arrive there, as it tells; none as above.
    pub datagrams_out: Option<DatagramPath>,
    /// Bytes of frames written to it, seals included.
    pub bytes_out: u64,
    /// Bytes of frames read from it, seals included.
    pub bytes_in: u64,
}

/// All links and datagrams of one node. Dropping it closes them.
#[derive(Debug)]
pub struct Transport {
    hub: Arc<Hub>,
    port: OwnedFd,
    // Dropping the set ends its tasks, and with them their sockets.
    _tasks: JoinSet<()>,
    _handshakes: HandshakeThread,
}

impl Transport {
    /// Starts listening, with tasks on the current runtime. What comes in goes to `incoming`; a
    /// driver that does not drain it holds up the links, and datagrams are dropped.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, and on one without its I/O and time drivers.
    pub fn start(
        config: Config,
        sockets: Sockets,
        incoming: mpsc::Sender<Incoming>,
    ) -> Result<Self, StartError> {
        if config.group.len() > GROUP_NAME_MAX {
            return Err(StartError::GroupName { length: config.group.len() });
        }
        let incarnation = getrandom::u64().map_err(StartError::Incarnation)?;
        let port = OwnedFd::from(sockets.tcp.try_clone().map_err(StartError::Sockets)?);
        let udp = UdpSocket::from_std(sockets.udp).map_err(StartError::Sockets)?;
        let handshakes = HandshakeThread::open(format!("tanist-{}-shake", config.me))
            .map_err(StartError::HandshakeThread)?;
        let tcp = {
            let _entered = handshakes.handle().enter();
            TcpListener::from_std(sockets.tcp).map_err(StartError::Sockets)?
        };
        let handle = handshakes.handle().clone();
        let (hub, arrivals) = Hub::new(config, incarnation, udp, handle, incoming);
        let hub = Arc::new(hub);
        let mut tasks = JoinSet::new();
        for (state, arrivals) in hub.peers.values().zip(arrivals) {
            let peer = Peer::new(Arc::clone(&hub), Arc::clone(state), arrivals);
            tasks.spawn(guarded(peer.run()));
        }
        let listening =
            HandshakeTask::spawn(handshakes.handle(), listener::listen(Arc::clone(&hub), tcp));
        tasks.spawn(guarded(listening));
        tasks.spawn(guarded(datagram::receive(Arc::clone(&hub))));
        Ok(Self { hub, port, _tasks: tasks, _handshakes: handshakes })
    }

    /// The listening socket once more. While it is held, a dial of this node's port is not
    /// refused, even if the node is dead: its peers take it for silent, not for gone.
    pub fn hold_port(&self) -> io::Result<OwnedFd> {
        self.port.try_clone()
    }

    /// Asks a peer whether it is there, which shows in [`Self::peers`] when it answers. Dials if
    /// there is no link.
    pub fn probe(&mut self, to: NodeId) -> Ticket {
        let number = self.hub.peers.get(&to).map_or(0, |peer| peer.note_asked());
        self.send(to, link::ECHO_ASK, number.to_be_bytes().to_vec())
    }

    /// Asks a peer, which the program there answers; the answer goes to the slot. Dials if there is
    /// no link.
    pub fn ask(&mut self, to: NodeId, bytes: &[u8], slot: AnswerSlot) {
        let Some(peer) = self.hub.peers.get(&to) else {
            // The asking side may have gone.
            let _ = slot.send(Err(AskError::UnknownPeer));
            return;
        };
        if let Some(payload) = peer.asking.ask(bytes, slot) {
            self.send(to, link::ECHO_ASK, payload);
        }
    }

    /// The questions of peers, from here on.
    pub fn questions(&mut self) -> mpsc::Receiver<Question> {
        self.hub.taker.open()
    }

    /// Uses other keys from here on. Links that rest on a key that is gone are made again at once,
    /// and those of this node's dials move to the key in use, without losing a frame.
    pub fn set_secrets(&mut self, secrets: Secrets) {
        self.hub.set_secrets(secrets);
    }

    /// The random number by which peers tell this process from an earlier one.
    #[must_use]
    pub fn incarnation(&self) -> u64 {
        self.hub.incarnation
    }

    /// Hands over a frame. Never waits: a queue without room is dropped together with its link,
    /// and counted. A frame for a stranger is counted and dropped; its ticket is the default.
    pub fn send(&mut self, to: NodeId, id: u64, payload: Vec<u8>) -> Ticket {
        let counters = &self.hub.counters;
        let Some(peer) = self.hub.peers.get(&to) else {
            counters.refused_unknown_peer.bump();
            return Ticket::default();
        };
        if payload.len() > self.hub.limits.frame_max {
            counters.refused_too_long.bump();
            return peer.queue.skip();
        }
        if peer.is_blocked() {
            counters.discarded_blocked.bump();
            return peer.queue.skip();
        }
        let (ticket, pushed) = peer.queue.push(id, payload);
        match pushed {
            Pushed::Queued => {}
            Pushed::Overflowed { dropped } => overflow::note(&self.hub, peer, dropped),
        }
        ticket
    }

    /// Sends a datagram, if there is a link whose keys it can use; else it is dropped and counted.
    /// The link itself carries it if the peer says that datagrams do not arrive.
    pub fn send_datagram(&mut self, to: NodeId, payload: &[u8]) {
        datagram::send(&self.hub, to, payload);
    }

    /// All counters, as they are.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.hub.counters.snapshot()
    }

    /// What is known about the way to each peer, in order of id.
    #[must_use]
    pub fn peers(&self) -> Vec<PeerView> {
        self.hub.peers.values().map(|peer| peer.view(&self.hub.about)).collect()
    }

    /// For experiments: discards everything to and from these peers, silently, in addition to
    /// those that are blocked already. No evidence comes while a peer is blocked.
    pub fn block(&mut self, peers: &[NodeId]) {
        for peer in peers.iter().filter_map(|id| self.hub.peers.get(id)) {
            let discarded = peer.block();
            self.hub.counters.discarded_blocked.add(discarded);
        }
    }

    /// Ends what [`Self::block`] began.
    pub fn unblock_all(&mut self) {
        for peer in self.hub.peers.values() {
            peer.unblock();
        }
    }
}

/// Why a transport did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The name does not fit into a handshake.
    #[error(
        "the group's name has {length} bytes and may have {GROUP_NAME_MAX}, so the node does not \
         start; choose a shorter name"
    )]
    GroupName {
        /// How long it is.
        length: usize,
    },
    /// The system has no randomness to give.
    #[error(
        "the system gave no random bytes ({0}), so the node does not start; try again when the \
         system is up"
    )]
    Incarnation(getrandom::Error),
    /// The thread for handshakes cannot be started.
    #[error(
        "the system gives no thread for connections ({0}), so the node does not start; check the \
         limits of processes and open files (ulimit -u, ulimit -n)"
    )]
    HandshakeThread(io::Error),
    /// The runtime did not take the sockets.
    #[error(
        "the runtime cannot wait for the node's sockets ({0}), so the node does not start; check \
         the limit of open files (ulimit -n)"
    )]
    Sockets(io::Error),
    /// Neighbours cannot be reached.
    #[error(transparent)]
    Antenna(#[from] radio::AntennaError),
}

/// The longest name of a group, in bytes.
pub const GROUP_NAME_MAX: usize = 255;
