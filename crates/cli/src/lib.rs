//! The `tanist` command: what people type, and what they get to read.
//!
//! Everything that is known of elections is in `tanist-core` and `tanist-sim`; this crate reads
//! arguments, calls them, and writes tables, JSON and files. Data goes to stdout, everything else
//! to stderr. Reading order: [`commands`] (one file per command), [`campaign`] (many seeds on many
//! threads), [`terminal`] (how results are written), [`problem`] (how a mistake becomes
//! an exit code).
//!
//! It is a library so that what reads bytes of others can be fuzzed; the program is [`main`].

mod agent;
mod campaign;
mod commands;
mod config;
mod control;
mod dev;
mod duration;
mod exit;
#[doc(hidden)]
pub mod fuzzing;
mod hooks;
mod http;
mod job;
mod library;
mod problem;
mod process;
mod renamed;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::commands::{Command, welcome};
use crate::exit::Exit;
use crate::problem::Problem;
use crate::terminal::{colour, log, output};

/// Coordinator election: N processes agree who leads them, without running a store beside them.
#[derive(Debug, Parser)]
#[command(name = "tanist", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// When to colour what is written: auto, always or never.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    color: colour::When,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The program: reads the arguments of this process and does what they say.
pub fn main() -> ExitCode {
    // Dropped last, after every complaint.
    let _flush = log::FlushAtEnd;
    match parse().and_then(|cli| cli.run()) {
        Ok(exit) => exit.into(),
        Err(error) => {
            output::complain(&format!("{error:#}"));
            problem::exit_code(&error)
        }
    }
}

fn parse() -> anyhow::Result<Cli> {
    Cli::try_parse().map_err(|error| match renamed::complaint(&error) {
        Some(what) => Problem::Usage(what).into(),
        None => error.exit(),
    })
}

impl Cli {
    fn run(&self) -> anyhow::Result<Exit> {
        colour::choose(self.color);
        match &self.command {
            Some(command) => command.run(),
            None => welcome::run(),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  tanist dev                            five real processes with a leader; kill it and watch
  tanist config init --out tanist.toml  a file for one node of your own group, with comments
  tanist agent -c tanist.toml           that node
  tanist run -c tanist.toml -- ./job    a command that runs on the leader only
  tanist algorithms                     what there is, and what it promises under which model
  tanist sim list                       the scenarios that come with the program
  tanist sim run bully-figure-10-8      one election, message by message
  tanist sim sweep bully --nodes 2..64  messages and time against theory
  tanist sim fuzz --seeds 10000         many seeds, every assertion checked after every step
  tanist trace check traces/            what live nodes recorded, judged in the same way

Exit codes:
  0 all is well, 1 no or failed, 2 usage, 3 no agent there, 4 bound reached, 5 refused,
  6 bad file or store, 7 the system lacks something now (trying again may help), 130 interrupted";
