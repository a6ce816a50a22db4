//! Tokens: the messages that go round a ring, and the label that identifies each.

use alloc::vec::Vec;

use minicbor::{Decode, Encode};

use super::hirschberg_sinclair::reach;
use crate::group::Counter;
use crate::membership::{Direction, NodeId, NodeSet};
use crate::trace::{Contents, Kind, MessageFacts};

/// A message that goes round the ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Token {
    /// Chang and Roberts: the best candidate so far.
    #[n(0)]
    Election {
        /// The number of the election.
        #[n(0)]
        number: Counter,
        /// The candidate; all nodes know its attribute.
        #[n(1)]
        candidate: NodeId,
        /// How often it was passed on unchanged.
        #[n(2)]
        hops: u32,
        /// Whether the candidate leads, and keeps that.
        #[n(3)]
        #[cbor(default)]
        leads: bool,
    },
    /// Chang and Roberts: the winner.
    #[n(1)]
    Elected {
        /// The number of the election.
        #[n(0)]
        number: Counter,
        /// The winner.
        #[n(1)]
        winner: NodeId,
        /// The nodes that have passed this on.
        #[n(2)]
        told: NodeSet,
        /// Whether the winner led before, and kept that.
        #[n(3)]
        #[cbor(default)]
        leads: bool,
    },
    /// List rings, first round: every node appends its name.
    #[n(2)]
    List {
        /// The number of the election.
        #[n(0)]
        number: Counter,
        /// The initiator.
        #[n(1)]
        initiator: NodeId,
        /// The nodes that have passed it on, in this order, the initiator first.
        #[n(2)]
        names: Vec<NodeId>,
        /// The highest of them that leads, and keeps that.
        #[n(3)]
        leader: Option<NodeId>,
    },
    /// List rings, second round: the winner.
    #[n(3)]
    Coordinator {
        /// The number of the election.
        #[n(0)]
        number: Counter,
        /// The node that it comes back to: the initiator, or the node that adopted its message.
        #[n(1)]
        owner: NodeId,
        /// The winner.
        #[n(2)]
        winner: NodeId,
        /// The list of the first round, in a ring whose result carries it.
        #[n(3)]
        names: Vec<NodeId>,
        /// The nodes that have passed this on.
        #[n(4)]
        told: NodeSet,
        /// The initiator of the list.
        #[n(5)]
        initiator: NodeId,
        /// The highest of the list that led before, and kept that.
        #[n(6)]
        leader: Option<NodeId>,
    },
    /// Active-list ring: a name.
    #[n(4)]
    Elect {
        /// The number of the election.
        #[n(0)]
        number: Counter,
        /// The node that it is about.
        #[n(1)]
        node: NodeId,
        /// How many the sender has sent to the receiver before it.
        #[n(2)]
        place: u32,
        /// Whether that node leads, and keeps that.
        #[n(3)]
        #[cbor(default)]
        leads: bool,
    },
    /// Hirschberg and Sinclair: is this candidate the highest within so many hops?
    #[n(5)]
    Probe {
        /// The number of the election.
        #[n(0)]
        number: Counter,
        /// The candidate; all nodes know its attribute.
        #[n(1)]
        candidate: NodeId,
        /// The probe of this phase goes 2^phase hops.
        #[n(2)]
        phase: u32,
        /// How many of them are left, the one to the receiver included.
        #[n(3)]
        left: u32,
        /// Which way round it goes.
        #[n(4)]
        direction: Direction,
        /// Whether the candidate leads, and keeps that.
        #[n(5)]
        leads: bool,
    },
    /// Hirschberg and Sinclair: the reply, the other way round.
    #[n(6)]
    Okay {
        /// The number of the election.
        #[n(0)]
        number: Counter,
        /// The candidate that it goes to.
        #[n(1)]
        candidate: NodeId,
        /// The phase of the probe.
        #[n(2)]
        phase: u32,
        /// Which way round the probe went.
        #[n(3)]
        direction: Direction,
        /// Whether the candidate leads, and keeps that.
        #[n(4)]
        leads: bool,
    },
}

