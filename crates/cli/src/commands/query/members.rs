//! `tanist members`: all nodes as one of them sees them.

use serde_json::Value;
use tanist::RoleKind;

use super::{Agent, alarms, views};
use crate::agent::report::{MemberReport, MembersReport};
use crate::agent::views::ViewsReport;
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::terminal::output::{self, LookFormat};
use crate::terminal::table::{Table, left, right};
use crate::terminal::{colour, moment};

/// Show all nodes as one of them sees them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Members {
    #[command(flatten)]
    agent: Agent,
    /// Ask every node, over the links, and show what each says of itself.
    #[arg(long)]
    all: bool,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: LookFormat,
}

impl Members {
    /// Shows them.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        if self.all {
            return self.run_all();
        }
        let value: Value = self.agent.ask(&Ask::Members)?;
        if let Some(machine) = self.output.machine() {
            // A line for each node is what a list in lines is for.
            let is_list = self.output == LookFormat::Ndjson;
            output::print_value(if is_list { &value["members"] } else { &value }, machine)?;
            return Ok(Exit::Well);
        }
        let seen: MembersReport = serde_json::from_value(value)?;
        let text = match self.output {
            LookFormat::Name => {
                seen.members.iter().map(|member| format!("{}\n", member.node)).collect()
            }
            LookFormat::Table
            | LookFormat::Wide
            | LookFormat::Json
            | LookFormat::Ndjson
            | LookFormat::Yaml => text(&seen, self.output == LookFormat::Wide),
        };
        output::print(&colour::words(&text, colour::ROLES))?;
        Ok(Exit::Well)
    }
}

impl Members {
    /// Shows what every node says of itself. Nodes that say different things are exit code 1.
    fn run_all(&self) -> anyhow::Result<Exit> {
        let value: Value = self.agent.ask(&Ask::Views)?;
        let seen: ViewsReport = serde_json::from_value(value.clone())?;
        if let Some(machine) = self.output.machine() {
            let is_list = self.output == LookFormat::Ndjson;
            output::print_value(if is_list { &value["views"] } else { &value }, machine)?;
        } else {
            let text = match self.output {
                LookFormat::Name => {
                    seen.views.iter().map(|view| format!("{}\n", view.node)).collect()
                }
                LookFormat::Table
                | LookFormat::Wide
                | LookFormat::Json
                | LookFormat::Ndjson
                | LookFormat::Yaml => views::text(&seen),
            };
            output::print(&colour::words(&text, colour::ROLES))?;
        }
        let agree = views::disagreements(&seen).is_empty();
        Ok(if agree { Exit::Well } else { Exit::Violated })
    }
}

/// A line about the group and a table of its nodes.
pub(crate) fn text(seen: &MembersReport, is_wide: bool) -> String {
    let status = &seen.status;
    let number = status.group_number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let (group, algorithm, node) = (&status.group, &status.algorithm, &status.node);
    let mut text: String = alarms(status).iter().map(|alarm| format!("{alarm}\n")).collect();
    let head =
        format!("GROUP {group}  GROUP NUMBER {number}  ALGORITHM {algorithm}  SEEN BY {node}\n");
    text.push_str(&head);
    text.push_str(&table(seen, is_wide).to_string());
    if is_wide {
        text.push_str(&reasons(seen).to_string());
    }
    text
}

/// Why there is no link with nodes that have the right key; a reason is too long for a column.
fn reasons(seen: &MembersReport) -> Table {
    let mut table = Table::list(0);
    for member in &seen.members {
        if let Some(why) = refused(member) {
            table.row([member.node.clone(), why]);
        }
    }
    table
}

