//! `tanist man`: manual pages, made from what `--help` says.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::Cli;
use crate::exit::Exit;
use crate::terminal::output;

/// Write manual pages, one for each command.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The directory to write them to; without it, the page of tanist itself goes to stdout.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Args {
    /// Writes them.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        // `tanist help run` is the page of `tanist run`.
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        match &self.out {
            Some(directory) => {
                let fail = || {
                    let path = directory.display();
                    format!("error: cannot write pages to {path}; name a directory of your own")
                };
                fs::create_dir_all(directory).with_context(fail)?;
                clap_mangen::generate_to(command, directory).with_context(fail)?;
            }
            None => {
                let mut page = Vec::new();
                Man::new(command).render(&mut page)?;
                output::print(&String::from_utf8_lossy(&page))?;
            }
        }
        Ok(Exit::Well)
    }
}

const EXAMPLES: &str = "\
Examples:
  tanist man | man -l -
  tanist man --out man1";
