//! The messages and timers of super-peers.
//!
//! Those of an inner algorithm carry the level of their group, except at the lowest level.

use minicbor::{Decode, Encode};

use super::inner;
use crate::group::GroupNumber;
use crate::membership::{NodeId, NodeSet};
use crate::reorganization;

/// The messages of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// Of the election in the peer group.
    #[n(0)]
    Home(#[n(0)] inner::Message),
    /// Of the election in a group above.
    #[n(1)]
    Above {
        /// The level.
        #[n(0)]
        level: u8,
        /// The inner message.
        #[n(1)]
        message: inner::Message,
    },
    /// Of the hand-over in a group above.
    #[n(2)]
    HandOver {
        /// The level.
        #[n(0)]
        level: u8,
        /// The inner message.
        #[n(1)]
        message: reorganization::Message,
    },
    /// The coordinator has selected these super-peers.
    #[n(3)]
    Selected {
        /// The level.
        #[n(0)]
        level: u8,
        /// The group that it coordinates.
        #[n(1)]
        group: GroupNumber,
        /// The super-peers.
        #[n(2)]
        super_peers: NodeSet,
    },
    /// The sender has a seat at this level, and asks for the holders of the receiver's group.
    #[n(4)]
    Enrol {
        /// The level.
        #[n(0)]
        level: u8,
        /// All nodes that its group has selected, the sender among them.
        #[n(1)]
        holders: NodeSet,
    },
    /// The holders of the seats of its group, as far as the sender knows.
    #[n(5)]
    Enrolled {
        /// The level.
        #[n(0)]
        level: u8,
        /// The nodes that its group has selected.
        #[n(1)]
        holders: NodeSet,
        /// Whether the sender is one of them, and has recorded the asking node.
        #[n(2)]
        is_holder: bool,
    },
    /// Refers to a node that should know the holders.
    #[n(6)]
    Refer {
        /// The level.
        #[n(0)]
        level: u8,
        /// The node to ask.
        #[n(1)]
        to: NodeId,
    },
}

/// Timers, named for what they end; the number is the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// Of the election in the peer group.
    Home(inner::Timer),
    /// Of the election in a group above.
    Above(u8, inner::Timer),
    /// Of the hand-over in a group above.
    HandOver(u8),
    /// The time for which a group must have existed before its super-peer takes its seat.
    Settle(u8),
    /// The wait for answers about the holders of the other seats.
    Enrol(u8),
    /// The time between two announcements of a selection.
    Tell(u8),
}
