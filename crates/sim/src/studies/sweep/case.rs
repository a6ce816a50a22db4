//! A case of a sweep: its runs, what is measured in them, and what theory predicts.

use std::ops::RangeInclusive;
use std::time::Duration;

use tanist_core::membership::{Label, Labels};
use tanist_core::{Member, Membership, NodeId, Priority};

use super::measure::Measure;
use crate::studies::theory::{Bounds, Cost};
use crate::world::faults::Action;
use crate::world::topology::Topology;

/// A case of a sweep.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Smallest group for which the case means something.
    pub(crate) least: u32,
    /// The runs whose mean is taken; one for most cases.
    pub(crate) runs: fn(u32) -> Vec<Plan>,
    pub(crate) theory: fn(u64, &Bounds) -> Cost,
    pub(crate) measure: Measure,
    /// How figures are compared with theory.
    pub(crate) verdict: Verdict,
}

/// How figures are compared with theory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// They must be equal.
    Exact,
    /// They must be equal, and are means over all possible runs.
    ExactMean,
    /// The runs are a sample: its mean may differ from theory within the sampling error.
    Sampled,
    /// The largest number of messages in any of the runs may not exceed theory, which is a bound.
    AtMost,
}

/// A scenario before it is built.
#[derive(Default)]
pub(crate) struct Plan {
    /// The priorities of nodes 1, 2 and so on; none if node i has priority i.
    pub(crate) priorities: Vec<u32>,
    pub(crate) options: &'static [(&'static str, &'static str)],
    /// The racks of nodes.
    pub(crate) racks: Vec<(NodeId, Label)>,
    /// Coordinator, and lowest and highest member of each established group.
    pub(crate) groups: Vec<(u32, RangeInclusive<u32>)>,
    pub(crate) down: Vec<u32>,
    pub(crate) faults: Vec<(u64, Action)>,
    pub(crate) topology: Topology,
    /// T, if it must be longer than usual so that no node probes another during the case.
    pub(crate) answer: Option<Duration>,
}

impl Plan {
    /// N coordinates all nodes, crashes, and these nodes notice.
    pub(crate) fn coordinator_dies(
        n: u32,
        options: &'static [(&'static str, &'static str)],
        noticed_by: impl Iterator<Item = u32>,
    ) -> Self {
        let mut faults = vec![(0, Action::Crash(NodeId(n)))];
        faults.extend(noticed_by.map(|node| (0, Action::Suspect(NodeId(node)))));
        Self { options, groups: vec![(n, 1..=n)], faults, ..Self::default() }
    }

    /// A node that was down restarts; the others follow the highest of them.
    pub(crate) fn recovers(
        n: u32,
        node: u32,
        options: &'static [(&'static str, &'static str)],
    ) -> Self {
        let restart = Action::Restart { node: NodeId(node), lost_writes: 0 };
        let group = if node == n { (n - 1, 1..=n - 1) } else { (n, node + 1..=n) };
        let faults = vec![(0, restart)];
        Self { options, groups: vec![group], down: vec![node], faults, ..Self::default() }
    }

    pub(super) fn members(&self, n: u32) -> Membership {
        let priority = |id: u32| {
            let given = usize::try_from(id - 1).ok().and_then(|at| self.priorities.get(at));
            Priority(given.copied().unwrap_or(id))
        };
        let members = (1..=n).map(|id| Member { priority: priority(id), id: NodeId(id) });
        let members = Membership::new(members).expect("a case has at least two nodes, each once");
        let place =
            |(node, rack): &(NodeId, Label)| (*node, Labels { zone: None, rack: Some(*rack) });
        members.with_labels(self.racks.iter().map(place))
    }
}
