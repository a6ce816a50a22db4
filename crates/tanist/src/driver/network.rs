//! The network of a node: links to all others, or broadcasts to its neighbours.
//!
//! The driver says what is sent and to which node; only here does it matter which of the two a node
//! has. With links every node is linked to every other, so a broadcast reaches all others.

use std::io;
use std::os::fd::OwnedFd;

use tanist_core::NodeId;
use tokio::sync::mpsc;

use crate::transport::question::{AnswerSlot, AskError, Question};
use crate::transport::radio::Radio;
use crate::transport::{Counters, PeerView, Secrets, Ticket, Transport};

/// The network of a node.
#[derive(Debug)]
pub(crate) enum Network {
    /// One link per pair.
    Links(Transport),
    /// Broadcasts, one hop far.
    Radio(Radio),
}

impl Network {
    /// Hands over a message for one node. A radio never gives evidence, so its tickets are all the
    /// same.
    pub(super) fn send(&mut self, to: NodeId, id: u64, payload: Vec<u8>) -> Ticket {
        match self {
            Self::Links(links) => links.send(to, id, payload),
            Self::Radio(radio) => {
                radio.send(to, id, &payload);
                Ticket::default()
            }
        }
    }

    /// Hands over a message for all nodes in reach; gives the tickets of those that are known.
    pub(super) fn broadcast(&mut self, id: u64, payload: &[u8]) -> Vec<(NodeId, Ticket)> {
        match self {
            Self::Links(links) => {
                let peers: Vec<NodeId> = links.peers().iter().map(|peer| peer.id).collect();
                let send = |peer| (peer, links.send(peer, id, payload.to_vec()));
                peers.into_iter().map(send).collect()
            }
            Self::Radio(radio) => {
                radio.broadcast(id, payload);
                Vec::new()
            }
        }
    }

    pub(super) fn send_datagram(&mut self, to: NodeId, payload: &[u8]) {
        match self {
            Self::Links(links) => links.send_datagram(to, payload),
            Self::Radio(radio) => radio.send_datagram(to, payload),
        }
    }

    pub(super) fn probe(&mut self, to: NodeId) -> Ticket {
        match self {
            Self::Links(links) => links.probe(to),
            Self::Radio(radio) => {
                radio.probe(to);
                Ticket::default()
            }
        }
    }

    /// Asks a peer something that is not of the protocol.
    pub(super) fn ask(&mut self, to: NodeId, question: &[u8], slot: AnswerSlot) {
        match self {
            Self::Links(links) => links.ask(to, question, slot),
            // The asking side may have gone.
            Self::Radio(_) => drop(slot.send(Err(AskError::NoLinks))),
        }
    }

    /// The questions of peers, from here on; by radio there are none.
    pub(super) fn questions(&mut self) -> mpsc::Receiver<Question> {
        match self {
            Self::Links(links) => links.questions(),
            Self::Radio(_) => mpsc::channel(1).1,
        }
    }

    pub(super) fn hold_port(&self) -> io::Result<OwnedFd> {
        match self {
            Self::Links(links) => links.hold_port(),
            Self::Radio(radio) => radio.hold_port(),
        }
    }

    pub(super) fn block(&mut self, peers: &[NodeId]) {
        match self {
            Self::Links(links) => links.block(peers),
            Self::Radio(radio) => radio.block(peers),
        }
    }

    /// Uses other keys. Packets of a radio go on with those that it was started with.
    pub(super) fn set_secrets(&mut self, secrets: Secrets) {
        match self {
            Self::Links(links) => links.set_secrets(secrets),
            Self::Radio(_) => {
                tracing::warn!("with [radio] other keys count from the next start on");
            }
        }
    }

    pub(super) fn unblock_all(&mut self) {
        match self {
            Self::Links(links) => links.unblock_all(),
            Self::Radio(radio) => radio.unblock_all(),
        }
    }

    /// What is counted.
    pub(crate) fn counters(&self) -> Counters {
        match self {
            Self::Links(links) => links.counters(),
            Self::Radio(radio) => radio.counters(),
        }
    }

    /// What is known of every other node.
    pub(crate) fn peers(&self) -> Vec<PeerView> {
        match self {
            Self::Links(links) => links.peers(),
            Self::Radio(radio) => radio.peers(),
        }
    }
}
