//! How long after the loss of a coordinator the others have a new one.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Serialize;
use tanist::{Algorithm, GroupNumber, NodeId};
use tanist_core::Timing;

use crate::config::TimingTable;
use crate::dev::agreement::Agreement;
use crate::dev::group::LocalGroup;
use crate::dev::plan::{Plan, check_flags};
use crate::exit::Exit;
use crate::process::interrupt;
use crate::terminal::output::{self, Format};
use crate::terminal::progress;
use crate::terminal::table::{Table, left, right};

/// Lose the coordinator of a group of real processes, again and again.
///
/// Times count from just before the signal is sent. `first` is when the first survivor knows that
/// it coordinates a new group of all survivors, `all` when the last one has it. Both are stamped by
/// the nodes themselves, on the clock that all processes of a machine share.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How many nodes.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=200))]
    nodes: u32,
    /// Who elects.
    #[arg(long, default_value = "invitation", value_parser = crate::commands::algorithm)]
    algorithm: Algorithm,
    /// An option of the algorithm.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = crate::commands::pair)]
    options: Vec<(String, String)>,
    /// A line of the timing table, for example heartbeat=100ms.
    #[arg(long = "timing", value_name = "NAME=VALUE", value_parser = crate::commands::pair)]
    timing: Vec<(String, String)>,
    /// How the coordinator is lost.
    #[arg(long, default_value = "kill")]
    fault: Fault,
    /// How often.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=RUNS_MAX))]
    runs: u32,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

/// The most losses of one measurement: many hours.
const RUNS_MAX: i64 = 10_000;

/// How a coordinator is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
enum Fault {
    /// SIGKILL: its connections close.
    Kill,
    /// SIGSTOP: it falls silent.
    Stop,
}

#[derive(Debug, Serialize)]
struct Result {
    nodes: u32,
    algorithm: &'static str,
    fault: Fault,
    runs: usize,
    first_ms: Spread,
    all_ms: Spread,
    /// Different group numbers that were seen; none was seen twice.
    numbers: usize,
    detection: Detection,
}

/// What the nodes judge silence by.
#[derive(Debug, Serialize)]
struct Detection {
    heartbeat_ms: Option<f64>,
    suspect_after_ms: f64,
    answer_ms: f64,
    check_every_ms: f64,
}

#[derive(Debug, Serialize)]
struct Spread {
    min: f64,
    median: f64,
    p95: f64,
    max: f64,
}

impl Args {
    /// Measures it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        check_flags(self.algorithm, &self.options, &self.timing)?;
        interrupt::listen();
        let directory = tempfile::tempdir()?;
        let plan = Plan {
            name: "bench".to_owned(),
            nodes: self.nodes,
            algorithm: self.algorithm,
            options: self.options.clone(),
            racks: None,
            timing: self.timing.clone(),
            preempt: Some("always".to_owned()),
            is_traced: false,
            work: None,
            base_port: None,
            http: Vec::new(),
        };
        let detection = self.detection()?;
        let mut group = LocalGroup::start(&plan, &directory.path().join("group"))?;
        let bar = progress::bar(u64::from(self.runs), "failovers");
        let mut numbers = Numbers::default();
        let (mut first, mut all) = (Vec::new(), Vec::new());
        let all_nodes = group.ids();
        let mut whole = group.agree(&all_nodes, None, AGREE_MAX)?;
        numbers.note(&whole.group_numbers)?;
        for _ in 0..self.runs {
            if interrupt::is_asked() {
                break;
            }
            let lost = self.lose(&mut group, &whole, &mut numbers)?;
            first.push(lost.first);
            all.push(lost.all);
            whole = self.restore(&mut group, &all_nodes, &lost)?;
            numbers.note(&whole.group_numbers)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        let result = Result {
            nodes: self.nodes,
            algorithm: self.algorithm.name(),
            fault: self.fault,
            runs: first.len(),
            first_ms: Spread::of(&first)?,
            all_ms: Spread::of(&all)?,
            numbers: numbers.seen.len(),
            detection,
        };
        result.print(self.output)?;
        Ok(if interrupt::is_asked() { Exit::Interrupted } else { Exit::Well })
    }

