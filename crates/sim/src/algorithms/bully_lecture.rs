//! The bully algorithm of the lectures: its guarantees, and its sweep cases.

use tanist_core::NodeId;
use tanist_core::election::Algorithm;
use tanist_core::time::micros;
use tanist_core::trace::Header;

use super::{Inside, Study};
use crate::monitors::{BestOrUndefined, BestWins, EverybodyKnows, Monitor, Selection};
use crate::studies::fuzz::FuzzModel;
use crate::studies::sweep::{Case, D, Measure, Plan, Verdict};
use crate::studies::theory;
use crate::world::faults::Action;

pub(super) const STUDY: Study = Study {
    algorithm: Algorithm::BullyLecture,
    monitors,
    inside: Inside::NOTHING,
    fuzz: FuzzModel::SYNCHRONOUS,
    sweeps: CASES,
    follows_lower: false,
    halts_all: false,
    only_compares: false,
};

fn monitors(_header: &Header, selection: Selection) -> Vec<Box<dyn Monitor>> {
    let mut monitors: Vec<Box<dyn Monitor>> = Vec::new();
    if !selection.is_beyond_model {
        monitors.push(Box::new(BestWins::default()));
    }
    monitors.push(Box::new(BestOrUndefined));
    monitors.push(Box::new(EverybodyKnows));
    monitors
}

const CASES: &[Case] = &[
    Case {
        name: "worst",
        least: 2,
        runs: |n| vec![Plan::coordinator_dies(n, &[], 1..=1)],
        theory: theory::lecture::worst,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "best",
        least: 2,
        runs: |n| vec![Plan::coordinator_dies(n, &[], n - 1..=n - 1)],
        theory: theory::lecture::best,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "shortcut",
        least: 2,
        runs: |n| vec![Plan::coordinator_dies(n, &[("shortcut", "on")], n - 1..=n - 1)],
        theory: theory::lecture::shortcut,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "mean",
        least: 2,
        runs: |n| (1..n).map(|i| Plan::coordinator_dies(n, &[], i..=i)).collect(),
        theory: theory::lecture::mean,
        measure: Measure::Whole,
        verdict: Verdict::ExactMean,
    },
    Case {
        name: "concurrent",
        least: 2,
        runs: |n| vec![Plan::coordinator_dies(n, &[], 1..=n - 1)],
        theory: theory::lecture::concurrent,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "recovery",
        least: 2,
        runs: |n| vec![Plan::recovers(n, 1, &[])],
        theory: theory::lecture::recovery,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "recovery-unguarded",
        least: 2,
        runs: |n| vec![Plan::recovers(n, 1, &[("guard", "off")])],
        theory: theory::lecture::recovery_unguarded,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "recovery-highest",
        least: 2,
        runs: |n| vec![Plan::recovers(n, n, &[])],
        theory: theory::lecture::recovery_highest,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "winner-dies",
        least: 3,
        runs: |n| {
            let mut plan = Plan::coordinator_dies(n, &[], 1..=1);
            // After 2d it has answered all nodes, and before d + T it has not announced itself.
            plan.faults.push((micros(D) * 5 / 2, Action::Crash(NodeId(n - 1))));
            vec![plan]
        },
        theory: theory::lecture::winner_dies,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
];
