//! `tanist sim trade-off`: the timeout T against two coordinators at once, and against slow
//! failovers.

mod spans;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tanist_core::duration;
use tanist_core::election::Algorithm;
use tanist_sim::studies::sample::Share;
use tanist_sim::studies::trade_off::{self, Failovers, Point, TradeOff, picture};
use tanist_sim::world::network::Delay;

use self::spans::{Between, Timeouts, span};
use crate::commands::algorithm;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::process::interrupt;
use crate::terminal::output::{self, Format, Target};
use crate::terminal::progress;
use crate::terminal::table::{Table, right};

/// Measure what a longer timeout buys and costs: two coordinators at once, and time to agree.
///
/// Delays have a tail: most messages are in time, a share of them takes far longer. For each
/// timeout T, the second-best node falsely suspects the live coordinator, and there may be two
/// coordinators at once; then the coordinator really crashes, and all nodes come to agree. The
/// longer T, the rarer the first and the slower the second.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Which algorithm; one that elects one coordinator of nodes with links.
    #[arg(default_value = "bully", value_parser = algorithm)]
    algorithm: Algorithm,
    /// The timeouts T: `2ms..40ms` for twenty from one to the other, or a list with commas.
    #[arg(long, value_name = "A..B", default_value = "2ms..40ms")]
    timeouts: Timeouts,
    /// How many runs of each kind for each timeout.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    seeds: u32,
    /// How many nodes.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=i64::from(trade_off::NODES_MAX)))]
    nodes: u32,
    /// How long a message takes: from..to, or always this long.
    #[arg(long, value_name = "A..B", default_value = "200us..1ms")]
    delay: Between,
    /// How long a message of the tail takes, at most.
    #[arg(long, value_name = "SPAN", default_value = "60ms", value_parser = span)]
    spike: Duration,
    /// The share of messages in the tail, from 0 to 1.
    #[arg(long, value_name = "SHARE", default_value = "0.2", value_parser = spans::share_ppm)]
    spikes: u32,
    /// Write one line per timeout; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    csv: Option<Target>,
    /// Draw both against T; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    svg: Option<Target>,
    /// How to write the result [default: table, if there is no other output].
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Format>,
}

