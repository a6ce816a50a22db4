//! `tanist sim mutants`: breaks one rule at a time and shows that the assertions notice.

use std::num::NonZeroUsize;

use serde_json::{Value, json};
use tanist_core::election::Algorithm;
use tanist_core::mutant::Mutant;
use tanist_sim::studies::fuzz;
use tanist_sim::world::mutants;

use super::fuzz::{jobs, threads};
use crate::campaign::{Campaign, Failure, Until};
use crate::exit::Exit;
use crate::process::interrupt;
use crate::terminal::output::{self, Format, complain};
use crate::terminal::progress;
use crate::terminal::table::{Table, left, right};

/// Break one rule at a time and see which assertion notices (needs the feature `mutants`).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, hide = !cfg!(feature = "mutants"))]
pub(crate) struct Args {
    /// How many seeds a mutant may survive.
    #[arg(long, default_value_t = 1000, value_name = "N")]
    seeds: u64,
    /// On how many threads [default: as many as the machine has].
    #[arg(long, value_name = "J", value_parser = threads)]
    jobs: Option<NonZeroUsize>,
    /// How to write the result.
    #[arg(short, long, value_enum, default_value = "table", value_name = "FORMAT")]
    output: Format,
}

/// A mutant and who caught it.
struct Trial {
    mutant: Mutant,
    caught: Option<Caught>,
}

struct Caught {
    algorithm: Algorithm,
    /// How many seeds of each algorithm it took.
    seeds: u64,
    assertion: &'static str,
    what: String,
}

impl Args {
    /// Tries every mutant.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        crate::commands::require_mutants()?;
        interrupt::listen();
        let mut trials = Vec::new();
        for mutant in mutants::all() {
            let caught = self.search(mutant);
            if caught.is_none() && interrupt::is_asked() {
                break;
            }
            trials.push(Trial { mutant, caught });
        }
        match self.output {
            Format::Table => output::print(&table(&trials).to_string())?,
            Format::Json => output::print_json(&trials.iter().map(Trial::json).collect::<Value>())?,
        }
        Ok(self.verdict(&trials))
    }

    /// Tries seed after seed on every algorithm, as a mutant need not concern them all.
    fn search(&self, mutant: Mutant) -> Option<Caught> {
        let kinds = Algorithm::ALL;
        let case_of = |case: u64| {
            let at = usize::try_from(case % kinds.len() as u64).unwrap_or(0);
            (kinds[at], case / kinds.len() as u64 + 1)
        };
        let cases = self.seeds.saturating_mul(kinds.len() as u64);
        let bar = progress::bar(cases, mutant.name());
        let campaign = Campaign { jobs: jobs(self.jobs), cases, until: Until::Failure };
        let judge = |case| {
            let (algorithm, seed) = case_of(case);
            fuzz::judge(&fuzz::scenario(algorithm, seed, Some(mutant)))
        };
        let summary = campaign.run(&judge, &|_| bar.inc(1));
        bar.finish_and_clear();
        let failure = summary.failures.into_iter().next()?;
        let (algorithm, seeds) = case_of(failure.case);
        let Failure { assertion, what, .. } = failure;
        Some(Caught { algorithm, seeds, assertion, what })
    }

    fn verdict(&self, trials: &[Trial]) -> Exit {
        let survivors = trials.iter().filter(|trial| trial.caught.is_none());
        let survivors: Vec<&str> = survivors.map(|trial| trial.mutant.name()).collect();
        if !survivors.is_empty() {
            let (names, seeds) = (survivors.join(" "), self.seeds);
            complain(&format!(
                "not caught in {seeds} seeds: {names}. Try more: --seeds {}",
                seeds.saturating_mul(10)
            ));
            return Exit::Violated;
        }
        if interrupt::is_asked() { Exit::Interrupted } else { Exit::Well }
    }
}

impl Trial {
    fn json(&self) -> Value {
        let caught = self.caught.as_ref();
        json!({
            "mutant": self.mutant.name(),
            "caught": caught.is_some(),
            "algorithm": caught.map(|caught| caught.algorithm.name()),
            "seeds": caught.map(|caught| caught.seeds),
            "assertion": caught.map(|caught| caught.assertion),
            "failure": caught.map(|caught| caught.what.as_str()),
        })
    }
}

fn table(trials: &[Trial]) -> Table {
    let mut table =
        Table::new([left("MUTANT"), left("ALGORITHM"), right("SEEDS"), left("CAUGHT BY")]);
    for trial in trials {
        let caught = trial.caught.as_ref();
        table.row([
            trial.mutant.name().to_owned(),
            caught.map_or("-", |caught| caught.algorithm.name()).to_owned(),
            caught.map_or_else(|| "-".to_owned(), |caught| caught.seeds.to_string()),
            caught.map_or("NOT CAUGHT", |caught| caught.assertion).to_owned(),
        ]);
    }
    table
}

const EXAMPLES: &str = "\
Examples:
  cargo run --release -p tanist-cli --features mutants -- sim mutants
  tanist sim mutants --seeds 10000 -o json

Exit codes:
  0 every mutant is caught, 1 one is not, 2 usage, 130 interrupted";
