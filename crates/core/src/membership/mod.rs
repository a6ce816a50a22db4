//! The configured nodes, and which of them outranks which.
//!
//! Nodes are ordered by (priority, id), never by the attribute alone: two nodes with the same
//! attribute must not both win (E-30). Every node knows every other one and its priority (F-16,
//! B-09).

mod grouping;
mod hierarchy;
mod labels;
mod names;
mod ring;
mod set;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};

pub use hierarchy::{Hierarchy, HierarchyError};
pub use labels::{LABEL_BYTES_MAX, Label, LabelError, Labels};
pub use names::{
    DuplicateName, NAME_BYTES_MAX, Named, NodeLabelError, NodeName, NodeNameError, NodeNames,
};
pub use ring::{Direction, RingError};
pub use set::NodeSet;

use crate::config::GroupConfig;
use crate::election::Algorithm;

/// One process taking part.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Encode, Decode,
)]
#[serde(transparent)]
#[cbor(transparent)]
pub struct NodeId(#[n(0)] pub u32);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl FromStr for NodeId {
    type Err = ParseNodeError;

    fn from_str(text: &str) -> Result<Self, ParseNodeError> {
        let digits = text.strip_prefix('n').ok_or(ParseNodeError)?;
        let has_digits_only = digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_padded = digits.len() > 1 && digits.starts_with('0');
        if !has_digits_only || is_padded {
            return Err(ParseNodeError);
        }
        digits.parse().map(Self).map_err(|_| ParseNodeError)
    }
}

/// The text is not the name of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the name of a node: n and a number, such as n3")]
pub struct ParseNodeError;

/// The election attribute. Not necessarily unique; ties are broken by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Priority(pub u32);

/// A configured node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Member {
    // Field order is rank order: derived Ord compares priority first.
    /// The election attribute.
    pub priority: Priority,
    /// Its number, by which the protocols know it.
    pub id: NodeId,
}

/// The configured nodes in ascending rank, as one version of a list that may change (E-36).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Membership {
    version: MembershipVersion,
    by_rank: Vec<Member>,
    rank_by_id: Vec<(NodeId, usize)>,
    /// Labels of nodes, in order of id; nodes without labels are left out.
    labels: Vec<(NodeId, Labels)>,
    /// What people call the nodes.
    names: Arc<NodeNames>,
    /// The order of the ring, if it is not by id.
    ring: Option<Arc<[NodeId]>>,
    is_configured: bool,
    /// The peer groups, if the algorithm has any.
    hierarchy: Option<Arc<Hierarchy>>,
}

/// The version of a group's list of nodes. Nodes with different lists do not belong to the same
/// group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MembershipVersion(pub u32);

