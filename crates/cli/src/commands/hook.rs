//! `tanist hook`: hooks tried without a group.

use std::ffi::OsString;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tanist::{GroupNumber, NodeId, RoleKind};
use tanist_core::Time;

use crate::agent::change::{Reason, RoleChange};
use crate::config::{Config, ConfigArgs, Sources};
use crate::exit::Exit;
use crate::hooks::counters::Outcome;
use crate::hooks::event::Event;
use crate::hooks::launch;
use crate::hooks::program::{End, Ran, RunError};
use crate::hooks::runner;
use crate::problem::Problem;
use crate::terminal::output::{self, Format};

/// What can be done with hooks.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Test(Test),
}

impl Command {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        match self {
            Self::Test(test) => test.run(),
        }
    }
}

/// Run the hooks of an event as the agent would, with a made-up change; no agent is needed.
///
/// The hook cannot see that it is a test, and does what it does. Run it as the user that the agent
/// runs as.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Test {
    /// What is made up.
    event: Event,
    #[command(flatten)]
    config: ConfigArgs,
    /// How the result is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

/// Become a hook: for the agent.
#[derive(Debug, clap::Args)]
pub(crate) struct Launch {
    /// How many files the hook may have open.
    #[arg(long)]
    files: Option<u64>,
    /// What stands before a line that is not the hook's.
    mark: String,
    #[arg(required = true, last = true)]
    command: Vec<OsString>,
}

impl Launch {
    /// Becomes it.
    pub(crate) fn run(&self) -> Exit {
        launch::launch(&self.mark, self.files, &self.command)
    }
}

/// What became of one hook.
struct Tried {
    hook: &'static str,
    path: String,
    result: Result<Ran, RunError>,
    said: Vec<String>,
}

impl Test {
    fn run(&self) -> anyhow::Result<Exit> {
        let sources = Sources::of(&self.config);
        let config = Config::load(&sources)?;
        if self.event.programs(&config.hooks).is_empty() {
            let (event, file) = (self.event.name(), sources.name());
            let what = format!(
                "{file} names no hook for `{event}`, so nothing was run. \
                 Add `{event} = \"/path/to/program\"` under [hooks]"
            );
            return Err(Problem::Usage(what).into());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let tried = runtime.block_on(self.try_all(&config));
        let is_well = tried.iter().all(Tried::is_well);
        match self.output {
            Format::Json => {
                let hooks: Vec<Value> = tried.iter().map(Tried::to_json).collect();
                output::print_json(&json!({
                    "event": self.event.name(), "is_well": is_well, "hooks": hooks,
                }))?;
            }
            Format::Table => {
                for one in &tried {
                    output::print(&one.to_string())?;
                }
            }
        }
        Ok(if is_well { Exit::Well } else { Exit::Violated })
    }

    async fn try_all(&self, config: &Config) -> Vec<Tried> {
        let line = made_up(config, self.event);
        let state = if line.is_in_group() { "normal" } else { "election" };
        let status = status(config, &line, state, self.event);
        let mut tried = Vec::new();
        for (hook, path) in self.event.programs(&config.hooks) {
            let program = runner::program(config, path, self.event, &line, state, &status);
            let mut said = Vec::new();
            let result = program.run(|text| said.push(text.to_owned())).await;
            tried.push(Tried { hook, path: path.display().to_string(), result, said });
        }
        tried
    }
}

impl Tried {
    fn is_well(&self) -> bool {
        self.result.as_ref().is_ok_and(|ran| runner::outcome(ran.end) == Outcome::Well)
    }

    fn to_json(&self) -> Value {
        let (code, signal, is_late, error) = match &self.result {
            Ok(ran) => match ran.end {
                End::Code(code) => (Some(code), None, false, None),
                End::Signal(signal) => (None, Some(signal), false, None),
                End::TimedOut => (None, None, true, None),
            },
            Err(error) => (None, None, false, Some(error.to_string())),
        };
        json!({
            "hook": self.hook,
            "path": self.path,
            "code": code,
            "signal": signal,
            "timed_out": is_late,
            "error": error,
            "duration_ms": self.result.as_ref().ok().map(|ran| ran.took.as_secs_f64() * 1e3),
            "output": self.said,
        })
    }
}

impl std::fmt::Display for Tried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { hook, path, result, said } = self;
        match result {
            Ok(ran) => {
                let took = Duration::from_millis(u64::try_from(ran.took.as_millis()).unwrap_or(0));
                match ran.end {
                    End::Code(code) => writeln!(f, "{hook} {path}: code {code} after {took:?}"),
                    End::Signal(signal) => {
                        writeln!(f, "{hook} {path}: ended by signal {signal} after {took:?}")
                    }
                    End::TimedOut => {
                        writeln!(f, "{hook} {path}: took too long; ended after {took:?}")
                    }
                }?;
            }
            Err(error) => writeln!(f, "{hook}: {error}")?,
        }
        said.iter().try_for_each(|line| writeln!(f, "  | {line}"))
    }
}

/// A change as it could be: all nodes are there, and the event's role is this node's.
fn made_up(config: &Config, event: Event) -> RoleChange {
    let mut members: Vec<NodeId> = config.peers.all().iter().map(|peer| peer.id).collect();
    members.sort_unstable();
    let me = config.me;
    let other = members.iter().copied().find(|node| *node != me).unwrap_or(me);
    let (role, leader, reason) = match event {
        Event::PreLeader | Event::Leader => (RoleKind::Leader, me, Reason::Failure),
        Event::Member | Event::Members => (RoleKind::Member, other, Reason::Merge),
        Event::Suspended => (RoleKind::Suspended, other, Reason::Election),
        Event::Stop => (RoleKind::Suspended, other, Reason::Stop),
    };
    let number = GroupNumber { counter: 42, node: leader };
    RoleChange {
        index: 7,
        text: format!("{} is {role} in group {number} (made up by tanist hook test)", config.node),
        role,
        active: event == Event::Leader,
        group_number: Some(number),
        coordinator: Some(leader),
        members,
        reason,
        old_leader: Some(other),
        ..RoleChange::start(me, Time::ZERO, SystemTime::UNIX_EPOCH)
    }
}

fn status(config: &Config, line: &RoleChange, state: &str, event: Event) -> Value {
    let line = line.called(config.peers.names());
    let number = line.group_number.map(|number| number.to_string());
    json!({
        "group": config.group,
        "node": config.node,
        "algorithm": config.algorithm.name(),
        "role": line.role,
        "state": state,
        "active": event == Event::Leader,
        "healthy": true,
        "group_number": number,
        "leader": { "node": line.coordinator.unwrap_or_default() },
        "members": line.members,
        "peers_version": config.peers_version,
        "since_ms": 0,
        "index": line.index,
        "incarnation": 0,
    })
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  tanist hook test leader
  tanist hook test suspended -c /etc/tanist/tanist.toml
  tanist hook test pre_leader -c tanist.toml -o json

Exits with 0 if every hook of the event ended with 0, and with 1 if not.";
