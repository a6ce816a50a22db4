//! `tanist compare`: what the same faults cost each algorithm, in messages, time and bytes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};
use tanist_core::election::Algorithm;
use tanist_sim::studies::compare::{self, BOUNDED, Bound, Limit, Quantity, Row, Script, picture};

use super::algorithm;
use super::sizes::Sizes;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::process::interrupt;
use crate::terminal::output::{self, Format, Target, complain};
use crate::terminal::progress;
use crate::terminal::table::{Table, left, right};

/// Compare algorithms: messages, time to agreement and bytes under the same faults.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Which algorithms, with commas between them; `all` are all that there are.
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        default_value = "all",
        value_parser = which
    )]
    algorithms: Vec<Which>,
    /// How many nodes: `2..32` with both ends, or one number.
    #[arg(long, value_name = "A..B", default_value = "2..16")]
    nodes: Sizes,
    /// What happens to the groups.
    #[arg(long, value_name = "FAULT", default_value = "leader-crash", value_parser = script)]
    fault: Script,
    /// How many runs each mean is of; a seed picks the moment and who sits where in the ring.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    seeds: u32,
    /// Write one line per algorithm and size; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    csv: Option<Target>,
    /// Draw messages, time and bytes with one line per algorithm; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    svg: Option<Target>,
    /// How to write the result [default: table, if there is no other output].
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Format>,
}

/// One algorithm, or all that there are.
#[derive(Clone, Copy, Debug)]
enum Which {
    One(Algorithm),
    All,
}

impl Args {
    /// Runs the comparison.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        output::is_report_wanted(self.output, &[self.csv.as_ref(), self.svg.as_ref()])?;
        let Sizes(sizes) = &self.nodes;
        if *sizes.start() < 2 {
            let what = "with one node there is nothing to agree on; nothing was run. \
                        Try --nodes 2..16";
            return Err(Problem::Usage(what.to_owned()).into());
        }
        interrupt::listen();
        let sizes: Vec<u32> = sizes.clone().collect();
        let algorithms = self.algorithms();
        let rows = self.rows(&algorithms, &sizes);
        let limits = compare::limits(self.fault, &algorithms, &sizes, self.seeds);
        let bounds = compare::bounds(self.fault, &algorithms, &sizes);
        if let Some(target) = &self.csv {
            target.fill(|to| to.write_all(compare::csv(&rows).as_bytes()))?;
        }
        if let Some(target) = &self.svg {
            let picture = picture::draw(self.fault, &rows, &limits);
            target.fill(|to| to.write_all(picture.as_bytes()))?;
        }
        let has_files = self.csv.is_some() || self.svg.is_some();
        match self.output {
            None if has_files => {}
            None | Some(Format::Table) => output::print(&self.text(&rows, &limits, &bounds))?,
            Some(Format::Json) => output::print_json(&self.json(&rows, &limits, &bounds))?,
        }
        Ok(self.verdict(&rows))
    }

    /// Each algorithm once, in the order given.
    fn algorithms(&self) -> Vec<Algorithm> {
        let named = self.algorithms.iter().flat_map(|which| match which {
            Which::One(algorithm) => std::slice::from_ref(algorithm),
            Which::All => Algorithm::ALL,
        });
        let mut found = Vec::new();
        for algorithm in named {
            if !found.contains(algorithm) {
                found.push(*algorithm);
            }
        }
        found
    }

    /// Measures on all cores. The rows come algorithm by algorithm, whichever was done first; after
    /// Ctrl-C those that are missing are left out.
    fn rows(&self, algorithms: &[Algorithm], sizes: &[u32]) -> Vec<Row> {
        let each = algorithms.iter().flat_map(|algorithm| sizes.iter().map(|n| (*algorithm, *n)));
        let mut wanted: Vec<(usize, Algorithm, u32)> =
            each.enumerate().map(|(at, (algorithm, n))| (at, algorithm, n)).collect();
        // Large groups take longest, so they go first and the cores finish together.
        wanted.sort_by_key(|(at, _, n)| (std::cmp::Reverse(*n), *at));
        let bar = progress::bar(wanted.len() as u64, self.fault.name());
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Row)>> = Mutex::new(Vec::new());
        let work = || {
            while let Some((at, algorithm, n)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                let over = &interrupt::is_asked;
                let row = compare::measure(*algorithm, self.fault, *n, self.seeds, over);
                if row.seeds == self.seeds {
                    bar.inc(1);
                    let mut done = done.lock().expect("no thread panics while it adds a row");
                    done.push((*at, row));
                }
            }
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..cores {
                scope.spawn(work);
            }
        });
        bar.finish_and_clear();
        let mut done = done.into_inner().expect("no thread panics while it adds a row");
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, row)| row).collect()
    }

    /// The largest groups, where algorithms differ most.
    fn text(&self, rows: &[Row], limits: &[Limit], bounds: &[Bound]) -> String {
        let Some(most) = rows.iter().map(|row| row.n).max() else { return String::new() };
        let mut table = Table::new([
            left("ALGORITHM"),
            right("NODES"),
            right("MESSAGES"),
            right("TIME d"),
            right("BYTES"),
            right("AGREED"),
        ]);
        for row in rows.iter().filter(|row| row.n == most) {
            let cell = |quantity| {
                row.figure(quantity).map_or_else(
                    || "-".to_owned(),
                    |(mean, half)| {
                        if half > 0.0 {
                            format!("{mean:.1} ±{half:.1}")
                        } else {
                            format!("{mean:.1}")
                        }
                    },
                )
            };
            table.row([
                row.algorithm.name().to_owned(),
                row.n.to_string(),
                cell(Quantity::Messages),
                cell(Quantity::Time),
                cell(Quantity::Bytes),
                format!("{} of {}", row.agreed(), row.seeds),
            ]);
        }
        let mut text = format!("{}: {}\n\n{table}", self.fault.name(), self.fault.about());
        text.push_str(&self.limits(limits, most));
        text.push_str(&upper_bounds(bounds, most));
        if rows.iter().any(|row| row.n != most) {
            text.push_str("\nThe other sizes: --svg FILE, --csv FILE or -o json.\n");
        }
        text
    }

    fn limits(&self, limits: &[Limit], most: u32) -> String {
        let compared = self.algorithms();
        let mut notes = Table::list(2);
        for limit in limits {
            let Some((_, value)) = limit.values.iter().find(|(n, _)| *n == most) else { continue };
            let what = format!("{} at least {} = {value:.1}", limit.quantity.name(), limit.name);
            notes.row([what, limit.footnote(&compared)]);
        }
        if limits.is_empty() { String::new() } else { format!("\nLIMITS\n{notes}") }
    }

    fn json(&self, rows: &[Row], limits: &[Limit], bounds: &[Bound]) -> Value {
        json!({
            "fault": self.fault.name(),
            "seeds": self.seeds,
            "d_us": compare::delay_us(),
            "interrupted": interrupt::is_asked(),
            "rows": rows.iter().map(entry).collect::<Value>(),
            "limits": limits.iter().map(limit_entry).collect::<Value>(),
            "bounds": bounds.iter().map(bound_entry).collect::<Value>(),
        })
    }

    fn verdict(&self, rows: &[Row]) -> Exit {
        let mut is_violated = false;
        for row in rows {
            let place = format!("{} with {} nodes", row.algorithm.name(), row.n);
            if let Some(violated) = &row.breakage {
                is_violated = true;
                let (seed, assertion) = (violated.seed, violated.assertion);
                complain(&format!("{place}, seed {seed}: {assertion} violated: {}", violated.why));
            }
            let stuck = row.seeds as usize - row.agreed();
            if stuck > 0 {
                // Beyond its model an algorithm owes no agreement; that is what one wants to see.
                is_violated |= !self.fault.is_beyond_synchronous();
                complain(&format!("{place}: {stuck} of {} runs did not agree", row.seeds));
            }
        }
        match (is_violated, interrupt::is_asked()) {
            (true, _) => Exit::Violated,
            (false, true) => Exit::Interrupted,
            (false, false) => Exit::Well,
        }
    }
}

