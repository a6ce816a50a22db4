//! `tanist sim mobility`: many nodes that roam, and for how much of the time they agree.

mod measures;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tanist_core::duration;
use tanist_core::election::Algorithm;
use tanist_core::election::descriptor::Network;
use tanist_core::options::Options;
use tanist_sim::pictures::map::Map;
use tanist_sim::studies::roaming::{Outcome, Roaming};
use tanist_sim::studies::scale::Control;
use tanist_sim::world::walking::Mobility;

use self::measures::{Ground, Length, Loss, Span, Speeds, metres, share};
use super::run::pair;
use crate::commands::algorithm;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::process::interrupt;
use crate::terminal::output::{self, Format, Target, quoted};
use crate::terminal::progress;
use crate::terminal::table::{Table, left, right};

/// Let many nodes roam and elect by radio, and tell for how much of the time they agree.
///
/// Nodes walk by random waypoint: to a random place at a random speed, rest, and on. A node in
/// range receives. A node agrees while exactly one node of its component leads and it follows
/// that one; a component is what is joined by links at that moment.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Which algorithm; one for ad-hoc networks.
    #[arg(long, default_value = "adhoc-diffusing", value_parser = algorithm)]
    algorithm: Algorithm,
    /// Set an option of the algorithm (tanist algorithms); may be given several times.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = pair)]
    options: Vec<(String, String)>,
    /// How many nodes.
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=NODES_MAX))]
    nodes: u32,
    /// For how long, in simulated time.
    #[arg(long, default_value = "10m", value_name = "SPAN")]
    time: Span,
    /// How far a node is heard, in metres.
    #[arg(long, default_value = "250", value_name = "METRES")]
    range: Length,
    /// Width and height of the ground, in metres.
    #[arg(long, default_value = "2000x2000", value_name = "WxH")]
    area: Ground,
    /// Least and greatest speed, in metres per second.
    #[arg(long, default_value = "3..19", value_name = "A..B")]
    speed: Speeds,
    /// How long nodes rest at the end of a way, at most.
    #[arg(long, default_value = "10s", value_name = "SPAN")]
    pause: Span,
    /// How much is lost within the range: a share, or `distance` for more with the distance.
    #[arg(long, default_value = "0", value_name = "LOSS")]
    loss: Loss,
    /// How often a leader gives a sign of life.
    #[arg(long, default_value = "1s", value_name = "SPAN")]
    heartbeat: Span,
    /// How long a message takes over one link, at most.
    #[arg(long, default_value = "2ms", value_name = "SPAN")]
    message: Span,
    /// Where all chance comes from.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// End with exit code 1 if nodes agree for less than this share of the time.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", value_parser = share)]
    at_least: f64,
    /// Draw who is where and follows whom at the end; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    svg: Option<Target>,
    /// How to write the result [default: table].
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Format>,
}

