//! What an operator tells a node to do: `step-down`, `switchover`, `rejoin`, `pause`, `resume`,
//! `reload`, `leave` and `priority`.
//!
//! Each is one question to the agent's socket, and one sentence back. The agent judges whether it
//! can be done; nothing is done halfway.

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Duration;

use tanist::RoleKind;

use super::query::Agent;
use crate::agent::action::{Action, Done, unreplaced};
use crate::agent::report::StatusReport;
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::terminal::output::{self, LookFormat};

/// Which agent is told, and how its answer is written.
#[derive(Debug, clap::Args)]
struct Told {
    #[command(flatten)]
    agent: Agent,
    /// How the answer is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: LookFormat,
}

/// Whether a leader may end although no node would replace it.
#[derive(Debug, clap::Args)]
struct Force {
    /// Do it without asking, also if elections are paused and no node would take over.
    #[arg(long)]
    force: bool,
}

impl Force {
    /// Asks the user, if a leader is told to end during a pause. Without a terminal the agent
    /// refuses it.
    fn or_asked(&self, told: &Told) -> anyhow::Result<bool> {
        if self.force || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Ok(self.force);
        }
        let status: StatusReport = told.agent.ask(&Ask::Status)?;
        if !status.paused || status.role != RoleKind::Leader {
            return Ok(false);
        }
        let mut stderr = io::stderr();
        write!(stderr, "{}. Do it all the same? [y/N] ", unreplaced(&status.node))?;
        stderr.flush()?;
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        if matches!(line.trim(), "y" | "Y" | "yes") {
            return Ok(true);
        }
        Err(Problem::Refused("nothing was done".to_owned()).into())
    }
}

impl Told {
    fn act(&self, what: Action) -> anyhow::Result<Exit> {
        let mut client = self.agent.connect()?.patient(Some(ACT_MAX))?;
        let done: Done = client.ask(&Ask::Act { what })?;
        match self.output.machine() {
            Some(machine) => output::print_value(&serde_json::to_value(&done)?, machine)?,
            None => output::print(&format!("{}\n", output::plain(&done.text)))?,
        }
        Ok(Exit::Well)
    }
}

/// Hand over to another node without waiting for any timeout, and stay out for a while.
///
/// Returns when this node has stopped what it did as leader or member and has withdrawn, and, if it
/// led, when another node acts, which it names. To hand over to a node of your choice: tanist
/// switchover --to NODE.
#[derive(Debug, clap::Args)]
#[command(after_help = STEP_DOWN_EXAMPLES)]
pub(crate) struct StepDown {
    #[command(flatten)]
    told: Told,
    /// For how long the node stays out of elections.
    #[arg(
        long = "for",
        value_name = "TIME",
        default_value = "10s",
        value_parser = crate::duration::read
    )]
    hold: Duration,
    #[command(flatten)]
    force: Force,
}

/// Hand over to a named node or the best one, and wait until it acts.
///
/// Ask at any node of the group. Prints how long no leader acted, and the number of the new group.
/// The old leader rejoins by itself, and with preempt = "never" the new one leads on.
#[derive(Debug, clap::Args)]
#[command(after_help = SWITCHOVER_EXAMPLES)]
pub(crate) struct Switchover {
    #[command(flatten)]
    told: Told,
    /// The node that is to lead; without it, the member of highest rank.
    #[arg(long, value_name = "NODE")]
    to: Option<String>,
    /// Only say to which node it would hand over, or why it cannot.
    #[arg(long)]
    dry_run: bool,
}

/// Take part again after a step-down, at once.
#[derive(Debug, clap::Args)]
#[command(after_help = REJOIN_EXAMPLES)]
pub(crate) struct Rejoin {
    #[command(flatten)]
    told: Told,
}

/// Pause elections: a dead leader is not replaced until elections resume.
///
/// For maintenance. Elections in progress continue, and a node that starts still stands for
/// election.
#[derive(Debug, clap::Args)]
#[command(after_help = PAUSE_EXAMPLES)]
pub(crate) struct Pause {
    #[command(flatten)]
    told: Told,
}

/// End a pause.
#[derive(Debug, clap::Args)]
#[command(after_help = RESUME_EXAMPLES)]
pub(crate) struct Resume {
    #[command(flatten)]
    told: Told,
}

/// Read the agent's file again.
#[derive(Debug, clap::Args)]
#[command(after_help = RELOAD_EXAMPLES)]
pub(crate) struct Reload {
    #[command(flatten)]
    told: Told,
}

/// Hand over and end the agent.
#[derive(Debug, clap::Args)]
#[command(after_help = LEAVE_EXAMPLES)]
pub(crate) struct Leave {
    #[command(flatten)]
    told: Told,
    #[command(flatten)]
    force: Force,
}

/// Change this node's priority.
#[derive(Debug, clap::Args)]
#[command(after_help = PRIORITY_EXAMPLES)]
pub(crate) struct Priority {
    /// The new one; the highest that is alive leads.
    value: u32,
    #[command(flatten)]
    told: Told,
}

impl StepDown {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let hold_ms = u64::try_from(self.hold.as_millis()).unwrap_or(u64::MAX);
        let force = self.force.or_asked(&self.told)?;
        self.told.act(Action::StepDown { hold_ms, force })
    }
}

impl Switchover {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let what = Action::Switchover { to: self.to.clone(), dry_run: self.dry_run };
        self.told.act(what)
    }
}

impl Rejoin {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        self.told.act(Action::Rejoin)
    }
}

impl Pause {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        self.told.act(Action::Pause)
    }
}

impl Resume {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        self.told.act(Action::Resume)
    }
}

impl Reload {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        self.told.act(Action::Reload)
    }
}

impl Leave {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let force = self.force.or_asked(&self.told)?;
        self.told.act(Action::Leave { force })
    }
}

impl Priority {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        self.told.act(Action::Priority { value: self.value })
    }
}

/// A job that is asked to stop may take its time.
const ACT_MAX: Duration = Duration::from_secs(60);

macro_rules! with_exit_codes {
    ($examples:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n\nOnly the user whom the agent runs as, or root, may do this.\n\nExit codes:\n",
            "  0 it was done, 3 no agent there, 5 refused: unsafe, impossible, or not yours to do"
        )
    };
}

const STEP_DOWN_EXAMPLES: &str = with_exit_codes!(
    "  tanist step-down
  tanist step-down --for 5m --socket /run/tanist/billing.sock
  tanist step-down --force        also if elections are paused and no node would take over"
);
const SWITCHOVER_EXAMPLES: &str = with_exit_codes!(
    "  tanist switchover
  tanist switchover --to n2 --dry-run
  tanist switchover --to n2 --socket /run/tanist/billing.sock -o json | jq .handover.gap_ms"
);
const REJOIN_EXAMPLES: &str = with_exit_codes!("  tanist rejoin --node n3");
const PAUSE_EXAMPLES: &str = with_exit_codes!(
    "  tanist pause
  tanist pause && ./replace-switch.sh; tanist resume"
);
const RESUME_EXAMPLES: &str = with_exit_codes!("  tanist resume");
const RELOAD_EXAMPLES: &str = with_exit_codes!("  tanist reload --socket /run/tanist/billing.sock");
const LEAVE_EXAMPLES: &str = with_exit_codes!("  tanist leave --node n3");
const PRIORITY_EXAMPLES: &str = with_exit_codes!("  tanist priority 30 --node n1");
