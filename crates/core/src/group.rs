//! Group numbers, the counter behind them, and the status of a node.

use core::fmt;
use core::str::FromStr;

use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};

use crate::membership::NodeId;

/// The name of one formation of a group: (counter, node), unique, never reused (I-07, I-08).
///
/// The counter is on stable storage and is saved before the number is used. Numbers of different
/// coordinators are not ordered in time, so a group number is no fencing token.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Encode, Decode,
)]
pub struct GroupNumber {
    /// How many numbers this coordinator had handed out, this one included.
    #[n(0)]
    pub counter: u64,
    /// The coordinator that formed the group.
    #[n(1)]
    pub node: NodeId,
}

impl fmt::Display for GroupNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.counter, self.node)
    }
}

impl FromStr for GroupNumber {
    type Err = ParseGroupNumberError;

    fn from_str(text: &str) -> Result<Self, ParseGroupNumberError> {
        let (counter, node) = text.split_once('.').ok_or(ParseGroupNumberError)?;
        if counter.starts_with('+') {
            return Err(ParseGroupNumberError);
        }
        let counter = counter.parse().map_err(|_| ParseGroupNumberError)?;
        let node = node.parse().map_err(|_| ParseGroupNumberError)?;
        Ok(Self { counter, node })
    }
}

/// The text is not a group number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a group number: a counter, a dot and a node, such as 42.n3")]
pub struct ParseGroupNumberError;

/// What the disk keeps: the highest counter that this node may have used.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    Encode,
    Decode,
)]
#[cbor(transparent)]
pub struct Counter(#[n(0)] pub u64);

impl Counter {
    /// The counter in a group's number; 0 if there is none.
    #[must_use]
    pub const fn of(group: Option<GroupNumber>) -> Self {
        match group {
            Some(group) => Self(group.counter),
            None => Self(0),
        }
    }

    /// Increments the counter to a number that was never used. The caller saves it before sending
    /// it.
    ///
    /// The last one, `u64::MAX`, stands for none: it is its own next one, and no store saves it, so
    /// a node whose numbers are used up stops instead of using one twice.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The group number that this counter gives a node.
    #[must_use]
    pub const fn group(self, node: NodeId) -> GroupNumber {
        GroupNumber { counter: self.0, node }
    }
}

/// What the textbook calls the status variable (B-01). The algorithms are written in its words.
pub use self::Phase as Status;

/// Where a node is between two groups: the textbook's status variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Started and has not taken part in an election yet.
    Down,
    /// No coordinator is defined; the computation is stopped.
    Election,
    /// A coordinator is defined, the common state is not.
    Reorganization,
    /// Ready to go on with the computation.
    Normal,
}

impl Phase {
    /// Whether the node names a coordinator that assertions 1 and 3 speak of.
    #[must_use]
    pub const fn has_coordinator(self) -> bool {
        match self {
            Self::Down | Self::Election => false,
            Self::Reorganization | Self::Normal => true,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Down => "Down",
            Self::Election => "Election",
            Self::Reorganization => "Reorganization",
            Self::Normal => "Normal",
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_group_number_is_unique_by_node_and_count() {
        let (first, second) = (Counter::default().next(), Counter::default().next().next());
        assert_ne!(first.group(NodeId(1)), first.group(NodeId(2)));
        assert_ne!(first.group(NodeId(1)), second.group(NodeId(1)));
        assert_eq!(second.group(NodeId(7)).to_string(), "2.n7");
    }

    #[test]
    fn a_group_number_is_read_as_it_was_written_and_nothing_else_is_one() {
        let number = GroupNumber { counter: 42, node: NodeId(3) };
        assert_eq!(number.to_string().parse(), Ok(number));
        for text in ["", "42", "42.", ".n3", "42.3", "42.n", "42.n03", "42.n+3", "+4.n3", "4.2.n3"]
        {
            assert_eq!(text.parse::<GroupNumber>(), Err(ParseGroupNumberError), "{text}");
        }
    }

    #[test]
    fn the_last_counter_neither_wraps_nor_panics() {
        assert_eq!(Counter(u64::MAX - 1).next(), Counter(u64::MAX));
        assert_eq!(Counter(u64::MAX).next(), Counter(u64::MAX));
    }

    #[test]
    fn only_reorganization_and_normal_name_a_coordinator() {
        let all = [Status::Down, Status::Election, Status::Reorganization, Status::Normal];
        assert_eq!(all.map(Status::has_coordinator), [false, false, true, true]);
    }
}
