//! What the layer is told, and what it tells: to the election below and the application above.

use crate::election::{Formation, Reports};
use crate::group::GroupNumber;
use crate::membership::{NodeId, NodeSet};
use crate::payload::{Definition, Report};

/// What this layer is told, by the election below and the application above.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// The election wants the computation stopped.
    Stop,
    /// The same, and this node does not lead any more.
    Yield,
    /// The election made this node a coordinator.
    Form(Formation),
    /// The election made this node a participant.
    Join {
        /// The group.
        group: GroupNumber,
        /// Its coordinator.
        coordinator: NodeId,
    },
    /// The election settled on a coordinator that hands out no definition (E-08).
    Follow {
        /// The group.
        group: GroupNumber,
        /// Its coordinator.
        coordinator: NodeId,
    },
    /// The application has drained.
    Stopped(Report),
    /// The application has planned for this group.
    Define {
        /// Which group the plan is for.
        group: GroupNumber,
        /// The plan.
        definition: Definition,
    },
}

/// What this layer tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// To the application: close the gate and drain.
    Stop,
    /// To the application: the same if it has not stopped yet, and end this node's leadership.
    Yield,
    /// To the application: plan from these reports.
    Plan {
        /// For this group.
        group: GroupNumber,
        /// All its members, the coordinator included.
        members: NodeSet,
        /// The reports of all members.
        reports: Reports,
    },
    /// To the application: the gate is open.
    Begin {
        /// The group.
        group: GroupNumber,
        /// Its coordinator.
        coordinator: NodeId,
        /// All its members.
        members: NodeSet,
        /// The state of the task.
        definition: Definition,
    },
    /// To the election: the application has stopped.
    Stopped(Report),
    /// To the election: the group has its definition; these are left out.
    Settled {
        /// Members that did not take it.
        missing: NodeSet,
        /// All members of the group, as the coordinator sent them.
        members: NodeSet,
    },
    /// To the election: these members did not take the definition.
    Unsettled {
        /// Who they are.
        missing: NodeSet,
    },
}
