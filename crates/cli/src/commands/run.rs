//! `tanist run`: a command that runs only while the node leads. And the two hidden commands that it
//! starts for it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use tanist::Algorithm;
use tokio::net::UnixStream;

use crate::agent::Agent;
use crate::agent::report::MembersReport;
use crate::agent::services::{Listening, Services};
use crate::config::{Config, ConfigArgs, LogTable, Sources, why_inactive};
use crate::control::client::Client;
use crate::control::place::Place;
use crate::control::protocol::Ask;
use crate::control::server;
use crate::exit::{Exit, INTERRUPTED};
use crate::job::channel::Channel;
use crate::job::ending::{NOT_EXECUTABLE, NOT_FOUND, OUR_FAILURE};
use crate::job::program::{self, Unusable};
use crate::job::run::{self, OnLoss, Plan};
use crate::job::signals::Signals;
use crate::job::{descendants, keeper};
use crate::problem::Problem;
use crate::process::descriptors;
use crate::process::reaper;
use crate::process::second_signal;
use crate::process::secrecy;
use crate::terminal::output;

/// Run a command only while this node leads its group.
///
/// Without -c it asks the agent at a socket. With -c it is the node itself: one process per
/// replica. Whatever the command starts ends with it, also if `tanist run` is killed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Run {
    /// Be the node that this file describes, instead of asking an agent.
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["socket", "node"])]
    config: Option<PathBuf>,
    /// With -c: any key of the file, for example timing.heartbeat=500ms; may be given several
    /// times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::pair)]
    set: Vec<(String, String)>,
    /// The agent's socket, as its file names it.
    #[arg(long, value_name = "PATH", env = "TANIST_SOCKET")]
    socket: Option<PathBuf>,
    /// A node of the group that `tanist dev` runs; without it, the first that answers.
    #[arg(long, value_name = "NODE", conflicts_with = "socket")]
    node: Option<String>,
    /// Refuse to run unless the node belongs to this group.
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
    /// Wait at most this long to lead, each time; then exit with 124.
    #[arg(long, value_name = "DURATION", value_parser = crate::duration::read)]
    wait: Option<Duration>,
    /// How long the command has between SIGTERM and SIGKILL.
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = crate::duration::read,
        default_value = "10s"
    )]
    grace: Duration,
    /// What to do when leadership is lost; the command is stopped in any case.
    #[arg(long, value_name = "WHAT", default_value = "restart")]
    on_loss: OnLoss,
    /// The command and its arguments.
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<OsString>,
}

/// Hold a command, so that nothing outlives it: for `tanist run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Keep {
    /// How many files the command may have open.
    #[arg(long)]
    files: Option<u64>,
    #[arg(required = true, last = true)]
    command: Vec<OsString>,
}

/// Become a command that is killed with its keeper: for `tanist keep`.
#[derive(Debug, clap::Args)]
pub(crate) struct Become {
    keeper: i32,
    #[arg(required = true, last = true)]
    command: Vec<OsString>,
}

impl Run {
    /// Runs it. Every failure of ours has one exit code, since the others are the command's.
    pub(crate) fn run(&self) -> Exit {
        let Some(program) = self.command.first() else { return Exit::Job(NOT_FOUND) };
        if let Err(unusable) = program::check(program) {
            output::complain(&unusable.to_string());
            return Exit::Job(match unusable {
                Unusable::NotFound(_) => NOT_FOUND,
                Unusable::NotExecutable(_) => NOT_EXECUTABLE,
            });
        }
        match self.serve() {
            Ok(code) => Exit::Job(code),
            Err(error) => {
                output::complain(&format!("{error:#}"));
                Exit::Job(OUR_FAILURE)
            }
        }
    }

    fn serve(&self) -> anyhow::Result<u8> {
        // Not left to clap, which drops a requirement that conflicts with another flag.
        if let (None, Some((key, value))) = (&self.config, self.set.first()) {
            return Err(Problem::Usage(format!(
                "--set {key}={value} is for the node that -c describes, and without -c the \
                 command runs beside an agent that has its own file; nothing was run. Give -c \
                 FILE, or leave out --set"
            ))
            .into());
        }
        descendants::adopt_orphans()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listen = |table: &LogTable| {
            crate::terminal::log::to_stderr(table)?;
            let _context = runtime.enter();
            // The other one only counts what it hears: it must not be the first to listen.
            let signals = Signals::listen()?;
            second_signal::listen(KILL_MAX).map(|()| signals)
        };
        let served = match &self.config {
            Some(path) => {
                let sources = Sources::of(&ConfigArgs::of_file(path, &self.set));
                let config = Config::load(&sources)?;
                let signals = listen(&config.log)?;
                secrecy::hide_memory();
                runtime.block_on(self.be_node(sources, config, signals))
            }
            None => {
                let signals = listen(&LogTable::default())?;
                runtime.block_on(self.ask_agent(signals))
            }
        };
        // A name server or a file system that hangs must not keep the process.
        runtime.shutdown_background();
        served
    }

