//! `tanist check`: every run of a small group within stated bounds, not just some.

use std::fmt::Write;
use std::time::Instant;

use indicatif::{HumanCount, ProgressBar};
use tanist_check::{Assumption, Bounds, Exploration, Order, Step, explore, replay};
use tanist_core::election::Algorithm;
use tanist_sim::{Scenario, diagram, story};

use super::{algorithm, sim_run::pair};
use crate::exit::Exit;
use crate::output::{self, Format, Target};
use crate::problem::Problem;
use crate::table::{Table, left, right};

/// Explore every run of a small group within bounds, and judge every assertion.
///
/// The group stands under its highest node; then crashes, recoveries, lost messages and timeouts
/// happen in every order that the assumptions allow. A broken assertion comes with a shortest run.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Which algorithm.
    #[arg(value_parser = algorithm)]
    algorithm: Algorithm,
    /// How many nodes.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=9))]
    nodes: u32,
    /// What may happen: AS0 crash-stop with perfect timeouts, AS1 with recovery, AS2 asynchronous.
    #[arg(long, default_value = "AS0", value_parser = assumption)]
    assume: Assumption,
    /// At most so many crashes, also between any two effects of a step.
    #[arg(long, default_value_t = 1)]
    crashes: u32,
    /// At most so many recoveries (AS1, AS2).
    #[arg(long, default_value_t = 1)]
    recoveries: u32,
    /// At most so many lost messages (AS2).
    #[arg(long, default_value_t = 0)]
    losses: u32,
    /// At most so many messages that arrive twice (AS2).
    #[arg(long, default_value_t = 0)]
    duplicates: u32,
    /// Messages of one link arrive in the order in which they were sent.
    #[arg(long)]
    fifo: bool,
    /// Runs that need a higher group counter are not followed further.
    #[arg(long, default_value_t = 4)]
    counter: u64,
    /// Runs have at most so many steps.
    #[arg(long, default_value_t = 1000)]
    depth: u32,
    /// At most so many situations are kept.
    #[arg(long, default_value_t = 2_000_000)]
    states: usize,
    /// Set an option of the algorithm (tanist algorithms); may be given several times.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = pair)]
    options: Vec<(String, String)>,
    /// How to write the result [default: table].
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Format>,
    /// Write the trace of the first shortest counterexample; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    trace: Option<Target>,
    /// Draw the first shortest counterexample; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    svg: Option<Target>,
}

/// How an assertion fared over all runs.
struct Property {
    id: &'static str,
    verdict: &'static str,
    /// The length of a shortest run to the violation.
    trace_length: Option<usize>,
    why: String,
}

