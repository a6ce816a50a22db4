//! `tanist why`: the last election of a node, in sentences.

mod account;
mod round;

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tanist::{NodeId, NodeNames, clock};
use tanist_core::Time;
use tanist_core::trace::{Entry, Header};

use self::account::{Account, accounts};
use super::query::{Agent, alarms, refusals};
use crate::agent::change::RoleChange;
use crate::agent::report::{MembersReport, StatusReport};
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::terminal::moment;
use crate::terminal::output::{self, LookFormat};
use crate::terminal::table::{Table, left, right};

/// Tell the last election of a node in sentences: who was asked, who answered, who won and why.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    agent: Agent,
    /// The last so many elections.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    last: usize,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: LookFormat,
}

/// What an agent remembers of what it did.
#[derive(Debug, Deserialize)]
struct Events {
    header: Header,
    forgotten: u64,
    entries: Vec<Entry>,
}

impl Args {
    /// Tells it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let mut client = self.agent.connect()?;
        let status: StatusReport = client.ask(&Ask::Status)?;
        let events: Events = client.ask(&Ask::Events)?;
        let seen: MembersReport = client.ask(&Ask::Members)?;
        let refusals = refusals(&seen.members);
        let names = &events.header.names;
        let me = names.find(&status.node).unwrap_or(NodeId(0));
        let mut told = accounts(&events.header, me, &events.entries);
        told.drain(..told.len().saturating_sub(self.last));
        let history: Vec<RoleChange<String>> = client.ask(&Ask::History)?;
        told.iter_mut().for_each(|one| one.explain(&history, &status.node, names));
        if let Some(machine) = self.output.machine() {
            let elections: Vec<_> =
                told.iter().map(|one| one.json(names, wall(one.began))).collect();
            let value = json!({
                "node": status.node,
                "algorithm": status.algorithm,
                "forgotten": events.forgotten,
                "elections": elections,
                "refusals": refusals,
                "alarms": alarms(&status),
                "unknown": unknown(&told, &status.node, names, events.forgotten),
            });
            output::print_value(&value, machine)?;
            return Ok(Exit::Well);
        }
        let alarms: String = alarms(&status).iter().map(|alarm| format!("{alarm}\n\n")).collect();
        if told.is_empty() {
            output::print(&alarms)?;
            let node = &status.node;
            let lost = events.forgotten;
            output::complain(&format!(
                "the agent of {node} remembers no election; {lost} older events are forgotten. A \
                 trace file (`trace = \"...\"` in the agent's file) keeps everything"
            ));
            return Ok(Exit::Violated);
        }
        if self.output == LookFormat::Name {
            let winner =
                |one: &Account| one.coordinator.map(|node| format!("{}\n", names.of(node)));
            output::print(&told.iter().filter_map(winner).collect::<String>())?;
            return Ok(Exit::Well);
        }
        let mut text = alarms;
        for one in &told {
            text.push_str(&tell(&status, one));
        }
        for refusal in &refusals {
            text.push_str(&format!("{refusal}\n\n"));
        }
        text.push_str("What this node cannot know:\n");
        for line in unknown(&told, &status.node, names, events.forgotten) {
            let mut item = Table::list(0);
            item.row(["-".to_owned(), line]);
            text.push_str(&item.to_string());
        }
        output::print(&text)?;
        Ok(Exit::Well)
    }
}

fn tell(status: &StatusReport, account: &Account) -> String {
    let (node, algorithm) = (&status.node, &status.algorithm);
    let at = moment::utc(wall(account.began));
    let mut text = format!("{node} on its election by {algorithm} of {at}\n\n");
    let mut table = Table::new([right("AFTER ms"), left("WHAT")]);
    for step in &account.steps {
        let after = step.at.since(account.began).as_secs_f64() * 1000.0;
        table.row([format!("{after:.1}"), step.text.clone()]);
    }
    text.push_str(&table.to_string());
    let mut result = Table::list(0);
    result.row(["=>".to_owned(), account.result()]);
    text.push('\n');
    text.push_str(&result.to_string());
    text.push('\n');
    text
}

/// What would have to be asked elsewhere.
fn unknown(told: &[Account], me: &str, names: &NodeNames, forgotten: u64) -> Vec<String> {
    let mut lines = Vec::new();
    let silent: Vec<String> = told
        .last()
        .map(|one| one.silent.iter().map(|node| names.of(*node).to_string()).collect())
        .unwrap_or_default();
    if !silent.is_empty() {
        let silent = silent.join(" ");
        lines.push(format!(
            "whether {silent} did not answer because of a crash, a cut, or slowness: from here all \
             three look the same"
        ));
    }
    if told.last().is_some_and(|one| one.coordinator != names.find(me)) {
        lines.push(
            "whom the winner asked, and who answered it: ask there with tanist why".to_owned(),
        );
    }
    lines.push(
        "what the others did among themselves: `tanist trace story` tells it from the trace files \
         of all nodes"
            .to_owned(),
    );
    if forgotten > 0 {
        lines.push(format!("{forgotten} older events: an agent remembers its last few thousand"));
    }
    lines
}

/// A moment of the boot-time clock as milliseconds since 1970, by what the clocks say now.
fn wall(at: Time) -> u64 {
    let ago = clock::now().since(at);
    let now = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    let then = now.unwrap_or_default().checked_sub(ago).unwrap_or(Duration::ZERO);
    u64::try_from(then.as_millis()).unwrap_or(u64::MAX)
}

const EXAMPLES: &str = "\
It is told from what the node itself did and heard, which its agent remembers. It begins with the
nodes that were lost and the evidence: a refused connection, silence, a farewell. Signs of life are
left out. What the node cannot know is said at the end.

Examples:
  tanist why
  tanist why --last 3 --node n2
  tanist why --last 3 -o name                    who won each of them
  tanist why --socket /run/tanist/billing.sock -o json | jq .elections[0].result

Exit codes:
  0 it was told, 1 no election is remembered, 3 no agent there";