    /// Attaches to an agent that runs.
    async fn ask_agent(&self, mut signals: Signals) -> anyhow::Result<u8> {
        let place =
            Place { socket: self.socket.as_deref(), node: self.node.as_deref(), config: None };
        let path = place.find()?.socket;
        let mut client = Client::connect(&path)?;
        let seen: MembersReport = client.ask(&Ask::Members)?;
        self.refuse_other(&seen.status.group)?;
        if let Some(algorithm) = Algorithm::from_name(&seen.status.algorithm) {
            refuse_inactive(algorithm, seen.members.len())?;
        }
        let stream = client.into_stream();
        stream.set_nonblocking(true)?;
        self.attach(UnixStream::from_std(stream)?, &mut signals).await
    }

    /// Starts the node here, and attaches to it as to any other.
    async fn be_node(
        &self,
        sources: Sources,
        config: Config,
        mut signals: Signals,
    ) -> anyhow::Result<u8> {
        self.refuse_other(&config.group)?;
        refuse_inactive(config.algorithm, config.peers.all().len())?;
        // Orphans of hooks come to this process, which is a subreaper for the sake of the job.
        tokio::spawn(reaper::reap_orphans());
        let listening = Listening::bind(&sources, &config)?;
        let (agent, hooks) = tokio::select! {
            biased;
            started = Agent::start(sources, config, false) => started?,
            () = signals.told_twice() => return Ok(INTERRUPTED),
        };
        let services = Services::start(&agent, listening)?;
        let (ours, theirs) = UnixStream::pair()?;
        let host = agent.clone();
        let private = tokio::spawn(async move { server::converse(theirs, &host, None).await });
        let code = self.attach(ours, &mut signals).await;
        let ending = async {
            // No process of the job is left and the connection is closed, so this ends by itself
            // and lets go of the leadership.
            let _ = private.await;
            if agent.is_leaving() {
                // The client that told it to leave is answered before it ends; how it ended is
                // asked below.
                let _ = agent.group().ended().await;
            }
            let http = services.stop().await;
            let ended = agent.group().clone().shutdown().await;
            hooks.finish(&ended).await;
            drop(http);
            ended
        };
        tokio::select! {
            biased;
            ended = ending => ended.context("error: the node that ran the command failed")?,
            () = signals.told_twice() => {
                tracing::warn!("told twice to end: the node ends at once, without handing over");
            }
        }
        code
    }

    async fn attach(&self, stream: UnixStream, signals: &mut Signals) -> anyhow::Result<u8> {
        let mut agent = Channel::new(stream);
        let grace_ms = u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX);
        agent.put(&Ask::Attach { grace_ms }, &[]).await?;
        Ok(run::run(&self.plan(), &mut agent, signals).await)
    }

    fn plan(&self) -> Plan {
        Plan {
            command: self.command.clone(),
            grace: self.grace,
            wait: self.wait,
            on_loss: self.on_loss,
        }
    }

    fn refuse_other(&self, served: &str) -> Result<(), Problem> {
        match &self.group {
            Some(wanted) if wanted != served => Err(Problem::Usage(format!(
                "this node belongs to the group `{served}` and not to `{wanted}`, so nothing is \
                 run. Name the right socket, file or group"
            ))),
            Some(_) | None => Ok(()),
        }
    }
}

/// Refuses to wait for a leader that never becomes active.
fn refuse_inactive(algorithm: Algorithm, nodes: usize) -> Result<(), Problem> {
    why_inactive(algorithm, nodes).map_or(Ok(()), |why| Err(Problem::Usage(why)))
}

impl Keep {
    /// Keeps.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        if let Some(files) = self.files {
            descriptors::restore(files);
        }
        keeper::keep(&self.command)
    }
}

impl Become {
    /// Becomes it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        keeper::become_command(self.keeper, &self.command)
    }
}

/// How long a command that was killed, and the node with it, may take to be gone.
const KILL_MAX: Duration = Duration::from_secs(10);

const EXAMPLES: &str = "\
Examples:
  tanist run --socket /run/tanist/billing.sock -- ./charge-customers
  tanist run -c agent.toml -- ./charge-customers     the node in the same process
  tanist run --node n1 -- sh -c 'echo $TANIST_GROUP_NUMBER; sleep 60'     a node of `tanist dev`
  tanist run --wait 30s --on-loss exit -- ./once

When leadership is lost the command gets SIGTERM, and after the grace SIGKILL, with all that it
started. Then:
  --on-loss restart   wait, and start it again when this node leads again
  --on-loss exit      exit with 75
  --on-loss stop      exit with 0: another node does the work now
When the node is told to leave, restart exits with 75, too.

SIGTERM and SIGINT end it in the same way, also while it waits; a second one kills at once. SIGHUP,
SIGQUIT, SIGUSR1 and SIGUSR2 are passed to the command.

Exit codes:
  the command's own, 128+n if signal n killed it, 75 leadership lost, 124 --wait ran out,
  125 tanist failed or the agent went away, 126 cannot be executed, 127 not found";
