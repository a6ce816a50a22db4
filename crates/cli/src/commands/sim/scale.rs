//! `tanist sim scale`: what an election among super-peers costs, up to a million nodes.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tanist_sim::pictures::plot::{self, Plot, Point, Series};
use tanist_sim::studies::scale::{self, Control, NODES_MAX, Progress, Row, ScaleError};

use crate::exit::Exit;
use crate::problem::Problem;
use crate::process::interrupt;
use crate::terminal::output::{self, Format, Target};
use crate::terminal::progress;
use crate::terminal::table::{Table, right};

/// Elect among super-peers in very large networks, and check what it costs.
///
/// Every size is a cold start: all nodes start at once, elect in groups of at most 16 by the
/// textbook's bully, and their super-peers elect in groups above, level by level, to the top. The
/// nodes are those of a live group; the network, the disks and the clock are simulated.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How many nodes; several sizes are run one after the other, the smallest first.
    #[arg(
        long,
        value_name = "N,N,...",
        value_delimiter = ',',
        default_value = "1000,10000,100000,1000000"
    )]
    nodes: Vec<u32>,
    /// Write one line per size; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    csv: Option<Target>,
    /// Draw the cost against the number of nodes; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    svg: Option<Target>,
    /// How to write the result [default: table, if there is no other output].
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Format>,
}

/// One size, and what it took of this machine.
struct Run {
    row: Row,
    took: Duration,
    /// The most memory that the program had at once, where the system tells.
    memory_bytes: Option<u64>,
}

impl Args {
    /// Runs the sizes.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        output::is_report_wanted(self.output, &[self.csv.as_ref(), self.svg.as_ref()])?;
        interrupt::listen();
        let mut sizes = self.nodes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        if let Some(nodes) = sizes.iter().find(|nodes| !(1..=NODES_MAX).contains(*nodes)) {
            return Err(Problem::Usage(ScaleError::Size(*nodes).to_string()).into());
        }
        let mut runs = Vec::new();
        for nodes in sizes {
            match size(nodes)? {
                Some(run) => runs.push(run),
                None => break,
            }
        }
        if let Some(target) = &self.csv {
            target.fill(|to| to.write_all(csv(&runs).as_bytes()))?;
        }
        if let Some(target) = &self.svg {
            target.fill(|to| to.write_all(picture(&runs).as_bytes()))?;
        }
        let has_files = self.csv.is_some() || self.svg.is_some();
        match self.output {
            None if has_files => {}
            None | Some(Format::Table) => output::print(&table(&runs).to_string())?,
            Some(Format::Json) => output::print_json(&runs.iter().map(entry).collect::<Value>())?,
        }
        Ok(verdict(&runs))
    }
}

fn size(nodes: u32) -> Result<Option<Run>, Problem> {
    let bar = progress::bar(1, &format!("{nodes} nodes"));
    forget_peak();
    let began = Instant::now();
    let row = scale::scale(nodes, &mut |Progress { messages, expected }| {
        bar.set_length(expected);
        bar.set_position(messages);
        if interrupt::is_asked() { Control::Stop } else { Control::GoOn }
    });
    let took = began.elapsed();
    bar.finish_and_clear();
    let row = row.map_err(|error| Problem::Usage(error.to_string()))?;
    Ok(row.map(|row| Run { row, took, memory_bytes: peak() }))
}

fn verdict(runs: &[Run]) -> Exit {
    let bad: Vec<&Row> = runs.iter().map(|run| &run.row).filter(|row| !row.is_good()).collect();
    for row in &bad {
        let Row { nodes, messages, theory_messages, per_node, per_node_max, .. } = row;
        let why = row.wrong.clone().unwrap_or_else(|| {
            format!(
                "{messages} messages, theory {theory_messages}; {per_node:.3} per node, at most \
                 {per_node_max:.3}"
            )
        });
        output::complain(&format!("{nodes} nodes: {why}"));
    }
    match (bad.is_empty(), interrupt::is_asked()) {
        (false, _) => Exit::Violated,
        (true, true) => Exit::Interrupted,
        (true, false) => Exit::Well,
    }
}

