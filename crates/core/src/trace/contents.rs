//! What messages say beyond their kind, as traces write it: lists, candidates, coordinators.
//!
//! [`super::MessageFacts`] is what monitors, counts and the checker need of every message.
//! Contents are for people who follow a run, so they are made only where a trace is kept. Nodes are
//! ids here; stories and pictures write their names. Leaves out what only the protocol needs, such
//! as what tells two tokens apart.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::membership::{NodeId, NodeSet};
use crate::payload::Definition;

/// What a message says beyond its kind; fields that it does not have are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// The node that it proposes as coordinator.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub candidate: Option<NodeId>,
    /// The node that it says coordinates.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub coordinator: Option<NodeId>,
    /// The node that began the election or computation that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<NodeId>,
    /// The nodes that it lists, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub list: Vec<NodeId>,
    /// The nodes that have learned the result so far.
    #[serde(skip_serializing_if = "NodeSet::is_empty", default)]
    pub told: NodeSet,
    /// How many links it crosses at most.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hops_max: Option<u32>,
    /// The sender's new priority.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority: Option<u32>,
    /// The state of the task that it hands over.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub definition: Option<Definition>,
}

impl Contents {
    /// Of a message that proposes a coordinator.
    #[must_use]
    pub fn candidate(node: NodeId) -> Self {
        Self { candidate: Some(node), ..Self::default() }
    }

    /// Of a message that says who coordinates.
    #[must_use]
    pub fn coordinator(node: NodeId) -> Self {
        Self { coordinator: Some(node), ..Self::default() }
    }

    /// Of a message of an election or computation that this node began.
    #[must_use]
    pub fn source(node: NodeId) -> Self {
        Self { source: Some(node), ..Self::default() }
    }

    /// Of a message that lists nodes.
    #[must_use]
    pub fn list(nodes: impl IntoIterator<Item = NodeId>) -> Self {
        Self { list: nodes.into_iter().collect(), ..Self::default() }
    }

    /// As an event holds them; none if they are empty.
    #[must_use]
    pub fn boxed(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}
