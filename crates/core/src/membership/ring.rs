//! The order of the nodes in a ring: by id, unless another one is given.
//!
//! Every node knows the whole ring (F-18), so all nodes of a group must have the same order. Leaves
//! out live groups: their ring is always in order of id, since no handshake compares another one.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use minicbor::{Decode, Encode};

use super::{Membership, NodeId};

/// Which way round a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum Direction {
    /// To the node after this one.
    #[n(0)]
    Onward,
    /// To the node before it.
    #[n(1)]
    Back,
}

impl Direction {
    /// The other way round.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Onward => Self::Back,
            Self::Back => Self::Onward,
        }
    }
}

impl Membership {
    /// The same nodes with this order in the ring; the last one is followed by the first.
    ///
    /// # Errors
    /// If a node of the group is missing, or one is named twice or is not a node of it.
    pub fn with_ring(self, order: impl IntoIterator<Item = NodeId>) -> Result<Self, RingError> {
        let order: Vec<NodeId> = order.into_iter().collect();
        let mut seen = BTreeSet::new();
        for (at, node) in order.iter().enumerate() {
            if !self.contains(*node) {
                return Err(RingError::Stranger { node: *node, at });
            } else if !seen.insert(*node) {
                return Err(RingError::Twice { node: *node, at });
            }
        }
        if let Some(missing) = self.all().iter().find(|member| !seen.contains(&member.id)) {
            return Err(RingError::Missing(missing.id));
        }
        let is_by_id = order.is_sorted();
        Ok(Self { ring: (!is_by_id).then(|| order.into()), ..self })
    }

    /// The order of the nodes in the ring, if it is not by id.
    #[must_use]
    pub fn ring(&self) -> Option<&[NodeId]> {
        self.ring.as_deref()
    }

    /// The node that comes after another in the ring.
    #[must_use]
    pub fn next_in_ring(&self, node: NodeId) -> NodeId {
        if let Some(order) = self.ring() {
            let at = order.iter().position(|other| *other == node);
            return at.map_or(node, |at| order[(at + 1) % order.len()]);
        }
        let ids = || self.all().iter().map(|member| member.id);
        ids().filter(|id| *id > node).min().or_else(|| ids().min()).unwrap_or(node)
    }

    /// The node that comes before another in the ring.
    #[must_use]
    pub fn previous_in_ring(&self, node: NodeId) -> NodeId {
        if let Some(order) = self.ring() {
            let at = order.iter().position(|other| *other == node);
            return at.map_or(node, |at| order[(at + order.len() - 1) % order.len()]);
        }
        let ids = || self.all().iter().map(|member| member.id);
        ids().filter(|id| *id < node).max().or_else(|| ids().max()).unwrap_or(node)
    }

    /// The neighbour of a node in this direction.
    #[must_use]
    pub fn towards(&self, direction: Direction, node: NodeId) -> NodeId {
        match direction {
            Direction::Onward => self.next_in_ring(node),
            Direction::Back => self.previous_in_ring(node),
        }
    }
}

/// Why a list of nodes is not the order of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    /// It is not a node of the group.
    #[error(
        "{node} is in the ring and is not a node of the group; name each node of the group once"
    )]
    Stranger {
        /// Which.
        node: NodeId,
        /// Its place in the list, from 0.
        at: usize,
    },
    /// It is named twice.
    #[error("{node} is in the ring twice; name each node of the group once")]
    Twice {
        /// Which.
        node: NodeId,
        /// The second place in the list, from 0.
        at: usize,
    },
    /// It is not named.
    #[error("{0} is not in the ring; name each node of the group once")]
    Missing(NodeId),
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn six() -> Membership {
        Membership::numbered(6).unwrap()
    }

    fn round(members: &Membership, from: u32) -> Vec<u32> {
        let mut node = NodeId(from);
        let mut passed = Vec::new();
        for _ in 0..members.count() {
            node = members.next_in_ring(node);
            passed.push(node.0);
        }
        passed
    }

    #[test]
    fn a_ring_is_in_order_of_id_unless_another_order_is_given() {
        assert_eq!(round(&six(), 4), [5, 6, 1, 2, 3, 4]);
        let ring = six().with_ring([6, 3, 5, 2, 1, 4].map(NodeId)).unwrap();
        assert_eq!(round(&ring, 4), [6, 3, 5, 2, 1, 4]);
        let changed = ring.with_priorities(&[(NodeId(1), 9)].into());
        assert_eq!(round(&changed, 3), [5, 2, 1, 4, 6, 3]);
    }

    #[test]
    fn the_node_before_is_the_one_that_this_node_comes_after() {
        let ring = six().with_ring([6, 3, 5, 2, 1, 4].map(NodeId)).unwrap();
        for members in [six(), ring, Membership::numbered(1).unwrap()] {
            for node in members.all().iter().map(|member| member.id) {
                let next = members.towards(Direction::Onward, node);
                assert_eq!(members.towards(Direction::Back, next), node);
            }
        }
        assert_eq!(six().previous_in_ring(NodeId(1)), NodeId(6));
    }

    #[test]
    fn the_order_by_id_is_no_order_of_its_own() {
        let ring = six().with_ring((1..=6).map(NodeId)).unwrap();
        assert_eq!((ring.ring(), &ring), (None, &six()));
    }

    #[test]
    fn a_list_that_is_no_permutation_of_the_nodes_is_refused() {
        let refused = |order: &[u32]| {
            six().with_ring(order.iter().copied().map(NodeId)).unwrap_err().to_string()
        };
        let each = "name each node of the group once";
        assert_eq!(refused(&[1, 2, 3]), alloc::format!("n4 is not in the ring; {each}"));
        assert_eq!(refused(&[1, 2, 2]), alloc::format!("n2 is in the ring twice; {each}"));
        assert_eq!(
            refused(&[1, 7]),
            alloc::format!("n7 is in the ring and is not a node of the group; {each}")
        );
    }
}
