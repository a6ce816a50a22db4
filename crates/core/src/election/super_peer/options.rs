//! The options of the super-peers.

use crate::options::options;

options! {
    /// Which algorithm elects inside a group, at every level (V-04).
    inner / "inner": Inner {
        /// The textbook's bully.
        #[default] Bully = "bully",
        /// The lectures' bully; one super-peer per group, since the coordinator keeps no list of
        /// members.
        BullyLecture = "bully-lecture",
        /// Invitation.
        Invitation = "invitation",
        /// Chang and Roberts' ring.
        RingChangRoberts = "ring-chang-roberts",
        /// The modified ring.
        RingModified = "ring-modified",
        /// The list ring.
        RingList = "ring-list",
        /// The active-list ring.
        RingActiveList = "ring-active-list",
    },
    /// What makes nodes a group; those without the label are grouped by hash.
    by / "by": By {
        /// The same rack.
        #[default] Rack = "rack",
        /// The same zone.
        Zone = "zone",
        /// A hash of the id.
        Hash = "hash",
    },
    /// How many super-peers a group selects (V-02).
    k / "k": K = [1, 2, 3, 4],
    /// How many super-peers a group selects, as a fraction of its live members, rounded up (V-02).
    ratio / "ratio": Ratio {
        /// As `k` says.
        #[default] Off = "off",
        /// One in sixteen.
        Sixteenth = "1/16",
        /// One in eight.
        Eighth = "1/8",
        /// One in four.
        Quarter = "1/4",
    },
    /// How many configured nodes a group has at least; a smaller one is merged with its neighbour.
    min / "min": Min = [2, 1, 3, 4, 8, 16],
    /// How many configured nodes a group has at most; a larger one is split.
    max / "max": Max = [16, 2, 3, 4, 6, 8, 32, 64],
    /// Whether super-peers of one group are kept apart.
    disperse / "disperse": Disperse {
        /// The highest are taken, wherever they are.
        #[default] Off = "off",
        /// No two of one rack, even if that leaves fewer than k.
        On = "on",
    },
}

impl Options {
    /// How many super-peers a group of this many live members selects at most.
    #[must_use]
    pub fn super_peers(&self, living: usize) -> usize {
        match self.ratio.part() {
            Some(part) => living.div_ceil(part).max(1),
            None => self.k.count(),
        }
    }
}

impl Ratio {
    /// The denominator of the fraction.
    #[must_use]
    pub const fn part(self) -> Option<usize> {
        match self {
            Self::Off => None,
            Self::Sixteenth => Some(16),
            Self::Eighth => Some(8),
            Self::Quarter => Some(4),
        }
    }
}