impl Args {
    /// Measures every timeout.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        output::is_report_wanted(self.output, &[self.csv.as_ref(), self.svg.as_ref()])?;
        let study = self.study()?;
        interrupt::listen();
        let points = self.points(study);
        if let Some(target) = &self.csv {
            target.fill(|to| to.write_all(trade_off::csv(&points).as_bytes()))?;
        }
        if let Some(target) = &self.svg {
            let title =
                format!("{}: the timeout T against two coordinators", self.algorithm.name());
            let picture = picture::draw(&title, &self.setting(), &points);
            target.fill(|to| to.write_all(picture.as_bytes()))?;
        }
        let has_files = self.csv.is_some() || self.svg.is_some();
        match self.output {
            None if has_files => {}
            None | Some(Format::Table) => output::print(&self.text(&points))?,
            Some(Format::Json) => output::print_json(&self.json(&points))?,
        }
        Ok(if interrupt::is_asked() { Exit::Interrupted } else { Exit::Well })
    }

    fn study(&self) -> Result<TradeOff, Problem> {
        let refuse = |what: String| Problem::Usage(format!("{what}. Nothing was run. See --help"));
        let Between { least, most } = self.delay;
        if self.spikes > 0 && self.spike < most {
            return Err(refuse(format!(
                "--spike {} is shorter than --delay: expected at least {}; --spikes 0 is no tail",
                duration::print(self.spike),
                duration::print(most),
            )));
        }
        let delay = match (self.spikes, least == most) {
            (0, true) => Delay::Fixed(most),
            (0, false) => Delay::Uniform { min: least, max: most },
            (spike_ppm, _) => Delay::Spiky { min: least, max: most, spike: self.spike, spike_ppm },
        };
        for timeout in &self.timeouts.0 {
            TradeOff::check_timeout(*timeout).map_err(|error| refuse(error.to_string()))?;
        }
        TradeOff::new(self.algorithm, self.nodes, delay).map_err(|error| refuse(error.to_string()))
    }

    /// Measures on all cores. The points come in order of their timeouts; after Ctrl-C those that
    /// are not complete are left out.
    fn points(&self, study: TradeOff) -> Vec<Point> {
        let timeouts = &self.timeouts.0;
        let bar = progress::bar(
            timeouts.len() as u64 * u64::from(self.seeds),
            &format!("{} of {} nodes", self.algorithm.name(), self.nodes),
        );
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<Point>> = Mutex::new(Vec::new());
        let work = || {
            while let Some(timeout) = timeouts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let over = &interrupt::is_asked;
                let point = study.measure(*timeout, self.seeds, over, &|| bar.inc(1));
                let point = point.expect("all timeouts were checked");
                if point.split.count() == self.seeds {
                    done.lock().expect("no thread panics while it adds a point").push(point);
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
        let mut done = done.into_inner().expect("no thread panics while it adds a point");
        done.sort_by_key(|point| point.timeout);
        done
    }

    fn setting(&self) -> String {
        let Between { least, most } = self.delay;
        let mut text = format!("{} nodes, delays {}", self.nodes, duration::print(least));
        if least != most {
            text.push_str(&format!(" to {}", duration::print(most)));
        }
        if self.spikes > 0 {
            let share = f64::from(self.spikes) / 1e4;
            text.push_str(&format!(", {share} % up to {}", duration::print(self.spike)));
        }
        text.push_str(&format!("; {} runs of each kind for each T", self.seeds));
        text
    }

    fn text(&self, points: &[Point]) -> String {
        let mut table = Table::new([
            right("T"),
            right("TWO AT ONCE"),
            right("PROBABILITY"),
            right("95 %"),
            right("FAILOVER ms"),
            right("WITH TAIL ms"),
        ]);
        for Point { timeout, split, calm, tail } in points {
            table.row([
                duration::print(*timeout),
                format!("{} of {}", split.hits(), split.count()),
                split.value().map_or_else(|| "-".to_owned(), |value| format!("{value:.4}")),
                interval(*split),
                took(calm),
                tail.as_ref().map_or_else(|| "-".to_owned(), took),
            ]);
        }
        format!("{}: {}\n\n{table}", self.algorithm.name(), self.setting())
    }

    fn json(&self, points: &[Point]) -> Value {
        let micros = |span: Duration| u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        json!({
            "algorithm": self.algorithm.name(),
            "nodes": self.nodes,
            "seeds": self.seeds,
            "delay_us": { "min": micros(self.delay.least), "max": micros(self.delay.most) },
            "spike_us": micros(self.spike),
            "spikes": f64::from(self.spikes) / 1e6,
            "interrupted": interrupt::is_asked(),
            "points": points.iter().map(entry).collect::<Value>(),
        })
    }
}

fn entry(Point { timeout, split, calm, tail }: &Point) -> Value {
    let interval = split.confidence();
    json!({
        "timeout_us": u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX),
        "runs": split.count(),
        "two_coordinators": split.hits(),
        "probability": split.value(),
        "probability_ci95": interval.map(|(low, high)| [low, high]),
        "failover": failover(calm),
        "failover_with_tail": tail.as_ref().map(failover),
    })
}

fn failover(Failovers { agreed, time_us }: &Failovers) -> Value {
    json!({
        "agreed": agreed.hits(),
        "mean_us": time_us.mean().map(|mean| mean.to_f64()),
        "mean_us_ci95": time_us.confidence(),
    })
}

fn interval(share: Share) -> String {
    let text = |(low, high)| format!("{low:.4} to {high:.4}");
    share.confidence().map_or_else(|| "-".to_owned(), text)
}

/// The mean in milliseconds, and how many runs it leaves out.
fn took(Failovers { agreed, time_us }: &Failovers) -> String {
    let Some(mean) = time_us.mean() else { return "-".to_owned() };
    let half = time_us.confidence().map_or_else(String::new, |half| format!(" ±{:.1}", half / 1e3));
    let missing = agreed.count() - agreed.hits();
    let missing = if missing > 0 { format!(", {missing} never") } else { String::new() };
    format!("{:.1}{half}{missing}", mean.to_f64() / 1e3)
}

const EXAMPLES: &str = "\
T is 2Tm: a node that has not answered within T counts as failed. FAILOVER is measured without the
tail, so it is what T alone costs; WITH TAIL is measured on the same network as the false
suspicions, where late answers also make elections fail and repeat.

Examples:
  tanist sim trade-off
  tanist sim trade-off bully-lecture --timeouts 1ms..20ms --seeds 500 --svg trade-off.svg
  tanist sim trade-off --timeouts 2ms,10ms,50ms,100ms --nodes 5 --spike 200ms --spikes 0.05
  tanist sim trade-off ring-list --spikes 0 --delay 1ms -o json | jq '.points[].failover'

Exit codes:
  0 it was measured, 2 usage, 130 interrupted; the timeouts that were complete are written";
