//! The cases of the rings. Nobody is dead unless a case says so: what detection and skipping cost is
//! no part of the formulas.

use tanist_core::NodeId;
use tanist_core::time::micros;
use tanist_core::trace::Kind;

use crate::studies::sweep::{Case, D, Measure, Plan, Verdict};
use crate::studies::theory;
use crate::world::dice::Chance;
use crate::world::faults::Action;

/// Chang and Roberts' own messages.
const CANDIDATES: Measure = Measure::Known(&[Kind::Election, Kind::Elected]);

/// How many random orders are tried for each size.
const ORDERS: u64 = 60;

pub(crate) const CHANG_ROBERTS: &[Case] = &[
    Case {
        name: "one-worst",
        least: 2,
        runs: |n| vec![calls(n, 1..=1)],
        theory: theory::ring::one_worst,
        measure: CANDIDATES,
        verdict: Verdict::Exact,
    },
    Case {
        name: "one-mean",
        least: 2,
        runs: |n| (1..=n).map(|initiator| calls(n, initiator..=initiator)).collect(),
        theory: theory::ring::one_mean,
        measure: CANDIDATES,
        verdict: Verdict::ExactMean,
    },
    Case {
        name: "all-best",
        least: 2,
        runs: |n| vec![calls(n, 1..=n)],
        theory: theory::ring::all_best,
        measure: CANDIDATES,
        verdict: Verdict::Exact,
    },
    Case {
        name: "all-worst",
        least: 2,
        runs: |n| vec![all_call((1..=n).rev().collect())],
        theory: theory::ring::all_worst,
        measure: CANDIDATES,
        verdict: Verdict::Exact,
    },
    Case {
        name: "all-mean",
        least: 2,
        runs: |n| {
            let mut chance = Chance::new(u64::from(n));
            (0..ORDERS).map(|_| all_call(shuffled(n, &mut chance))).collect()
        },
        theory: theory::ring::all_mean,
        measure: CANDIDATES,
        verdict: Verdict::Sampled,
    },
];

/// The two rounds of the list rings.
const ROUNDS: Measure = Measure::Rounds(&[Kind::Election, Kind::Coordinator]);

const ONE: Case = Case {
    name: "one",
    least: 2,
    runs: |n| vec![calls(n, 1..=1)],
    theory: theory::ring::list_one,
    measure: ROUNDS,
    verdict: Verdict::Exact,
};

const ONE_DEAD: Case = Case {
    name: "one-dead",
    least: 3,
    runs: |n| vec![Plan::coordinator_dies(n, &[], 1..=1)],
    theory: theory::ring::list_one_dead,
    measure: ROUNDS,
    verdict: Verdict::Exact,
};

/// Every other node calls, and all messages come round.
const K_INITIATORS: Case = Case {
    name: "k-initiators",
    least: 2,
    runs: |n| {
        let options = &[("concurrent", "all")];
        vec![Plan { options, ..calls(n, (1..=n).step_by(2)) }]
    },
    theory: theory::ring::list_k,
    measure: ROUNDS,
    verdict: Verdict::Exact,
};

pub(crate) const LIST: &[Case] = &[ONE, K_INITIATORS, ONE_DEAD];

pub(crate) const MODIFIED: &[Case] = &[
    ONE,
    K_INITIATORS,
    ONE_DEAD,
    Case {
        name: "winner-dies",
        least: 3,
        runs: |n| {
            let mut plan = calls(n, 1..=1);
            // It passes the list on at (N - 1)d; the result would reach it at (2N - 1)d.
            let at = micros(D) * (u64::from(n) - 1) + micros(D) / 2;
            plan.faults.push((at, Action::Crash(NodeId(n))));
            vec![plan]
        },
        theory: theory::ring::winner_dies,
        measure: ROUNDS,
        verdict: Verdict::Exact,
    },
];

/// Until everybody has found out by itself.
const NAMES: Measure = Measure::Known(&[Kind::Elect]);

pub(crate) const ACTIVE_LIST: &[Case] = &[
    Case {
        name: "one",
        least: 2,
        runs: |n| vec![calls(n, 1..=1)],
        theory: theory::ring::names_one,
        measure: NAMES,
        verdict: Verdict::Exact,
    },
    Case {
        name: "all",
        least: 2,
        runs: |n| vec![calls(n, 1..=n)],
        theory: theory::ring::names_all,
        measure: NAMES,
        verdict: Verdict::Exact,
    },
];

/// Everybody stands under N and these call an election.
fn calls(n: u32, initiators: impl Iterator<Item = u32>) -> Plan {
    let faults = initiators.map(|node| (0, Action::Call(NodeId(node)))).collect();
    Plan { groups: vec![(n, 1..=n)], faults, ..Plan::default() }
}

/// Everybody stands under the best and calls; the priorities are those of nodes 1, 2 and so on.
fn all_call(priorities: Vec<u32>) -> Plan {
    let n = u32::try_from(priorities.len()).unwrap_or(u32::MAX);
    let best = (1..=n).zip(&priorities).max_by_key(|(_, priority)| **priority);
    let coordinator = best.map_or(n, |(node, _)| node);
    Plan { priorities, groups: vec![(coordinator, 1..=n)], ..calls(n, 1..=n) }
}

fn shuffled(n: u32, chance: &mut Chance) -> Vec<u32> {
    let mut left: Vec<u32> = (1..=n).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let at = usize::try_from(chance.below(left.len() as u64)).unwrap_or(0);
        order.push(left.swap_remove(at));
    }
    order
}
