//! `tanist keygen`: the key that the nodes of a group share, or a node's own.

use std::path::PathBuf;

use tanist::key::NodeKey;
use tanist::{GroupKey, NodeName, parse_node};

use crate::exit::Exit;
use crate::terminal::output;

/// Make a key for a group, or with --node a key pair for one node.
///
/// The group's key goes to every node. A node's own key stays on that node; its public line, which
/// is printed, goes into `identity.peer_keys` of every node.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Make a key pair for this node instead of a key for the group.
    #[arg(long, value_name = "NODE", value_parser = node)]
    node: Option<String>,
    /// The file to write; only you will be able to read it. A file that is there is kept.
    #[arg(value_name = "FILE")]
    path: PathBuf,
}

impl Args {
    /// Makes it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let path = self.path.display();
        let Some(node) = &self.node else {
            GroupKey::generate()?.write_new(&self.path)?;
            output::complain(&format!(
                "{path} is the group's key. Put the same file on every node."
            ));
            return Ok(Exit::Well);
        };
        let key = NodeKey::generate()?;
        key.write_new(&self.path)?;
        output::complain(&format!(
            "{path} is the secret key of {node}; it stays on {node}. Name it as identity.key_file \
             there, and put this line into [identity.peer_keys] on every node:"
        ));
        output::print(&format!("{node} = \"{}\"\n", key.public()))?;
        Ok(Exit::Well)
    }
}

fn node(name: &str) -> Result<String, String> {
    match (parse_node(name), name.parse::<NodeName>()) {
        (Some(_), _) | (None, Ok(_)) => Ok(name.to_owned()),
        (None, Err(error)) => Err(error.to_string()),
    }
}

const EXAMPLES: &str = "\
Examples:
  tanist keygen group.key
  tanist keygen /etc/tanist/group.key
  tanist keygen --node db-east-1 /etc/tanist/node.key";
