//! The ports of an election towards the layers around it: commands and notices, the same for all
//! algorithms.
//!
//! Leaves out messages and timers, which every algorithm has its own of.

use alloc::vec::Vec;

use crate::group::{Counter, GroupNumber};
use crate::membership::{NodeId, NodeSet};
use crate::payload::Report;
use crate::trace::Outcome;

/// Reports by the node that handed them up.
pub type Reports = Vec<(NodeId, Report)>;

/// What the layers around it tell an election.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// The application has stopped; here is its report.
    Stopped(Report),
    /// The definition is in place: all asked members but these have it.
    Settled {
        /// Members that did not take the definition and are left out.
        missing: NodeSet,
        /// All members of the group, the coordinator included.
        members: NodeSet,
    },
    /// The hand-over failed: these members did not take the definition.
    Unsettled {
        /// Who they are.
        missing: NodeSet,
    },
    /// Nothing came for S from this peer, which is watched or, with heartbeats, a heartbeat peer.
    Silent(NodeId),
    /// There is evidence that this peer has failed.
    Failed(NodeId),
    /// The coordinator, this peer, has withdrawn and has named this node its successor.
    Succeed(NodeId),
    /// The user suspects the current coordinator.
    Suspect,
    /// The user wants an election now (G-08).
    Call,
    /// The user wants the periodic check now.
    Check,
    /// A peer knows of this counter of this node: the next number must be higher.
    AdvanceTo(Counter),
}

/// What an election tells the layers around it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// Stop the computation; answer with [`Command::Stopped`]. Leaves any group that was forming.
    /// A node that leads goes on leading: it forms the next group itself, as far as it knows.
    Stop,
    /// The same for a node that is about to follow another: its leadership ends first.
    Yield,
    /// This node coordinates these members; hand out the definition.
    Formed(Formation),
    /// This node follows a coordinator and waits for its definition.
    Joined {
        /// The group.
        group: GroupNumber,
        /// The coordinator.
        coordinator: NodeId,
    },
    /// This node follows a coordinator, or is one, that hands out no definition (E-08).
    Followed {
        /// The group.
        group: GroupNumber,
        /// The coordinator.
        coordinator: NodeId,
    },
    /// Watch these peers for silence.
    Watch(NodeSet),
    /// An election of this node's own began.
    Called,
    /// That election ended.
    Ended(Outcome),
}

/// A group that its coordinator is about to hand a definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Formation {
    /// Its number, already on disk.
    pub group: GroupNumber,
    /// The participants, without the coordinator.
    pub members: NodeSet,
    /// The reports of all members, the coordinator's own included.
    pub reports: Reports,
    /// Whether a member that does not take the definition fails the formation.
    pub is_strict: bool,
    /// Whether the round lasts T even if all members have answered.
    pub waits_full: bool,
}
