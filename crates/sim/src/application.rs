//! The application above a simulated node: it stops, reports, plans and works, and says how much.

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

/// One node's application. Its report counts how often it began to work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Application {
    begun: u64,
}

impl Application {
    /// It works under a definition.
    pub fn begin(&mut self) {
        self.begun += 1;
    }

    /// What it hands up.
    #[must_use]
    pub fn report(&self, node: NodeId) -> Report {
        Report::from(format!("{node} began {}", self.begun).as_str())
    }

    /// A plan for a group. The serial number makes every plan of a run different from every other,
    /// so two plans under one group number cannot look alike.
    #[must_use]
    pub fn plan(
        serial: u64,
        group: GroupNumber,
        members: &NodeSet,
        reports: &Reports,
    ) -> Definition {
        let mut text = format!("plan {serial} for {group} {members} from");
        for (node, _) in reports {
            // Writing to a String cannot fail.
            let _ = write!(text, " {node}");
        }
        Definition::from(text.as_str())
    }
}
