//! The application above a simulated node: its reports and its plans.
//!
//! Either the world plays it, at a given pace, or the caller does: then the node's notices to its
//! application wait in an outbox, and the caller hands in the answers.

use std::fmt::Write;
use std::time::Duration;

use tanist_core::election::Reports;
use tanist_core::node::Notice;
use tanist_core::{Definition, GroupNumber, NodeId, NodeSet, Report};

/// Who plays the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    /// The world: its reports and plans are a line of text.
    BuiltIn(Pace),
    /// The caller of the world, with `World::take_notices` and `World::answer`.
    Outside,
}

/// A notice of a node to its user, whom the caller plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The node incarnation that an answer goes to.
    pub listener: Listener,
    /// The notice: Stop, Yield and Plan need an answer, all others need none.
    pub notice: Notice,
}

/// One incarnation of a node: an answer to it never reaches a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listener {
    pub(crate) node: NodeId,
    pub(crate) incarnation: u32,
}

impl Listener {
    /// The node.
    #[must_use]
    pub const fn node(&self) -> NodeId {
        self.node
    }
}

/// How long the application takes to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// From Stop to Stopped.
    pub stop: Duration,
    /// From Plan to Define.
    pub plan: Duration,
}

/// The report of a node's application when it stops.
#[must_use]
pub fn report(node: NodeId) -> Report {
    Report::from(format!("report of {node}").as_str())
}

/// A plan for a group: its coordinator, its members, and whose reports it is based on.
///
/// It contains the coordinator's incarnation, so that a group number used again after a restart
/// gives another plan.
#[must_use]
pub fn plan(
    incarnation: u32,
    group: GroupNumber,
    members: &NodeSet,
    reports: &Reports,
) -> Definition {
    let mut text = format!("plan {} for {group} {members} from", incarnation + 1);
    for (node, _) in reports {
        // Writing to a String cannot fail.
        let _ = write!(text, " {node}");
    }
    Definition::from(text.as_str())
}
