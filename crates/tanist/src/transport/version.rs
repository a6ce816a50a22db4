//! Versions of the wire, so that a group can be upgraded node by node.
//!
//! A node speaks a range of versions. The dialling side says its range, the listening side answers
//! with the highest version that both speak, and the frames and datagrams of the link are of that
//! version. Version 3 exists for tests of upgrades; a release speaks [`Versions::RELEASED`].
//!
//! | version | frames | datagrams |
//! |---|---|---|
//! | 2 | with the group's name | first byte 2 |
//! | 3 | without it: the handshake has checked it | first byte 3 |

use std::fmt;

/// The versions that a node speaks, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The oldest.
    pub min: u8,
    /// The newest.
    pub max: u8,
}

impl Versions {
    /// What a release speaks.
    pub const RELEASED: Self = Self { min: 2, max: 2 };
    /// What this code can be told to speak.
    pub const KNOWN: Self = Self { min: 2, max: 3 };

    /// The highest version of both ranges.
    #[must_use]
    pub fn common(self, other: Self) -> Option<u8> {
        let newest = self.max.min(other.max);
        (newest >= self.min.max(other.min)).then_some(newest)
    }

    /// Whether this version is one of them.
    #[must_use]
    pub const fn includes(self, version: u8) -> bool {
        self.min <= version && version <= self.max
    }

    /// Reads `2` or `2..3`, within what this code knows.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (min, max) = text.split_once("..").unwrap_or((text, text));
        let (min, max) = (min.parse().ok()?, max.parse().ok()?);
        let is_known = Self::KNOWN.min <= min && min <= max && max <= Self::KNOWN.max;
        is_known.then_some(Self { min, max })
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { min, max } = self;
        if min == max { write!(f, "{min}") } else { write!(f, "{min} to {max}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn range(min: u8, max: u8) -> Versions {
        Versions { min, max }
    }

    #[test]
    fn the_highest_common_version_is_used_whoever_dials() {
        for (one, other, common) in [
            (range(2, 2), range(2, 3), Some(2)),
            (range(2, 3), range(2, 3), Some(3)),
            (range(3, 3), range(2, 3), Some(3)),
            (range(2, 2), range(3, 3), None),
            (range(1, 9), range(4, 5), Some(5)),
        ] {
            assert_eq!(one.common(other), common, "{one} and {other}");
            assert_eq!(other.common(one), common, "{other} and {one}");
        }
    }

    #[test]
    fn a_range_is_read_if_this_code_knows_it() {
        assert_eq!(Versions::parse("2"), Some(range(2, 2)));
        assert_eq!(Versions::parse("2..3"), Some(range(2, 3)));
        for wrong in ["", "1", "4", "3..2", "2..4", "2..", "two"] {
            assert_eq!(Versions::parse(wrong), None, "{wrong}");
        }
    }
}
