//! What super-peers say to each other, and what they wait for.
//!
//! Whatever is of an inner algorithm carries the level of its group, but for the lowest.

use minicbor::{Decode, Encode};

use super::inner;
use crate::group::GroupNumber;
use crate::membership::{NodeId, NodeSet};
use crate::reorganization;

/// What nodes say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// Of the election in the peer group.
    #[n(0)]
    Home(#[n(0)] inner::Message),
    /// Of the election in a group above.
    #[n(1)]
    Above {
        /// At which level.
        #[n(0)]
        level: u8,
        /// What it says.
        #[n(1)]
        message: inner::Message,
    },
    /// Of the hand-over in a group above.
    #[n(2)]
    HandOver {
        /// At which level.
        #[n(0)]
        level: u8,
        /// What it says.
        #[n(1)]
        message: reorganization::Message,
    },
    /// The coordinator has selected these super-peers.
    #[n(3)]
    Selected {
        /// At which level.
        #[n(0)]
        level: u8,
        /// The group that it coordinates.
        #[n(1)]
        group: GroupNumber,
        /// Whom.
        #[n(2)]
        super_peers: NodeSet,
    },
    /// The sender has a seat at this level; who has those of the addressee's group?
    #[n(4)]
    Enrol {
        /// At which level.
        #[n(0)]
        level: u8,
        /// All that its group has selected, the sender among them.
        #[n(1)]
        holders: NodeSet,
    },
    /// Who has the seats, as far as the sender knows.
    #[n(5)]
    Enrolled {
        /// At which level.
        #[n(0)]
        level: u8,
        /// Whom its group has selected.
        #[n(1)]
        holders: NodeSet,
        /// Whether the sender has one of them, and knows of the asker from here on.
        #[n(2)]
        is_holder: bool,
    },
    /// This one should know.
    #[n(6)]
    Refer {
        /// At which level.
        #[n(0)]
        level: u8,
        /// Whom to ask.
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
    /// The time for which a group must have stood before its super-peer takes its seat.
    Settle(u8),
    /// The wait for those who should know who has the other seats.
    Enrol(u8),
    /// The time between two tellings of a selection.
    Tell(u8),
}
