//! Orders from other terminals to the throw-away group that runs: what they are, how they arrive.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use tanist::{NodeId, parse_node};

use super::group::LocalGroup;
use super::places;
use crate::control::client::Client;
use crate::control::protocol::Answer;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::terminal::output;

/// What can be done to a group that runs.
#[derive(Clone, Debug, Serialize, Deserialize, clap::Subcommand)]
#[serde(tag = "act", rename_all = "snake_case")]
pub(crate) enum Act {
    /// Kill a node where it stands (SIGKILL).
    Kill {
        /// Which.
        node: String,
    },
    /// Stop a node as if its machine hung (SIGSTOP).
    Pause {
        /// Which.
        node: String,
    },
    /// Let a stopped node go on (SIGCONT).
    Resume {
        /// Which.
        node: String,
    },
    /// Start a node again on its own disk.
    Restart {
        /// Which.
        node: String,
    },
    /// Cut every link between these nodes and the others.
    Cut {
        /// One side of the cut: n1,n2
        #[arg(value_delimiter = ',', required = true)]
        nodes: Vec<String>,
    },
    /// Make every link whole.
    Heal,
}

/// Something to be done, and where to say how it went.
#[derive(Debug)]
pub(crate) struct Order {
    act: Act,
    reply: UnixStream,
}

impl Order {
    /// Carries it out, says so, and answers.
    pub(crate) fn carry_out(
        mut self,
        group: &mut LocalGroup,
        say: impl FnOnce(&str) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let answer = match self.act.apply(group) {
            Ok(text) => {
                say(&text)?;
                Answer::Ok(text.into())
            }
            Err(error) => Answer::Error(format!("{error:#}").replacen("error: ", "", 1)),
        };
        let mut line = serde_json::to_vec(&answer)?;
        line.push(b'\n');
        // The client may be gone.
        let _ = self.reply.write_all(&line);
        Ok(())
    }
}

impl Act {
    fn apply(&self, group: &mut LocalGroup) -> anyhow::Result<String> {
        Ok(match self {
            Self::Kill { node } => {
                group.kill(named(node)?)?;
                format!("{node} was killed")
            }
            Self::Pause { node } => {
                group.pause(named(node)?)?;
                format!("{node} was stopped")
            }
            Self::Resume { node } => {
                group.resume(named(node)?)?;
                format!("{node} goes on")
            }
            Self::Restart { node } => {
                group.restart(named(node)?)?;
                format!("{node} was started again")
            }
            Self::Cut { nodes } => {
                let side: anyhow::Result<Vec<NodeId>> =
                    nodes.iter().map(|name| named(name)).collect();
                group.cut(&side?)?;
                format!("every link between {} and the others is cut", nodes.join(" "))
            }
            Self::Heal => {
                group.heal()?;
                "every link is whole".to_owned()
            }
        })
    }
}

/// The node of this name.
pub(crate) fn named(name: &str) -> anyhow::Result<NodeId> {
    parse_node(name)
        .with_context(|| format!("error: `{name}` is not a node; write n1, n2 and so on"))
}

/// Tells the group of this name, or the one that runs.
pub(crate) fn tell(act: &Act, name: Option<&str>) -> anyhow::Result<Exit> {
    let socket = places::local_group(name)?.join(places::ORDERS);
    let mut client = Client::connect(&socket).map_err(|_| not_running(name))?;
    let done: String = client.ask(act)?;
    output::print(&format!("{done}\n"))?;
    Ok(Exit::Well)
}

/// What to do about a group that is not there.
pub(crate) fn not_running(name: Option<&str>) -> Problem {
    Problem::Unreachable(match name {
        Some(name) => format!(
            "no local group called `{name}` is running; start one with: tanist dev --name {name}"
        ),
        None => "no local group is running; start one with: tanist dev".to_owned(),
    })
}

/// Takes orders from other terminals.
pub(crate) fn listen(directory: &Path) -> anyhow::Result<Receiver<Order>> {
    let listener = UnixListener::bind(directory.join(places::ORDERS))?;
    let (sender, orders) = mpsc::channel();
    thread::Builder::new().name("orders".to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            let sender = sender.clone();
            // A client that says nothing keeps only its own thread waiting.
            thread::spawn(move || take_order(stream, &sender));
        }
    })?;
    Ok(orders)
}

fn take_order(stream: UnixStream, orders: &Sender<Order>) {
    let Ok(reply) = stream.try_clone() else { return };
    let mut line = String::new();
    if BufReader::new(stream).read_line(&mut line).is_err() {
        return;
    }
    if let Ok(act) = serde_json::from_str(&line) {
        // A group that has stopped takes no orders.
        let _ = orders.send(Order { act, reply });
    }
}
