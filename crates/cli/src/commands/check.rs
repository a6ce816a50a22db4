//! `tanist check`: every run of a small group within stated bounds, not just some.

mod document;
mod report;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, ProgressBar};
use tanist_check::{
    Assumption, Beginning, Bounds, CheckReport, CheckSpec, Order, Progress, Verdict,
};
use tanist_core::election::Algorithm;
use tanist_core::mutant::Mutant;
use tanist_core::policy::Preempt;
use tanist_sim::pictures::diagram;

use super::{algorithm, mutant, sim::run::pair};
use crate::exit::Exit;
use crate::problem::Problem;
use crate::terminal::output::{self, Format, Target};

/// Explore every run of a small group within bounds, and judge every assertion.
///
/// The group starts with its highest node as coordinator; then crashes, recoveries, lost messages
/// and timeouts happen in every order that the assumptions allow. A violated assertion comes with a
/// shortest run.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Which algorithm.
    #[arg(value_parser = algorithm, required_unless_present = "table")]
    algorithm: Option<Algorithm>,
    /// How many nodes.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=9))]
    nodes: u32,
    /// What may happen: AS0 crash-stop with perfect timeouts, AS1 with recovery, AS1r with real
    /// time, AS2 asynchronous, AS3 asynchronous until nothing fails any more.
    #[arg(long, default_value = "AS0", value_parser = assumption)]
    assume: Assumption,
    /// Maximum number of crashes, also between two effects of a step.
    #[arg(long, default_value_t = 1)]
    crashes: u32,
    /// Maximum number of recoveries (all but AS0) [default: 1].
    #[arg(long, value_name = "N")]
    recoveries: Option<u32>,
    /// Maximum number of lost messages (AS2, AS3).
    #[arg(long, default_value_t = 0)]
    losses: u32,
    /// Maximum number of duplicated messages (AS2, AS3).
    #[arg(long, default_value_t = 0)]
    duplicates: u32,
    /// Messages of one link arrive in the order in which they were sent.
    #[arg(long)]
    fifo: bool,
    /// Maximum number of times that a housekeeping timer fires while messages are in flight or
    /// other timers run [default: any number].
    #[arg(long, value_name = "N")]
    early_timers: Option<u32>,
    /// Runs that need a higher group counter are not followed further.
    #[arg(long, default_value_t = 4)]
    counter: u64,
    /// That counter must be enough: a run that needs a higher one violates what should hold by
    /// then. A node that can be reached is not suspected because it is silent.
    #[arg(long)]
    require_within_counter: bool,
    /// Maximum number of steps of a run.
    #[arg(long, default_value_t = 1000)]
    depth: u32,
    /// Maximum number of states that are kept, at some fifty bytes each.
    #[arg(long, default_value_t = 30_000_000)]
    states: usize,
    /// Maximum memory of this process, such as 512MiB or 10GiB. An exploration that needs more ends
    /// there, and says how far it came [default: no limit].
    #[arg(long, value_name = "LIMIT", value_parser = memory)]
    memory: Option<u64>,
    /// Set an option of the algorithm (tanist algorithms); may be given several times.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = pair)]
    options: Vec<(String, String)>,
    /// Priorities of nodes 1, 2 and so on; equal ones are allowed [default: their numbers].
    #[arg(long, value_name = "P,P,...", value_delimiter = ',')]
    priorities: Vec<u32>,
    /// Cut a link for good; may be given several times.
    #[arg(long = "cut", value_name = "A-B", value_parser = link)]
    cuts: Vec<(u32, u32)>,
    /// Begin with every node in a group of its own (invitation).
    #[arg(long)]
    apart: bool,
    /// Whether a higher node takes over from an established coordinator: always or never.
    #[arg(long, default_value = "always", value_parser = preempt)]
    preempt: Preempt,
    /// Break this rule on purpose (needs the feature `mutants`).
    #[arg(long, value_name = "NAME", value_parser = mutant, hide = !cfg!(feature = "mutants"))]
    mutant: Option<Mutant>,
    /// How to write the result [default: table].
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Format>,
    /// Write the first shortest counterexample as a scenario for `tanist sim run`; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    scenario: Option<Target>,
    /// Write the trace of the first shortest counterexample; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    trace: Option<Target>,
    /// Draw the first shortest counterexample; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    svg: Option<Target>,
    /// Run the commands of the table in this document again, and write the results into it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["algorithm", "scenario", "trace", "svg"])]
    table: Option<PathBuf>,
    /// Of the table, run only the rows that are known to have fewer states than this.
    #[arg(long, value_name = "STATES", requires = "table")]
    below: Option<usize>,
}

