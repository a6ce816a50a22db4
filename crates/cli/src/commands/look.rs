//! `tanist status`, `members`, `leader` and `watch`: what an agent on this machine sees.

use std::path::PathBuf;

use serde_json::Value;

use crate::agent::report::{MembersReport, StatusReport};
use crate::exit::Exit;
use crate::live::change::ChangeLine;
use crate::live::control::{Ask, Client};
use crate::live::places;
use crate::output::{self, Format};
use crate::table::{Table, left};

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
    output: Format,
}

/// Show all nodes as one of them sees them.
#[derive(Debug, clap::Args)]
#[command(after_help = MEMBERS_EXAMPLES)]
pub(crate) struct Members {
    #[command(flatten)]
    agent: Agent,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

/// Print the name of the leader; exit with 1 if there is none at the moment.
#[derive(Debug, clap::Args)]
#[command(after_help = LEADER_EXAMPLES)]
pub(crate) struct Leader {
    #[command(flatten)]
    agent: Agent,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,
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
        if self.output == Format::Json {
            output::print_json(&value)?;
            return Ok(Exit::Well);
        }
        let status: StatusReport = serde_json::from_value(value)?;
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
        output::print(&table.to_string())?;
        Ok(Exit::Well)
    }
}

impl Members {
    /// Shows them.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let value: Value = self.agent.connect()?.ask(&Ask::Members)?;
        if self.output == Format::Json {
            output::print_json(&value)?;
            return Ok(Exit::Well);
        }
        let seen: MembersReport = serde_json::from_value(value)?;
        let status = seen.status;
        let number = status.epoch.map_or_else(|| "-".to_owned(), |epoch| epoch.text);
        let mut text = format!(
            "GROUP {}  number {number}  algorithm {}  seen by {}\n",
            status.group, status.algorithm, status.node
        );
        let mut table = Table::new([left("NODE"), left("ROLE"), left("ADDRESS"), left("LINK")]);
        for member in seen.members {
            let mark = if member.role == "leader" { "★ " } else { "  " };
            let link = match (member.is_self, member.is_connected) {
                (true, _) => "this node",
                (false, true) => "open",
                (false, false) => "-",
            };
            let role = format!("{mark}{}", member.role);
            table.row([member.node, role, member.address, link.to_owned()]);
        }
        text.push_str(&table.to_string());
        output::print(&text)?;
        Ok(Exit::Well)
    }
}

impl Leader {
    /// Prints it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let value: Value = self.agent.connect()?.ask(&Ask::Status)?;
        let status: StatusReport = serde_json::from_value(value)?;
        match (self.output, status.leader) {
            (Format::Table, Some(leader)) => output::print(&format!("{}\n", leader.node))?,
            (Format::Table, None) => {
                output::complain(&format!("{} is between groups and has no leader", status.node));
                return Ok(Exit::Broken);
            }
            (Format::Json, leader) => {
                let number = status.epoch.filter(|_| leader.is_some()).map(|epoch| epoch.text);
                let name = leader.as_ref().map(|leader| &leader.node);
                output::print_json(&serde_json::json!({ "leader": name, "group": number }))?;
                if leader.is_none() {
                    return Ok(Exit::Broken);
                }
            }
        }
        Ok(Exit::Well)
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
  tanist status --node n3 -o json
  tanist status --socket /run/tanist/billing.sock";

const MEMBERS_EXAMPLES: &str = "\
Examples:
  tanist members
  tanist members --node n3
  tanist members --socket /run/tanist/billing.sock -o json";

const LEADER_EXAMPLES: &str = "\
Examples:
  tanist leader
  test \"$(tanist leader)\" = n3 && echo n3 leads";

const WATCH_EXAMPLES: &str = "\
Examples:
  tanist watch
  tanist watch --node n3 -o ndjson | jq .role";
