//! Runs a case for many sizes of group and compares what was counted with what theory says.

use std::fmt::Write;
use std::ops::RangeInclusive;
use std::time::Duration;

use tanist_core::election::{Algorithm, Standing};
use tanist_core::group::Counter;
use tanist_core::options::Options;
use tanist_core::recall::Recall;
use tanist_core::time::micros;
use tanist_core::timing::TimingConfig;
use tanist_core::trace::{Event, Kind};
use tanist_core::{GroupConfig, Membership, NodeId, Status, Time, Timing};

use crate::application::Pace;
use crate::faults::{Action, Fault, Moment};
use crate::monitors::Selection;
use crate::network::{Conditions, Delay};
use crate::run::{Report, run};
use crate::scenario::{Expect, Scenario};
use crate::theory::{self, Amount, Bounds, Cost};

/// One size of one case.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Of which algorithm.
    pub algorithm: Algorithm,
    /// Which case.
    pub case: &'static str,
    /// How many nodes are configured.
    pub n: u32,
    /// Messages counted.
    pub messages: Amount,
    /// Messages by formula.
    pub theory_messages: Amount,
    /// Time measured, in simulated microseconds.
    pub time_us: Amount,
    /// Time by formula.
    pub theory_time_us: Amount,
    /// Whether both agree exactly, and every assertion held.
    pub is_match: bool,
}

struct Case {
    name: &'static str,
    /// Smallest group for which the case means something.
    least: u32,
    /// The runs whose mean is taken; one for most cases.
    runs: fn(u32) -> Vec<Plan>,
    theory: fn(u64, &Bounds) -> Cost,
    measure: Measure,
}

/// What a run's figures are.
#[derive(Clone, Copy)]
enum Measure {
    /// All messages; until a node's state last changed.
    Whole,
    /// All messages; until the last one arrived.
    LastArrival,
    /// Messages of the merge; from the merge's beginning until a node's state last changed.
    Merge,
}

/// A scenario in the making.
struct Plan {
    options: &'static [(&'static str, &'static str)],
    /// Coordinator and lowest and highest member of each group that stands.
    groups: Vec<(u32, RangeInclusive<u32>)>,
    down: Vec<u32>,
    faults: Vec<(u64, Action)>,
}

/// The names of an algorithm's cases.
#[must_use]
pub fn cases(algorithm: Algorithm) -> Vec<&'static str> {
    table(algorithm).iter().map(|case| case.name).collect()
}

/// Runs one case, or all if none is named, for every size; tells each row as it comes.
pub fn sweep(
    algorithm: Algorithm,
    case: Option<&str>,
    nodes: RangeInclusive<u32>,
    on_row: &mut dyn FnMut(&Row),
) -> Vec<Row> {
    let mut rows = Vec::new();
    for entry in table(algorithm) {
        if case.is_some_and(|wanted| wanted != entry.name) {
            continue;
        }
        for n in nodes.clone().filter(|n| *n >= entry.least) {
            let row = measure(algorithm, entry, n);
            on_row(&row);
            rows.push(row);
        }
    }
    rows
}

/// The rows as CSV.
#[must_use]
pub fn csv(rows: &[Row]) -> String {
    let mut text =
        String::from("algorithm,case,n,messages,theory_messages,time_us,theory_time_us,match\n");
    for row in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{}",
            row.algorithm.name(),
            row.case,
            row.n,
            row.messages,
            row.theory_messages,
            row.time_us,
            row.theory_time_us,
            row.is_match,
        );
    }
    text
}

const D: Duration = Duration::from_millis(1);
const TP: Duration = Duration::from_micros(500);
/// When the check of `found-by-check` begins.
const PHASE: Duration = Duration::from_millis(20);
/// Nothing periodic happens in the time of a case.
const NEVER: Duration = Duration::from_secs(1000);

fn timing() -> TimingConfig {
    TimingConfig {
        check_every: NEVER,
        timeout_every: NEVER,
        delay_unit: Some(D * 3),
        jitter: Some(Duration::ZERO),
        ..TimingConfig::bounded_by(D, TP)
    }
}

fn bounds(timing: &Timing) -> Bounds {
    Bounds {
        d: micros(D),
        t: micros(timing.answer()),
        t_announce: micros(timing.announcement()),
        t_merge: micros(timing.merge()),
        unit: micros(timing.delay_unit()),
        phase: micros(PHASE),
    }
}

