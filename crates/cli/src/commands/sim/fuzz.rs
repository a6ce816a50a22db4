//! `tanist sim fuzz`: a scenario per seed, every assertion checked after every step.

use std::fs;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};
use tanist_core::election::Algorithm;
use tanist_core::mutant::Mutant;
use tanist_core::time::micros;
use tanist_sim::Scenario;
use tanist_sim::studies::fuzz;
use tanist_sim::studies::shrink;

use crate::campaign::{Campaign, Failure, Summary, Until};
use crate::commands::{algorithm, mutant};
use crate::exit::Exit;
use crate::problem::Problem;
use crate::process::interrupt;
use crate::terminal::output::{self, Format, complain, quoted};
use crate::terminal::progress;
use crate::terminal::table::{Table, left, right};

/// Try many seeds: each is a scenario with faults of its own; every assertion is checked.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Which algorithm, or `all`.
    #[arg(long, default_value = "all", value_parser = which)]
    algorithm: Which,
    /// How many seeds for each algorithm.
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=SEEDS_MAX))]
    seeds: u64,
    /// The first seed; the others follow it.
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    first: u64,
    /// On how many threads [default: as many as the machine has].
    #[arg(long, value_name = "J", value_parser = threads)]
    jobs: Option<NonZeroUsize>,
    /// Go on after a failure, which otherwise ends the algorithm's turn.
    #[arg(long)]
    keep_going: bool,
    /// Break this rule on purpose (needs the feature `mutants`).
    #[arg(long, value_name = "NAME", value_parser = mutant, hide = !cfg!(feature = "mutants"))]
    mutant: Option<Mutant>,
    /// Where the scenario files of failures go.
    #[arg(long, default_value = ".", value_name = "DIR")]
    out: PathBuf,
    /// How to write the result.
    #[arg(short, long, value_enum, default_value = "table", value_name = "FORMAT")]
    output: Format,
}

/// The most seeds of one command: weeks of work.
const SEEDS_MAX: u64 = 1_000_000_000;

/// One algorithm or all.
#[derive(Clone, Copy, Debug)]
enum Which {
    One(Algorithm),
    All,
}

/// What was found of an algorithm.
struct Turn {
    algorithm: Algorithm,
    summary: Summary,
    finds: Vec<Find>,
}

/// A failure, and what there is to look at it with.
struct Find {
    seed: u64,
    assertion: &'static str,
    what: String,
    replay: String,
    file: PathBuf,
}

impl Args {
    /// Tries the seeds.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        if self.first.checked_add(self.seeds).is_none() {
            let what = "--first and --seeds together are more than there are seeds".to_owned();
            return Err(Problem::Usage(what).into());
        }
        fs::create_dir_all(&self.out).map_err(|error| {
            let out = self.out.display();
            Problem::Usage(format!("cannot write to --out {out}: {error}. Nothing was run."))
        })?;
        interrupt::listen();
        let mut turns = Vec::new();
        for algorithm in self.algorithms() {
            if !interrupt::is_asked() {
                turns.push(self.turn(*algorithm)?);
            }
        }
        match self.output {
            Format::Table => output::print(&text(&turns))?,
            Format::Json => output::print_json(&self.json(&turns))?,
        }
        Ok(match turns.iter().any(|turn| !turn.finds.is_empty()) {
            true => Exit::Violated,
            false if interrupt::is_asked() => Exit::Interrupted,
            false => Exit::Well,
        })
    }

    fn algorithms(&self) -> &[Algorithm] {
        match &self.algorithm {
            Which::One(algorithm) => std::slice::from_ref(algorithm),
            Which::All => Algorithm::ALL,
        }
    }

    fn turn(&self, algorithm: Algorithm) -> anyhow::Result<Turn> {
        let bar = progress::bar(self.seeds, algorithm.name());
        let campaign = Campaign {
            jobs: jobs(self.jobs),
            cases: self.seeds,
            until: if self.keep_going { Until::End } else { Until::Failure },
        };
        let judge = |case| fuzz::judge(&fuzz::scenario(algorithm, self.first + case, self.mutant));
        let failed = AtomicU64::new(0);
        let summary = campaign.run(&judge, &|failure| {
            bar.inc(1);
            if failure.is_some() {
                let count = failed.fetch_add(1, Ordering::Relaxed) + 1;
                bar.set_message(format!("{count} failed"));
            }
        });
        bar.finish_and_clear();
        let finds = summary.failures.iter().map(|failure| self.keep(algorithm, failure));
        let finds = finds.collect::<anyhow::Result<_>>()?;
        Ok(Turn { algorithm, summary, finds })
    }

    /// Shrinks a failure, writes its file, and says so.
    fn keep(&self, algorithm: Algorithm, failure: &Failure) -> anyhow::Result<Find> {
        let seed = self.first + failure.case;
        let name = algorithm.name();
        let scenario = small(&fuzz::scenario(algorithm, seed, self.mutant));
        let file = self.out.join(format!("failure-{name}-{seed}.toml"));
        fs::write(&file, scenario.to_text()).with_context(|| {
            format!("error: seed {seed} of {name} failed, but cannot write {}", file.display())
        })?;
        let mut replay = format!("tanist sim fuzz --algorithm {name} --first {seed} --seeds 1");
        if let Some(mutant) = self.mutant {
            replay.extend([" --mutant ", mutant.name()]);
        }
        let Failure { assertion, what, .. } = failure;
        let find = Find { seed, assertion, what: output::plain(what), replay, file };
        complain(&format!("{name} seed {seed}: {}", find.what));
        complain(&format!("  replay:     {}", find.replay));
        complain(&format!("  small file: {}", run_line(&find.file)));
        Ok(find)
    }

    fn json(&self, turns: &[Turn]) -> Value {
        json!({
            "first": self.first,
            "seeds": self.seeds,
            "jobs": jobs(self.jobs),
            "mutant": self.mutant.map(Mutant::name),
            "interrupted": interrupt::is_asked(),
            "algorithms": turns.iter().map(Turn::json).collect::<Value>(),
        })
    }
}