fn table(runs: &[Run]) -> Table {
    let mut table = Table::new([
        right("NODES"),
        right("LEVELS"),
        right("GROUPS"),
        right("MESSAGES"),
        right("PER NODE"),
        right("AT MOST"),
        right("SIMULATED"),
        right("TOOK"),
        right("MEMORY"),
    ]);
    for Run { row, took, memory_bytes } in runs {
        table.row([
            row.nodes.to_string(),
            row.levels.to_string(),
            row.groups.to_string(),
            row.messages.to_string(),
            format!("{:.3}", row.per_node),
            format!("{:.3}", row.per_node_max),
            format!("{:?}", row.simulated),
            format!("{:.1}s", took.as_secs_f64()),
            memory_bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{} MiB", bytes >> 20)),
        ]);
    }
    table
}

fn csv(runs: &[Run]) -> String {
    let head = "nodes,levels,groups,messages,theory_messages,per_node,per_node_max,simulated_us,\
                seconds,memory_bytes,good\n";
    let lines = runs.iter().map(|Run { row, took, memory_bytes }| {
        format!(
            "{},{},{},{},{},{:.6},{:.6},{},{:.3},{},{}\n",
            row.nodes,
            row.levels,
            row.groups,
            row.messages,
            row.theory_messages,
            row.per_node,
            row.per_node_max,
            row.simulated.as_micros(),
            took.as_secs_f64(),
            memory_bytes.map_or_else(String::new, |bytes| bytes.to_string()),
            row.is_good(),
        )
    });
    head.to_owned() + &lines.collect::<String>()
}

fn entry(run: &Run) -> Value {
    let Run { row, took, memory_bytes } = run;
    json!({
        "nodes": row.nodes,
        "levels": row.levels,
        "groups": row.groups,
        "messages": row.messages,
        "theory_messages": row.theory_messages,
        "per_node": row.per_node,
        "per_node_max": row.per_node_max,
        "simulated_us": u64::try_from(row.simulated.as_micros()).unwrap_or(u64::MAX),
        "seconds": took.as_secs_f64(),
        "memory_bytes": memory_bytes,
        "wrong": row.wrong,
        "good": row.is_good(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of messages are far below 2^52")]
fn picture(runs: &[Run]) -> String {
    let series = |name: &str, values: fn(&Row) -> (f64, f64)| Series {
        name: name.to_owned(),
        formula: None,
        points: runs
            .iter()
            .map(|Run { row, .. }| {
                let (measured, theory) = values(row);
                Point { n: row.nodes, measured, theory, spread: None }
            })
            .collect(),
    };
    plot::plots(&[
        Plot {
            title: "super-peer: messages of a cold start".to_owned(),
            y_label: "messages".to_owned(),
            series: vec![series("groups of 16", |row| {
                (row.messages as f64, row.theory_messages as f64)
            })],
        },
        Plot {
            title: "super-peer: messages per node".to_owned(),
            y_label: "messages per node".to_owned(),
            series: vec![
                series("groups of 16", |row| {
                    (row.per_node, row.theory_messages as f64 / f64::from(row.nodes))
                }),
                series("at most", |row| (row.per_node_max, row.per_node_max)),
            ],
        },
    ])
}

/// The most memory since it was last forgotten.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Resets the peak; where the system does not let us, sizes that grow are right all the same.
fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

const EXAMPLES: &str = "\
Examples:
  tanist sim scale
  tanist sim scale --nodes 1000,10000,100000 --svg scale.svg
  tanist sim scale --nodes 1000000 -o json

A million nodes take some minutes and some GiB of memory.

Exit codes:
  0 every node has its super-peers, messages are those of the formula and below the bound,
  1 something of that is not so, 2 usage, 130 interrupted";
