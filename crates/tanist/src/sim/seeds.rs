//! A test for many seeds: runs it, and makes of the first failure the smallest that it finds.
//!
//! A run is made smaller in the order nodes, faults of storms, time; what still fails in the same
//! way is kept. Assumes that the test follows from the seed, as everything in a world does.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::thread;

use super::evidence::{NeverError, ViolationError};
use super::expected_panics::{Panicked, quietly};
use super::trial::{Again, Reduction, SEED_VARIABLE, Seen, Trial};

/// Runs a test for every seed. The first that fails, by an error or a panic, is shrunk: fewer
/// nodes, fewer faults of its storms, shorter storms, as long as it fails in the same way.
///
/// The test makes its worlds with [`Trial::world`], and may name nodes as it likes: a smaller world
/// without them is not taken for a failure. What never came true
/// ([`NeverError`]) is not tried with fewer nodes, since the condition may need them.
///
/// ```
/// use tanist::sim::{for_each_seed, Idle, Storm, World};
///
/// for_each_seed(0..20, |trial| {
///     let mut world = trial.world(5).start(|_| Idle)?;
///     world.storm(Storm::default());
///     world.run_until(World::is_one_group)?;
///     world.verdict()?;
///     Ok(())
/// });
/// ```
///
/// The environment variable `TANIST_SEED` runs one seed instead, whole (`TANIST_SEED=17`) or as it
/// was shrunk: the failure says what to write.
///
/// # Panics
/// If the test fails for a seed. The message has the seed, the failure, the faults that are left,
/// the story of the smallest run, and where its picture and its trace are.
pub fn for_each_seed(
    seeds: impl IntoIterator<Item = u64>,
    test: impl Fn(&Trial) -> Result<(), Box<dyn Error>>,
) {
    let again = std::env::var(SEED_VARIABLE).ok();
    sweep(seeds, again.as_deref(), &test);
}

/// The same with the value of the environment variable.
fn sweep(seeds: impl IntoIterator<Item = u64>, again: Option<&str>, test: &Test<'_>) {
    let hunt = Hunt { test, runs: Cell::new(0) };
    if let Some(text) = again {
        let again: Again = text.parse().unwrap_or_else(|error| panic!("{error}"));
        if hunt.run(&again).is_some() {
            hunt.fail(&again);
        }
        return;
    }
    for seed in seeds {
        let whole = Again { seed, reduction: Reduction::default() };
        if let Some(failed) = hunt.run(&whole) {
            hunt.runs.set(0);
            let smallest = hunt.shrink(seed, &failed);
            hunt.fail(&smallest);
        }
    }
}

/// What is run for every seed.
type Test<'a> = dyn Fn(&Trial) -> Result<(), Box<dyn Error>> + 'a;

/// A test, and how often it has run.
struct Hunt<'a> {
    test: &'a Test<'a>,
    runs: Cell<u32>,
}

/// The smallest run so far that fails like the first.
struct Smallest<'a> {
    run: Again,
    seen: Seen,
    kind: &'a Kind,
}

/// A run that failed.
struct Failed {
    kind: Kind,
    text: String,
    seen: Seen,
}

/// What two failures must have in common to be of one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// A panic, and where.
    Panic(String),
    /// Something did not come true.
    Never,
    /// These assertions were violated.
    Violated(BTreeSet<&'static str>),
    /// Another error, without its numbers.
    Error(String),
}

