//! Compares algorithms: what the same faults cost each of them, in groups of many sizes.
//!
//! Every algorithm gets the same groups, the same faults at the same moments and the same failure
//! detector; a seed draws the moments and the order of the priorities. So only the algorithm
//! differs. All run with their default options.
//!
//! Assumes that every message takes d and that none is lost. Counted are, from each fault of a
//! [`Script`] until all nodes agree again and keep agreeing: messages sent, without heartbeats;
//! time; and the bytes of those messages on the wire. Leaves out: frames, seals, and the effects of
//! a real network. The formulas of single cases are in `theory.rs`.

mod bound;
mod limit;
pub mod picture;
mod script;
mod trial;

use std::fmt::Write;
use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_core::time::micros;

use crate::studies::sample::Sample;

pub use bound::{BOUNDED, Bound, bounds};
pub use limit::{Limit, limits};
pub use script::Script;
pub use trial::Breakage;

/// The costs of one algorithm, in groups of one size.
#[derive(Clone, Debug)]
pub struct Row {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The script that was run.
    pub script: Script,
    /// How many nodes are configured.
    pub n: u32,
    /// How many seeds were run.
    pub seeds: u32,
    /// Messages sent, in each run that reached agreement.
    pub messages: Sample,
    /// Simulated microseconds until agreement, in each of these runs.
    pub time_us: Sample,
    /// Bytes of those messages, in each of these runs.
    pub bytes: Sample,
    /// The first run in which an assertion was violated.
    pub breakage: Option<Breakage>,
}

/// The quantities that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Messages sent.
    Messages,
    /// Time to agreement.
    Time,
    /// Bytes sent.
    Bytes,
}

impl Quantity {
    /// All quantities, in the order of the panels.
    pub const ALL: [Self; 3] = [Self::Messages, Self::Time, Self::Bytes];

    /// The word in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Time => "time",
            Self::Bytes => "bytes",
        }
    }
}

impl Row {
    /// How many runs reached agreement.
    #[must_use]
    pub const fn agreed(&self) -> usize {
        self.time_us.count()
    }

    /// Mean and half the width of its 95 % confidence interval; time in message delays. None if no
    /// run reached agreement.
    #[must_use]
    pub fn figure(&self, quantity: Quantity) -> Option<(f64, f64)> {
        let (sample, unit) = match quantity {
            Quantity::Messages => (&self.messages, 1.0),
            Quantity::Time => (&self.time_us, delay_us()),
            Quantity::Bytes => (&self.bytes, 1.0),
        };
        let mean = sample.mean()?.to_f64();
        Some((mean / unit, sample.confidence().unwrap_or(0.0) / unit))
    }
}

/// Runs a script with one algorithm, in groups of one size, for seeds 1, 2 and so on. `is_over` is
/// called before every seed; if it returns true, the row has the seeds that were run.
#[must_use]
pub fn measure(
    algorithm: Algorithm,
    script: Script,
    n: u32,
    seeds: u32,
    is_over: &dyn Fn() -> bool,
) -> Row {
    let mut row = Row {
        algorithm,
        script,
        n,
        seeds: 0,
        messages: Sample::default(),
        time_us: Sample::default(),
        bytes: Sample::default(),
        breakage: None,
    };
    for seed in 1..=u64::from(seeds) {
        if is_over() {
            break;
        }
        row.seeds += 1;
        let outcome = trial::run(algorithm, script, n, seed);
        if let Some(cost) = outcome.cost {
            row.messages.add(cost.messages);
            row.time_us.add(cost.time_us);
            row.bytes.add(cost.bytes);
        }
        row.breakage = row.breakage.or(outcome.breakage);
    }
    row
}

/// The rows as CSV; figures are empty if no run reached agreement, intervals if only one did.
#[must_use]
pub fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "fault,algorithm,n,seeds,agreed,messages,messages_ci95,time_us,time_us_ci95,\
         bytes,bytes_ci95\n",
    );
    for row in rows {
        let (fault, algorithm) = (row.script.name(), row.algorithm.name());
        // Writing to a String cannot fail.
        let _ = write!(text, "{fault},{algorithm},{},{},{}", row.n, row.seeds, row.agreed());
        for sample in [&row.messages, &row.time_us, &row.bytes] {
            let mean = sample.mean().map(|mean| mean.to_string()).unwrap_or_default();
            let half = sample.confidence().map(|half| format!("{half:.6}")).unwrap_or_default();
            let _ = write!(text, ",{mean},{half}");
        }
        text.push('\n');
    }
    text
}

/// d, in simulated microseconds: the unit of times.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a delay is far below 2^52 microseconds")]
pub fn delay_us() -> f64 {
    micros(D) as f64
}

/// How long every message takes, and the bound Tm in the configuration.
const D: Duration = Duration::from_millis(1);
/// The bound Tp in the configuration; processing takes no time.
const TP: Duration = Duration::from_micros(500);
/// h: the heartbeat interval.
const HEARTBEAT: Duration = Duration::from_millis(5);
