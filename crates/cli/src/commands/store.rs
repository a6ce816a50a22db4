//! `tanist store`: what a node keeps on disk.

use std::path::PathBuf;

use tanist::parse_node;
use tanist::store::Store;

use crate::exit::Exit;
use crate::problem::Problem;
use crate::terminal::output;

/// What can be done with a node's store.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Adopt(Adopt),
}

impl Command {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        match self {
            Self::Adopt(args) => args.run(),
        }
    }
}

/// Make a store that was copied or restored a node's own.
///
/// Do this only if the original is gone: two nodes with one store use the same group numbers.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Adopt {
    /// The data directory.
    directory: PathBuf,
    /// The node that it belongs to, by its short form: n3.
    #[arg(long)]
    node: String,
    /// The name of its group.
    #[arg(long)]
    group: String,
}

impl Adopt {
    fn run(&self) -> anyhow::Result<Exit> {
        let wrong = || {
            Problem::Usage(format!(
                "`{}` is not the short form of a node; write the one that the agent named, such as n3",
                self.node
            ))
        };
        let node = parse_node(&self.node).ok_or_else(wrong)?;
        Store::adopt(&self.directory, node, &self.group)?;
        let directory = self.directory.display();
        output::complain(&format!("{directory} is {node}'s own now. Start the agent."));
        Ok(Exit::Well)
    }
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  tanist store adopt /var/lib/tanist/billing --node n3 --group billing";
