//! `tanist status`: what a node is.

use serde_json::Value;

use super::{Agent, alarms, refusals};
use crate::agent::report::{MembersReport, StatusReport};
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::terminal::output::{self, LookFormat};
use crate::terminal::table::Table;
use crate::terminal::{colour, moment};

/// Show what a node is: leader, member, or between groups.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Status {
    #[command(flatten)]
    agent: Agent,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: LookFormat,
}

impl Status {
    /// Shows it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let mut client = self.agent.connect()?;
        let value: Value = client.ask(&Ask::Status)?;
        if let Some(machine) = self.output.machine() {
            output::print_value(&value, machine)?;
            return Ok(Exit::Well);
        }
        let status: StatusReport = serde_json::from_value(value)?;
        if self.output == LookFormat::Name {
            output::print(&format!("{}\n", status.node))?;
            return Ok(Exit::Well);
        }
        let seen: MembersReport = client.ask(&Ask::Members)?;
        let refusals = refusals(&seen.members).into_iter().map(|refusal| refusal + "\n");
        let text = refusals.collect::<String>() + &self.text(&status);
        output::print(&colour::words(&text, colour::ROLES))?;
        Ok(Exit::Well)
    }

    fn text(&self, status: &StatusReport) -> String {
        let mut table = Table::list(0);
        let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
        row("group", status.group.clone());
        row("node", status.node.clone());
        row("algorithm", status.algorithm.clone());
        row("role", status.role.to_string());
        row("state", status.state.clone());
        if let Some(number) = status.group_number {
            let leader = status.leader.as_ref();
            row("group number", number.to_string());
            let none = || match &status.lost_leader {
                Some(lost) => format!("none ({lost} is gone, and elections are paused)"),
                None => "-".to_owned(),
            };
            row("leader", leader.map_or_else(none, |leader| leader.node.clone()));
            row("members", status.members.join(" "));
        }
        if let Some(hierarchy) = &status.hierarchy {
            let none = || "-".to_owned();
            let chosen = Some(hierarchy.super_peers.join(" ")).filter(|names| !names.is_empty());
            row("super-peers", chosen.unwrap_or_else(none));
            let top = if hierarchy.is_top { ", the top" } else { "" };
            row("level", format!("{} of {}{top}", hierarchy.level, hierarchy.top_level));
            let above = hierarchy.coordinators.iter();
            let above: Vec<String> = above.map(|name| name.clone().unwrap_or_else(none)).collect();
            if !above.is_empty() {
                row("above", above.join(" "));
            }
        }
        let active = match (status.active, status.waiting()) {
            (true, _) => "yes".to_owned(),
            (false, Some(waiting)) => format!("no: {waiting}"),
            (false, None) => "no".to_owned(),
        };
        row("active", active);
        row("since", format!("{} ago", moment::span(moment::ago(status.since_ms))));
        if self.output == LookFormat::Wide {
            row("at", moment::utc(status.since_ms));
            if let Some(leader) = &status.leader {
                row("address", format!("{} (of the leader)", leader.address));
            }
            row("peers", format!("version {} of the list", status.peers_version));
            row("index", format!("{} of incarnation {}", status.index, status.incarnation));
        }
        let mut text: String = alarms(status).iter().map(|alarm| format!("{alarm}\n")).collect();
        text.push_str(&table.to_string());
        text
    }
}

const EXAMPLES: &str = "\
Examples:
  tanist status                                  a node of the group that `tanist dev` runs
  tanist status --node n3 -o json
  tanist status --socket /run/tanist/billing.sock -o wide

Exit codes:
  0 it was told, 3 no agent there";
