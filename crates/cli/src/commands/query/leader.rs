//! `tanist leader` and `tanist is-leader`: who leads, and whether it is this node.

use serde_json::json;
use tanist::RoleKind;

use crate::agent::report::StatusReport;
use crate::commands::query::{Agent, alarms};
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::terminal::output::{self, LookFormat};

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

/// Exit with 0 if the node leads and may act, with 1 if not, for scripts.
#[derive(Debug, clap::Args)]
#[command(after_help = IS_LEADER_EXAMPLES)]
pub(crate) struct IsLeader {
    #[command(flatten)]
    agent: Agent,
    /// Print nothing: the exit code is the answer.
    #[arg(short, long)]
    quiet: bool,
    /// How it is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: LookFormat,
}

impl Leader {
    /// Prints it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let status: StatusReport = self.agent.ask(&Ask::Status)?;
        let number = status.group_number.filter(|_| status.leader.is_some());
        let number = number.map(|number| number.to_string());
        let (name, address) = match &status.leader {
            Some(leader) => (Some(&leader.node), Some(&leader.address)),
            None => (None, None),
        };
        if let Some(machine) = self.output.machine() {
            let value = json!({
                "leader": name,
                "address": address,
                "group_number": number,
                "paused": status.paused,
                "lost_leader": status.lost_leader,
            });
            output::print_value(&value, machine)?;
        } else if let (Some(name), Some(address)) = (name, address) {
            let more = match (self.output, number) {
                (LookFormat::Wide, Some(number)) => format!("  {address}  group number {number}"),
                _ => String::new(),
            };
            output::print(&format!("{name}{more}\n"))?;
        } else {
            let alarms = alarms(&status);
            let why = alarms.first().cloned();
            output::complain(
                &why.unwrap_or_else(|| {
                    format!("{} is in no group and knows no leader", status.node)
                }),
            );
        }
        Ok(if status.leader.is_some() { Exit::Well } else { Exit::Violated })
    }
}

impl IsLeader {
    /// Answers.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let status: StatusReport = self.agent.ask(&Ask::Status)?;
        if !self.quiet {
            self.tell(&status)?;
        }
        Ok(if status.active { Exit::Well } else { Exit::Violated })
    }

    fn tell(&self, status: &StatusReport) -> anyhow::Result<()> {
        let number = status.group_number.map(|number| number.to_string());
        if let Some(machine) = self.output.machine() {
            let value = json!({
                "node": status.node,
                "is_leader": status.active,
                "role": status.role,
                "group_number": number,
            });
            return output::print_value(&value, machine);
        }
        let leader = status.leader.as_ref().map(|leader| &leader.node);
        let text = match (status.active, status.role, leader) {
            (true, ..) => "yes".to_owned(),
            (false, RoleKind::Leader, _) => {
                format!("no: {}", status.waiting().unwrap_or_default())
            }
            (false, RoleKind::Member | RoleKind::Suspended, Some(leader)) => {
                format!("no: {leader} leads")
            }
            (false, RoleKind::Member | RoleKind::Suspended, None) => alarms(status)
                .first()
                .map_or_else(|| "no: it is in no group".to_owned(), |why| format!("no: {why}")),
        };
        Ok(output::print(&format!("{text}\n"))?)
    }
}

const LEADER_EXAMPLES: &str = "\
Examples:
  tanist leader
  tanist leader -o wide
  test \"$(tanist leader)\" = n3 && echo n3 leads

Exit codes:
  0 there is one, 1 there is none, 3 no agent there";

const IS_LEADER_EXAMPLES: &str = "\
A leader is one here when every node that it can reach is in its group. The answer is true
when it is given and may be old a moment later: what must not run twice belongs into `tanist run`,
or carries the group number.

Examples:
  tanist is-leader -q && ./report.sh
  tanist is-leader --socket /run/tanist/billing.sock -o json

Exit codes:
  0 yes, 1 no, 3 no agent there";
