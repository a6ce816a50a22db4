//! `tanist watch`: every change of a node as it comes.

use crate::agent::change::{ChangeId, RoleChange};
use crate::commands::agent::Form;
use crate::commands::query::Agent;
use crate::control::client::Client;
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::terminal::output;

/// Follow the changes of a node until interrupted. The first line is what it is now.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Watch {
    #[command(flatten)]
    agent: Agent,
    /// Begin after this change: nothing is missed, nothing comes twice.
    #[arg(long, value_name = "INCARNATION.INDEX")]
    since: Option<ChangeId>,
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

/// Writes every change after this one, until the agent goes.
pub(super) fn follow(client: Client, after: Option<ChangeId>, form: Form) -> anyhow::Result<Exit> {
    let incarnation = after.map(|after| after.incarnation);
    let after_index = after.map(|after| after.index);
    let mut client = client.follow(&Ask::Watch { after: after_index, incarnation })?;
    let mut seen = after;
    while let Some(line) = client.line()? {
        let change: RoleChange<String> = serde_json::from_str(&line)?;
        if change.missed > 0 {
            let missed = change.missed;
            output::complain(&format!("{missed} changes came before and are forgotten"));
        }
        if seen.is_some_and(|seen| seen.incarnation != change.incarnation) {
            output::complain(
                "the agent was restarted since that change: this is what its node is now, and its \
                 changes are counted from 0 again",
            );
        }
        seen = Some(change.id());
        match form {
            Form::Ndjson => output::print(&line)?,
            Form::Text => output::print(&format!("{}\n", change.text))?,
        }
    }
    output::complain("the agent has stopped");
    Ok(Exit::Violated)
}

const EXAMPLES: &str = "\
A line comes when the role changes and when a leader becomes active. In JSON every line has
`incarnation` and `index`; `--since` with those of the last line seen goes on where a reader left off.
Indexes begin at 0 when the agent starts: an id of an earlier incarnation is answered with what the
node is now.

Examples:
  tanist watch
  tanist watch --node n3 -o ndjson | jq -r '\"\\(.incarnation).\\(.index) \\(.role) \\(.active)\"'
  tanist watch --since 1794796184209.41 -o ndjson

Exit codes:
  1 the agent went away, 3 no agent there, 130 interrupted";
