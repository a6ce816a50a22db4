//! `tanist status`, `members`, `leader` and `watch`: what an agent on this machine sees.

use std::path::PathBuf;

use serde_json::Value;

use crate::agent::report::{MemberReport, MembersReport, StatusReport};
use crate::colour;
use crate::exit::Exit;
use crate::live::change::ChangeLine;
use crate::live::control::{Ask, Client};
use crate::live::places;
use crate::output::{self, LookFormat};
use crate::table::{Column, Table, left, right};

/// Which agent is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct Agent {
    /// The agent's socket, as its file names it.
    #[arg(long, value_name = "PATH", env = "TANIST_SOCKET")]
    socket: Option<PathBuf>,
    /// A node of the group that `tanist dev` runs; without it, the first that answers.
    #[arg(long, value_name = "NODE", conflicts_with = "socket")]
    node: Option<String>,
}

impl Agent {
    fn connect(&self) -> anyhow::Result<Client> {
        let path = places::socket(self.socket.as_deref(), self.node.as_deref())?;
        Ok(Client::connect(&path)?)
    }
}

/// Show what a node is: leader, member, or between groups.
#[derive(Debug, clap::Args)]
#[command(after_help = STATUS_EXAMPLES)]
pub(crate) struct Status {
    #[command(flatten)]
    agent: Agent,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: LookFormat,
}

/// Show all nodes as one of them sees them.
#[derive(Debug, clap::Args)]
#[command(after_help = MEMBERS_EXAMPLES)]
pub(crate) struct Members {
    #[command(flatten)]
    agent: Agent,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: LookFormat,
}

/// Print the name of the leader; exit with 1 if there is none at the moment.
#[derive(Debug, clap::Args)]
#[command(after_help = LEADER_EXAMPLES)]
pub(crate) struct Leader {
    #[command(flatten)]
    agent: Agent,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: LookFormat,
}

/// Follow the roles of a node until interrupted. The first line is what it is now.
#[derive(Debug, clap::Args)]
#[command(after_help = WATCH_EXAMPLES)]
pub(crate) struct Watch {
    #[command(flatten)]
    agent: Agent,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: super::agent::Form,
}

impl Status {
    /// Shows it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let value: Value = self.agent.connect()?.ask(&Ask::Status)?;
        if let Some(machine) = self.output.machine() {
            output::print_value(&value, machine)?;
            return Ok(Exit::Well);
        }
        let status: StatusReport = serde_json::from_value(value)?;
        if self.output == LookFormat::Name {
            output::print(&format!("{}\n", status.node))?;
            return Ok(Exit::Well);
        }
        let mut table = Table::list(0);
        let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
        row("group", status.group);
        row("node", status.node);
        row("algorithm", status.algorithm);
        row("role", status.role);
        row("state", status.state);
        if let Some(epoch) = status.epoch {
            row("number", epoch.text);
            row("leader", status.leader.map_or_else(|| "-".to_owned(), |leader| leader.node));
            row("members", status.members.join(" "));
        }
        if self.output == LookFormat::Wide {
            row("acts", if status.acts { "yes" } else { "no" }.to_owned());
            row("peers", format!("version {}", status.peers_version));
            row("index", format!("{} of life {}", status.index, status.life));
        }
        output::print(&colour::words(&table.to_string(), colour::ROLES))?;
        Ok(Exit::Well)
    }
}

