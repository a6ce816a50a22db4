//! The messages of the bully algorithm.

use minicbor::{Decode, Encode};

use crate::group::GroupNumber;
use crate::payload::Report;

/// The messages of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// Is the receiver up?
    #[n(0)]
    AreYouUp {
        /// Whether the receiver should check its own coordinator at once.
        #[n(0)]
        nudge: bool,
    },
    /// The sender is up.
    #[n(1)]
    AyuAnswer {
        /// Whether it leads, and keeps that.
        #[n(0)]
        #[cbor(default)]
        leads: bool,
    },
    /// Is the receiver Normal?
    #[n(2)]
    AreYouNormal,
    /// Whether the sender is Normal, and in which group.
    #[n(3)]
    AynAnswer {
        /// Status = Normal.
        #[n(0)]
        is_normal: bool,
        /// The sender's group.
        #[n(1)]
        group: Option<GroupNumber>,
    },
    /// An election has begun: stop the application.
    #[n(4)]
    EnterElection {
        /// The number that the group would get.
        #[n(0)]
        group: GroupNumber,
        /// Whether the sender appoints itself with the same message (B-41).
        #[n(1)]
        appoints: bool,
        /// Whether it leads, and keeps that.
        #[n(2)]
        #[cbor(default)]
        leads: bool,
    },
    /// The sender has stopped, or refuses because a higher node halted it.
    #[n(5)]
    EeAnswer {
        /// Echoed.
        #[n(0)]
        group: GroupNumber,
        /// Whether it was obeyed.
        #[n(1)]
        ok: bool,
        /// What the application handed up.
        #[n(2)]
        report: Report,
    },
    /// The sender is the coordinator.
    #[n(6)]
    SetCoordinator {
        /// The new group.
        #[n(0)]
        group: GroupNumber,
    },
    /// The sender follows the new coordinator, or refuses.
    #[n(7)]
    ScAnswer {
        /// Echoed.
        #[n(0)]
        group: GroupNumber,
        /// Whether it was obeyed.
        #[n(1)]
        ok: bool,
    },
}
