//! `tanist wait`: for a leader, an active one, a member, or one group of all; for scripts.

use std::thread;
use std::time::{Duration, Instant};

use tanist::NodeId;

use crate::agent::change::RoleChange;
use crate::agent::report::{MemberReport, MembersReport, StatusReport};
use crate::commands::query::Agent;
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::terminal::output::{self, LookFormat};

/// Wait for a condition, and exit with 4 if it takes too long.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Wait {
    #[command(subcommand)]
    what: What,
}

/// What is waited for.
#[derive(Debug, clap::Subcommand)]
enum What {
    /// The node is in a group, so it knows a leader.
    #[command(after_help = EXAMPLES)]
    Leader(How),
    /// The node is the active leader: every node that it can reach is in its group.
    #[command(after_help = EXAMPLES)]
    Active(How),
    /// A node is in the group.
    #[command(after_help = EXAMPLES)]
    Member {
        /// Which, such as n3.
        member: String,
        #[command(flatten)]
        how: How,
    },
    /// All configured nodes are in one group.
    #[command(after_help = EXAMPLES)]
    Merged(How),
}

#[derive(Debug, clap::Args)]
struct How {
    #[command(flatten)]
    agent: Agent,
    /// For how long at most, such as 500ms, 30s or 5m.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = crate::duration::read)]
    timeout: Duration,
    /// How the node's status is written when the condition holds; without it, nothing is.
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<LookFormat>,
}

impl Wait {
    /// Waits.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let how = self.what.how();
        let end = Instant::now() + how.timeout;
        let mut last = "nothing was seen".to_owned();
        loop {
            match self.what.watch(end, &mut last) {
                Ok(true) => return how.tell(),
                Ok(false) => {}
                Err(error) => match error.downcast_ref::<Problem>() {
                    // An agent that is just being started, or started again.
                    Some(Problem::Unreachable(what)) => last = what.clone(),
                    Some(_) | None => return Err(error),
                },
            }
            if Instant::now() >= end {
                let what = self.what.words();
                output::complain(&format!("timed out while waiting for {what}: {last}"));
                return Ok(Exit::Unknown);
            }
            thread::sleep(RETRY.min(end.saturating_duration_since(Instant::now())));
        }
    }
}

impl How {
    fn tell(&self) -> anyhow::Result<Exit> {
        let Some(format) = self.output else { return Ok(Exit::Well) };
        let value: serde_json::Value = self.agent.ask(&Ask::Status)?;
        match format.machine() {
            Some(machine) => output::print_value(&value, machine)?,
            None => {
                let status: StatusReport = serde_json::from_value(value)?;
                let leader = status.leader.map_or_else(|| "-".to_owned(), |leader| leader.node);
                output::print(&format!("{leader}\n"))?;
            }
        }
        Ok(Exit::Well)
    }
}

impl What {
    const fn how(&self) -> &How {
        match self {
            Self::Leader(how)
            | Self::Active(how)
            | Self::Merged(how)
            | Self::Member { how, .. } => how,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Leader(_) => "a leader".to_owned(),
            Self::Active(_) => "this node to be the active leader".to_owned(),
            Self::Member { member, .. } => format!("{member} as a member"),
            Self::Merged(_) => "one group of all nodes".to_owned(),
        }
    }

    /// Follows the agent until the condition holds, or the agent stops, or time is up.
    fn watch(&self, end: Instant, last: &mut String) -> anyhow::Result<bool> {
        let agent = &self.how().agent;
        let seen: MembersReport = agent.ask(&Ask::Members)?;
        let wanted = match self {
            Self::Member { member, .. } => vec![found(member, &seen.members)?],
            Self::Merged(_) => seen.members.into_iter().map(|member| member.node).collect(),
            Self::Leader(_) | Self::Active(_) => Vec::new(),
        };
        let mut client = agent.connect()?.follow(&Ask::Watch { after: None, incarnation: None })?;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            client = client.patient(Some(left))?;
            // The agent is gone, or time is up; what was seen last says more.
            let Ok(Some(line)) = client.line() else { return Ok(false) };
            let change: RoleChange<String> = serde_json::from_str(&line)?;
            if self.is_so(&change, &wanted) {
                return Ok(true);
            }
            last.clone_from(&change.text);
        }
    }

    /// Whether the condition holds, if it asks for these members.
    fn is_so(&self, change: &RoleChange<String>, wanted: &[String]) -> bool {
        let is_member = |node: &String| change.members.contains(node);
        change.is_in_group()
            && match self {
                Self::Leader(_) => true,
                Self::Active(_) => change.active,
                Self::Member { .. } | Self::Merged(_) => wanted.iter().all(is_member),
            }
    }
}

/// What the node of this name or short form is called.
fn found(given: &str, members: &[MemberReport]) -> anyhow::Result<String> {
    let is_it =
        |member: &&MemberReport| member.node == given || NodeId(member.number).to_string() == given;
    let known = || members.iter().map(|member| member.node.as_str()).collect::<Vec<_>>().join(" ");
    let wrong = || format!("{given} is not in the peer list; that has {}", known());
    let node = members.iter().find(is_it).map(|member| member.node.clone());
    Ok(node.ok_or_else(|| Problem::Usage(wrong()))?)
}

const RETRY: Duration = Duration::from_millis(50);

const EXAMPLES: &str = "\
An agent that is not there yet is waited for as well.

Examples:
  tanist wait leader && ./start-clients.sh
  tanist wait active --timeout 1m && ./leader-only.sh
  tanist wait member n3 --timeout 1m
  tanist wait merged --socket /run/tanist/billing.sock --timeout 10s -o json

Exit codes:
  0 the condition holds, 2 it can never hold, 4 it took too long";
