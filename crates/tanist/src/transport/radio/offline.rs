//! A radio without interfaces, clock and randomness, so that a test or a fuzzer can be all three.
//!
//! [`Receiver`] is one node that hears; [`Incarnation`] is one process of another node that speaks.
//! What a receiver would say is told instead of sent. Not part of the API.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use tanist_core::Time;
use tanist_core::membership::NodeId;
use tokio::sync::mpsc;

use super::super::counters::{Cells, Counters};
use super::super::throttle::Throttle;
use super::super::{Incoming, session::SealError};
use super::neighbour::Neighbour;
use super::packet::{self, Body, Kind};
use super::seal::{INCARNATION_LENGTH, IncarnationId, Seal};
use super::{RadioConfig, Station};
use crate::key::GroupKey;

/// One node that hears.
#[derive(Debug)]
pub struct Receiver {
    station: Station,
    incoming: mpsc::Receiver<Incoming>,
}

/// What follows from a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// What the driver gets, in order.
    pub incoming: Vec<Incoming>,
    /// The number of the question that is put to the sender.
    pub ask: Option<u64>,
    /// The number of the question that is answered to the sender.
    pub answer: Option<u64>,
}

impl Receiver {
    /// A node that has not heard anything, and has asked nothing.
    #[must_use]
    pub fn new(config: RadioConfig) -> Self {
        let incarnation = IncarnationId([0; INCARNATION_LENGTH]);
        let seal = Seal::new(config.keyring.active(), &config.group, config.me, incarnation);
        let mut neighbours: BTreeMap<NodeId, Neighbour> =
            config.peers.iter().map(|peer| (*peer, Neighbour::default())).collect();
        neighbours.remove(&config.me);
        let (sender, incoming) = mpsc::channel(INCOMING_MAX);
        let station = Station {
            config,
            incarnation,
            seal,
            sequence: AtomicU64::new(1),
            antennas: Vec::new(),
            neighbours: Mutex::new(neighbours),
            incoming: sender,
            counters: Cells::default(),
            warning: Throttle::default(),
        };
        Self { station, incoming }
    }

    /// Hears a packet at this time; a new question, if it leads to one, gets the number `fresh`.
    pub fn receive(&mut self, bytes: &[u8], now: Time, fresh: u64) -> Heard {
        let heard = RefCell::new(Heard::default());
        let from = (SocketAddr::from((Ipv4Addr::LOCALHOST, 1)), "lo");
        self.station.receive(bytes, from, (now, fresh), |kind, _, number| {
            let mut heard = heard.borrow_mut();
            match kind {
                Kind::Ask => heard.ask = Some(number),
                Kind::Answer => heard.answer = Some(number),
                Kind::Frame | Kind::Datagram => {}
            }
        });
        let mut heard = heard.into_inner();
        while let Ok(incoming) = self.incoming.try_recv() {
            heard.incoming.push(incoming);
        }
        heard
    }

    /// All counters, as they are.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.station.counters.snapshot()
    }
}

/// One process of a node that speaks.
#[derive(Debug)]
pub struct Incarnation {
    node: NodeId,
    incarnation: IncarnationId,
    seal: Seal,
}

impl Incarnation {
    /// The process of a node that chose this name.
    #[must_use]
    pub fn new(key: &GroupKey, group: &str, node: NodeId, name: [u8; INCARNATION_LENGTH]) -> Self {
        let incarnation = IncarnationId(name);
        Self { node, incarnation, seal: Seal::new(key, group, node, incarnation) }
    }

    /// The number by which a driver knows it.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.incarnation.short()
    }

    /// A packet with any number and any content, of a known kind or not.
    pub fn say(
        &self,
        sequence: u64,
        kind: u8,
        to: Option<NodeId>,
        (number, payload): (u64, &[u8]),
    ) -> Result<Vec<u8>, SealError> {
        let body = Body { kind, to: to.map(|node| node.0), number, payload };
        packet::encode(&self.seal, self.node, self.incarnation, sequence, &body)
    }

    /// A packet with a body that may be anything.
    pub fn say_nonsense(&self, sequence: u64, body: &[u8]) -> Result<Vec<u8>, SealError> {
        packet::encode_body(&self.seal, self.node, self.incarnation, sequence, body)
    }
}

/// More than one packet can lead to.
const INCOMING_MAX: usize = 64;