impl Args {
    /// Explores.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        if let Some(path) = &self.table {
            return document::renew(path, self.below);
        }
        let files = [self.scenario.as_ref(), self.trace.as_ref(), self.svg.as_ref()];
        let is_report_wanted = output::is_report_wanted(self.output, &files)?;
        let spec = self.spec()?;
        let report = explored(&spec)?;
        self.write_files(&report)?;
        if is_report_wanted {
            match self.output.unwrap_or(Format::Table) {
                Format::Table => output::print(&report::text(&spec, &report)?)?,
                Format::Json => output::print_json(&report::json(&spec, &report))?,
            }
        }
        Ok(exit(&report))
    }

    fn spec(&self) -> Result<CheckSpec, Problem> {
        let Some(algorithm) = self.algorithm else {
            return Err(Problem::Usage("which algorithm? See: tanist algorithms".to_owned()));
        };
        self.meaningful()?;
        let beginning = if self.apart { Beginning::Apart } else { Beginning::Together };
        Ok(CheckSpec {
            nodes: self.nodes,
            options: self.options.clone(),
            priorities: self.priorities.clone(),
            cuts: self.cuts.clone(),
            beginning,
            preempt: self.preempt,
            mutant: self.mutant,
            assumption: self.assume,
            bounds: Bounds {
                crashes: self.crashes,
                recoveries: self.recoveries.unwrap_or(Bounds::USUAL.recoveries),
                losses: self.losses,
                duplicates: self.duplicates,
                order: if self.fifo { Order::Fifo } else { Order::Any },
                early_timers: self.early_timers.unwrap_or(Bounds::USUAL.early_timers),
                counter: self.counter,
                require_within_counter: self.require_within_counter,
                depth: self.depth,
                states: self.states,
                memory: self.memory,
            },
            ..CheckSpec::new(algorithm)
        })
    }

    /// Refuses bounds that the assumptions give no meaning, and priorities of no node.
    fn meaningful(&self) -> Result<(), Problem> {
        let (assume, nodes) = (self.assume, self.nodes);
        let refused = |what: String| Err(Problem::Usage(format!("{what}. Nothing was explored.")));
        let lossy = [("--losses", self.losses), ("--duplicates", self.duplicates)];
        if let Some((name, _)) = lossy.iter().find(|(_, count)| *count > 0)
            && !assume.has_loss()
        {
            let assume = assume.name();
            return refused(format!(
                "{name} has no meaning under {assume}, where messages are neither lost nor \
                 duplicated; use --assume AS2 or AS3"
            ));
        }
        if self.recoveries.is_some_and(|count| count > 0) && !assume.has_recovery() {
            let assume = assume.name();
            return refused(format!(
                "--recoveries has no meaning under {assume}, where crashed nodes stay down; use \
                 --assume AS1, AS1r, AS2 or AS3"
            ));
        }
        let given = self.priorities.len();
        if given > 0 && u32::try_from(given) != Ok(nodes) {
            return refused(format!(
                "--priorities has {given} numbers for {nodes} nodes; give one for each node"
            ));
        }
        Ok(())
    }

    fn write_files(&self, report: &CheckReport) -> anyhow::Result<()> {
        let Some(example) = &report.counterexample else { return Ok(()) };
        if let Some(target) = &self.scenario {
            let text = example.scenario.to_text();
            target.fill(|to| to.write_all(text.as_bytes()))?;
        }
        let trace = &example.report.recording;
        if let Some(target) = &self.trace {
            target.fill(|mut to| trace.write(&mut to))?;
        }
        if let Some(target) = &self.svg {
            let picture = diagram::space_time(&trace.header, &trace.entries);
            target.fill(|to| to.write_all(picture.as_bytes()))?;
        }
        Ok(())
    }
}

/// Explores, and shows the progress.
fn explored(spec: &CheckSpec) -> Result<CheckReport, Problem> {
    let began = Instant::now();
    let bar = crate::terminal::progress::spinner(spec.algorithm.name());
    let report = spec.run(&mut |progress| tell(&bar, began.elapsed(), progress));
    bar.finish_and_clear();
    report.map_err(|error| Problem::Usage(error.to_string()))
}

/// 1 if something is violated; 4 if that could not be decided, or if what should happen sometimes
/// never does, so that what holds says little.
fn exit(report: &CheckReport) -> Exit {
    if report.has(Verdict::Violated) {
        return Exit::Violated;
    }
    if report.has(Verdict::BoundReached) || report.has(Verdict::NotReached) {
        return Exit::Unknown;
    }
    Exit::Well
}

fn tell(bar: &ProgressBar, elapsed: Duration, progress: Progress) {
    let count = u64::try_from(progress.states).unwrap_or(u64::MAX);
    let per_second = count / elapsed.as_secs().max(1);
    let memory =
        progress.bytes_process.map_or_else(String::new, |bytes| format!(", {}", HumanBytes(bytes)));
    bar.set_message(format!(
        "{} states, {}/s, depth {}, {} to visit{memory}",
        HumanCount(count),
        HumanCount(per_second),
        progress.depth,
        HumanCount(u64::try_from(progress.frontier).unwrap_or(u64::MAX)),
    ));
    bar.tick();
}

fn memory(text: &str) -> Result<u64, String> {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20)];
    let found = units.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)));
    let bytes = found.and_then(|(count, size): (&str, u64)| {
        count.trim().parse::<u64>().ok()?.checked_mul(size).filter(|bytes| *bytes > 0)
    });
    bytes.ok_or_else(|| "expected a whole number with MiB or GiB, such as 10GiB".to_owned())
}

fn assumption(name: &str) -> Result<Assumption, String> {
    Assumption::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Assumption::ALL.iter().map(|known| known.name()).collect();
        format!("there is {}", known.join(", "))
    })
}

fn preempt(text: &str) -> Result<Preempt, String> {
    match text {
        "always" => Ok(Preempt::Always),
        "never" => Ok(Preempt::Never),
        _ => Err("expected always or never".to_owned()),
    }
}

fn link(text: &str) -> Result<(u32, u32), String> {
    let ends = text.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    ends.ok_or_else(|| "expected two nodes, as in 1-3".to_owned())
}

const EXAMPLES: &str = "\
Examples:
  tanist check bully --nodes 3
  tanist check bully --nodes 2 --assume AS1 --crashes 2 --option timeout=literal --svg stuck.svg
  tanist check bully --nodes 2 --assume AS2 --crashes 0     two coordinators when a wait runs out
  tanist check bully --assume AS2 --crashes 0 --scenario found.toml; tanist sim run found.toml
  tanist check --table docs/verification.md                 the table there, again

Exit codes:
  0 every assertion holds within the bounds, 1 one is violated, 2 usage, 4 a bound was reached, or
  what should happen sometimes (an election succeeds, a higher node preempts) never does";
