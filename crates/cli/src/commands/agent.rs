//! `tanist agent`: one node in the foreground.

use std::io;
use std::time::Duration;

use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::agent::Agent;
use crate::agent::action::{Action, unreplaced};
use crate::agent::change::RoleChange;
use crate::agent::service_manager::{self, Manager};
use crate::agent::services::{Listening, Services};
use crate::config::{Config, ConfigArgs, Sources};
use crate::exit::Exit;
use crate::problem::Problem;
use crate::process::reaper;
use crate::process::second_signal::{self, end};
use crate::process::secrecy;
use crate::terminal::lines::Lines;
use crate::terminal::log;

/// Run one node in the foreground, described by a file.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// How changes of role are written on stdout.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Form,
    /// Take part in experiments, and die with the parent process: for `tanist dev`.
    #[arg(long, hide = true)]
    dev: bool,
}

/// How changes are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// A sentence each.
    Text,
    /// A line of JSON each.
    Ndjson,
}

impl Args {
    /// Runs the node until it is told to end.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        if self.dev {
            die_with_parent()?;
        }
        // What the shell around `tanist dev` has set is for agents of its own.
        let sources = match self.dev {
            true => Sources::of_experiment(&self.config),
            false => Sources::of(&self.config),
        };
        let config = Config::load(&sources)?;
        log::to_stderr(&config.log)?;
        // A local group is thrown away with its key, and what measures it looks into its processes.
        if !self.dev {
            secrecy::hide_memory();
        }
        for warning in &config.warnings {
            tracing::warn!("{}: {}", warning.place, warning.what);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Problem::of_system(&error))?;
        let lived = runtime.block_on(self.live(sources, config));
        // A file system that hangs keeps a hook waiting, and must not keep the agent.
        runtime.shutdown_background();
        lived
    }

    async fn live(&self, sources: Sources, config: Config) -> anyhow::Result<Exit> {
        // Before the node starts, so that no signal is lost.
        let mut signals = Signals::listen().map_err(|error| Problem::of_system(&error))?;
        second_signal::listen(AT_ONCE_MAX).map_err(|error| Problem::of_system(&error))?;
        let manager = Manager::from_environment();
        if std::process::id() == FIRST_PROCESS {
            tokio::spawn(reaper::reap_orphans());
        }
        let listening = Listening::bind(&sources, &config)?;
        let (agent, hooks) = tokio::select! {
            biased;
            started = Agent::start(sources, config, self.dev) => started?,
            () = signals.told(2) => return Ok(at_once()),
        };
        let services = Services::start(&agent, listening)?;
        manager.ready();
        let reporting = tokio::spawn(service_manager::report(manager.clone(), agent.clone()));
        let told = self.tell(&agent, &mut signals, &manager).await;
        manager.stopping();
        reporting.abort();
        let ending = async {
            let http = services.stop().await;
            let ended = agent.group().clone().shutdown().await;
            hooks.finish(&ended).await;
            drop(http);
            ended
        };
        let ended = tokio::select! {
            biased;
            ended = ending => ended,
            () = signals.told(2) => return Ok(at_once()),
        };
        told?;
        ended.map_err(Problem::from)?;
        Ok(Exit::Well)
    }

    /// Tells every change until a signal comes or the node fails.
    async fn tell(
        &self,
        agent: &Agent,
        signals: &mut Signals,
        manager: &Manager,
    ) -> anyhow::Result<()> {
        let (stdout, mut seen) = (log::stdout()?, None);
        while !signals.is_told() {
            tokio::select! {
                later = agent.history().after(seen) => match later {
                    Some(later) => for change in later.changes {
                        self.write(&change.called(agent.group().names()), stdout)?;
                        seen = Some(change.index);
                    },
                    None => {
                        let ended = agent.group().ended().await;
                        return Ok(ended.map_err(Problem::from)?);
                    }
                },
                told = signals.next() => match told {
                    Told::End => warn_if_unreplaced(agent),
                    Told::Reload => tokio::select! {
                        () = reload(agent, manager) => {}
                        () = signals.told(1) => {}
                    },
                    Told::State => tell_state(agent),
                },
            }
        }
        Ok(())
    }

    fn write(&self, change: &RoleChange<String>, to: &Lines) -> io::Result<()> {
        let text = match self.output {
            Form::Text => format!("{}\n", change.text),
            Form::Ndjson => format!("{}\n", serde_json::to_string(change)?),
        };
        to.put(text.into_bytes());
        Ok(())
    }
}