fn measure(algorithm: Algorithm, case: &Case, n: u32) -> Row {
    let timing = Timing::new(timing()).expect("the timing of the sweeps keeps its bounds");
    let theory = (case.theory)(u64::from(n), &bounds(&timing));
    let plans = (case.runs)(n);
    let over = plans.len() as u64;
    let (mut messages, mut time, mut holds) = (0, 0, true);
    for plan in plans {
        let report = run(&scenario(algorithm, case.name, n, plan), 1);
        let (counted, took) = figures(&report, case.measure);
        messages += counted;
        time += took;
        holds &= report.broken().next().is_none();
    }
    let (messages, time) = (Amount::mean(messages, over), Amount::mean(time, over));
    Row {
        algorithm,
        case: case.name,
        n,
        messages,
        theory_messages: theory.messages,
        time_us: time,
        theory_time_us: theory.time,
        is_match: holds && messages == theory.messages && time == theory.time,
    }
}

fn figures(report: &Report, measure: Measure) -> (u64, u64) {
    let settled = report.settled.as_micros();
    match measure {
        Measure::Whole => (report.counts.sent, settled),
        Measure::LastArrival => {
            let entries = report.recording.entries.iter().rev();
            let last = entries
                .clone()
                .find(|entry| matches!(entry.event, Event::Receive { .. }))
                .map_or(0, |entry| entry.at.as_micros());
            (report.counts.sent, last)
        }
        Measure::Merge => {
            let counts = &report.counts;
            let kinds = [
                Kind::Invitation,
                Kind::Accept,
                Kind::AcceptAnswer,
                Kind::Ready,
                Kind::ReadyAnswer,
            ];
            let began = report.recording.entries.iter().find(|entry| {
                matches!(&entry.event, Event::State { state, .. } if state.status == Status::Election)
            });
            let began = began.map_or(0, |entry| entry.at.as_micros());
            (kinds.iter().map(|kind| counts.of(*kind)).sum(), settled.saturating_sub(began))
        }
    }
}

fn scenario(algorithm: Algorithm, case: &str, n: u32, plan: Plan) -> Scenario {
    let timing = timing();
    let mut options = Options::default();
    for (name, value) in plan.options {
        options.set(algorithm, name, value).expect("the cases below name real options");
    }
    let groups = plan.groups.into_iter().map(|(coordinator, members)| Standing {
        group: Counter(1).group(NodeId(coordinator)),
        coordinator: NodeId(coordinator),
        members: members.map(NodeId).collect(),
    });
    Scenario {
        name: format!("{case}-{n}"),
        about: format!("case {case} of {} with {n} nodes", algorithm.name()),
        config: GroupConfig {
            members: Membership::numbered(n).expect("a case has at least two nodes"),
            timing: Timing::new(timing).expect("the timing of the sweeps keeps its bounds"),
            algorithm,
            options,
            recall: Recall::Off,
            mutant: None,
        },
        timing,
        seed: 1,
        end: Duration::from_secs(100),
        stops_at_break: false,
        conditions: Conditions {
            delay: Delay::Fixed(D),
            is_fifo: true,
            loss_ppm: 0,
            duplicate_ppm: 0,
            has_refusals: false,
        },
        rules: Vec::new(),
        pace: Pace::default(),
        groups: groups.collect(),
        down: plan.down.into_iter().map(NodeId).collect(),
        faults: plan
            .faults
            .into_iter()
            .map(|(at, action)| Fault { moment: Moment::At(Time::from_micros(at)), action })
            .collect(),
        selection: Selection::STANDARD,
        expect: Expect::default(),
    }
}

const fn table(algorithm: Algorithm) -> &'static [Case] {
    match algorithm {
        Algorithm::BullyLecture => LECTURE,
        Algorithm::Bully => BULLY,
        Algorithm::Invitation => INVITATION,
    }
}

/// N coordinates everybody, dies, and these nodes notice.
fn coordinator_dies(
    n: u32,
    options: &'static [(&'static str, &'static str)],
    noticed_by: impl Iterator<Item = u32>,
) -> Plan {
    let mut faults = vec![(0, Action::Crash(NodeId(n)))];
    faults.extend(noticed_by.map(|node| (0, Action::Suspect(NodeId(node)))));
    Plan { options, groups: vec![(n, 1..=n)], down: Vec::new(), faults }
}

/// A node that was down comes up; the others stand under the highest of them.
fn recovers(n: u32, node: u32, options: &'static [(&'static str, &'static str)]) -> Plan {
    let restart = Action::Restart { node: NodeId(node), lost_writes: 0 };
    let group = if node == n { (n - 1, 1..=n - 1) } else { (n, node + 1..=n) };
    Plan { options, groups: vec![group], down: vec![node], faults: vec![(0, restart)] }
}