impl Args {
    /// Runs it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let is_report_wanted = output::is_report_wanted(self.output, &[self.svg.as_ref()])?;
        let roaming = self.roaming()?;
        interrupt::listen();
        let bar = progress::bar(self.time.0.as_secs(), self.algorithm.name());
        let began = Instant::now();
        let outcome = roaming.run(&mut |second| {
            bar.set_position(second);
            if interrupt::is_asked() { Control::Stop } else { Control::GoOn }
        });
        bar.finish_and_clear();
        let outcome = outcome.map_err(|error| Problem::Usage(error.to_string()))?;
        if let Some(target) = &self.svg {
            let picture = self.picture(&outcome);
            target.fill(|to| to.write_all(picture.as_bytes()))?;
        }
        if is_report_wanted {
            match self.output.unwrap_or(Format::Table) {
                Format::Table => output::print(&self.text(&outcome, began.elapsed()))?,
                Format::Json => output::print_json(&self.json(&outcome))?,
            }
        }
        Ok(self.verdict(&outcome))
    }

    fn roaming(&self) -> Result<Roaming, Problem> {
        if self.algorithm.descriptor().network != Network::Radio {
            let radio =
                Algorithm::ALL.iter().filter(|known| known.descriptor().network == Network::Radio);
            let names: Vec<&str> = radio.map(|known| known.name()).collect();
            return Err(Problem::Usage(format!(
                "{} needs every node in reach of every other, and nothing was run; for ad-hoc \
                 networks there is {}",
                self.algorithm.name(),
                names.join(", ")
            )));
        }
        self.check_work()?;
        let mut options = Options::default();
        for (name, value) in &self.options {
            options.set(self.algorithm, name, value).map_err(|error| {
                Problem::Usage(format!("{error}. Nothing was run. See: tanist algorithms"))
            })?;
        }
        Ok(Roaming {
            algorithm: self.algorithm,
            options,
            nodes: self.nodes,
            time: self.time.0,
            range: self.range.0,
            fading: self.loss.0,
            mobility: Mobility {
                area: self.area.0,
                speed_min: self.speed.least,
                speed_max: self.speed.most,
                pause_min: Duration::ZERO,
                pause_max: self.pause.0,
                until: None,
            },
            message_max: self.message.0,
            heartbeat: self.heartbeat.0,
            seed: self.seed,
        })
    }

    /// Refuses a run without time, and one that would not end within days.
    fn check_work(&self) -> Result<(), Problem> {
        let refused = |what: &str| Err(Problem::Usage(format!("{what}; nothing was run")));
        if self.time.0 > TIME_MAX {
            return refused("--time is at most 24h of simulated time");
        }
        if self.time.0.is_zero() {
            return refused("--time is longer than zero, such as 10m");
        }
        if self.message.0 > self.time.0 {
            return refused("--message is longer than --time, so no message would arrive");
        }
        let beats = self.time.0.as_nanos() / self.heartbeat.0.as_nanos().max(1);
        if beats.saturating_mul(u128::from(self.nodes)) > BEATS_MAX {
            return refused(
                "--nodes times --time divided by --heartbeat is at most 200 million; choose a \
                 longer heartbeat, a shorter time or fewer nodes",
            );
        }
        Ok(())
    }

    fn verdict(&self, outcome: &Outcome) -> Exit {
        let share = outcome.agreement.of_nodes();
        if interrupt::is_asked() {
            Exit::Interrupted
        } else if share < self.at_least {
            let least = self.at_least;
            output::complain(&format!(
                "nodes agreed for {share:.4} of the time, less than {least}"
            ));
            Exit::Violated
        } else {
            Exit::Well
        }
    }

    fn text(&self, outcome: &Outcome, took: Duration) -> String {
        let Outcome { agreement, counts, .. } = outcome;
        let seconds = agreement.span().as_secs_f64();
        let per_node = f64::from(self.nodes) * seconds;
        let mut table = Table::new([left("FIGURE"), right("VALUE"), left("OF WHAT")]);
        let mut row = |name: &str, value: String, about: &str| {
            table.row([name.to_owned(), value, about.to_owned()]);
        };
        row("agreed", format!("{:.4}", agreement.of_nodes()), "of nodes and time");
        row("", format!("{:.4}", agreement.of_components()), "of components and time, all in them");
        let (mean, last) = (agreement.components_mean(), outcome.components.len());
        row("components", format!("{mean:.2}"), &format!("on average; {last} at the end"));
        row("neighbours", format!("{:.1}", outcome.neighbours), "of a node, at the end");
        row(
            "links",
            format!("{:.1}", rate(outcome.links_changed, seconds)),
            "come and go a second",
        );
        let sent = rate(counts.sent, per_node);
        row("transmissions", format!("{sent:.2}"), "of a node in a second");
        let heard = rate(counts.delivered, per_node);
        row("receptions", format!("{heard:.2}"), "of a node in a second");
        let won = format!("called; {} won", counts.elections_won);
        row("elections", counts.elections_called.to_string(), &won);
        format!(
            "{} nodes by {} roam for {} (it took {:.1}s)\n{}\n\n{table}\nReplay: {}\n",
            self.nodes,
            self.algorithm.name(),
            duration::print(Duration::from_secs(agreement.span().as_secs())),
            took.as_secs_f64(),
            self.setting(),
            self.replay(),
        )
    }

    fn setting(&self) -> String {
        format!(
            "{} m, range {} m, {} m/s, rests up to {}, loss {}, heartbeat {}, messages up to {}",
            self.area.text(),
            metres(self.range.0),
            self.speed.text(),
            duration::print(self.pause.0),
            self.loss.text(),
            duration::print(self.heartbeat.0),
            duration::print(self.message.0),
        )
    }

    fn replay(&self) -> String {
        let mut line = format!(
            "tanist sim mobility --algorithm {} --nodes {} --time {} --range {} --area {} \
             --speed {} --pause {} --loss {} --heartbeat {} --message {} --seed {}",
            self.algorithm.name(),
            self.nodes,
            duration::print(self.time.0),
            metres(self.range.0),
            self.area.text(),
            self.speed.text(),
            duration::print(self.pause.0),
            self.loss.text(),
            duration::print(self.heartbeat.0),
            duration::print(self.message.0),
            self.seed,
        );
        for (name, value) in &self.options {
            line.extend([" --option ", &quoted(&format!("{name}={value}"))]);
        }
        line
    }

    fn json(&self, outcome: &Outcome) -> Value {
        let Outcome { agreement, counts, .. } = outcome;
        let seconds = agreement.span().as_secs_f64();
        let per_node = f64::from(self.nodes) * seconds;
        json!({
            "algorithm": self.algorithm.name(),
            "nodes": self.nodes,
            "seed": self.seed,
            "setting": self.setting(),
            "time_us": u64::try_from(agreement.span().as_micros()).unwrap_or(u64::MAX),
            "agreed": {
                "nodes": agreement.of_nodes(),
                "components": agreement.of_components(),
            },
            "components": {
                "mean": agreement.components_mean(),
                "at_end": outcome.components.len(),
            },
            "neighbours_at_end": outcome.neighbours,
            "links_changed": outcome.links_changed,
            "transmissions": counts.sent,
            "transmissions_per_node_second": rate(counts.sent, per_node),
            "receptions": counts.delivered,
            "receptions_per_node_second": rate(counts.delivered, per_node),
            "by_kind": counts.by_kind(),
            "elections": { "called": counts.elections_called, "won": counts.elections_won },
        })
    }

    fn picture(&self, outcome: &Outcome) -> String {
        let title = format!(
            "{} nodes by {}, after {}",
            self.nodes,
            self.algorithm.name(),
            duration::print(outcome.agreement.span())
        );
        let agreed = outcome.components.iter().filter(|component| component.is_agreed).count();
        let about = format!(
            "{} components, {agreed} with one leader whom all follow; {} m, range {} m, {} m/s",
            outcome.components.len(),
            self.area.text(),
            metres(self.range.0),
            self.speed.text(),
        );
        Map {
            title: &title,
            about: &about,
            area: self.area.0,
            ids: &outcome.ids,
            positions: &outcome.positions,
            links: &outcome.links,
            components: &outcome.components,
        }
        .to_svg()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate to be printed")]
fn rate(count: u64, over: f64) -> f64 {
    if over > 0.0 { count as f64 / over } else { 0.0 }
}

/// As long as a scenario may be.
const TIME_MAX: Duration = Duration::from_secs(24 * 3600);
/// The most heartbeats of all nodes together: two thousand nodes for a day, one a second.
const BEATS_MAX: u128 = 200_000_000;

const NODES_MAX: i64 = 2000;

const EXAMPLES: &str = "\
Examples:
  tanist sim mobility
  tanist sim mobility --algorithm adhoc-expanding-ring --nodes 500 --time 10m --at-least 0.97
  tanist sim mobility --nodes 60 --time 2m --loss distance --svg map.svg
  tanist sim mobility --nodes 100 --time 1m -o json | jq .agreed

Exit codes:
  0 it was run, 1 nodes agreed less than --at-least, 2 usage, 130 interrupted";
