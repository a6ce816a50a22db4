//! What goes round a ring, and what tells one such message from another.

use alloc::vec::Vec;

use minicbor::{Decode, Encode};

use crate::group::Counter;
use crate::membership::{NodeId, NodeSet};
use crate::trace::{Kind, MessageFacts};

/// What goes round the ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Token {
    /// Chang and Roberts: the best candidate so far.
    #[n(0)]
    Election {
        /// Of which election.
        #[n(0)]
        number: Counter,
        /// The candidate; everybody knows its attribute.
        #[n(1)]
        candidate: NodeId,
        /// How often it was passed on unchanged.
        #[n(2)]
        hops: u32,
    },
    /// Chang and Roberts: the winner.
    #[n(1)]
    Elected {
        /// Of which election.
        #[n(0)]
        number: Counter,
        /// Who won.
        #[n(1)]
        winner: NodeId,
        /// Who has passed this on.
        #[n(2)]
        told: NodeSet,
    },
    /// List rings, first round: everybody appends its name.
    #[n(2)]
    List {
        /// Of which election.
        #[n(0)]
        number: Counter,
        /// Who began it.
        #[n(1)]
        initiator: NodeId,
        /// Who has passed it on, in this order, the initiator first.
        #[n(2)]
        names: Vec<NodeId>,
    },
    /// List rings, second round: the winner.
    #[n(3)]
    Coordinator {
        /// Of which election.
        #[n(0)]
        number: Counter,
        /// To whom it comes back: the initiator, or whoever adopted its message.
        #[n(1)]
        owner: NodeId,
        /// Who won.
        #[n(2)]
        winner: NodeId,
        /// The list of the first round, where it is told.
        #[n(3)]
        names: Vec<NodeId>,
        /// Who has passed this on.
        #[n(4)]
        told: NodeSet,
        /// Who began the list.
        #[n(5)]
        initiator: NodeId,
    },
    /// Active-list ring: a name.
    #[n(4)]
    Elect {
        /// Of which election.
        #[n(0)]
        number: Counter,
        /// Whose.
        #[n(1)]
        node: NodeId,
        /// How many the sender has sent to the addressee before it.
        #[n(2)]
        place: u32,
    },
}

/// What tells a token from others on the same link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Label {
    /// Which kind of token.
    #[n(0)]
    pub kind: u8,
    /// Of which election.
    #[n(1)]
    pub number: Counter,
    /// Whose.
    #[n(2)]
    pub owner: NodeId,
    /// How far it has come.
    #[n(3)]
    pub hops: u32,
}

impl Token {
    /// What an acknowledgement echoes.
    #[must_use]
    pub fn label(&self) -> Label {
        match self {
            Self::Election { number, candidate, hops } => {
                Label { kind: 0, number: *number, owner: *candidate, hops: *hops }
            }
            Self::Elected { number, winner, told } => {
                let hops = u32::try_from(told.len()).unwrap_or(u32::MAX);
                Label { kind: 1, number: *number, owner: *winner, hops }
            }
            Self::Elect { number, node, place } => {
                Label { kind: 4, number: *number, owner: *node, hops: *place }
            }
            Self::List { number, initiator, names } => {
                let hops = u32::try_from(names.len()).unwrap_or(u32::MAX);
                Label { kind: 2, number: *number, owner: *initiator, hops }
            }
            Self::Coordinator { number, owner, told, .. } => {
                let hops = u32::try_from(told.len()).unwrap_or(u32::MAX);
                Label { kind: 3, number: *number, owner: *owner, hops }
            }
        }
    }

    pub(super) fn facts(&self) -> MessageFacts {
        let about = |kind, group| MessageFacts { kind, group: Some(group), ok: None };
        match self {
            Self::Election { number, candidate, .. } => {
                about(Kind::Election, number.group(*candidate))
            }
            Self::Elected { number, winner, .. } => about(Kind::Elected, number.group(*winner)),
            Self::List { number, initiator, .. } => about(Kind::Election, number.group(*initiator)),
            Self::Elect { number, node, .. } => about(Kind::Elect, number.group(*node)),
            Self::Coordinator { number, winner, .. } => {
                about(Kind::Coordinator, number.group(*winner))
            }
        }
    }
}
