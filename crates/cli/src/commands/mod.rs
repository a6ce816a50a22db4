//! One file per command: its arguments, what it does, how it tells the result.

pub(crate) mod agent;
mod algorithms;
mod bench;
mod check;
mod compare;
mod completion;
mod config;
mod dev;
mod doctor;
mod hook;
mod key;
mod keygen;
mod man;
mod operate;
mod query;
mod run;
mod sim;
mod sizes;
mod store;
mod top;
mod trace;
pub(crate) mod welcome;
mod why;

use tanist_core::election::Algorithm;
use tanist_core::mutant::Mutant;
use tanist_sim::world::mutants;

use crate::exit::Exit;
use crate::problem::Problem;

/// What `tanist` can be asked to do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Dev(dev::Args),
    Agent(agent::Args),
    Run(run::Run),
    #[command(hide = true)]
    Keep(run::Keep),
    #[command(hide = true)]
    Launch(hook::Launch),
    #[command(hide = true)]
    Become(run::Become),
    Status(query::Status),
    Members(query::Members),
    Leader(query::Leader),
    IsLeader(query::IsLeader),
    History(query::History),
    Watch(query::Watch),
    Wait(query::Wait),
    Top(top::Args),
    Why(why::Args),
    Doctor(doctor::Args),
    StepDown(operate::StepDown),
    Switchover(operate::Switchover),
    Rejoin(operate::Rejoin),
    Pause(operate::Pause),
    Resume(operate::Resume),
    Reload(operate::Reload),
    Leave(operate::Leave),
    Priority(operate::Priority),
    Keygen(keygen::Args),
    /// Change the keys of a group while it runs, and show what links rest on.
    #[command(subcommand, after_help = key::EXAMPLES)]
    Key(key::Command),
    /// Write, check and show the configuration of an agent.
    #[command(subcommand, after_help = config::EXAMPLES)]
    Config(config::Command),
    /// Try the programs that are run when the role of a node changes.
    #[command(subcommand, after_help = hook::EXAMPLES)]
    Hook(hook::Command),
    /// What a node keeps on disk.
    #[command(subcommand, after_help = store::EXAMPLES)]
    Store(store::Command),
    /// Measure groups of real processes on this machine.
    #[command(subcommand, after_help = bench::EXAMPLES)]
    Bench(bench::Command),
    Algorithms(algorithms::Args),
    Compare(compare::Args),
    /// Run elections in the simulator: one, a series, or very many.
    #[command(subcommand, after_help = sim::EXAMPLES)]
    Sim(sim::Command),
    Check(check::Args),
    /// Judge, draw, tell and merge the traces that live nodes wrote.
    #[command(subcommand, after_help = trace::EXAMPLES)]
    Trace(trace::Trace),
    Completion(completion::Args),
    Man(man::Args),
}

impl Command {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        match self {
            Self::Dev(args) => args.run(),
            Self::Agent(args) => args.run(),
            Self::Run(args) => Ok(args.run()),
            Self::Keep(args) => args.run(),
            Self::Launch(args) => Ok(args.run()),
            Self::Become(args) => args.run(),
            Self::Status(args) => args.run(),
            Self::Members(args) => args.run(),
            Self::Leader(args) => args.run(),
            Self::IsLeader(args) => args.run(),
            Self::History(args) => args.run(),
            Self::Watch(args) => args.run(),
            Self::Wait(args) => args.run(),
            Self::Top(args) => args.run(),
            Self::Why(args) => args.run(),
            Self::Doctor(args) => args.run(),
            Self::StepDown(args) => args.run(),
            Self::Switchover(args) => args.run(),
            Self::Rejoin(args) => args.run(),
            Self::Pause(args) => args.run(),
            Self::Resume(args) => args.run(),
            Self::Reload(args) => args.run(),
            Self::Leave(args) => args.run(),
            Self::Priority(args) => args.run(),
            Self::Keygen(args) => args.run(),
            Self::Key(command) => command.run(),
            Self::Config(command) => command.run(),
            Self::Hook(command) => command.run(),
            Self::Store(command) => command.run(),
            Self::Bench(command) => command.run(),
            Self::Algorithms(args) => args.run(),
            Self::Compare(args) => args.run(),
            Self::Sim(command) => command.run(),
            Self::Check(args) => args.run(),
            Self::Trace(trace) => trace.run(),
            Self::Completion(args) => args.run(),
            Self::Man(args) => args.run(),
        }
    }
}

/// Reads `name=value`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Reads the name of an algorithm.
pub(crate) fn algorithm(name: &str) -> Result<Algorithm, String> {
    Algorithm::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Algorithm::ALL.iter().map(|known| known.name()).collect();
        format!("expected one of: {} (details: tanist algorithms)", known.join(", "))
    })
}

/// Reads the name of a mutant.
fn mutant(name: &str) -> Result<Mutant, String> {
    if !cfg!(feature = "mutants") {
        return Err(WITHOUT_MUTANTS.to_owned());
    }
    mutants::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = mutants::all().map(Mutant::name).collect();
        format!("expected one of: {}", known.join(", "))
    })
}

/// Refuses what only a program with seeded faults can do.
fn require_mutants() -> Result<(), Problem> {
    if cfg!(feature = "mutants") {
        return Ok(());
    }
    Err(Problem::Usage(WITHOUT_MUTANTS.to_owned()))
}

const WITHOUT_MUTANTS: &str = "\
this program was built without mutants, and nothing was run. \
Build one with them: cargo build --release -p tanist-cli --features mutants";
