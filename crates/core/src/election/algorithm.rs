//! The names of the algorithms, and what can be asked of each.

use super::{adhoc, bully, bully_lecture, invitation, ring, super_peer};
use crate::options::OptionInfo;

/// An algorithm's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// Garcia-Molina's bully in the textbook's full version.
    Bully,
    /// The lectures' bully: election, answer, coordinator.
    BullyLecture,
    /// Garcia-Molina's invitation.
    Invitation,
    /// Chang and Roberts' ring.
    RingChangRoberts,
    /// The modified ring: a list, confirmed by the coordinator message.
    RingModified,
    /// The list ring, after Tanenbaum.
    RingList,
    /// The active-list ring.
    RingActiveList,
    /// Rings of broadcasts that widen, for ad-hoc networks.
    AdhocExpandingRing,
    /// Vasudevan, Kurose and Towsley's diffusing computation, for ad-hoc networks.
    AdhocDiffusing,
    /// Super-peers: groups of bounded size, and elections among those whom they select.
    SuperPeer,
}

impl Algorithm {
    /// All that there are.
    pub const ALL: &'static [Self] = &[
        Self::Bully,
        Self::BullyLecture,
        Self::Invitation,
        Self::RingChangRoberts,
        Self::RingModified,
        Self::RingList,
        Self::RingActiveList,
        Self::AdhocExpandingRing,
        Self::AdhocDiffusing,
        Self::SuperPeer,
    ];

    /// The name in scenarios, configuration and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bully => "bully",
            Self::BullyLecture => "bully-lecture",
            Self::Invitation => "invitation",
            Self::RingChangRoberts => "ring-chang-roberts",
            Self::RingModified => "ring-modified",
            Self::RingList => "ring-list",
            Self::RingActiveList => "ring-active-list",
            Self::AdhocExpandingRing => "adhoc-expanding-ring",
            Self::AdhocDiffusing => "adhoc-diffusing",
            Self::SuperPeer => "super-peer",
        }
    }

    /// The algorithm of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }

    /// Whether its coordinator hands a definition to the group, and says who is in it (E-08).
    #[must_use]
    pub const fn hands_over(self) -> bool {
        match self {
            Self::Bully
            | Self::Invitation
            | Self::RingChangRoberts
            | Self::RingModified
            | Self::RingList
            | Self::RingActiveList
            | Self::SuperPeer => true,
            Self::BullyLecture | Self::AdhocExpandingRing | Self::AdhocDiffusing => false,
        }
    }

    /// Whether it is for networks in which a node reaches only those in range (W-01).
    #[must_use]
    pub const fn is_radio(self) -> bool {
        match self {
            Self::AdhocExpandingRing | Self::AdhocDiffusing => true,
            Self::Bully
            | Self::BullyLecture
            | Self::Invitation
            | Self::RingChangRoberts
            | Self::RingModified
            | Self::RingList
            | Self::RingActiveList
            | Self::SuperPeer => false,
        }
    }

    /// Its options.
    #[must_use]
    pub const fn options(self) -> &'static [OptionInfo] {
        match self {
            Self::Bully => bully::OPTIONS,
            Self::BullyLecture => bully_lecture::OPTIONS,
            Self::Invitation => invitation::OPTIONS,
            Self::RingChangRoberts => ring::chang_roberts::OPTIONS,
            Self::RingModified => ring::modified::OPTIONS,
            Self::RingList => ring::list::OPTIONS,
            Self::RingActiveList => ring::active_list::OPTIONS,
            Self::AdhocExpandingRing => adhoc::expanding_ring::OPTIONS,
            Self::AdhocDiffusing => adhoc::diffusing::OPTIONS,
            Self::SuperPeer => super_peer::OPTIONS,
        }
    }
}
