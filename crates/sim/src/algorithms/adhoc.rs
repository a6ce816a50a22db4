//! The ad-hoc algorithms: their guarantees, and their sweep cases, on graphs that do not change.

use tanist_core::NodeId;
use tanist_core::election::Algorithm;
use tanist_core::time::micros;
use tanist_core::trace::Kind;

use super::{Inside, Study};
use crate::monitors::{AckAfterChildren, OneLeaderInReach, OneLeaderPerComponent, OneParent};
use crate::studies::fuzz::{FuzzModel, FuzzWorld};
use crate::studies::graph::Graph;
use crate::studies::sweep::{Case, D, Measure, NEVER, Plan, Verdict};
use crate::studies::theory;
use crate::world::faults::Action;

pub(super) const EXPANDING_RING: Study = Study {
    algorithm: Algorithm::AdhocExpandingRing,
    monitors: |header, _| {
        vec![Box::new(OneLeaderInReach::new(header)), Box::new(OneLeaderPerComponent::new(header))]
    },
    inside: Inside::NOTHING,
    fuzz: RADIO,
    sweeps: RING_CASES,
    follows_lower: false,
    halts_all: false,
    only_compares: false,
};

pub(super) const DIFFUSING: Study = Study {
    algorithm: Algorithm::AdhocDiffusing,
    monitors: |header, _| {
        vec![
            Box::new(OneParent::default()),
            Box::new(AckAfterChildren::new(header)),
            Box::new(OneLeaderInReach::new(header)),
            Box::new(OneLeaderPerComponent::new(header)),
        ]
    },
    inside: Inside::NOTHING,
    fuzz: RADIO,
    sweeps: DIFFUSING_CASES,
    follows_lower: false,
    halts_all: false,
    only_compares: false,
};

const RADIO: FuzzModel =
    FuzzModel { world: FuzzWorld::Radio, is_asynchronous: true, changes_priorities: false };

/// Requests, acknowledgements and the result, each to one neighbour.
const COMPUTATION: Measure = Measure::Called(&[Kind::Election, Kind::Ack, Kind::Leader]);

const DIFFUSING_CASES: &[Case] = &[
    Case {
        name: "complete",
        least: 2,
        runs: |n| vec![computes(n, &Graph::complete(n))],
        theory: theory::adhoc::diffusing_complete,
        measure: COMPUTATION,
        verdict: Verdict::Exact,
    },
    Case {
        name: "line",
        least: 2,
        runs: |n| vec![computes(n, &Graph::line(n))],
        theory: theory::adhoc::diffusing_line,
        measure: COMPUTATION,
        verdict: Verdict::Exact,
    },
    Case {
        name: "random",
        least: 2,
        runs: |n| vec![computes(n, &theory::adhoc::random_graph(n))],
        theory: theory::adhoc::diffusing_random,
        measure: COMPUTATION,
        verdict: Verdict::Exact,
    },
];

/// The candidate's floods, each broadcast counted once.
const FLOODS: Measure = Measure::Called(&[Kind::Election]);

const RING_CASES: &[Case] = &[
    Case {
        name: "line",
        least: 2,
        runs: |n| vec![stands(n, &Graph::line(n))],
        theory: theory::adhoc::rings_line,
        measure: FLOODS,
        verdict: Verdict::Exact,
    },
    Case {
        name: "grid",
        least: 2,
        runs: |n| vec![stands(n, &Graph::grid(n))],
        theory: theory::adhoc::rings_grid,
        measure: FLOODS,
        verdict: Verdict::Exact,
    },
];

/// All nodes follow N, and each has received a heartbeat from every neighbour; then node 1 starts.
fn computes(n: u32, graph: &Graph) -> Plan {
    let faults = vec![
        (0, Action::Check(NodeId(n))),
        (micros(D) * u64::from(n) * 10, Action::Call(NodeId(1))),
    ];
    Plan {
        groups: vec![(n, 1..=n)],
        faults,
        topology: graph.topology(),
        // No neighbour is probed: nothing fails during a case.
        answer: Some(NEVER / 100),
        ..Plan::default()
    }
}

/// All nodes follow N; only node 1, which is better, becomes a candidate.
fn stands(n: u32, graph: &Graph) -> Plan {
    let priorities = (1..=n).map(|node| if node == 1 { n + 1 } else { node }).collect();
    let faults = vec![(0, Action::Call(NodeId(1)))];
    let topology = graph.topology();
    Plan { priorities, groups: vec![(n, 1..=n)], faults, topology, ..Plan::default() }
}