impl Membership {
    /// Takes a list of nodes; refuses an empty one and one that names a node twice (F-17).
    pub fn new(members: impl IntoIterator<Item = Member>) -> Result<Self, MembershipError> {
        let mut by_rank: Vec<Member> = members.into_iter().collect();
        if by_rank.is_empty() {
            return Err(MembershipError::Empty);
        }
        let rank_by_id = rank(&mut by_rank);
        if let Some(pair) = rank_by_id.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(MembershipError::Duplicate(pair[0].0));
        }
        let version = MembershipVersion(1);
        Ok(Self {
            version,
            by_rank,
            rank_by_id,
            labels: Vec::new(),
            names: Arc::default(),
            ring: None,
            is_configured: true,
            hierarchy: None,
        })
    }

    /// The same nodes with labels. If a node is named twice the last labels count; nodes that are
    /// not members are left out.
    #[must_use]
    pub fn with_labels(self, labels: impl IntoIterator<Item = (NodeId, Labels)>) -> Self {
        let by_id: BTreeMap<NodeId, Labels> = labels.into_iter().collect();
        let known = by_id.into_iter().filter(|(id, given)| self.contains(*id) && !given.is_empty());
        Self { labels: known.collect(), ..self }
    }

    /// The labels of a node, as far as they are configured.
    #[must_use]
    pub fn labels(&self, id: NodeId) -> Labels {
        let found = self.labels.binary_search_by_key(&id, |(id, _)| *id);
        found.map_or_else(|_| Labels::default(), |at| self.labels[at].1)
    }

    /// All configured labels, in order of id.
    #[must_use]
    pub fn labelled(&self) -> &[(NodeId, Labels)] {
        &self.labels
    }

    /// The same nodes with names for people.
    #[must_use]
    pub fn with_names(self, names: NodeNames) -> Self {
        Self { names: Arc::new(names), ..self }
    }

    /// What people call the nodes.
    #[must_use]
    pub const fn names(&self) -> &Arc<NodeNames> {
        &self.names
    }

    /// The node of this id as it is configured.
    #[must_use]
    pub fn member(&self, id: NodeId) -> Option<Member> {
        self.rank(id).map(|rank| self.by_rank[rank])
    }

    /// The same nodes as another version of the list.
    #[must_use]
    pub fn with_version(self, version: MembershipVersion) -> Self {
        Self { version, ..self }
    }

    /// The same version of the list, with other priorities for those that are named.
    #[must_use]
    pub fn with_priorities(&self, others: &BTreeMap<NodeId, u32>) -> Self {
        let mut by_rank = self.by_rank.clone();
        for member in &mut by_rank {
            if let Some(priority) = others.get(&member.id) {
                member.priority = Priority(*priority);
            }
        }
        let rank_by_id = rank(&mut by_rank);
        Self { by_rank, rank_by_id, is_configured: false, ..self.clone() }
    }

    /// The same nodes, arranged in the groups of the configuration, if its algorithm has any.
    /// Without this all nodes of `super-peer` are in one group.
    ///
    /// # Errors
    /// If the options contradict each other.
    pub fn arranged(self, config: &GroupConfig) -> Result<Self, HierarchyError> {
        let hierarchy = if config.algorithm() == Algorithm::SuperPeer {
            Some(Arc::new(Hierarchy::new(config, &self)?))
        } else {
            None
        };
        Ok(Self { hierarchy, ..self })
    }

    /// The peer groups, if the algorithm has any.
    #[must_use]
    pub const fn hierarchy(&self) -> Option<&Arc<Hierarchy>> {
        self.hierarchy.as_ref()
    }

    /// The nodes that a node elects with, and sends group-wide messages to: its own group where
    /// there is a hierarchy, else all nodes.
    #[must_use]
    pub fn peer_group(&self, me: NodeId) -> &Self {
        let hierarchy = self.hierarchy.as_ref();
        let own = hierarchy.and_then(|hierarchy| hierarchy.peers(hierarchy.place(me, 0)?));
        own.unwrap_or(self)
    }

    /// Whether the priorities are the configured ones, which all nodes know.
    #[must_use]
    pub const fn is_configured(&self) -> bool {
        self.is_configured
    }

    /// Which version of the list it is.
    #[must_use]
    pub const fn version(&self) -> MembershipVersion {
        self.version
    }

    /// Nodes 1..=n where process i has priority i (G-17).
    pub fn numbered(n: u32) -> Result<Self, MembershipError> {
        Self::new((1..=n).map(|i| Member { priority: Priority(i), id: NodeId(i) }))
    }

    /// All nodes, lowest rank first.
    #[must_use]
    pub fn all(&self) -> &[Member] {
        &self.by_rank
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.by_rank.len()
    }

    /// All nodes but `me`, lowest rank first.
    pub fn others(&self, me: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.by_rank.iter().map(|member| member.id).filter(move |id| *id != me)
    }

    /// The nodes that outrank `me`, lowest of them first.
    pub fn above(&self, me: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        let from = self.rank(me).map_or(self.by_rank.len(), |rank| rank + 1);
        self.by_rank[from..].iter().map(|member| member.id)
    }

    /// The nodes that `me` outranks, lowest first.
    pub fn below(&self, me: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        let to = self.rank(me).unwrap_or(0);
        self.by_rank[..to].iter().map(|member| member.id)
    }

    /// Whether `a` comes before `b` in an election. A node that is not a member outranks none.
    #[must_use]
    pub fn outranks(&self, a: NodeId, b: NodeId) -> bool {
        match (self.rank(a), self.rank(b)) {
            (Some(a), Some(b)) => a > b,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// Whether `id` is configured.
    #[must_use]
    pub fn contains(&self, id: NodeId) -> bool {
        self.rank(id).is_some()
    }

    fn rank(&self, id: NodeId) -> Option<usize> {
        let at = self.rank_by_id.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.rank_by_id[at].1)
    }
}

