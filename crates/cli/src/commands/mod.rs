//! One file per command: its arguments, what it does, how it tells the result.

mod algorithms;
mod fuzz;
mod list;
mod mutants;
mod run;
mod sweep;
pub(crate) mod welcome;

use crate::exit::Exit;

/// What `tanist` can be asked to do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Algorithms(algorithms::Args),
    /// Run elections in the simulator: one, a series, or very many.
    #[command(subcommand)]
    Sim(Sim),
}

/// What the simulator can be asked to do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Sim {
    List(list::Args),
    Run(run::Args),
    Sweep(sweep::Args),
    Fuzz(fuzz::Args),
    Mutants(mutants::Args),
}

impl Command {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        match self {
            Self::Algorithms(args) => args.run(),
            Self::Sim(Sim::List(args)) => args.run(),
            Self::Sim(Sim::Run(args)) => args.run(),
            Self::Sim(Sim::Sweep(args)) => args.run(),
            Self::Sim(Sim::Fuzz(args)) => args.run(),
            Self::Sim(Sim::Mutants(args)) => args.run(),
        }
    }
}
