//! The messages of the expanding ring search.

use minicbor::{Decode, Encode};

use super::leadership::Beat;
use crate::group::GroupNumber;
use crate::trace::Contents;

/// The messages of the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// A candidacy; flooded.
    #[n(0)]
    Election {
        /// The candidate, and the number of its election.
        #[n(0)]
        number: GroupNumber,
        /// How many links this crosses at most.
        #[n(1)]
        ttl: u32,
        /// How many it has crossed when it arrives.
        #[n(2)]
        hops: u32,
    },
    /// A better node exists; goes back the way that the flood came.
    #[n(1)]
    Answer {
        /// The candidacy that it answers.
        #[n(0)]
        number: GroupNumber,
        /// The group of the answering node, if it leads.
        #[n(1)]
        leader: Option<GroupNumber>,
    },
    /// A leader's heartbeat; flooded.
    #[n(2)]
    Beat(#[n(0)] Beat),
}

impl Message {
    /// What a trace says of it beyond its kind.
    pub(super) fn contents(&self) -> Contents {
        match self {
            Self::Election { number, ttl, .. } => {
                Contents { hops_max: Some(*ttl), ..Contents::candidate(number.node) }
            }
            Self::Answer { number, leader } => {
                let coordinator = leader.map(|group| group.node);
                Contents { coordinator, ..Contents::source(number.node) }
            }
            Self::Beat(beat) => Contents::coordinator(beat.group.node),
        }
    }
}
