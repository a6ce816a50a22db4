//! `tanist sim`: elections in the simulator, one file per command.

mod frames;
mod fuzz;
mod list;
mod mobility;
mod mutants;
mod part;
pub(in crate::commands) mod run;
mod scale;
mod sweep;
mod trade_off;

use crate::exit::Exit;

/// What the simulator can be asked to do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Run(run::Args),
    Sweep(sweep::Args),
    TradeOff(trade_off::Args),
    Fuzz(fuzz::Args),
    Mobility(mobility::Args),
    Scale(scale::Args),
    Mutants(mutants::Args),
}

impl Command {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        match self {
            Self::List(args) => args.run(),
            Self::Run(args) => args.run(),
            Self::Sweep(args) => args.run(),
            Self::TradeOff(args) => args.run(),
            Self::Fuzz(args) => args.run(),
            Self::Mobility(args) => args.run(),
            Self::Scale(args) => args.run(),
            Self::Mutants(args) => args.run(),
        }
    }
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  tanist sim list
  tanist sim run bully-figure-10-8 --svg run.svg
  tanist sim sweep invitation --nodes 2..32
  tanist sim trade-off bully --timeouts 2ms..40ms --svg trade-off.svg
  tanist sim fuzz --algorithm bully --seeds 10000
  tanist sim mobility --nodes 100 --time 1m --svg map.svg
  tanist sim scale --nodes 1000,10000";
