//! `tanist bench`: how long a failover takes, and what an idle group costs, with real processes.

mod failover;
mod idle;
mod process;

use crate::exit::Exit;

/// What can be measured.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Failover(failover::Args),
    Idle(idle::Args),
}

impl Command {
    /// Measures it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        match self {
            Self::Failover(args) => args.run(),
            Self::Idle(args) => args.run(),
        }
    }
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  tanist bench failover --nodes 5 --fault kill --runs 50
  tanist bench failover --algorithm bully --fault stop --runs 10 -o json
  tanist bench idle --nodes 3 --for 10s";