impl Members {
    /// Shows them.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let value: Value = self.agent.connect()?.ask(&Ask::Members)?;
        if let Some(machine) = self.output.machine() {
            // A line for each node is what a list in lines is for.
            let is_list = self.output == LookFormat::Ndjson;
            let shown = if is_list { &value["members"] } else { &value };
            output::print_value(shown, machine)?;
            return Ok(Exit::Well);
        }
        let seen: MembersReport = serde_json::from_value(value)?;
        if self.output == LookFormat::Name {
            let names = seen.members.iter().map(|member| format!("{}\n", member.node));
            output::print(&names.collect::<String>())?;
            return Ok(Exit::Well);
        }
        let status = &seen.status;
        let number = status.epoch.as_ref().map_or("-", |epoch| epoch.text.as_str());
        let (group, algorithm) = (&status.group, &status.algorithm);
        let head = format!("GROUP {group}  number {number}  algorithm {algorithm}");
        let table = self.table(&seen.members);
        let text = format!("{head}  seen by {}\n{table}", status.node);
        output::print(&colour::words(&text, colour::ROLES))?;
        Ok(Exit::Well)
    }

    fn table(&self, members: &[MemberReport]) -> Table {
        let is_wide = self.output == LookFormat::Wide;
        let more = || [right("PRIORITY"), right("RTT"), right("SEEN")];
        let mut columns: Vec<Column> = vec![left("NODE"), left("ROLE"), left("ADDRESS")];
        columns.extend(is_wide.then(more).into_iter().flatten());
        columns.push(left("LINK"));
        let mut table = Table::new(columns);
        for member in members {
            let mark = if member.role == "leader" { "★ " } else { "  " };
            let link = match (member.is_self, member.is_connected) {
                (true, _) => "this node",
                (false, true) => "open",
                (false, false) => "-",
            };
            let none = || "-".to_owned();
            let more = [
                member.priority.to_string(),
                member.rtt_ms.map_or_else(none, |rtt| format!("{rtt:.1}ms")),
                member.seen_ms.map_or_else(none, |seen| format!("{seen}ms ago")),
            ];
            let role = format!("{mark}{}", member.role);
            let mut cells = vec![member.node.clone(), role, member.address.clone()];
            cells.extend(is_wide.then_some(more).into_iter().flatten());
            cells.push(link.to_owned());
            table.row(cells);
        }
        table
    }
}

impl Leader {
    /// Prints it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let value: Value = self.agent.connect()?.ask(&Ask::Status)?;
        let status: StatusReport = serde_json::from_value(value)?;
        let is_there = status.leader.is_some();
        if let Some(machine) = self.output.machine() {
            let number = status.epoch.filter(|_| is_there).map(|epoch| epoch.text);
            let name = status.leader.map(|leader| leader.node);
            let value = serde_json::json!({ "leader": name, "group": number });
            output::print_value(&value, machine)?;
        } else if let Some(leader) = status.leader {
            let number = status.epoch.map(|epoch| epoch.text).unwrap_or_default();
            output::print(&match self.output == LookFormat::Wide {
                true => format!("{}  {}  {number}\n", leader.node, leader.address),
                false => format!("{}\n", leader.node),
            })?;
        } else {
            output::complain(&format!("{} is between groups and has no leader", status.node));
        }
        Ok(if is_there { Exit::Well } else { Exit::Broken })
    }
}

impl Watch {
    /// Follows it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let mut client = self.agent.connect()?.follow(&Ask::Watch)?;
        while let Some(line) = client.line()? {
            match self.output {
                super::agent::Form::Ndjson => output::print(&line)?,
                super::agent::Form::Text => {
                    let change: ChangeLine = serde_json::from_str(&line)?;
                    output::print(&format!("{}\n", change.text))?;
                }
            }
        }
        output::complain("the agent has gone");
        Ok(Exit::Broken)
    }
}

const STATUS_EXAMPLES: &str = "\
Examples:
  tanist status                                  a node of the group that `tanist dev` runs
  tanist status --node n3 -o yaml
  tanist status --socket /run/tanist/billing.sock";

const MEMBERS_EXAMPLES: &str = "\
Examples:
  tanist members
  tanist members --node n3 -o wide
  tanist members --socket /run/tanist/billing.sock -o json";

const LEADER_EXAMPLES: &str = "\
Examples:
  tanist leader
  test \"$(tanist leader)\" = n3 && echo n3 leads";

const WATCH_EXAMPLES: &str = "\
Examples:
  tanist watch
  tanist watch --node n3 -o ndjson | jq .role";
