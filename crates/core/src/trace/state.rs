//! The defining state of a node, as traces write it.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::group::{GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::payload::Definition;

/// The defining state of a node: what the textbook's assertions speak of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NodeState {
    /// Down, Election, Reorganization or Normal.
    pub status: Status,
    /// The coordinator that it follows.
    pub coordinator: Option<NodeId>,
    /// The group it belongs to.
    pub group: Option<GroupNumber>,
    /// The other members, as far as it knows them.
    pub up: NodeSet,
    /// The state of the task.
    pub definition: Option<Definition>,
    /// Its super-peers, as it knows them, where there are any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub super_peer: Option<Box<SuperPeerStatus>>,
}

/// The state of a node of a hierarchy beyond its own group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SuperPeerStatus {
    /// The super-peers of its own group, as it knows them.
    pub super_peers: NodeSet,
    /// Its seats in the groups above, the lowest level first; empty for an ordinary peer.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub seats: Vec<SeatState>,
}

/// The state of a super-peer in a group above its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SeatState {
    /// Its status there; Down before it takes part.
    pub status: Status,
    /// The coordinator that it follows there.
    pub coordinator: Option<NodeId>,
    /// The group number there.
    pub group: Option<GroupNumber>,
    /// The super-peers that this group has selected for the next level, as it knows them.
    pub super_peers: NodeSet,
}
