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
    k / "k": K {
        /// One: the coordinator.
        #[default] One = "1",
        /// The coordinator and the next in rank.
        Two = "2",
        /// The coordinator and the next two.
        Three = "3",
        /// The coordinator and the next three.
        Four = "4",
    },
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
    min / "min": Min {
        /// Two: no node is alone in its group.
        #[default] Two = "2",
        /// Any size.
        One = "1",
        /// Three.
        Three = "3",
        /// Four.
        Four = "4",
        /// Eight.
        Eight = "8",
        /// Sixteen.
        Sixteen = "16",
    },
    /// How many configured nodes a group has at most; a larger one is split.
    max / "max": Max {
        /// Sixteen.
        #[default] Sixteen = "16",
        /// Two.
        Two = "2",
        /// Three.
        Three = "3",
        /// Four.
        Four = "4",
        /// Six.
        Six = "6",
        /// Eight.
        Eight = "8",
        /// Thirty-two.
        ThirtyTwo = "32",
        /// Sixty-four.
        SixtyFour = "64",
    },
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

impl K {
    /// The number.
    #[must_use]
    pub const fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Three => 3,
            Self::Four => 4,
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

impl Min {
    /// The number.
    #[must_use]
    pub const fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Three => 3,
            Self::Four => 4,
            Self::Eight => 8,
            Self::Sixteen => 16,
        }
    }
}

impl Max {
    /// The number.
    #[must_use]
    pub const fn count(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Three => 3,
            Self::Four => 4,
            Self::Six => 6,
            Self::Eight => 8,
            Self::Sixteen => 16,
            Self::ThirtyTwo => 32,
            Self::SixtyFour => 64,
        }
    }
}
