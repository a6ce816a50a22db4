//! `tanist dev logs`: what a node of a local group wrote to its log.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::Context;

use super::{orders, places};
use crate::exit::Exit;
use crate::problem::Problem;
use crate::process::interrupt;
use crate::terminal::output;

/// Print what a node wrote to its log, in all its incarnations.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Logs {
    /// Which.
    node: String,
    /// Go on with what it writes from now on, until the group ends.
    #[arg(short, long)]
    follow: bool,
}

impl Logs {
    /// Prints the log of a node of the group of this name, or of the one that runs.
    pub(crate) fn run(&self, name: Option<&str>) -> anyhow::Result<Exit> {
        let directory = places::local_group(name)?;
        if !directory.exists() {
            return Err(orders::not_running(name).into());
        }
        let node = orders::named(&self.node)?;
        let path = directory.join(format!("{node}.log"));
        let mut file = File::open(&path).map_err(|_| {
            Problem::Unreachable(format!("there is no {node} in this group: no {}", path.display()))
        })?;
        if !self.follow {
            copy(&mut file)?;
            return Ok(Exit::Well);
        }
        interrupt::listen();
        follow(&mut file, &path)
    }
}

/// Prints what is written, until the file is gone, the reader is, or the user has enough.
fn follow(file: &mut File, path: &Path) -> anyhow::Result<Exit> {
    loop {
        // Looked at before the last read, so that nothing is missed.
        let is_over = !path.exists();
        copy(file)?;
        if interrupt::is_asked() {
            return Ok(Exit::Interrupted);
        }
        if is_over || !output::has_reader() {
            return Ok(Exit::Well);
        }
        thread::sleep(PULSE);
    }
}

/// Prints all from where it was read last to the end.
fn copy(file: &mut File) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).context("error: the log cannot be read")?;
    Ok(output::print(&String::from_utf8_lossy(&bytes))?)
}

/// How often a log is looked at.
const PULSE: Duration = Duration::from_millis(100);

const EXAMPLES: &str = "\
Examples:
  tanist dev logs n5
  tanist dev logs n5 -f | grep hook
  tanist dev logs n5 --name blue";
