//! `tanist config`: write a configuration, check one, show what counts and where it comes from.

mod check;
mod init;
mod show;

use crate::exit::Exit;

/// What can be done with a configuration.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Init(init::Args),
    Check(check::Args),
    Show(show::Args),
}

impl Command {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        match self {
            Self::Init(args) => args.run(),
            Self::Check(args) => args.run(),
            Self::Show(args) => args.run(),
        }
    }
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  tanist config init --group billing --nodes n1=10.0.0.1:7400,n2=10.0.0.2:7400 --out tanist.toml
  tanist config check -c tanist.toml
  tanist config show -c tanist.toml --origin

A value given in several places: flags win over the environment (TANIST_TIMING_HEARTBEAT and so
on), the environment over the file, the file over the default.";
