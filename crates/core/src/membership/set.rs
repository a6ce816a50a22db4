//! A set of nodes: a sorted list without duplicates, small enough to copy and compare.

use alloc::vec::Vec;
use core::fmt;

use minicbor::decode::{self, Decoder};
use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};

use super::NodeId;

/// A small set of nodes, in order of id.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Encode,
)]
#[serde(from = "Vec<NodeId>")]
#[cbor(transparent)]
pub struct NodeSet(#[n(0)] Vec<NodeId>);

impl NodeSet {
    /// The empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a node; true if it was new.
    pub fn insert(&mut self, id: NodeId) -> bool {
        match self.0.binary_search(&id) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, id);
                true
            }
        }
    }

    /// Removes a node; true if it was there.
    pub fn remove(&mut self, id: NodeId) -> bool {
        match self.0.binary_search(&id) {
            Ok(at) => {
                self.0.remove(at);
                true
            }
            Err(_) => false,
        }
    }

    /// Whether the node is in the set.
    #[must_use]
    pub fn contains(&self, id: NodeId) -> bool {
        self.0.binary_search(&id).is_ok()
    }

    /// How many nodes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The node with the lowest id.
    #[must_use]
    pub fn first(&self) -> Option<NodeId> {
        self.0.first().copied()
    }

    /// The nodes in order of id.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.0.iter().copied()
    }

    /// The nodes in this set that are not in the other.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        self.iter().filter(|id| !other.contains(*id)).collect()
    }
}

impl FromIterator<NodeId> for NodeSet {
    fn from_iter<I: IntoIterator<Item = NodeId>>(ids: I) -> Self {
        Self::from(ids.into_iter().collect::<Vec<_>>())
    }
}

impl From<Vec<NodeId>> for NodeSet {
    fn from(mut ids: Vec<NodeId>) -> Self {
        ids.sort_unstable();
        ids.dedup();
        Self(ids)
    }
}

impl<'bytes, C> Decode<'bytes, C> for NodeSet {
    /// A peer's list may be in any order and name a node twice; the set is sorted and has no
    /// duplicates.
    fn decode(from: &mut Decoder<'bytes>, cx: &mut C) -> Result<Self, decode::Error> {
        // Grows with what is there, not with the length that the sender claims.
        let ids: Result<Vec<NodeId>, _> = from.array_iter_with(cx)?.collect();
        Ok(Self::from(ids?))
    }
}

impl fmt::Display for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (position, id) in self.iter().enumerate() {
            if position > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{id}")?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn a_node_set_is_a_set() {
        let mut set = NodeSet::from(vec![NodeId(3), NodeId(1), NodeId(3)]);
        assert_eq!(set.len(), 2);
        assert!(!set.insert(NodeId(1)));
        assert!(set.remove(NodeId(3)));
        assert_eq!(set.iter().collect::<Vec<_>>(), vec![NodeId(1)]);
    }
}
