//! `tanist config init`: a file to begin with.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tanist::{Peer, PeerList};

use crate::config::sample::Sample;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::terminal::output;

/// Write a file with every key, commented. It is good as it is, once the key is made.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The name of the group, the same on all nodes.
    #[arg(long, value_name = "GROUP", default_value = "billing")]
    group: String,
    /// All nodes with their addresses, separated by commas.
    #[arg(long, value_name = "NODE=HOST:PORT", value_delimiter = ',', default_value = NODES)]
    nodes: Vec<String>,
    /// Which of them this one is [default: the first].
    #[arg(long, value_name = "NODE")]
    node: Option<String>,
    /// The file to write; without it, stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write over a file that is there.
    #[arg(long, requires = "out")]
    force: bool,
}

impl Args {
    /// Writes it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let text = self.sample()?.text();
        match self.out.as_deref().filter(|path| *path != Path::new("-")) {
            Some(path) => {
                self.write(path, &text)?;
                let path = output::quoted(&path.display().to_string());
                output::complain(&format!(
                    "{path} is written. Next: make the group's key once with `tanist keygen \
                     /etc/tanist/group.key`,\nput it on every node, then: tanist config check -c \
                     {path}"
                ));
            }
            None => output::print(&text)?,
        }
        Ok(Exit::Well)
    }

    fn sample(&self) -> Result<Sample, Problem> {
        let mut peers = Vec::new();
        for (place, entry) in (1..).zip(&self.nodes) {
            let peer = Peer::parse(entry, place).and_then(Peer::with_address);
            peers.push(peer.map_err(|error| {
                let what =
                    format!("`{entry}` is not a node with its address, so nothing was written");
                Problem::Usage(format!("{what}; {error}"))
            })?);
        }
        let list = PeerList::new(peers)
            .map_err(|error| Problem::Usage(format!("{error}, so nothing was written")))?;
        let names = list.called();
        let node = self.node.clone().unwrap_or_else(|| names[0].clone());
        if list.find(&node).is_none() {
            let what = format!("{node} is none of {}, so nothing was written", names.join(", "));
            return Err(Problem::Usage(what));
        }
        Ok(Sample { group: self.group.clone(), peers: self.nodes.clone(), node })
    }

    fn write(&self, path: &Path, text: &str) -> anyhow::Result<()> {
        let shown = path.display();
        let mut options = OpenOptions::new();
        options.write(true);
        if self.force {
            options.create(true).truncate(true);
        } else {
            options.create_new(true);
        }
        let opened = options.open(path);
        if opened.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
            let what = format!("{shown} is there and was kept; --force writes over it");
            return Err(Problem::Usage(what).into());
        }
        opened.and_then(|mut file| file.write_all(text.as_bytes())).with_context(|| {
            format!(
                "error: cannot write {shown}; name a file in a directory that is there and yours"
            )
        })
    }
}

const NODES: &str = "n1=10.0.0.1:7400,n2=10.0.0.2:7400,n3=10.0.0.3:7400";

const EXAMPLES: &str = "\
Examples:
  tanist config init
  tanist config init --group billing --nodes db-1=a:7400,db-2=b:7400 --node db-2 --out tanist.toml
  tanist config init | tanist config check -c - --set key_file=group.key";