/// What the agent can be told by signals.
#[derive(Debug)]
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    reload: Signal,
    state: Signal,
    /// How often it was told to end.
    ends: u32,
}

/// What a signal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// Hand over and end.
    End,
    /// Read the file again.
    Reload,
    /// Write the state to the log.
    State,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            reload: signal(SignalKind::hangup())?,
            state: signal(SignalKind::user_defined1())?,
            ends: 0,
        })
    }

    async fn next(&mut self) -> Told {
        tokio::select! {
            () = end(&mut self.terminate, &mut self.interrupt) => {
                self.ends += 1;
                Told::End
            }
            _ = self.reload.recv() => Told::Reload,
            _ = self.state.recv() => Told::State,
        }
    }

    /// Whether the agent was told to end.
    const fn is_told(&self) -> bool {
        self.ends > 0
    }

    /// Waits until it was told to end so many times.
    async fn told(&mut self, times: u32) {
        while self.ends < times {
            end(&mut self.terminate, &mut self.interrupt).await;
            self.ends += 1;
        }
    }
}

/// A service manager cannot be asked, so the log says what follows.
fn warn_if_unreplaced(agent: &Agent) {
    if agent.group().is_paused() && agent.group().role().is_leader() {
        let leader = agent.my_name();
        tracing::warn!("told to end: {}: tanist resume", unreplaced(&leader));
    }
}

fn at_once() -> Exit {
    tracing::warn!("told twice to end: ending at once, without waiting for what still runs");
    Exit::Interrupted
}

/// Reads the file again. The service manager waits for the end of it, whatever came of it.
async fn reload(agent: &Agent, manager: &Manager) {
    manager.reloading();
    match agent.act(&Action::Reload).await {
        Ok(done) => tracing::info!("reloaded: {}", done.text),
        Err(error) => tracing::warn!("not reloaded, all is as before: {error}"),
    }
    manager.ready();
}

fn tell_state(agent: &Agent) {
    let state = json!({
        "status": agent.status(),
        "hooks": agent.hook_counters().snapshot(),
        "health": agent.health().snapshot(),
    });
    tracing::info!(%state, "state, as requested by SIGUSR1");
}

/// If the process that started this group is gone, no other process would end it.
fn die_with_parent() -> anyhow::Result<()> {
    let parent = rustix::process::getppid();
    let kill = rustix::process::Signal::KILL;
    rustix::process::set_parent_process_death_signal(Some(kill))?;
    if rustix::process::getppid() != parent {
        anyhow::bail!("error: the process that started this agent is gone");
    }
    Ok(())
}

/// In a container, it is the one that orphans come to.
const FIRST_PROCESS: u32 = 1;
/// How long an end at once may take before the process is ended.
const AT_ONCE_MAX: Duration = Duration::from_secs(2);

const EXAMPLE: &str = "\
Examples:
  tanist agent -c agent.toml
  tanist agent -c agent.toml --node n2 --set timing.heartbeat=500ms
  tanist agent -c agent.toml -o ndjson | jq .text

The least that a file says; `tanist config init` writes one with every key:
  group    = \"billing\"
  node     = \"n1\"
  peers    = [\"n1=10.0.0.1:7400\", \"n2=10.0.0.2:7400\", \"n3=10.0.0.3:7400\"]
  data_dir = \"/var/lib/tanist\"          # made by the first start; never copy it
  key_file = \"/etc/tanist/group.key\"    # made by `tanist keygen`, the same on all nodes
  socket   = \"/run/tanist/billing.sock\" # for tanist status, members, leader and watch

Every key may be given as a variable (TANIST_TIMING_HEARTBEAT=500ms) or with --set too.
Ends cleanly on SIGTERM and SIGINT: the others elect at once; a second one ends it at once.
SIGHUP reads the file again, SIGUSR1 writes the state to the log.
Exit code 6: the file, the key or the store is wrong. Exit code 7: a port, room on the disk or so is
missing at the moment, or the node failed; start it again.";
