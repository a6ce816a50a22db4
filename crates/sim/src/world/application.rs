//! The application above a simulated node: what it hands up, and what it plans.
//!
//! Either the world plays it, at a given pace, or somebody outside does: then what a node tells its
//! application waits in an outbox, and the answers are handed in.

use std::fmt::Write;
use std::time::Duration;

use tanist_core::election::Reports;
use tanist_core::node::Notice;
use tanist_core::{Definition, GroupNumber, NodeId, NodeSet, Report};

/// Who plays the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    /// The world: it hands up and plans a line of text.
    BuiltIn(Pace),
    /// The caller of the world, with `World::take_notices` and `World::answer`.
    Outside,
}

/// What a node tells an application that is played outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Whom an answer goes to.
    pub listener: Listener,
    /// What it says: Stop and Plan want an answer, Begin wants none.
    pub notice: Notice,
}

/// One incarnation of a node: what is answered to it reaches no other.
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

/// How long the application takes for things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// From Stop to Stopped.
    pub stop: Duration,
    /// From Plan to Define.
    pub plan: Duration,
}

/// What a node's application hands up when it stops.
#[must_use]
pub fn report(node: NodeId) -> Report {
    Report::from(format!("report of {node}").as_str())
}

/// A plan for a group: whose it is, for whom, and from whose reports.
///
/// The coordinator's incarnation is in it, so that a number used again after a restart gives another plan.
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
