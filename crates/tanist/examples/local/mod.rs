//! Where the nodes of an example find each other on this machine, and the key that they share.
//!
//! Not every example uses all of it. A program of your own has its peers, its key file and its data
//! directory configured instead.

#![allow(dead_code, reason = "every example takes what it needs")]

use std::error::Error;
use std::net::TcpListener;
use std::path::PathBuf;

use tanist::{Builder, Group, GroupKey, Role};
use tempfile::TempDir;

/// A place for a few nodes.
pub(crate) struct Place {
    peers: Vec<String>,
    directory: PathBuf,
    key: GroupKey,
    /// Goes away with the place.
    _scratch: Option<TempDir>,
}

impl Place {
    /// For several nodes in this process: free ports, and a directory that goes away.
    pub(crate) fn fresh(nodes: usize) -> Result<Self, Box<dyn Error>> {
        let scratch = tempfile::tempdir()?;
        // All of them are bound before the first is let go, so that no two are the same.
        let free =
            (0..nodes).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>()?;
        let mut peers = Vec::new();
        for (index, listener) in free.iter().enumerate() {
            peers.push(format!("n{}={}", index + 1, listener.local_addr()?));
        }
        let directory = scratch.path().to_owned();
        Ok(Self { peers, directory, key: GroupKey::generate()?, _scratch: Some(scratch) })
    }

    /// For one node in each of three terminals: the same ports and the same key for all of them.
    pub(crate) fn shared(example: &str) -> Result<Self, Box<dyn Error>> {
        let directory = std::env::temp_dir().join(format!("tanist-example-{example}"));
        std::fs::create_dir_all(&directory)?;
        let path = directory.join("group.key");
        if !path.exists() {
            // The first process makes the key. If another one just did, its key counts.
            let _ = GroupKey::generate()?.write_new(&path);
        }
        let peers = (1..=3).map(|node| format!("n{node}=127.0.0.1:{}", 7400 + node)).collect();
        Ok(Self { peers, directory, key: GroupKey::read(&path)?, _scratch: None })
    }

    /// Describes a node here.
    pub(crate) fn node(&self, group: &str, node: &str) -> Builder {
        Group::builder(group)
            .node(node)
            .peers(self.peers.clone())
            .data_dir(self.directory.join(node))
            .key(self.key.clone())
    }
}

/// Waits until all these nodes, and no others, are in one group.
pub(crate) async fn gathered(groups: &[Group]) -> Result<(), Box<dyn Error>> {
    for group in groups {
        let mut roles = group.roles();
        loop {
            match roles.next().await.ok_or("a node has stopped")? {
                Role::Leader(lead) if lead.view().members().len() == groups.len() => break,
                Role::Member(view) if view.members().len() == groups.len() => break,
                Role::Leader(_) | Role::Member(_) | Role::Suspended(_) | _ => {}
            }
        }
    }
    Ok(())
}
