//! The ring algorithms: their guarantees, and their sweep cases.
//!
//! No node of a case is down unless the case says so: the formulas do not include the cost of
//! detecting and skipping it.

use tanist_core::NodeId;
use tanist_core::election::Algorithm;
use tanist_core::time::micros;
use tanist_core::trace::{Header, Kind};

use super::{Inside, Study, highest_wins, of_each_group, of_leaders};
use crate::monitors::{
    AllUnderOne, BestOrUndefined, BestWins, EverybodyKnows, Monitor, SameCoordinator,
    SameDefinition, Selection,
};
use crate::studies::fuzz::FuzzModel;
use crate::studies::sweep::{Case, D, Measure, Plan, Verdict};
use crate::studies::theory;
use crate::world::dice::SeededDice;
use crate::world::faults::Action;

pub(super) const CHANG_ROBERTS: Study =
    Study { only_compares: true, ..ring(Algorithm::RingChangRoberts, CHANG_ROBERTS_CASES) };

pub(super) const MODIFIED: Study = ring(Algorithm::RingModified, MODIFIED_CASES);

pub(super) const LIST: Study = ring(Algorithm::RingList, LIST_CASES);

pub(super) const ACTIVE_LIST: Study = steady_ring(Algorithm::RingActiveList, ACTIVE_LIST_CASES);

pub(super) const PETERSON: Study =
    Study { only_compares: true, ..steady_ring(Algorithm::RingPeterson, PETERSON_CASES) };

pub(super) const HIRSCHBERG_SINCLAIR: Study =
    Study { only_compares: true, ..ring(Algorithm::RingHirschbergSinclair, PROBE_CASES) };

/// A ring that does not change during an election: a node that starts waits for the next one, so
/// the best node need not win (G-14).
const fn steady_ring(algorithm: Algorithm, sweeps: &'static [Case]) -> Study {
    Study {
        monitors: |header, selection| {
            let mut monitors = of_one_coordinator(header, selection);
            monitors.extend(at_the_end(header));
            monitors
        },
        ..ring(algorithm, sweeps)
    }
}

const fn ring(algorithm: Algorithm, sweeps: &'static [Case]) -> Study {
    Study {
        algorithm,
        monitors: |header, selection| {
            let mut monitors = of_one_coordinator(header, selection);
            if !selection.is_beyond_model && highest_wins(header) {
                monitors.push(Box::new(BestWins::default()));
            }
            monitors.extend(at_the_end(header));
            monitors
        },
        inside: Inside { monitors: |_| of_each_group(), is_safe: true },
        fuzz: FuzzModel::SYNCHRONOUS,
        sweeps,
        follows_lower: false,
        halts_all: false,
        only_compares: false,
    }
}

fn of_one_coordinator(header: &Header, selection: Selection) -> Vec<Box<dyn Monitor>> {
    if selection.is_beyond_model {
        return Vec::new();
    }
    let mut monitors: Vec<Box<dyn Monitor>> =
        vec![Box::new(SameCoordinator), Box::new(SameDefinition)];
    monitors.extend(of_leaders(header, selection));
    monitors
}

fn at_the_end(header: &Header) -> Vec<Box<dyn Monitor>> {
    let mut monitors: Vec<Box<dyn Monitor>> = vec![Box::new(AllUnderOne::new(header))];
    if highest_wins(header) {
        monitors.push(Box::new(BestOrUndefined));
    }
    monitors.push(Box::new(EverybodyKnows));
    monitors
}

/// The messages of Chang and Roberts.
const CANDIDATES: Measure = Measure::Known(&[Kind::Election, Kind::Elected]);

/// How many random orders are tried for each size.
const ORDERS: u64 = 60;

