//! The invitation algorithm: its guarantees, and its sweep cases.

use tanist_core::NodeId;
use tanist_core::election::Algorithm;
use tanist_core::trace::Header;

use super::{Inside, Study, of_each_group, of_leaders};
use crate::monitors::{OneGroupPerClique, Selection};
use crate::studies::fuzz::{FuzzModel, FuzzWorld};
use crate::studies::sweep::{Case, Measure, Plan, Verdict};
use crate::studies::theory;
use crate::world::faults::Action;

pub(super) const STUDY: Study = Study {
    algorithm: Algorithm::Invitation,
    monitors: |header, selection| {
        let is_steady = selection.is_steady && keeps_leaders(header);
        let mut monitors = of_leaders(header, Selection { is_steady, ..selection });
        monitors.push(Box::new(OneGroupPerClique::new(header, selection.is_literal_a4)));
        monitors
    },
    inside: Inside { monitors: |_| of_each_group(), is_safe: false },
    fuzz: FuzzModel { world: FuzzWorld::Whole, is_asynchronous: true, changes_priorities: true },
    sweeps: CASES,
    follows_lower: true,
    halts_all: false,
    only_compares: false,
};

/// The printed ways of merging let any coordinator merge any other. As printed, too, a member that
/// is invited by a stranger leaves without notice: its coordinator takes itself for the leader of a
/// group that is gone.
fn keeps_leaders(header: &Header) -> bool {
    let takes_leaders =
        |option: &String| option.starts_with("policy=") || option == "strangers=accept";
    !header.options.iter().any(takes_leaders)
}

const CASES: &[Case] = &[
    Case {
        name: "check",
        least: 2,
        runs: |n| {
            let faults = vec![(0, Action::Check(NodeId(n)))];
            vec![Plan { groups: vec![(n, 1..=n)], faults, ..Plan::default() }]
        },
        theory: theory::invitation::check,
        measure: Measure::LastArrival,
        verdict: Verdict::Exact,
    },
    Case {
        name: "merge",
        least: 2,
        runs: |n| vec![two_groups(n, &[])],
        theory: theory::invitation::merge,
        measure: Measure::Merge,
        verdict: Verdict::Exact,
    },
    Case {
        name: "merge-full",
        least: 2,
        runs: |n| vec![two_groups(n, &[("waits", "full")])],
        theory: theory::invitation::merge_full,
        measure: Measure::Merge,
        verdict: Verdict::Exact,
    },
    Case {
        name: "cold-start",
        least: 2,
        runs: |_| vec![Plan::default()],
        theory: theory::invitation::cold_start,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "coordinator-dies",
        least: 2,
        runs: |n| vec![Plan::coordinator_dies(n, &[("reinvite", "off")], 1..=n - 1)],
        theory: theory::invitation::coordinator_dies,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "reinvite",
        least: 2,
        runs: |n| vec![Plan::coordinator_dies(n, &[], n - 1..=n - 1)],
        theory: theory::invitation::reinvite,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
];

/// The upper half follows N, the lower half its own highest node; N checks for other groups.
fn two_groups(n: u32, options: &'static [(&'static str, &'static str)]) -> Plan {
    let half = n / 2;
    Plan {
        options,
        groups: vec![(n, half + 1..=n), (half, 1..=half)],
        faults: vec![(0, Action::Check(NodeId(n)))],
        ..Plan::default()
    }
}
