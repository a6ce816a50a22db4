//! `tanist agent`: one node in the foreground.

use std::io;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::agent::Agent;
use crate::config::{Config, ConfigArgs, Sources};
use crate::exit::Exit;
use crate::live::change::ChangeLine;
use crate::live::server::Server;
use crate::output;

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
            true => Sources::without_environment(&self.config),
            false => Sources::of(&self.config),
        };
        let config = Config::load(&sources)?;
        crate::log::to_stderr(&config.log);
        for warning in &config.warnings {
            tracing::warn!("{}: {}", warning.place, warning.what);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.live(&sources, config))
    }

    async fn live(&self, sources: &Sources, config: Config) -> anyhow::Result<Exit> {
        // Before the node starts, so that no signal is lost.
        let mut term = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let agent = Agent::start(&sources.path(), config, self.dev).await?;
        let serving = match &agent.config().socket {
            Some(path) => {
                let fail = || format!("error: cannot listen on {}", path.display());
                let server = Server::bind(path).with_context(fail)?;
                Some(tokio::spawn(server.serve(agent.clone())))
            }
            None => None,
        };
        let told = self.tell(&agent, &mut term, &mut interrupt).await;
        if let Some(serving) = serving {
            serving.abort();
            // It was told to end; how it did does not matter.
            let _ = serving.await;
        }
        told?;
        agent.group().clone().shutdown().await?;
        Ok(Exit::Well)
    }

    /// Tells every change until a signal comes or the node fails.
    async fn tell(
        &self,
        agent: &Agent,
        term: &mut Signal,
        interrupt: &mut Signal,
    ) -> anyhow::Result<()> {
        let mut seen = None;
        loop {
            tokio::select! {
                later = agent.record().after(seen) => match later {
                    Some(later) => for line in later.lines {
                        self.write(&line)?;
                        seen = Some(line.index);
                    },
                    None => return Ok(agent.group().ended().await?),
                },
                _ = term.recv() => return Ok(()),
                _ = interrupt.recv() => return Ok(()),
            }
        }
    }

    fn write(&self, line: &ChangeLine) -> io::Result<()> {
        match self.output {
            Form::Text => output::print(&format!("{}\n", line.text)),
            Form::Ndjson => output::print(&format!("{}\n", serde_json::to_string(line)?)),
        }
    }
}

/// Whoever started this group is gone: nobody would ever end it.
fn die_with_parent() -> anyhow::Result<()> {
    let parent = rustix::process::getppid();
    let kill = rustix::process::Signal::KILL;
    rustix::process::set_parent_process_death_signal(Some(kill))?;
    if rustix::process::getppid() != parent {
        anyhow::bail!("error: the process that started this agent is gone");
    }
    Ok(())
}

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
Ends cleanly on SIGTERM and SIGINT: the others elect at once.";