fn upper_bounds(bounds: &[Bound], most: u32) -> String {
    let mut notes = Table::list(2);
    for bound in bounds {
        let Some((_, value)) = bound.values.iter().find(|(n, _)| *n == most) else { continue };
        notes.row([
            format!("{} at most", bound.algorithm.name()),
            format!("{} = {value:.1}", bound.name),
        ]);
    }
    if bounds.is_empty() { String::new() } else { format!("\nBOUNDS: {BOUNDED}\n{notes}") }
}

fn entry(row: &Row) -> Value {
    let mut entry = json!({
        "algorithm": row.algorithm.name(),
        "n": row.n,
        "seeds": row.seeds,
        "agreed": row.agreed(),
        "violated": row.breakage.as_ref().map(|violated| violated.assertion),
    });
    for (name, quantity) in
        [("messages", Quantity::Messages), ("time_d", Quantity::Time), ("bytes", Quantity::Bytes)]
    {
        let figure = row.figure(quantity);
        entry[name] = json!(figure.map(|(mean, _)| mean));
        let half = figure.filter(|_| row.agreed() > 1).map(|(_, half)| half);
        entry[format!("{name}_ci95")] = json!(half);
    }
    entry
}

fn limit_entry(limit: &Limit) -> Value {
    let value = |(n, value): &(u32, f64)| json!({ "n": n, "value": value });
    json!({
        "quantity": limit.quantity.name(),
        "name": limit.name,
        "note": limit.note,
        "algorithms": limit.algorithms.iter().map(|each| each.name()).collect::<Value>(),
        "values": limit.values.iter().map(value).collect::<Value>(),
    })
}

fn bound_entry(bound: &Bound) -> Value {
    let value = |(n, value): &(u32, f64)| json!({ "n": n, "value": value });
    json!({
        "quantity": Quantity::Messages.name(),
        "name": bound.name,
        "note": BOUNDED,
        "algorithms": [bound.algorithm.name()],
        "values": bound.values.iter().map(value).collect::<Value>(),
    })
}

/// Reads the name of an algorithm, or `all`.
fn which(name: &str) -> Result<Which, String> {
    match name.trim() {
        "all" => Ok(Which::All),
        name => algorithm(name).map(Which::One),
    }
}

/// Reads the name of a fault.
fn script(name: &str) -> Result<Script, String> {
    Script::from_name(name).ok_or_else(|| {
        let known = Script::ALL.map(Script::name).join(", ");
        format!("there is {known}")
    })
}

const EXAMPLES: &str = "\
Faults:
  leader-crash        the coordinator of all nodes crashes
  cold-start          all nodes start at once
  leader-returns      the best node comes back to a group under the second best
  rolling             one node after the other crashes and restarts
  partition-and-heal  the group is cut into halves, and later the cut heals

What counts: messages without heartbeats, their bytes on the wire, and simulated time, from each
fault until every live node is Normal under one coordinator, for good. Detection is included.

Examples:
  tanist compare
  tanist compare --algorithms bully,invitation --nodes 2..32 --svg compare.svg
  tanist compare --fault partition-and-heal --nodes 8 --seeds 50
  tanist compare --fault cold-start --csv - > cold-start.csv

Exit codes:
  0 done, 1 an assertion is violated or a group did not agree although it should have, 2 usage";