fn table(seen: &MembersReport, is_wide: bool) -> Table {
    let mut columns = vec![left("NODE"), left("ROLE"), left("ACTIVE"), left("STATE")];
    columns.push(left("ADDRESS"));
    columns.extend([right("PRIORITY"), right("RTT"), right("SEEN")]);
    if seen.radio {
        columns.push(left("NEIGHBOUR"));
    }
    if is_wide {
        columns.extend([left("LINK"), right("WIRE"), left("UDP"), left("PEERS")]);
    }
    let mut table = Table::new(columns);
    for member in &seen.members {
        let mark = if member.role == Some(RoleKind::Leader) { "★ " } else { "  " };
        let none = || "-".to_owned();
        let role = member.role.map_or_else(none, |role| role.to_string());
        let mut cells = vec![
            member.node.clone(),
            format!("{mark}{role}"),
            active(member).to_owned(),
            state(seen, member),
            Some(member.address.clone()).filter(|at| !at.is_empty()).unwrap_or_else(none),
            member.priority.to_string(),
            member.rtt_ms.map_or_else(none, |rtt| format!("{rtt:.1}ms")),
            if member.is_self { "now".to_owned() } else { member.seen_ms.map_or_else(none, ago) },
        ];
        if seen.radio {
            let is_near = !member.is_self && member.is_connected;
            cells.push(if is_near { "yes".to_owned() } else { none() });
        }
        if is_wide {
            let version = format!("version {}", seen.status.peers_version);
            cells.push(link(member).to_owned());
            cells.push(member.wire_version.map_or_else(none, |version| version.to_string()));
            cells.push(member.udp.map_or_else(none, |udp| udp.name().to_owned()));
            cells.push(if member.is_self { version } else { none() });
        }
        table.row(cells);
    }
    table
}

const fn active(member: &MemberReport) -> &'static str {
    match (member.active, member.role) {
        (Some(true), _) => "yes",
        (Some(false), Some(RoleKind::Leader)) => "not yet",
        (Some(false), _) | (None, None) => "-",
        (None, Some(_)) => "unknown",
    }
}

/// What this node knows of another one's state: its own exactly, and of the members that they
/// follow the same coordinator.
fn state(seen: &MembersReport, member: &MemberReport) -> String {
    let text = match (member.is_self, member.role, member.is_refused) {
        (true, ..) => seen.status.state.as_str(),
        (false, None, true) => "down",
        (false, None, false) if member.refusal.is_some() => "refuses",
        // A leader of an ad-hoc network does not know who follows it.
        (false, None, false) if member.is_connected && seen.radio => "in reach",
        (false, None, false) if member.is_connected => "elsewhere",
        (false, None, false) => "unknown",
        (false, Some(_), _) => "normal",
    };
    text.to_owned()
}

/// Why there is no link although both have the right key.
fn refused(member: &MemberReport) -> Option<String> {
    let theirs = member.refusal.as_ref().map(|why| format!("refuses this node: {why}"));
    theirs.or_else(|| member.refused_here.as_ref().map(|why| format!("is refused here: {why}")))
}

const fn link(member: &MemberReport) -> &'static str {
    match (member.is_self, member.is_connected, member.is_refused) {
        (true, ..) => "this node",
        (false, true, _) => "open",
        (false, false, true) => "refused",
        (false, false, false) if member.refusal.is_some() => "not given",
        (false, false, false) => "-",
    }
}

fn ago(millis: u64) -> String {
    if millis < 1000 {
        return format!("{millis}ms ago");
    }
    format!("{} ago", moment::span(std::time::Duration::from_millis(millis)))
}

const EXAMPLES: &str = "\
ACTIVE is `yes` for a leader that acts: every node that it can reach is in its group. It is `not yet`
for one that waits for others, and `unknown` if the leader could not be asked.
STATE is what the asked node knows: its own, `normal` for members of its group, `elsewhere` for
nodes that it reaches and that are in another group, `refuses` for those that have the right key and
give this node no link (-o wide says why), `down` where no process listens, else `unknown`.
With [radio], a NEIGHBOUR was heard within suspect_after and is `in reach`, and ADDRESS is where
that came from. With -o wide, LINK is `not given` by a node that is there and refuses, with
the reason below the table, and WIRE is the version of the wire on the link. UDP says whether
heartbeats pass by UDP: `blocked-in` if those of that node do not arrive here, `blocked-out` if those
of this node do not arrive there, `blocked` for both; then the link carries them. It is `-` for a
node with which none was due within the last minute: only a leader and its members exchange them.
With --all every node is asked over its link and says what it is: its role, group number and leader.
Nodes that say different things are named below the table. A node of a release that cannot be asked
is `too old to ask`; one that is cut off or hangs gives `no answer`.

Examples:
  tanist members
  tanist members --all
  tanist members -c /etc/tanist/billing.toml
  tanist members --node n3 -o wide
  tanist members --socket /run/tanist/billing.sock -o ndjson | jq -r 'select(.is_refused).node'

Exit codes:
  0 they were told, 1 with --all: they disagree, 3 no agent there";