const LECTURE: &[Case] = &[
    Case {
        name: "worst",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[], 1..=1)],
        theory: theory::lecture::worst,
        measure: Measure::Whole,
    },
    Case {
        name: "best",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[], n - 1..=n - 1)],
        theory: theory::lecture::best,
        measure: Measure::Whole,
    },
    Case {
        name: "shortcut",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[("shortcut", "on")], n - 1..=n - 1)],
        theory: theory::lecture::shortcut,
        measure: Measure::Whole,
    },
    Case {
        name: "mean",
        least: 2,
        runs: |n| (1..n).map(|i| coordinator_dies(n, &[], i..=i)).collect(),
        theory: theory::lecture::mean,
        measure: Measure::Whole,
    },
    Case {
        name: "concurrent",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[], 1..=n - 1)],
        theory: theory::lecture::concurrent,
        measure: Measure::Whole,
    },
    Case {
        name: "recovery",
        least: 2,
        runs: |n| vec![recovers(n, 1, &[])],
        theory: theory::lecture::recovery,
        measure: Measure::Whole,
    },
    Case {
        name: "recovery-unguarded",
        least: 2,
        runs: |n| vec![recovers(n, 1, &[("guard", "off")])],
        theory: theory::lecture::recovery_unguarded,
        measure: Measure::Whole,
    },
    Case {
        name: "recovery-highest",
        least: 2,
        runs: |n| vec![recovers(n, n, &[])],
        theory: theory::lecture::recovery_highest,
        measure: Measure::Whole,
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
    },
];

const BULLY: &[Case] = &[
    Case {
        name: "second-highest-detects",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[], n - 1..=n - 1)],
        theory: theory::bully::second_highest_detects,
        measure: Measure::Whole,
    },
    Case {
        name: "all-detect",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[], 1..=n - 1)],
        theory: theory::bully::all_detect,
        measure: Measure::Whole,
    },
    Case {
        name: "highest-recovers",
        least: 2,
        runs: |n| vec![recovers(n, n, &[])],
        theory: theory::bully::highest_recovers,
        measure: Measure::Whole,
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
    },
    Case {
        name: "full-waits",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[("waits", "full")], n - 1..=n - 1)],
        theory: theory::bully::full_waits,
        measure: Measure::Whole,
    },
    Case {
        name: "descending",
        least: 2,
        runs: |n| vec![recovers(n, n, &[("halting", "descending")])],
        theory: theory::bully::descending,
        measure: Measure::Whole,
    },
];

const INVITATION: &[Case] = &[
    Case {
        name: "check",
        least: 2,
        runs: |n| {
            vec![Plan {
                options: &[],
                groups: vec![(n, 1..=n)],
                down: Vec::new(),
                faults: vec![(0, Action::Check(NodeId(n)))],
            }]
        },
        theory: theory::invitation::check,
        measure: Measure::LastArrival,
    },
    Case {
        name: "merge",
        least: 2,
        runs: |n| vec![two_groups(n, &[])],
        theory: theory::invitation::merge,
        measure: Measure::Merge,
    },
    Case {
        name: "merge-full",
        least: 2,
        runs: |n| vec![two_groups(n, &[("waits", "full")])],
        theory: theory::invitation::merge_full,
        measure: Measure::Merge,
    },
    Case {
        name: "cold-start",
        least: 2,
        runs: |_| {
            vec![Plan { options: &[], groups: Vec::new(), down: Vec::new(), faults: Vec::new() }]
        },
        theory: theory::invitation::cold_start,
        measure: Measure::Whole,
    },
    Case {
        name: "coordinator-dies",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[("reinvite", "off")], 1..=n - 1)],
        theory: theory::invitation::coordinator_dies,
        measure: Measure::Whole,
    },
    Case {
        name: "reinvite",
        least: 2,
        runs: |n| vec![coordinator_dies(n, &[], n - 1..=n - 1)],
        theory: theory::invitation::reinvite,
        measure: Measure::Whole,
    },
];

/// The upper half under N, the lower half under its highest; N checks.
fn two_groups(n: u32, options: &'static [(&'static str, &'static str)]) -> Plan {
    let half = n / 2;
    Plan {
        options,
        groups: vec![(n, half + 1..=n), (half, 1..=half)],
        down: Vec::new(),
        faults: vec![(0, Action::Check(NodeId(n)))],
    }
}
