//! `tanist keygen`: the key that the nodes of a group share.

use std::path::PathBuf;

use tanist::GroupKey;

use crate::exit::Exit;
use crate::output;

/// Make a key for a group. Put the same file on every node.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file to write; only you will be able to read it. A file that is there is kept.
    #[arg(value_name = "FILE")]
    path: PathBuf,
}

impl Args {
    /// Makes it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        GroupKey::generate()?.write_new(&self.path)?;
        let path = self.path.display();
        output::complain(&format!("{path} is the group's key. Put the same file on every node."));
        Ok(Exit::Well)
    }
}

const EXAMPLES: &str = "\
Examples:
  tanist keygen group.key
  tanist keygen /etc/tanist/group.key";
