//! The bully algorithm of Garcia-Molina: its guarantees, and its sweep cases.

use tanist_core::NodeId;
use tanist_core::election::Algorithm;
use tanist_core::time::micros;
use tanist_core::trace::Header;

use super::{Inside, Study, highest_wins, of_each_group, of_leaders};
use crate::monitors::{
    AllUnderOne, BestWins, Monitor, SameCoordinator, SameDefinition, Selection, cuts,
};
use crate::studies::fuzz::FuzzModel;
use crate::studies::sweep::{Case, D, Measure, PHASE, Plan, Verdict};
use crate::studies::theory;
use crate::world::faults::Action;

pub(super) const STUDY: Study = Study {
    algorithm: Algorithm::Bully,
    monitors,
    inside: Inside {
        monitors: |selection| {
            let mut monitors = of_each_group();
            if selection.has_cuts {
                monitors.extend(cuts::all());
            }
            monitors
        },
        is_safe: true,
    },
    fuzz: FuzzModel::SYNCHRONOUS,
    sweeps: CASES,
    follows_lower: false,
    halts_all: true,
    only_compares: false,
};

fn monitors(header: &Header, selection: Selection) -> Vec<Box<dyn Monitor>> {
    let mut monitors: Vec<Box<dyn Monitor>> = Vec::new();
    if !selection.is_beyond_model {
        monitors.push(Box::new(SameCoordinator));
        monitors.push(Box::new(SameDefinition));
        if highest_wins(header) {
            monitors.push(Box::new(BestWins::default()));
        }
        monitors.extend(of_leaders(header, selection));
    }
    monitors.push(Box::new(AllUnderOne::new(header)));
    monitors
}

const CASES: &[Case] = &[
    Case {
        name: "second-highest-detects",
        least: 2,
        runs: |n| vec![Plan::coordinator_dies(n, &[], n - 1..=n - 1)],
        theory: theory::bully::second_highest_detects,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "all-detect",
        least: 2,
        runs: |n| vec![Plan::coordinator_dies(n, &[], 1..=n - 1)],
        theory: theory::bully::all_detect,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "highest-recovers",
        least: 2,
        runs: |n| vec![Plan::recovers(n, n, &[])],
        theory: theory::bully::highest_recovers,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "found-by-check",
        least: 2,
        runs: |n| {
            let mut plan = Plan::recovers(n, 1, &[]);
            plan.faults.push((micros(PHASE), Action::Check(NodeId(n))));
            vec![plan]
        },
        theory: theory::bully::found_by_check,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "participant-dies",
        least: 2,
        runs: |n| {
            let mut plan = Plan::recovers(n, n, &[]);
            // It answers Enter_Election at d; Set_Coordinator would reach it at 3d.
            plan.faults.push((micros(D) * 3 / 2, Action::Crash(NodeId(1))));
            vec![plan]
        },
        theory: theory::bully::participant_dies,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "full-waits",
        least: 2,
        runs: |n| vec![Plan::coordinator_dies(n, &[("waits", "full")], n - 1..=n - 1)],
        theory: theory::bully::full_waits,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "descending",
        least: 2,
        runs: |n| vec![Plan::recovers(n, n, &[("halting", "descending")])],
        theory: theory::bully::descending,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
];
