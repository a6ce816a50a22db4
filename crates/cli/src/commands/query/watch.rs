//! `tanist watch`: every change of a node's role as it comes.

use crate::agent::change::RoleChange;
use crate::commands::agent::Form;
use crate::commands::query::Agent;
use crate::control::client::Client;
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::terminal::output;

/// Follow the roles of a node until interrupted. The first line is what it is now.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Watch {
    #[command(flatten)]
    agent: Agent,
    /// Begin after the change with this number: nothing is missed, nothing comes twice.
    #[arg(long, value_name = "INDEX")]
    since: Option<u64>,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Form,
}

impl Watch {
    /// Follows it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        follow(self.agent.connect()?, self.since, self.output)
    }
}

/// Writes every change after a number, until the agent goes.
pub(super) fn follow(client: Client, after: Option<u64>, form: Form) -> anyhow::Result<Exit> {
    let mut client = client.follow(&Ask::Watch { after })?;
    let mut seen = after;
    while let Some(line) = client.line()? {
        let change: RoleChange = serde_json::from_str(&line)?;
        if change.missed > 0 {
            let missed = change.missed;
            output::complain(&format!("{missed} changes came before and are forgotten"));
        }
        if seen.is_some_and(|seen| change.index <= seen) {
            output::complain("the node was restarted: its changes are counted from 0 again");
        }
        seen = Some(change.index);
        match form {
            Form::Ndjson => output::print(&line)?,
            Form::Text => output::print(&format!("{}\n", change.text))?,
        }
    }
    output::complain("the agent has gone");
    Ok(Exit::Violated)
}

const EXAMPLES: &str = "\
Every line has an index; `--since` with the last one seen goes on where a reader left off. Indexes
count the roles of one incarnation of the node: after a restart they begin at 0.

Examples:
  tanist watch
  tanist watch --node n3 -o ndjson | jq .role
  tanist watch --since 41 -o ndjson

Exit codes:
  1 the agent went away, 3 no agent there, 130 interrupted";