impl Args {
    /// Explores.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let files = [self.trace.as_ref(), self.svg.as_ref()];
        let is_report_wanted = output::is_report_wanted(self.output, &files)?;
        let scenario = self.scenario()?;
        let began = Instant::now();
        let bar = crate::progress::spinner(self.algorithm.name());
        let result = explore(&scenario, self.assume, &self.bounds(), &mut |now| {
            tell(&bar, began, now.states, now.depth);
        });
        bar.finish_and_clear();
        let properties = properties(&result);
        let counterexample = counterexample(&result);
        if let Some(run) = counterexample {
            self.write_files(&scenario, run)?;
        }
        if is_report_wanted {
            match self.output.unwrap_or(Format::Table) {
                Format::Table => {
                    let text = self.text(&scenario, &result, &properties, counterexample)?;
                    output::print(&text)?;
                }
                Format::Json => output::print_json(&self.json(&scenario, &result, &properties))?,
            }
        }
        Ok(exit(&properties))
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            crashes: self.crashes,
            recoveries: self.recoveries,
            losses: self.losses,
            duplicates: self.duplicates,
            order: if self.fifo { Order::Fifo } else { Order::Any },
            counter: self.counter,
            depth: self.depth,
            states: self.states,
        }
    }

    fn scenario(&self) -> Result<Scenario, Problem> {
        let (name, nodes) = (self.algorithm.name(), self.nodes);
        let members: Vec<String> = (1..nodes).map(|node| node.to_string()).collect();
        let text = format!(
            "name = \"check-{name}\"\nalgorithm = \"{name}\"\nnodes = {nodes}\nend = \"1s\"\n\
             [[group]]\ncoordinator = {nodes}\nmembers = [{}]\n",
            members.join(", ")
        );
        let mut scenario =
            Scenario::parse(&text).map_err(|error| Problem::Usage(error.to_string()))?;
        for (name, value) in &self.options {
            scenario.config.options.set(self.algorithm, name, value).map_err(|error| {
                Problem::Usage(format!("{error}. Nothing was run. See: tanist algorithms"))
            })?;
        }
        let arranged = scenario.config.clone().arranged();
        arranged.map_err(|error| Problem::Usage(format!("{error}. Nothing was run.")))?;
        Ok(scenario)
    }

    fn write_files(&self, scenario: &Scenario, run: &[Step]) -> anyhow::Result<()> {
        let Some(trace) = replay(scenario, self.assume, &self.bounds(), run) else { return Ok(()) };
        if let Some(target) = &self.trace {
            target.fill(|mut to| trace.write(&mut to))?;
        }
        if let Some(target) = &self.svg {
            let picture = diagram::space_time(&trace.header, &trace.entries);
            target.fill(|to| to.write_all(picture.as_bytes()))?;
        }
        Ok(())
    }

    fn text(
        &self,
        scenario: &Scenario,
        result: &Exploration,
        properties: &[Property],
        counterexample: Option<&[Step]>,
    ) -> anyhow::Result<String> {
        let mut text = String::new();
        if let Some(run) = counterexample
            && let Some(trace) = replay(scenario, self.assume, &self.bounds(), run)
        {
            story::story(&trace.header, &trace.entries, &mut text)?;
            writeln!(text, "One microsecond is one step here; only the order means anything.\n")?;
        }
        let mut table =
            Table::new([left("PROPERTY"), left("VERDICT"), right("STEPS"), left("WHY")]);
        for property in properties {
            let steps = property.trace_length.map_or_else(|| "-".to_owned(), |n| n.to_string());
            let verdict = property.verdict.to_owned();
            table.row([property.id.to_owned(), verdict, steps, output::plain(&property.why)]);
        }
        write!(text, "{table}")?;
        let end = if result.is_complete { "complete" } else { "NOT complete" };
        writeln!(
            text,
            "\n{} situations, {} steps, {} deep, {end} within the bounds; \
             {} ended at a bound or a break; elections decided: {}",
            result.states,
            result.transitions,
            result.depth,
            result.at_bound,
            if result.has_elections { "yes" } else { "none, so this proves little" },
        )?;
        writeln!(
            text,
            "{} nodes, {}, at most {} crashes, {} recoveries, {} losses, counter {}",
            self.nodes,
            self.assume.name(),
            self.crashes,
            self.recoveries,
            self.losses,
            self.counter,
        )?;
        Ok(text)
    }

    fn json(
        &self,
        scenario: &Scenario,
        result: &Exploration,
        properties: &[Property],
    ) -> serde_json::Value {
        let options = scenario.config.options.of(self.algorithm);
        let options: serde_json::Map<String, serde_json::Value> =
            options.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        let properties: Vec<_> = properties
            .iter()
            .map(|property| {
                serde_json::json!({
                    "id": property.id,
                    "verdict": property.verdict,
                    "trace_length": property.trace_length,
                })
            })
            .collect();
        serde_json::json!({
            "algorithm": self.algorithm.name(),
            "options": options,
            "assume": self.assume.name(),
            "nodes": self.nodes,
            "crashes": self.crashes,
            "recoveries": self.recoveries,
            "losses": self.losses,
            "counter": self.counter,
            "states": result.states,
            "complete": result.is_complete,
            "elections_decided": result.has_elections,
            "properties": properties,
        })
    }
}

/// The run to show: the first assertion that broke, or else a situation without hope.
fn counterexample(result: &Exploration) -> Option<&[Step]> {
    let broken = result.found.first().map(|found| found.run.as_slice());
    broken.or(result.stuck.as_deref())
}

fn properties(result: &Exploration) -> Vec<Property> {
    let (unknown, holds) = ("bound reached", "holds");
    let judge = |(id, is_about_the_end): &(&'static str, bool)| {
        let found = result.found.iter().find(|found| found.broken.assertion == *id);
        let stuck = result.stuck.as_ref().filter(|_| *is_about_the_end);
        let (verdict, trace_length, why) = match (found, stuck) {
            (Some(found), _) => {
                ("violated", Some(found.run.len()), found.broken.breach.why.clone())
            }
            (None, Some(run)) => {
                let why = "from here it cannot come true any more".to_owned();
                ("violated", Some(run.len()), why)
            }
            (None, None) if result.is_complete => (holds, None, String::new()),
            (None, None) => (unknown, None, String::new()),
        };
        Property { id, verdict, trace_length, why }
    };
    result.watched.iter().map(judge).collect()
}

fn exit(properties: &[Property]) -> Exit {
    if properties.iter().any(|property| property.verdict == "violated") {
        return Exit::Broken;
    }
    if properties.iter().any(|property| property.verdict == "bound reached") {
        return Exit::Unknown;
    }
    Exit::Well
}

fn tell(bar: &ProgressBar, began: Instant, states: usize, depth: u32) {
    let count = u64::try_from(states).unwrap_or(u64::MAX);
    let per_second = count / began.elapsed().as_secs().max(1);
    let rate = HumanCount(per_second);
    bar.set_message(format!("{} situations, {rate}/s, depth {depth}", HumanCount(count)));
    bar.tick();
}

fn assumption(name: &str) -> Result<Assumption, String> {
    Assumption::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Assumption::ALL.iter().map(|known| known.name()).collect();
        format!("there is {}", known.join(", "))
    })
}

const EXAMPLES: &str = "\
Examples:
  tanist check bully --nodes 3
  tanist check bully --nodes 2 --assume AS1 --crashes 2 --option timeout=literal --svg stuck.svg
  tanist check bully --nodes 2 --assume AS2 --crashes 0     two coordinators when a wait runs out

Exit codes:
  0 every assertion holds within the bounds, 1 one is violated, 2 usage, 4 a bound was reached";