/// What identifies a token among others on the same link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Label {
    /// Which kind of token.
    #[n(0)]
    pub kind: u8,
    /// The number of the election.
    #[n(1)]
    pub number: Counter,
    /// The node that it is about.
    #[n(2)]
    pub owner: NodeId,
    /// How far it has come, or its place on the link.
    #[n(3)]
    pub hops: u32,
}

impl Token {
    /// What an acknowledgement echoes.
    #[must_use]
    pub fn label(&self) -> Label {
        match self {
            Self::Election { number, candidate, hops, .. } => {
                Label { kind: 0, number: *number, owner: *candidate, hops: *hops }
            }
            Self::Elected { number, winner, told, .. } => {
                let hops = u32::try_from(told.len()).unwrap_or(u32::MAX);
                Label { kind: 1, number: *number, owner: *winner, hops }
            }
            Self::Elect { number, node, place, .. } => {
                Label { kind: 4, number: *number, owner: *node, hops: *place }
            }
            Self::List { number, initiator, names, .. } => {
                let hops = u32::try_from(names.len()).unwrap_or(u32::MAX);
                Label { kind: 2, number: *number, owner: *initiator, hops }
            }
            Self::Coordinator { number, owner, told, .. } => {
                let hops = u32::try_from(told.len()).unwrap_or(u32::MAX);
                Label { kind: 3, number: *number, owner: *owner, hops }
            }
            // Probes of several phases may be on one link, and in a ring of two nodes those of both
            // directions.
            Self::Probe { number, candidate, phase, left, direction, .. } => {
                let hops = reach(*phase).saturating_mul(2).saturating_sub(*left);
                let kind = if *direction == Direction::Onward { 5 } else { 6 };
                Label { kind, number: *number, owner: *candidate, hops }
            }
            Self::Okay { number, candidate, phase, direction, .. } => {
                let kind = if *direction == Direction::Onward { 7 } else { 8 };
                Label { kind, number: *number, owner: *candidate, hops: *phase }
            }
        }
    }

    /// Which way round it goes.
    pub(super) const fn direction(&self) -> Direction {
        match self {
            Self::Probe { direction, .. } => *direction,
            Self::Okay { direction, .. } => direction.opposite(),
            Self::Election { .. }
            | Self::Elected { .. }
            | Self::List { .. }
            | Self::Coordinator { .. }
            | Self::Elect { .. } => Direction::Onward,
        }
    }

    pub(super) fn facts(&self) -> MessageFacts {
        let about = |kind, group| MessageFacts::new(kind, Some(group), None);
        match self {
            Self::Election { number, candidate, .. } => {
                about(Kind::Election, number.group(*candidate))
            }
            Self::Probe { number, candidate, .. } => {
                about(Kind::Election, number.group(*candidate))
            }
            Self::Okay { number, candidate, .. } => about(Kind::Okay, number.group(*candidate)),
            Self::Elected { number, winner, .. } => about(Kind::Elected, number.group(*winner)),
            Self::List { number, initiator, .. } => about(Kind::Election, number.group(*initiator)),
            Self::Elect { number, node, .. } => about(Kind::Elect, number.group(*node)),
            Self::Coordinator { number, winner, .. } => {
                about(Kind::Coordinator, number.group(*winner))
            }
        }
    }

    /// What a trace says of it beyond that: the list as the sender sends it on, or the node that it
    /// is about. A result without a list says which nodes have passed it on.
    pub(super) fn contents(&self) -> Contents {
        match self {
            Self::Election { candidate, .. } | Self::Okay { candidate, .. } => {
                Contents::candidate(*candidate)
            }
            Self::Probe { candidate, left, .. } => {
                Contents { hops_max: Some(*left), ..Contents::candidate(*candidate) }
            }
            Self::Elected { winner, .. } => Contents::coordinator(*winner),
            Self::List { names, .. } => Contents::list(names.iter().copied()),
            Self::Elect { node, .. } => Contents::candidate(*node),
            Self::Coordinator { winner, names, told, .. } => {
                let told = if names.is_empty() { told.clone() } else { NodeSet::new() };
                Contents { list: names.clone(), told, ..Contents::coordinator(*winner) }
            }
        }
    }
}
