//! The agent's side of its socket.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tanist::{Group, parse_node};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

use super::change::ChangeLine;
use super::control::{Answer, Ask};
use super::work::Ledger;

/// A socket that answers for a node. Removed when it is dropped.
pub(crate) struct Server {
    path: PathBuf,
    listener: UnixListener,
}

/// The node that is answered for.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// The node.
    pub(crate) group: Group,
    /// All nodes with their addresses.
    pub(crate) peers: Vec<String>,
    /// Whether it may be told to misbehave.
    pub(crate) takes_experiments: bool,
    /// How far its group's work is, if it was given any.
    pub(crate) work: Option<Arc<Ledger>>,
}

impl Server {
    /// Listens. The store's lock has shown that no other agent of this node runs, so a socket that
    /// is there already is a dead one's.
    pub(crate) fn bind(path: &Path) -> io::Result<Self> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(Self { path: path.to_owned(), listener })
    }

    /// Answers until the task is dropped.
    pub(crate) async fn serve(self, subject: Subject) {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let subject = subject.clone();
                    tokio::spawn(async move {
                        if let Err(error) = converse(stream, &subject).await {
                            tracing::debug!(%error, "a client went away");
                        }
                    });
                }
                // Out of descriptors, say: others may still be served when some are free again.
                Err(error) => {
                    tracing::warn!(%error, "the socket cannot take a client");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // If it is gone already, so much the better.
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn converse(stream: UnixStream, subject: &Subject) -> io::Result<()> {
    let (from, mut to) = stream.into_split();
    let mut from = BufReader::new(from.take(QUESTION_MAX));
    let mut line = String::new();
    while from.read_line(&mut line).await? > 0 {
        let answer = match serde_json::from_str(&line) {
            Ok(Ask::Watch) => return watch(&subject.group, &mut to).await,
            Ok(ask) => answer(ask, subject).await,
            Err(error) => Answer::Error(format!("not understood: {error}")),
        };
        put(&mut to, &answer).await?;
        line.clear();
        from.get_mut().set_limit(QUESTION_MAX);
    }
    Ok(())
}

async fn watch(group: &Group, to: &mut (impl AsyncWriteExt + Unpin)) -> io::Result<()> {
    let mut changes = group.changes();
    while let Some(change) = changes.next().await {
        put(to, &ChangeLine::new(group.me(), &change)).await?;
    }
    Ok(())
}

async fn put(to: &mut (impl AsyncWriteExt + Unpin), what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line).await
}

async fn answer(ask: Ask, subject: &Subject) -> Answer {
    let group = &subject.group;
    let done = match ask {
        Ask::Status => status(group),
        Ask::Members => members(group, &subject.peers).await,
        Ask::Meter => match group.meter().await {
            Some(meter) => serde_json::to_value(meter).map_err(|error| error.to_string()),
            None => Err("the node has ended".to_owned()),
        },
        Ask::Work => match &subject.work {
            Some(work) => serde_json::to_value(work.progress()).map_err(|error| error.to_string()),
            None => Err("this group has no work".to_owned()),
        },
        Ask::Cut { .. } | Ask::Heal if !subject.takes_experiments => {
            Err("this agent takes no part in experiments; `tanist dev` starts some that do".into())
        }
        Ask::Cut { peers } => cut(group, &peers),
        Ask::Heal => {
            group.heal();
            Ok(Value::Null)
        }
        Ask::Watch => Err("watch is answered line by line".to_owned()),
    };
    done.map_or_else(Answer::Error, Answer::Ok)
}

fn status(group: &Group) -> Result<Value, String> {
    serde_json::to_value(group.status()).map_err(|error| error.to_string())
}

fn cut(group: &Group, peers: &[String]) -> Result<Value, String> {
    let nodes: Option<Vec<_>> = peers.iter().map(|name| parse_node(name)).collect();
    group.cut(nodes.ok_or_else(|| format!("{} are not all nodes", peers.join(" ")))?);
    Ok(Value::Null)
}

/// All configured nodes, with what this one knows of them.
async fn members(group: &Group, addresses: &[String]) -> Result<Value, String> {
    let status = group.status();
    let meter = group.meter().await.ok_or("the node has ended")?;
    let view = status.view.as_ref().filter(|_| status.role != "suspended");
    let rows = addresses.iter().filter_map(|peer| peer.split_once('=')).map(|(name, address)| {
        let node = parse_node(name);
        let is_here = |node| view.is_some_and(|view| view.members().contains(node));
        let role = match (view, node) {
            (Some(view), Some(node)) if view.coordinator() == node => "leader",
            (Some(_), Some(node)) if is_here(node) => "member",
            (Some(_) | None, _) => "-",
        };
        let peer = meter.peers.iter().find(|peer| Some(peer.id) == node);
        json!({
            "node": name,
            "address": address,
            "role": role,
            "is_self": node == Some(group.me()),
            "is_connected": peer.is_some_and(|peer| peer.is_connected),
        })
    });
    Ok(json!({ "status": status, "members": rows.collect::<Vec<_>>() }))
}

/// No question is longer.
const QUESTION_MAX: u64 = 64 * 1024;