/// Sorts nodes by rank, and records the place of each in that order, in order of id.
fn rank(members: &mut [Member]) -> Vec<(NodeId, usize)> {
    members.sort_unstable();
    let mut rank_by_id: Vec<(NodeId, usize)> =
        members.iter().enumerate().map(|(rank, member)| (member.id, rank)).collect();
    rank_by_id.sort_unstable();
    rank_by_id
}

/// Why a list of nodes is not a membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MembershipError {
    /// The list is empty.
    #[error("a group needs at least one node")]
    Empty,
    /// Process numbers must be unique (F-17).
    #[error("{0} is listed twice; every node needs an id of its own")]
    Duplicate(NodeId),
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn member(priority: u32, id: u32) -> Member {
        Member { priority: Priority(priority), id: NodeId(id) }
    }

    #[test]
    fn equal_priorities_are_ordered_by_id() {
        let members = Membership::new([member(5, 1), member(5, 2), member(1, 9)]).unwrap();
        assert!(members.outranks(NodeId(2), NodeId(1)));
        assert!(members.outranks(NodeId(1), NodeId(9)));
        assert!(!members.outranks(NodeId(1), NodeId(1)));
        assert_eq!(members.above(NodeId(1)).collect::<Vec<_>>(), vec![NodeId(2)]);
        assert_eq!(members.below(NodeId(1)).collect::<Vec<_>>(), vec![NodeId(9)]);
    }

    #[test]
    fn duplicate_and_empty_configurations_are_refused() {
        assert_eq!(
            Membership::new([member(1, 7), member(2, 7)]),
            Err(MembershipError::Duplicate(NodeId(7)))
        );
        assert_eq!(Membership::new([]), Err(MembershipError::Empty));
    }

    #[test]
    fn every_node_knows_every_other_and_its_priority() {
        let members = Membership::numbered(4).unwrap();
        assert_eq!(members.others(NodeId(2)).count(), 3);
        assert_eq!(members.all()[3], member(4, 4));
    }

    #[test]
    fn other_priorities_make_another_order_of_the_same_nodes() {
        let members = Membership::numbered(3).unwrap().with_version(MembershipVersion(7));
        let raised = members.with_priorities(&BTreeMap::from([(NodeId(1), 3), (NodeId(9), 50)]));
        assert!(raised.outranks(NodeId(1), NodeId(2)) && raised.outranks(NodeId(3), NodeId(1)));
        assert_eq!(raised.above(NodeId(1)).collect::<Vec<_>>(), vec![NodeId(3)]);
        assert_eq!((raised.count(), raised.version()), (3, MembershipVersion(7)));
        assert!(!raised.contains(NodeId(9)));
        assert!(members.is_configured() && !raised.is_configured());
    }

    #[test]
    fn labels_are_those_of_known_nodes_and_outlive_other_priorities() {
        let at = |rack: &str| Labels { zone: None, rack: Some(rack.parse().unwrap()) };
        let members = Membership::numbered(3).unwrap().with_labels([
            (NodeId(3), at("a")),
            (NodeId(3), at("b")),
            (NodeId(9), at("c")),
            (NodeId(1), Labels::default()),
        ]);
        assert_eq!(members.labelled(), &[(NodeId(3), at("b"))]);
        let raised = members.with_priorities(&BTreeMap::from([(NodeId(1), 3)]));
        assert_eq!(
            (raised.labels(NodeId(3)), raised.labels(NodeId(1))),
            (at("b"), Labels::default())
        );
    }
}
