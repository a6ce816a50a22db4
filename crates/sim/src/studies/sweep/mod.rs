//! Runs a case for many group sizes and compares the counts with theory.

mod case;
mod formulas;
mod measure;

use std::fmt::Write;
use std::ops::RangeInclusive;
use std::time::Duration;

use tanist_core::election::{Algorithm, EstablishedGroup};
use tanist_core::group::Counter;
use tanist_core::options::Options;
use tanist_core::time::micros;
use tanist_core::timing::TimingConfig;
use tanist_core::{GroupSettings, NodeId, Time, Timing};

use crate::algorithms;
use crate::monitors::Selection;
use crate::scenario::{Expect, Scenario};
use crate::studies::run::run;
use crate::studies::sample::Sample;
use crate::studies::theory::{Amount, Bounds};
use crate::world::application::Pace;
use crate::world::faults::{Fault, Moment};
use crate::world::network::{Conditions, Delay};

pub(crate) use self::case::{Case, Plan, Verdict};
pub use self::formulas::{Formula, formula};
pub(crate) use self::measure::Measure;

/// One size of one case.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The case.
    pub case: &'static str,
    /// How many nodes are configured.
    pub n: u32,
    /// Messages counted; their mean, if the case has several runs, or the most of any, if theory is
    /// a bound.
    pub messages: Amount,
    /// The confidence of the mean, where theory is a mean.
    pub spread: Option<Spread>,
    /// Messages by formula.
    pub theory_messages: Amount,
    /// Time measured, in simulated microseconds.
    pub time_us: Amount,
    /// Time by formula.
    pub theory_time_us: Amount,
    /// Whether both agree, exactly or, for a sample, within its error; and every assertion held.
    pub is_match: bool,
}

/// How far the mean of several runs may be from the true mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Half the width of the 95 % confidence interval. Zero if the runs are all possible runs: then
    /// their mean is the true one.
    pub confidence: f64,
    /// A larger difference from theory does not match. One correct sample in twenty is outside the
    /// confidence interval, and one in a thousand outside of this.
    pub tolerance: f64,
}

/// The names of an algorithm's cases.
#[must_use]
pub fn cases(algorithm: Algorithm) -> Vec<&'static str> {
    algorithms::study(algorithm).sweeps.iter().map(|case| case.name).collect()
}

/// Runs one case, or all if none is named, for every size; reports each row when it is done.
pub fn sweep(
    algorithm: Algorithm,
    case: Option<&str>,
    nodes: RangeInclusive<u32>,
    on_row: &mut dyn FnMut(&Row),
) -> Vec<Row> {
    let mut rows = Vec::new();
    for entry in algorithms::study(algorithm).sweeps {
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

/// The rows as CSV; the last column is empty where theory is not a mean.
#[must_use]
pub fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "algorithm,case,n,messages,theory_messages,time_us,theory_time_us,match,messages_ci95\n",
    );
    for row in rows {
        let confidence = row.spread.map(|spread| format!("{:.6}", spread.confidence));
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{}",
            row.algorithm.name(),
            row.case,
            row.n,
            row.messages,
            row.theory_messages,
            row.time_us,
            row.theory_time_us,
            row.is_match,
            confidence.unwrap_or_default(),
        );
    }
    text
}

pub(crate) const D: Duration = Duration::from_millis(1);
const TP: Duration = Duration::from_micros(500);
/// When the check of `found-by-check` begins.
pub(crate) const PHASE: Duration = Duration::from_millis(20);
/// Nothing periodic happens during a case.
pub(crate) const NEVER: Duration = Duration::from_secs(1000);

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
    let (mut counts, mut times, mut holds) = (Sample::default(), Sample::default(), true);
    let mut most = 0;
    for plan in plans {
        let report = run(&scenario(algorithm, case.name, n, plan), 1);
        let (counted, took) = case.measure.figures(&report);
        counts.add(counted);
        most = most.max(counted);
        times.add(took);
        holds &= report.violated().next().is_none();
    }
    let mean = |sample: &Sample| sample.mean().expect("every case has a run");
    let messages = match case.verdict {
        Verdict::Exact | Verdict::ExactMean | Verdict::Sampled => mean(&counts),
        Verdict::AtMost => Amount::whole(most),
    };
    let time = mean(&times);
    let spread = match case.verdict {
        Verdict::Exact | Verdict::AtMost => None,
        Verdict::ExactMean => Some(Spread { confidence: 0.0, tolerance: 0.0 }),
        Verdict::Sampled => Some(spread(&counts)),
    };
    let fits = match case.verdict {
        Verdict::Exact | Verdict::ExactMean => messages == theory.messages,
        Verdict::AtMost => messages.to_f64() <= theory.messages.to_f64(),
        Verdict::Sampled => {
            let off = (messages.to_f64() - theory.messages.to_f64()).abs();
            spread.is_some_and(|spread| off <= spread.tolerance)
        }
    };
    Row {
        algorithm,
        case: case.name,
        n,
        messages,
        spread,
        theory_messages: theory.messages,
        time_us: time,
        theory_time_us: theory.time,
        is_match: holds && fits && time == theory.time,
    }
}

fn spread(counts: &Sample) -> Spread {
    Spread {
        confidence: counts.confidence().unwrap_or(0.0),
        // Without randomness both are equal, except for the rounding of the formula.
        tolerance: 3.3 * counts.standard_error() + 1e-3,
    }
}

fn scenario(algorithm: Algorithm, case: &str, n: u32, plan: Plan) -> Scenario {
    let timing = TimingConfig { answer: plan.answer, ..timing() };
    let checked = Timing::new(timing).expect("the timing of the sweeps keeps its bounds");
    let members = plan.members(n);
    let mut options = Options::default();
    for (name, value) in plan.options {
        options.set(algorithm, name, value).expect("the cases below name real options");
    }
    let groups = plan.groups.into_iter().map(|(coordinator, members)| EstablishedGroup {
        group: Counter(1).group(NodeId(coordinator)),
        coordinator: NodeId(coordinator),
        members: members.map(NodeId).collect(),
    });
    Scenario {
        name: format!("{case}-{n}"),
        about: format!("case {case} of {} with {n} nodes", algorithm.name()),
        settings: GroupSettings { options, ..GroupSettings::new(algorithm, checked) },
        members,
        timing,
        seed: 1,
        end: Duration::from_secs(100),
        stops_at_break: false,
        steps: Vec::new(),
        conditions: Conditions {
            delay: Delay::Fixed(D),
            is_fifo: true,
            loss_ppm: 0,
            duplicate_ppm: 0,
            has_refusals: false,
        },
        topology: plan.topology,
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
