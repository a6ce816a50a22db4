//! The messages of the invitation algorithm.

use minicbor::{Decode, Encode};

use super::Standing;
use crate::group::GroupNumber;
use crate::membership::{NodeId, NodeSet};
use crate::payload::Report;

/// The messages of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// Does the receiver coordinate a group?
    #[n(0)]
    AreYouCoordinator {
        /// How the coordinator compares with others, if that matters.
        #[n(0)]
        standing: Option<Standing>,
    },
    /// Whether the sender coordinates a group.
    #[n(1)]
    AycAnswer {
        /// The sender is Normal and its own coordinator.
        #[n(0)]
        is_coordinator: bool,
        /// The node that the sender follows if it does not coordinate (I-26).
        #[n(1)]
        coordinator: NodeId,
        /// How the coordinator compares with others, if that matters.
        #[n(2)]
        standing: Option<Standing>,
    },
    /// Is the sender still a member of the receiver's group?
    #[n(2)]
    AreYouThere {
        /// The sender's group.
        #[n(0)]
        group: GroupNumber,
    },
    /// Whether the asking node is a member.
    #[n(3)]
    AytAnswer {
        /// Echoed.
        #[n(0)]
        group: GroupNumber,
        /// Whether the asking node is a member of that group.
        #[n(1)]
        ok: bool,
    },
    /// The receiver is invited into this group.
    #[n(4)]
    Invitation {
        /// Its number; its coordinator is the number's node.
        #[n(0)]
        group: GroupNumber,
        /// How the coordinator compares with others, if that matters.
        #[n(1)]
        standing: Option<Standing>,
    },
    /// The sender has stopped its application and joins.
    #[n(5)]
    Accept {
        /// The group that it joins.
        #[n(0)]
        group: GroupNumber,
        /// What the application handed up.
        #[n(1)]
        report: Report,
        /// Old members to whom the invitation was passed on.
        #[n(2)]
        forwarded: NodeSet,
    },
    /// Whether the Accept was in time.
    #[n(6)]
    AcceptAnswer {
        /// Echoed (E-25).
        #[n(0)]
        group: GroupNumber,
        /// Whether the sender is a member.
        #[n(1)]
        ok: bool,
    },
}