const CHANG_ROBERTS_CASES: &[Case] = &[
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
            let mut dice = SeededDice::new(u64::from(n));
            (0..ORDERS).map(|_| all_call(shuffled(n, &mut dice))).collect()
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

/// Every other node calls an election, and all messages go round the ring.
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

const LIST_CASES: &[Case] = &[ONE, K_INITIATORS, ONE_DEAD];

const MODIFIED_CASES: &[Case] = &[
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

/// Until every node has found the maximum by itself.
const NAMES: Measure = Measure::Known(&[Kind::Elect]);

const ACTIVE_LIST_CASES: &[Case] = &[
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

/// Peterson's bids, and the result; until every node knows the winner.
const BIDS: Measure = Measure::Known(&[Kind::Elect, Kind::Coordinator]);

const PETERSON_CASES: &[Case] = &[
    Case {
        name: "one",
        least: 2,
        runs: |n| vec![calls(n, 1..=1)],
        theory: theory::ring::bids_one,
        measure: BIDS,
        verdict: Verdict::Exact,
    },
    Case {
        name: "all-best",
        least: 2,
        runs: |n| vec![calls(n, 1..=n)],
        theory: theory::ring::bids_best,
        measure: BIDS,
        verdict: Verdict::Exact,
    },
    Case {
        name: "all-worst",
        least: 2,
        runs: |n| vec![all_call(alternating(n))],
        theory: theory::ring::bids_worst,
        measure: BIDS,
        verdict: Verdict::Exact,
    },
];

/// Hirschberg and Sinclair's probes, the replies, and the winner's round; until every node knows
/// the winner.
const PROBES: Measure = Measure::Known(&[Kind::Election, Kind::Okay, Kind::Elected]);

const PROBE_CASES: &[Case] = &[
    Case {
        name: "one-best",
        least: 2,
        runs: |n| vec![calls(n, n..=n)],
        theory: theory::ring::probes_one,
        measure: PROBES,
        verdict: Verdict::Exact,
    },
    Case {
        name: "all-best",
        least: 2,
        runs: |n| vec![calls(n, 1..=n)],
        theory: theory::ring::probes_best,
        measure: PROBES,
        verdict: Verdict::Exact,
    },
    Case {
        name: "all-halved",
        least: 2,
        runs: |n| vec![all_call(halved(n))],
        theory: theory::ring::probes_halved,
        measure: PROBES,
        verdict: Verdict::Exact,
    },
    Case {
        name: "all-mean",
        least: 2,
        runs: |n| {
            let mut dice = SeededDice::new(u64::from(n));
            (0..ORDERS).map(|_| all_call(shuffled(n, &mut dice))).collect()
        },
        theory: theory::ring::probes_mean,
        measure: PROBES,
        verdict: Verdict::Sampled,
    },
    Case {
        name: "all-bound",
        least: 2,
        runs: |n| {
            let mut dice = SeededDice::new(u64::from(n));
            let known = [(1..=n).collect(), (1..=n).rev().collect(), halved(n), alternating(n)];
            let random = (0..ORDERS).map(|_| shuffled(n, &mut dice));
            known.into_iter().chain(random).map(all_call).collect()
        },
        theory: theory::ring::probes_bound,
        measure: PROBES,
        verdict: Verdict::AtMost,
    },
];

/// An order round the ring in which every phase halves the candidates, if n is a power of two:
/// multiples of 2^(k + 1) are higher than all nodes up to 2^k hops away.
fn halved(n: u32) -> Vec<u32> {
    let mut by_rank: Vec<u32> = (1..=n).collect();
    by_rank.sort_by_key(|node| (node.trailing_zeros(), *node));
    let mut order = vec![0; by_rank.len()];
    for (rank, node) in (1..).zip(by_rank) {
        if let Some(place) = order.get_mut(node as usize - 1) {
            *place = rank;
        }
    }
    order
}

/// An order round the ring in which every phase leaves as many candidates as it can: of k names
/// half of them, rounded down, are higher than both neighbours, and these are again in such an
/// order.
fn alternating(n: u32) -> Vec<u32> {
    let peaks = n / 2;
    if peaks == 0 {
        return vec![1; usize::from(n == 1)];
    }
    let mut low = 1..=n - peaks;
    let mut order = Vec::new();
    for peak in alternating(peaks) {
        order.push(peak + n - peaks);
        order.extend(low.next());
    }
    // An odd one out has no place of its own between two peaks.
    order.extend(low);
    order
}

/// All nodes follow N, and these call an election.
fn calls(n: u32, initiators: impl Iterator<Item = u32>) -> Plan {
    let faults = initiators.map(|node| (0, Action::Call(NodeId(node)))).collect();
    Plan { groups: vec![(n, 1..=n)], faults, ..Plan::default() }
}

/// All nodes follow the best one and call an election; the priorities are those of nodes 1, 2 and
/// so on.
fn all_call(priorities: Vec<u32>) -> Plan {
    let n = u32::try_from(priorities.len()).unwrap_or(u32::MAX);
    let best = (1..=n).zip(&priorities).max_by_key(|(_, priority)| **priority);
    let coordinator = best.map_or(n, |(node, _)| node);
    Plan { priorities, groups: vec![(coordinator, 1..=n)], ..calls(n, 1..=n) }
}

fn shuffled(n: u32, dice: &mut SeededDice) -> Vec<u32> {
    let mut left: Vec<u32> = (1..=n).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let at = usize::try_from(dice.below(left.len() as u64)).unwrap_or(0);
        order.push(left.swap_remove(at));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_an_alternating_order_is_higher_than_both_neighbours_again_and_again() {
        for n in 1..=200 {
            let mut order = alternating(n);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (1..=n).collect::<Vec<_>>());
            while order.len() > 1 {
                let count = order.len();
                let at = |place: usize| order[place % count];
                let peaks: Vec<u32> = (0..count)
                    .filter(|place| {
                        at(*place) > at(place + 1) && at(*place) > at(place + count - 1)
                    })
                    .map(at)
                    .collect();
                assert_eq!(peaks.len(), count / 2, "{order:?}");
                order = peaks;
            }
        }
    }
}