impl Hunt<'_> {
    /// Runs the test; what failed, if it did.
    fn run(&self, again: &Again) -> Option<Failed> {
        self.attempt(&Trial::new(again.seed, &again.reduction, false))
    }

    fn attempt(&self, trial: &Trial) -> Option<Failed> {
        self.runs.set(self.runs.get() + 1);
        let (kind, text) = match quietly(|| (self.test)(trial)) {
            Ok(Ok(())) => return None,
            Ok(Err(error)) => (Kind::of(error.as_ref()), error.to_string()),
            Err(Panicked { place, words }) => {
                let text = format!("{words}, at {place}");
                (Kind::Panic(place), text)
            }
        };
        let seen = trial.seen();
        Some(Failed { kind, text, seen })
    }

    /// The smallest run that fails in the same way, as far as a limited number of runs finds it.
    fn shrink(&self, seed: u64, failed: &Failed) -> Again {
        let whole = Again { seed, reduction: Reduction::default() };
        let mut best = Smallest { run: whole, seen: failed.seen.clone(), kind: &failed.kind };
        if failed.kind != Kind::Never {
            let fewer = |nodes| Reduction { nodes: Some(nodes), ..Reduction::default() };
            let _ = (1..failed.seen.nodes).any(|nodes| self.tries(&mut best, fewer(nodes)));
        }
        let mut kept: Vec<u32> = best.seen.faults.iter().map(|(number, _)| *number).collect();
        // Most failures need one fault, or none.
        let alone = [BTreeSet::new()].into_iter().chain(kept.iter().map(|one| [*one].into()));
        for faults in alone {
            let reduction = Reduction { faults: Some(faults), ..best.run.reduction.clone() };
            if self.tries(&mut best, reduction) {
                kept.clear();
                break;
            }
        }
        let mut size = kept.len();
        while size > 0 {
            let mut at = 0;
            while at < kept.len() {
                let end = (at + size).min(kept.len());
                let rest: Vec<u32> = [&kept[..at], &kept[end..]].concat();
                let faults: BTreeSet<u32> = rest.iter().copied().collect();
                let reduction = Reduction { faults: Some(faults), ..best.run.reduction.clone() };
                if self.tries(&mut best, reduction) {
                    kept = rest;
                } else {
                    at = end;
                }
            }
            size /= 2;
        }
        let short = Reduction { is_short: true, ..best.run.reduction.clone() };
        if short.faults.is_some() {
            self.tries(&mut best, short);
        }
        best.run
    }

    /// Whether the test fails in the same way with this left out; then that is the smallest.
    fn tries(&self, best: &mut Smallest<'_>, reduction: Reduction) -> bool {
        if self.runs.get() >= RUNS_MAX {
            return false;
        }
        let run = Again { seed: best.run.seed, reduction };
        let failed = self.run(&run);
        let same = failed.filter(|failed| failed.kind == *best.kind && !failed.seen.is_unfit);
        let Some(same) = same else { return false };
        (best.run, best.seen) = (run, same.seen);
        true
    }

    /// Ends the test with what is known of its smallest failure.
    fn fail(&self, smallest: &Again) -> ! {
        let runs = self.runs.get();
        let trial = Trial::new(smallest.seed, &smallest.reduction, true);
        let Some(failed) = self.attempt(&trial) else {
            panic!(
                "seed {} failed, and did not when it was run again: the test depends on something \
                 other than its seed, such as real time, a thread, the order of a HashMap, or a \
                 `select!` without `biased`",
                smallest.seed
            )
        };
        panic!("{}", report(smallest, &failed, runs))
    }
}

fn report(smallest: &Again, failed: &Failed, runs: u32) -> String {
    let Failed { text, seen, .. } = failed;
    let asked = seen.nodes;
    let nodes = smallest.reduction.nodes.unwrap_or(asked);
    // Writing to a String cannot fail.
    let mut out = format!("seed {} fails: {text}\n\n", smallest.seed);
    let faults = match seen.faults.len() {
        1 => "1 fault".to_owned(),
        count => format!("{count} faults"),
    };
    let _ = writeln!(out, "The smallest run found in {runs}: {nodes} of {asked} nodes, {faults}.");
    for (number, words) in &seen.faults {
        let _ = writeln!(out, "  {number}: {words}");
    }
    if let Some((story, evidence)) = &seen.end {
        let lines: Vec<&str> = story.lines().collect();
        let first = lines.len().saturating_sub(LINES_MAX);
        let part = if first == 0 { "Its story" } else { "The end of its story" };
        let _ = writeln!(out, "\n{part}:\n{}", lines[first..].join("\n"));
        if let Some(evidence) = evidence {
            let _ = writeln!(out, "\n{evidence}.");
        }
    }
    let test = thread::current().name().unwrap_or("<the test>").to_owned();
    let _ = write!(out, "\nOnce more: {SEED_VARIABLE}='{smallest}' cargo test {test}");
    out
}

impl Kind {
    fn of(error: &(dyn Error + 'static)) -> Self {
        if error.is::<NeverError>() {
            return Self::Never;
        }
        if let Some(error) = error.downcast_ref::<ViolationError>() {
            return Self::Violated(error.violations.iter().map(|one| one.assertion).collect());
        }
        Self::Error(error.to_string().replace(|c: char| c.is_ascii_digit(), ""))
    }
}

/// Enough to drop single faults of a long storm.
const RUNS_MAX: u32 = 400;
/// What fits on a screen or two.
const LINES_MAX: usize = 80;