impl Turn {
    fn json(&self) -> Value {
        let summary = &self.summary;
        let find = |find: &Find| {
            json!({
                "seed": find.seed,
                "assertion": find.assertion,
                "failure": find.what,
                "replay": find.replay,
                "scenario": find.file.display().to_string(),
            })
        };
        json!({
            "algorithm": self.algorithm.name(),
            "seeds": summary.judged,
            "seconds": summary.took.as_secs_f64(),
            "seeds_per_second": summary.per_second(summary.judged),
            "simulated_us": micros(summary.simulated),
            "elections": summary.elections,
            "events": summary.events,
            "events_per_second": summary.per_second(summary.events),
            "failures": self.finds.iter().map(find).collect::<Value>(),
        })
    }
}

/// A smaller scenario that fails alike. What panics when it is judged may panic when it is shrunk,
/// and who interrupts does not want to wait; then it is the scenario itself.
fn small(scenario: &Scenario) -> Scenario {
    let whole = || shrink::without_idle(scenario);
    if interrupt::is_asked() {
        return whole();
    }
    catch_unwind(AssertUnwindSafe(|| shrink::shrink(scenario))).unwrap_or_else(|_| whole())
}

fn text(turns: &[Turn]) -> String {
    let mut table = Table::new([
        left("ALGORITHM"),
        right("SEEDS"),
        right("SEEDS/S"),
        right("SIMULATED"),
        right("ELECTIONS"),
        right("EVENTS/S"),
        right("FAILURES"),
    ]);
    for Turn { algorithm, summary, finds } in turns {
        table.row([
            algorithm.name().to_owned(),
            summary.judged.to_string(),
            format!("{:.0}", summary.per_second(summary.judged)),
            words(summary.simulated),
            summary.elections.to_string(),
            format!("{:.0}", summary.per_second(summary.events)),
            finds.len().to_string(),
        ]);
    }
    table.to_string()
}

fn run_line(file: &Path) -> String {
    format!("tanist sim run {}", quoted(&file.display().to_string()))
}

fn words(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    match span.as_secs() {
        0..120 => format!("{seconds:.1}s"),
        120..7200 => format!("{:.1}min", seconds / 60.0),
        7200..172_800 => format!("{:.1}h", seconds / 3600.0),
        172_800.. => format!("{:.1}d", seconds / 86_400.0),
    }
}

/// Reads a number of threads.
pub(super) fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let count: Option<NonZeroUsize> = text.parse().ok();
    let fits = |count: &NonZeroUsize| count.get() <= JOBS_MAX;
    count.filter(fits).ok_or_else(|| format!("expected a number from 1 to {JOBS_MAX}"))
}

/// More threads than any machine has cores; a system may refuse them.
const JOBS_MAX: usize = 1024;

/// On how many threads to work.
pub(super) fn jobs(given: Option<NonZeroUsize>) -> usize {
    given.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

/// Reads the name of an algorithm, or `all`.
fn which(name: &str) -> Result<Which, String> {
    if name == "all" { Ok(Which::All) } else { algorithm(name).map(Which::One) }
}

const EXAMPLES: &str = "\
Examples:
  tanist sim fuzz
  tanist sim fuzz --algorithm invitation --seeds 100000 --out failures
  tanist sim fuzz --algorithm bully --first 4711 --seeds 1

A failing seed is shrunk to a small scenario file, failure-<algorithm>-<seed>.toml.

Exit codes:
  0 nothing failed, 1 a seed failed, 2 usage, 130 interrupted and nothing had failed";
