//! `tanist history`: what a node was, why it changed, and how long it was in no group.

use serde_json::Value;

use super::watch::follow;
use crate::agent::change::{Changed, RoleChange};
use crate::commands::agent::Form;
use crate::commands::query::Agent;
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::terminal::moment;
use crate::terminal::output::{self, LookFormat};
use crate::terminal::table::{Column, Table, left, right};

/// Show the groups that a node was in, with the cause of each change and the gap before it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct History {
    #[command(flatten)]
    agent: Agent,
    /// Only the last so many.
    #[arg(short = 'n', long, value_name = "COUNT")]
    last: Option<usize>,
    /// Go on with every change that comes, until interrupted.
    #[arg(short, long)]
    watch: bool,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: LookFormat,
}

impl History {
    /// Shows it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let mut lines: Vec<Value> = self.agent.ask(&Ask::History)?;
        let surplus = self.last.map_or(0, |last| lines.len().saturating_sub(last));
        lines.drain(..surplus);
        let newest = lines.last().cloned().map(serde_json::from_value::<RoleChange<String>>);
        let newest = newest.transpose()?.map(|newest| newest.id());
        self.show(lines)?;
        if !self.watch {
            return Ok(Exit::Well);
        }
        let form = match self.output.machine() {
            Some(_) => Form::Ndjson,
            None => Form::Text,
        };
        follow(self.agent.connect()?, newest, form)
    }

    fn show(&self, lines: Vec<Value>) -> anyhow::Result<()> {
        if let Some(machine) = self.output.machine() {
            // What is followed afterwards comes in lines, so this does too.
            let machine = if self.watch { output::Machine::Ndjson } else { machine };
            return output::print_value(&Value::Array(lines), machine);
        }
        let lines = lines.into_iter().map(serde_json::from_value).collect::<Result<Vec<_>, _>>()?;
        if self.output == LookFormat::Name {
            return Ok(output::print(&leaders(&lines))?);
        }
        Ok(output::print(&text(&lines, self.output == LookFormat::Wide))?)
    }
}

/// Who led the groups that the node was in, oldest first.
fn leaders(lines: &[RoleChange<String>]) -> String {
    let in_group = lines.iter().filter(|line| line.is_in_group());
    in_group.filter_map(|line| line.coordinator.as_ref()).map(|node| format!("{node}\n")).collect()
}

/// The changes as a table, oldest first.
pub(crate) fn text(lines: &[RoleChange<String>], is_wide: bool) -> String {
    let mut columns: Vec<Column> =
        vec![right("INDEX"), left("WHEN"), left("ROLE"), left("ACTIVE"), left("GROUP NUMBER")];
    columns.extend([left("LEADER"), left("CAUSE"), right("GAP"), left("MEMBERS")]);
    if is_wide {
        columns.insert(6, left("BEFORE"));
        columns.push(left("LOST"));
    }
    let mut table = Table::new(columns);
    let none = || "-".to_owned();
    for line in lines {
        let group_number = line.group_number.filter(|_| line.is_in_group());
        let coordinator = line.coordinator.clone().filter(|_| line.is_in_group());
        let mut cells = vec![
            line.index.to_string(),
            moment::utc(moment::unix_millis(line.when)),
            line.role.to_string(),
            if line.active { "yes" } else { "-" }.to_owned(),
            group_number.map_or_else(none, |number| number.to_string()),
            coordinator.unwrap_or_else(none),
            cause(line).to_owned(),
            line.gap.map_or_else(none, |gap| format!("{}ms", gap.as_millis())),
            if line.is_in_group() { line.members.join(" ") } else { none() },
        ];
        if is_wide {
            cells.insert(6, line.old_leader.clone().unwrap_or_else(none));
            let lost = line.lost.iter();
            let lost: Vec<String> =
                lost.map(|lost| format!("{} {}", lost.node, lost.evidence.name())).collect();
            cells.push(if lost.is_empty() { none() } else { lost.join(", ") });
        }
        table.row(cells);
    }
    table.to_string()
}

const fn cause(line: &RoleChange<String>) -> &'static str {
    match line.event {
        Changed::Role => line.reason.name(),
        Changed::Activity => "active",
    }
}

const EXAMPLES: &str = "\
CAUSE is why the node changed: start, election (one is on), failure (a member is gone), step-down,
merge (groups met), stop, or active (the leader became active: every node that it can reach is in its
group). GAP is for how long the node was in no group before; after the loss of a leader that fell
silent it counts from the last sign of life. With -o wide, BEFORE is the leader before, and LOST has
the nodes that are gone, with the evidence. An agent remembers its last thousand changes since it was
started; a trace file keeps everything.

Examples:
  tanist history
  tanist history -n 5 -o wide
  tanist history -o name                         who led the groups that the node was in
  tanist history -w -o ndjson | jq -c '[.role, .reason, .gap_ms]'

Exit codes:
  0 it was told, 1 the agent went away while it was watched, 3 no agent there";
