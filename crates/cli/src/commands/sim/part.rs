//! `--from`, `--to` and `--hide`: which part of a run its story and its diagram show.

use std::time::Duration;

use tanist_core::{Time, duration};
use tanist_sim::pictures::part::{Part, Shown, Traffic};
use tanist_sim::recorded::Window;

use crate::problem::Problem;

/// Which part of the run is shown; all of it is counted and judged.
#[derive(Debug, clap::Args)]
pub(super) struct PartArgs {
    /// Show story and diagram from here on (250us, 1.5ms, 2s); what every node is then comes first.
    #[arg(long, value_name = "TIME", value_parser = crate::duration::read)]
    from: Option<Duration>,
    /// Show story and diagram up to here.
    #[arg(long, value_name = "TIME", value_parser = crate::duration::read)]
    to: Option<Duration>,
    /// Leave some traffic out of story and diagram: checks (who is still alive), acks (of a ring's
    /// tokens), hand-over (of the definition), timers, saves. Heartbeats are never shown.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = traffic)]
    hide: Vec<Traffic>,
}

impl PartArgs {
    /// The part that is asked for; none if that is the whole run.
    pub(super) fn part(&self, end: Duration) -> Result<Option<Part>, Problem> {
        let is_whole = self.from.is_none() && self.to.is_none();
        if is_whole && self.hide.is_empty() {
            return Ok(None);
        }
        let (from, to) = (self.from.unwrap_or_default(), self.to.unwrap_or(end).min(end));
        if from > to {
            return Err(Problem::Usage(format!(
                "there is nothing of the run from {} to {}; nothing was run. The run lasts {}",
                duration::print(from),
                duration::print(self.to.unwrap_or(end)),
                duration::print(end),
            )));
        }
        let window = Window { from: Time::ZERO + from, to: Time::ZERO + to };
        Ok(Some(Part { window: (!is_whole).then_some(window), hidden: self.hide.clone() }))
    }

    /// What is shown and what is left out, in a line.
    pub(super) fn note(&self, shown: &Shown, end: Duration) -> String {
        let mut parts = Vec::new();
        if self.from.is_some() || self.to.is_some() {
            let (from, to) = (self.from.unwrap_or_default(), self.to.unwrap_or(end).min(end));
            let span = [from, to, end].map(duration::print);
            parts.push(format!("{} to {} of {}", span[0], span[1], span[2]));
        }
        let hidden = shown.hidden.iter().map(|(traffic, count)| match count {
            0 => format!("{} (none)", traffic.name()),
            1 => format!("{} (1 event)", traffic.name()),
            _ => format!("{} ({count} events)", traffic.name()),
        });
        let hidden: Vec<String> = hidden.collect();
        if !hidden.is_empty() {
            parts.push(format!("hidden: {}", hidden.join(", ")));
        }
        parts.join("; ")
    }
}

fn traffic(name: &str) -> Result<Traffic, String> {
    let mut known = Traffic::ALL.iter();
    known.find(|traffic| traffic.name() == name).copied().ok_or_else(|| {
        let names: Vec<&str> = Traffic::ALL.iter().map(|traffic| traffic.name()).collect();
        format!("expected one of: {}", names.join(", "))
    })
}
