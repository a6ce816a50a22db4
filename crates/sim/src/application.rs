//! The application above a simulated node: what it hands up, and what it plans.

use std::fmt::Write;
use std::time::Duration;

use tanist_core::election::Reports;
use tanist_core::{Definition, GroupNumber, NodeId, NodeSet, Report};

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
/// The coordinator's life is in it, so that a number used again after a restart gives another plan.
#[must_use]
pub fn plan(life: u32, group: GroupNumber, members: &NodeSet, reports: &Reports) -> Definition {
    let mut text = format!("plan {} for {group} {members} from", life + 1);
    for (node, _) in reports {
        // Writing to a String cannot fail.
        let _ = write!(text, " {node}");
    }
    Definition::from(text.as_str())
}
