//! What a group costs while nothing happens.

use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;
use serde_json::Value;
use tanist::{Algorithm, NodeId};

use super::process::{Usage, usage};
use crate::control::protocol::Ask;
use crate::dev::group::{LocalGroup, Seen};
use crate::dev::plan::{Plan, check_flags};
use crate::exit::Exit;
use crate::process::interrupt;
use crate::terminal::output::{self, Format};
use crate::terminal::table::{Table, left, right};

/// Measure what every node of a group of real processes costs while nothing happens.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How many nodes.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=200))]
    nodes: u32,
    /// Who elects.
    #[arg(long, default_value = "invitation", value_parser = crate::commands::algorithm)]
    algorithm: Algorithm,
    /// A line of the timing table, for example heartbeat=100ms.
    #[arg(long = "timing", value_name = "NAME=VALUE", value_parser = crate::commands::pair)]
    timing: Vec<(String, String)>,
    /// How long to look, once all have agreed.
    #[arg(
        long = "for",
        value_name = "DURATION",
        default_value = "10s",
        value_parser = span
    )]
    span: Duration,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

/// Reads how long to look: a day at most.
fn span(text: &str) -> std::result::Result<Duration, String> {
    let span = crate::duration::read(text)?;
    if span > SPAN_MAX {
        return Err(format!("{text:?} is too long; it is 24h at most"));
    }
    Ok(span)
}

const SPAN_MAX: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug, Serialize)]
struct Result {
    nodes: u32,
    algorithm: &'static str,
    seconds: f64,
    /// From the start of the first process until all agreed.
    agreed_after_ms: f64,
    /// Messages that all nodes had sent until then, heartbeats included.
    messages_to_agree: u64,
    per_node: Vec<Cost>,
}

#[derive(Debug, Serialize)]
struct Cost {
    node: String,
    /// Of one core.
    cpu_percent: f64,
    resident_mib: f64,
    wakes_per_second: f64,
    packets_out_per_second: f64,
    packets_in_per_second: f64,
    bytes_out_per_second: f64,
    bytes_in_per_second: f64,
}

/// A node at one moment.
struct Sample {
    usage: Usage,
    metrics: Value,
}

impl Args {
    /// Measures it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        check_flags(self.algorithm, &[], &self.timing)?;
        interrupt::listen();
        let directory = tempfile::tempdir()?;
        let plan = Plan {
            name: "bench".to_owned(),
            nodes: self.nodes,
            algorithm: self.algorithm,
            options: Vec::new(),
            racks: None,
            timing: self.timing.clone(),
            preempt: None,
            is_traced: false,
            work: None,
            base_port: None,
            http: Vec::new(),
        };
        let begun = Instant::now();
        let mut group = LocalGroup::start(&plan, &directory.path().join("group"))?;
        let all = group.ids();
        let limit = AGREE_MAX.max(self.span);
        group.agree(&all, None, limit)?;
        let agreed_after_ms = begun.elapsed().as_secs_f64() * 1e3;
        let before = sample(&group, &all)?;
        let messages_to_agree = before.iter().map(|sample| sum(&sample.metrics["sent"])).sum();
        let begun = Instant::now();
        while begun.elapsed() < self.span && !interrupt::is_asked() {
            let left = self.span.saturating_sub(begun.elapsed());
            if let Some(seen) = group.next(left.min(PULSE))? {
                output::complain(&format!("the group is not idle: {}", sentence(&seen)));
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        let after = sample(&group, &all)?;
        let per_node = all
            .iter()
            .zip(before.iter().zip(&after))
            .map(|(id, (before, after))| cost(*id, before, after, seconds))
            .collect();
        let algorithm = self.algorithm.name();
        let nodes = self.nodes;
        let result =
            Result { nodes, algorithm, seconds, agreed_after_ms, messages_to_agree, per_node };
        result.print(self.output)?;
        Ok(if interrupt::is_asked() { Exit::Interrupted } else { Exit::Well })
    }
}

fn sample(group: &LocalGroup, nodes: &[NodeId]) -> anyhow::Result<Vec<Sample>> {
    let one = |id: &NodeId| {
        let process = group.process(*id).with_context(|| format!("error: {id} is gone"))?;
        let metrics = group.ask(*id, &Ask::Metrics)?;
        Ok(Sample { usage: usage(process)?, metrics })
    };
    nodes.iter().map(one).collect()
}

fn cost(id: NodeId, before: &Sample, after: &Sample, seconds: f64) -> Cost {
    let rate = |name: &str| {
        let of = |sample: &Sample| sample.metrics["transport"][name].as_u64().unwrap_or(0);
        of(after).saturating_sub(of(before)) as f64 / seconds
    };
    let busy = after.usage.busy.saturating_sub(before.usage.busy).as_secs_f64();
    Cost {
        node: id.to_string(),
        cpu_percent: busy / seconds * 100.0,
        resident_mib: after.usage.resident as f64 / f64::from(1 << 20),
        wakes_per_second: (after.usage.wakes - before.usage.wakes) as f64 / seconds,
        packets_out_per_second: rate("frames_out") + rate("datagrams_out"),
        packets_in_per_second: rate("frames_in") + rate("datagrams_in"),
        bytes_out_per_second: rate("bytes_out"),
        bytes_in_per_second: rate("bytes_in"),
    }
}

/// All numbers of an object together.
fn sum(object: &Value) -> u64 {
    let values = object.as_object().into_iter().flat_map(|object| object.values());
    values.filter_map(Value::as_u64).sum()
}

fn sentence(seen: &Seen) -> String {
    match seen {
        Seen::Change(line) => line.text.clone(),
        Seen::Stopped(node, why) | Seen::Refused(node, why) => format!("{node} ended: {why}"),
    }
}

impl Result {
    fn print(&self, format: Format) -> anyhow::Result<()> {
        if format == Format::Json {
            return output::print_json(self);
        }
        let mut text = format!(
            "{}, {} nodes, agreed {:.0} ms after the first start with {} messages, then idle for {:.1} s\n",
            self.algorithm, self.nodes, self.agreed_after_ms, self.messages_to_agree, self.seconds
        );
        let columns = [
            left("NODE"),
            right("CPU %"),
            right("MiB"),
            right("WAKES/s"),
            right("OUT packets/s"),
            right("bytes/s"),
            right("IN packets/s"),
            right("bytes/s"),
        ];
        let mut table = Table::new(columns);
        for cost in &self.per_node {
            table.row([
                cost.node.clone(),
                format!("{:.2}", cost.cpu_percent),
                format!("{:.1}", cost.resident_mib),
                format!("{:.1}", cost.wakes_per_second),
                format!("{:.1}", cost.packets_out_per_second),
                format!("{:.0}", cost.bytes_out_per_second),
                format!("{:.1}", cost.packets_in_per_second),
                format!("{:.0}", cost.bytes_in_per_second),
            ]);
        }
        text.push_str(&table.to_string());
        Ok(output::print(&text)?)
    }
}

const AGREE_MAX: Duration = Duration::from_secs(120);
const PULSE: Duration = Duration::from_millis(200);

const EXAMPLES: &str = "\
Examples:
  tanist bench idle --nodes 3 --for 20s
  tanist bench idle --nodes 100 --for 5s -o json";