    fn lose(
        &self,
        group: &mut LocalGroup,
        whole: &Agreement,
        numbers: &mut Numbers,
    ) -> anyhow::Result<Lost> {
        let &[node] = whole.coordinators.as_slice() else {
            bail!("error: there are several groups; only one coordinator can be lost at a time");
        };
        let at = match self.fault {
            Fault::Kill => group.kill(node)?,
            Fault::Stop => group.pause(node)?,
        };
        let survivors = group.awake();
        let new = group.agree(&survivors, Some(&whole.group_numbers), AGREE_MAX)?;
        numbers.note(&new.group_numbers)?;
        let (first, all) = (new.first.since(at), new.all.since(at));
        Ok(Lost { node, first, all, group_numbers: new.group_numbers })
    }

    fn restore(
        &self,
        group: &mut LocalGroup,
        all_nodes: &[NodeId],
        lost: &Lost,
    ) -> anyhow::Result<Agreement> {
        match self.fault {
            Fault::Kill => group.restart(lost.node)?,
            Fault::Stop => group.resume(lost.node)?,
        }
        group.agree(all_nodes, Some(&lost.group_numbers), AGREE_MAX)
    }

    fn detection(&self) -> anyhow::Result<Detection> {
        let config = TimingTable::from_pairs(&self.timing)?.config();
        let timing = Timing::new(config)?;
        let ms = |span: Duration| span.as_secs_f64() * 1e3;
        Ok(Detection {
            heartbeat_ms: config.heartbeat.map(ms),
            suspect_after_ms: ms(timing.suspect_after()),
            answer_ms: ms(timing.answer()),
            check_every_ms: ms(timing.check_every()),
        })
    }
}

/// A coordinator that was lost, and what followed.
struct Lost {
    node: NodeId,
    first: Duration,
    all: Duration,
    group_numbers: Vec<GroupNumber>,
}

/// The group numbers that whole groups had.
#[derive(Default)]
struct Numbers {
    seen: BTreeSet<GroupNumber>,
}

impl Numbers {
    fn note(&mut self, numbers: &[GroupNumber]) -> anyhow::Result<()> {
        for number in numbers {
            if !self.seen.insert(*number) {
                bail!("error: group number {number} was used twice");
            }
        }
        Ok(())
    }
}

impl Spread {
    fn of(spans: &[Duration]) -> anyhow::Result<Self> {
        let mut ms: Vec<f64> = spans.iter().map(|span| span.as_secs_f64() * 1e3).collect();
        ms.sort_by(f64::total_cmp);
        let last = ms.len().checked_sub(1).context("error: nothing was measured")?;
        let at = |part: f64| ms[(part * last as f64).round() as usize];
        Ok(Self { min: ms[0], median: at(0.5), p95: at(0.95), max: ms[last] })
    }

    fn cells(&self) -> [String; 4] {
        [self.min, self.median, self.p95, self.max].map(|ms| format!("{ms:.2}"))
    }
}

impl Result {
    fn print(&self, format: Format) -> anyhow::Result<()> {
        if format == Format::Json {
            return output::print_json(self);
        }
        let fault = match self.fault {
            Fault::Kill => "kill",
            Fault::Stop => "stop",
        };
        let mut text = format!(
            "{}, {} nodes, {fault} of the coordinator, {} runs, {} group numbers, all different\n",
            self.algorithm, self.nodes, self.runs, self.numbers
        );
        let columns = [left("ms"), right("MIN"), right("MEDIAN"), right("P95"), right("MAX")];
        let mut table = Table::new(columns);
        for (name, spread) in [("first", &self.first_ms), ("all", &self.all_ms)] {
            table.row([name.to_owned()].into_iter().chain(spread.cells()));
        }
        text.push_str(&table.to_string());
        let detection = &self.detection;
        let heartbeat = detection.heartbeat_ms.unwrap_or(0.0);
        text.push_str(&format!(
            "heartbeat {heartbeat} ms, suspect after {} ms, T {} ms\n",
            detection.suspect_after_ms, detection.answer_ms
        ));
        Ok(output::print(&text)?)
    }
}

/// Long enough for a busy machine; a group that takes longer does not agree.
const AGREE_MAX: Duration = Duration::from_secs(60);

const EXAMPLES: &str = "\
Examples:
  tanist bench failover --nodes 5 --fault kill --runs 50
  tanist bench failover --algorithm bully --fault stop --runs 10 -o json";
