//! The cases of bully, in both versions, and of invitation.

use tanist_core::NodeId;
use tanist_core::time::micros;

use crate::studies::sweep::{Case, D, Measure, PHASE, Plan, Verdict};
use crate::studies::theory;
use crate::world::faults::Action;

/// N coordinates everybody, dies, and these nodes notice.
pub(crate) fn coordinator_dies(
    n: u32,
    options: &'static [(&'static str, &'static str)],
    noticed_by: impl Iterator<Item = u32>,
) -> Plan {
    let mut faults = vec![(0, Action::Crash(NodeId(n)))];
    faults.extend(noticed_by.map(|node| (0, Action::Suspect(NodeId(node)))));
    Plan { options, groups: vec![(n, 1..=n)], faults, ..Plan::default() }
}

/// A node that was down comes up; the others stand under the highest of them.
fn recovers(n: u32, node: u32, options: &'static [(&'static str, &'static str)]) -> Plan {
    let restart = Action::Restart { node: NodeId(node), lost_writes: 0 };
    let group = if node == n { (n - 1, 1..=n - 1) } else { (n, node + 1..=n) };
    let faults = vec![(0, restart)];
    Plan { options, groups: vec![group], down: vec![node], faults, ..Plan::default() }
}

pub(crate) const LECTURE: &[Case] = &[
    Case {
        name: "worst",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[], 1..=1)],
        theory: theory::lecture::worst,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "best",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[], n - 1..=n - 1)],
        theory: theory::lecture::best,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "shortcut",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[("shortcut", "on")], n - 1..=n - 1)],
        theory: theory::lecture::shortcut,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "mean",
        least: 2,
        runs: |n| (1..n).map(|i| coordinator_dies(n, &[], i..=i)).collect(),
        theory: theory::lecture::mean,
        measure: Measure::Whole,
        verdict: Verdict::ExactMean,
    },
    Case {
        name: "concurrent",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[], 1..=n - 1)],
        theory: theory::lecture::concurrent,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "recovery",
        least: 2,
        runs: |n| vec![recovers(n, 1, &[])],
        theory: theory::lecture::recovery,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "recovery-unguarded",
        least: 2,
        runs: |n| vec![recovers(n, 1, &[("guard", "off")])],
        theory: theory::lecture::recovery_unguarded,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "recovery-highest",
        least: 2,
        runs: |n| vec![recovers(n, n, &[])],
        theory: theory::lecture::recovery_highest,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "winner-dies",
        least: 3,
        runs: |n| {
            let mut plan = coordinator_dies(n, &[], 1..=1);
            // After 2d it has answered everybody, and before d + T it has not announced itself.
            plan.faults.push((micros(D) * 5 / 2, Action::Crash(NodeId(n - 1))));
            vec![plan]
        },
        theory: theory::lecture::winner_dies,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
];

pub(crate) const BULLY: &[Case] = &[
    Case {
        name: "second-highest-detects",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[], n - 1..=n - 1)],
        theory: theory::bully::second_highest_detects,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "all-detect",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[], 1..=n - 1)],
        theory: theory::bully::all_detect,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "highest-recovers",
        least: 2,
        runs: |n| vec![recovers(n, n, &[])],
        theory: theory::bully::highest_recovers,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "found-by-check",
        least: 2,
        runs: |n| {
            let mut plan = recovers(n, 1, &[]);
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
            let mut plan = recovers(n, n, &[]);
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
        runs: |n| vec![coordinator_dies(n, &[("waits", "full")], n - 1..=n - 1)],
        theory: theory::bully::full_waits,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "descending",
        least: 2,
        runs: |n| vec![recovers(n, n, &[("halting", "descending")])],
        theory: theory::bully::descending,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
];

pub(crate) const INVITATION: &[Case] = &[
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
        runs: |n| vec![coordinator_dies(n, &[("reinvite", "off")], 1..=n - 1)],
        theory: theory::invitation::coordinator_dies,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
    Case {
        name: "reinvite",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[], n - 1..=n - 1)],
        theory: theory::invitation::reinvite,
        measure: Measure::Whole,
        verdict: Verdict::Exact,
    },
];

/// The upper half under N, the lower half under its highest; N checks.
fn two_groups(n: u32, options: &'static [(&'static str, &'static str)]) -> Plan {
    let half = n / 2;
    Plan {
        options,
        groups: vec![(n, half + 1..=n), (half, 1..=half)],
        faults: vec![(0, Action::Check(NodeId(n)))],
        ..Plan::default()
    }
}
