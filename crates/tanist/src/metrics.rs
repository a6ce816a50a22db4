//! What a node counts about itself.

use std::collections::BTreeMap;

use serde::Serialize;
use tanist_core::trace::Kind;

use crate::driver::Network;
use crate::transport::{Counters, PeerView};

/// Counts since the node started, and what it knows of its peers.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Metrics {
    /// Elections of its own that it began.
    pub elections: u64,
    /// Messages sent, by kind.
    pub sent: BTreeMap<&'static str, u64>,
    /// Messages received, by kind.
    pub received: BTreeMap<&'static str, u64>,
    /// Frames that were no message.
    pub undecodable: u64,
    /// Messages that were dropped because of a counter that no honest node can have reached.
    pub refused_counters: u64,
    /// Group numbers that are on disk for the next elections.
    pub numbers_reserved: u64,
    /// How often such numbers could not be put on disk.
    pub reservations_failed: u64,
    /// How often a closed or refused connection told that a peer is dead.
    pub refusals: u64,
    /// How often the driver woke up.
    pub wakes: u64,
    /// What the transport counts.
    pub transport: Counters,
    /// The peers, as the transport sees them.
    pub peers: Vec<PeerView>,
}

impl Metrics {
    pub(crate) fn sent(&mut self, kind: Kind) {
        *self.sent.entry(kind.name()).or_default() += 1;
    }

    pub(crate) fn received(&mut self, kind: Kind) {
        *self.received.entry(kind.name()).or_default() += 1;
    }

    pub(crate) fn read(&self, network: &Network, numbers_reserved: u64) -> Self {
        let (transport, peers) = (network.counters(), network.peers());
        Self { transport, peers, numbers_reserved, ..self.clone() }
    }
}
