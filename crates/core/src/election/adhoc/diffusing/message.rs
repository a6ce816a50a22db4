//! The messages of the diffusing computation.

use minicbor::{Decode, Encode};

use crate::election::adhoc::leadership::Beat;
use crate::group::GroupNumber;
use crate::trace::Contents;

/// The messages of the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// A greeting: which nodes are in reach?
    #[n(0)]
    Hello {
        /// Whether this is an answer.
        #[n(0)]
        is_answer: bool,
        /// The leader that the sender follows.
        #[n(1)]
        leader: Option<GroupNumber>,
    },
    /// The receiver is asked to take part in a computation.
    #[n(1)]
    Election {
        /// The computation: its source, and the source's counter.
        #[n(0)]
        index: GroupNumber,
    },
    /// The answer: all that the sender asked have answered, or another node asked it first.
    #[n(2)]
    Ack {
        /// The computation.
        #[n(0)]
        index: GroupNumber,
        /// The best node below the sender, if the receiver is its parent.
        #[n(1)]
        best: Option<GroupNumber>,
    },
    /// The winner of a computation.
    #[n(3)]
    Leader {
        /// The computation.
        #[n(0)]
        index: GroupNumber,
        /// Its group.
        #[n(1)]
        group: GroupNumber,
    },
    /// Is the receiver still in reach?
    #[n(4)]
    Probe {
        /// The computation.
        #[n(0)]
        index: GroupNumber,
        /// Whether the sender waits for an ack; a child that waits for the result does not.
        #[n(1)]
        awaits_ack: bool,
    },
    /// The sender is in reach.
    #[n(5)]
    Reply {
        /// The computation.
        #[n(0)]
        index: GroupNumber,
        /// Whether the sender takes part in it.
        #[n(1)]
        takes_part: bool,
    },
    /// A leader's heartbeat; flooded.
    #[n(6)]
    Beat(#[n(0)] Beat),
}

impl Message {
    /// What a trace says of it beyond its kind.
    pub(super) fn contents(&self) -> Contents {
        match self {
            Self::Hello { leader, .. } => {
                let coordinator = leader.map(|leader| leader.node);
                Contents { coordinator, ..Contents::default() }
            }
            Self::Election { index } | Self::Probe { index, .. } | Self::Reply { index, .. } => {
                Contents::source(index.node)
            }
            Self::Ack { index, best } => {
                let candidate = best.map(|best| best.node);
                Contents { candidate, ..Contents::source(index.node) }
            }
            Self::Leader { index, group } => {
                Contents { coordinator: Some(group.node), ..Contents::source(index.node) }
            }
            Self::Beat(beat) => Contents::coordinator(beat.group.node),
        }
    }
}
