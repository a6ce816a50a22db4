//! The agent's side of its socket.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tanist::{Group, parse_node};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

use super::change::ChangeLine;
use super::control::{Answer, Ask};
use super::local_socket::{self, LocalSocketError, Place, is_trusted};
use crate::agent::action::ActionError;
use crate::agent::{Agent, jobs};

/// A socket that answers for a node. Removed when it is dropped.
pub(crate) struct Server {
    _place: Place,
    listener: UnixListener,
}

impl Server {
    /// Listens.
    pub(crate) fn bind(path: &Path) -> Result<Self, LocalSocketError> {
        let socket = local_socket::bind(path)?;
        let listener = UnixListener::from_std(socket.listener)
            .map_err(|cause| LocalSocketError::System { path: path.to_owned(), cause })?;
        Ok(Self { _place: socket.place, listener })
    }

    /// Answers until the task is dropped.
    pub(crate) async fn serve(self, agent: Agent) {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let agent = agent.clone();
                    tokio::spawn(async move {
                        if let Err(error) = converse(stream, &agent).await {
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

/// Answers one client until it goes away.
pub(crate) async fn converse(stream: UnixStream, agent: &Agent) -> io::Result<()> {
    // Whoever may look may not always act: the mode of the socket can be widened for the former.
    let may_act = stream.peer_cred().is_ok_and(|peer| is_trusted(peer.uid()));
    let (from, mut to) = stream.into_split();
    let mut from = BufReader::new(from.take(QUESTION_MAX));
    let mut line = String::new();
    while from.read_line(&mut line).await? > 0 {
        let answer = match serde_json::from_str(&line) {
            Ok(Ask::Watch { after }) => return watch(agent, after, &mut to).await,
            Ok(Ask::Act { .. } | Ask::Attach { .. }) if !may_act => {
                Answer::Refused(NOT_YOURS.to_owned())
            }
            Ok(Ask::Attach { grace_ms }) => {
                let halves = from.into_inner().into_inner().reunite(to);
                let stream = halves.map_err(io::Error::other)?;
                return jobs::attend(stream, Duration::from_millis(grace_ms), agent).await;
            }
            Ok(ask) => answer(ask, agent).await,
            Err(_) if !line.ends_with('\n') => {
                put(&mut to, &Answer::Error(TOO_LONG.to_owned())).await?;
                return Ok(());
            }
            Err(error) => Answer::Error(format!("not understood: {error}")),
        };
        put(&mut to, &answer).await?;
        line.clear();
        from.get_mut().set_limit(QUESTION_MAX);
    }
    Ok(())
}

async fn watch(
    agent: &Agent,
    after: Option<u64>,
    to: &mut (impl AsyncWriteExt + Unpin),
) -> io::Result<()> {
    let newest = agent.record().last().map(|line| line.index);
    // A number that was never given is of an earlier life of the node: begin with what is now.
    let mut seen = match after.filter(|after| Some(*after) <= newest) {
        Some(after) => Some(after),
        None => newest.and_then(|newest| newest.checked_sub(1)),
    };
    while let Some(later) = agent.record().after(seen).await {
        for line in later.lines {
            let missed = seen.map_or(0, |seen| line.index.saturating_sub(seen + 1));
            seen = Some(line.index);
            if missed == 0 {
                put(to, &*line).await?;
            } else {
                put(to, &ChangeLine { missed, ..(*line).clone() }).await?;
            }
        }
    }
    Ok(())
}

async fn put(to: &mut (impl AsyncWriteExt + Unpin), what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line).await
}

async fn answer(ask: Ask, agent: &Agent) -> Answer {
    let group = agent.group();
    let done = match ask {
        Ask::Status => value(&agent.status()),
        Ask::Members => match agent.members().await {
            Some(members) => value(&members),
            None => Err(ENDED.to_owned()),
        },
        Ask::Meter => match group.meter().await {
            Some(meter) => value(&meter),
            None => Err(ENDED.to_owned()),
        },
        Ask::Settings => value(&agent.settings()),
        Ask::History => value(&agent.record().all()),
        Ask::Events => {
            let recent = group.recent();
            value(&json!({
                "header": group.trace_header(),
                "forgotten": recent.forgotten,
                "entries": recent.entries,
            }))
        }
        Ask::Act { what } => match agent.act(&what).await {
            Ok(done) => value(&done),
            Err(error @ ActionError::Refused(_)) => return Answer::Refused(error.to_string()),
            Err(error @ ActionError::Ended) => Err(error.to_string()),
        },
        Ask::Work => match agent.work() {
            Some(work) => value(&work.progress()),
            None => Err("this group has no work".to_owned()),
        },
        Ask::Cut { .. } | Ask::Heal if !agent.takes_experiments() => {
            Err("this agent takes no part in experiments; `tanist dev` starts some that do".into())
        }
        Ask::Cut { peers } => cut(group, &peers),
        Ask::Heal => {
            group.heal();
            Ok(Value::Null)
        }
        Ask::Watch { .. } | Ask::Attach { .. } => Err("that is answered line by line".to_owned()),
    };
    done.map_or_else(Answer::Error, Answer::Ok)
}

fn value(what: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(what).map_err(|error| error.to_string())
}

fn cut(group: &Group, peers: &[String]) -> Result<Value, String> {
    let nodes: Option<Vec<_>> = peers.iter().map(|name| parse_node(name)).collect();
    group.cut(nodes.ok_or_else(|| format!("{} are not all nodes", peers.join(" ")))?);
    Ok(Value::Null)
}

const ENDED: &str = "the node has ended";
const NOT_YOURS: &str = "only the user whom the agent runs as, or root, may tell it what to do; \
                         nothing was done. Use sudo, or ask on that user's behalf";
const TOO_LONG: &str = "a question is one line of at most 64 kilobytes; this connection ends here";
/// No question is longer.
const QUESTION_MAX: u64 = 64 * 1024;
