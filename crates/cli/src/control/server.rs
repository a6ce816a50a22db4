//! The agent's side of its socket.
//!
//! Everything that a client can take is bounded: how many there are ([`super::connections`]), how
//! long one may be silent, how long its question is, how long it may take to read its answer.

use std::future::pending;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tanist::Group;
use tanist::transport::Throttle;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{sleep, timeout};

use super::connections::{ClientSlot, Connections, Full};
use super::local_socket::{self, LocalSocketError, is_trusted};
use super::protocol::{Answer, Ask, JobOrder};
use crate::agent::Agent;
use crate::agent::action::ActionError;
use crate::agent::change::RoleChange;
use crate::agent::jobs::{self, Conversation};

/// A socket that answers for a node. Removed when it is dropped.
pub(crate) struct Server {
    _path: local_socket::SocketPath,
    listener: UnixListener,
}

impl Server {
    /// Listens.
    pub(crate) fn bind(path: &Path) -> Result<Self, LocalSocketError> {
        let socket = local_socket::bind(path)?;
        let listener = UnixListener::from_std(socket.listener)
            .map_err(|cause| LocalSocketError::System { path: path.to_owned(), cause })?;
        Ok(Self { _path: socket.place, listener })
    }

    /// Answers until the task is dropped.
    pub(crate) async fn serve(self, agent: Agent) {
        let connections = Connections::new(agent.budget());
        while let Some(open) = connections.ready().await {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let (agent, slot) = (agent.clone(), connections.enter());
                    tokio::spawn(async move {
                        let done = match slot {
                            Ok(slot) => converse(stream, &agent, Some(slot)).await,
                            Err(full) => refuse(stream, &full).await,
                        };
                        if let Err(error) = done {
                            tracing::debug!(%error, "a client went away");
                        }
                        drop(open);
                    });
                }
                // Out of descriptors, say: others may still be served when some are free again.
                Err(error) => {
                    if let Some(held_back) = EXHAUSTED.pass() {
                        tracing::warn!(%error, held_back, "the socket cannot take a client");
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

/// Says that there is no slot left.
async fn refuse(mut stream: UnixStream, full: &Full) -> io::Result<()> {
    warn(full);
    let answer = Answer::Error(full.to_string());
    timeout(CLOSING_MAX, put(&mut stream, &answer)).await?
}

fn warn(full: &Full) {
    if let Some(held_back) = CROWDED.pass() {
        tracing::warn!(held_back, "a client of the control socket was refused: {full}");
    }
}

/// Answers one client until it goes away, or has to. The node's own job needs no slot.
pub(crate) async fn converse(
    stream: UnixStream,
    agent: &Agent,
    mut slot: Option<ClientSlot>,
) -> io::Result<()> {
    // A user who may read may not always act: the mode of the socket can be widened for reading.
    let may_act = stream.peer_cred().is_ok_and(|peer| is_trusted(peer.uid()));
    let (from, mut to) = stream.into_split();
    let mut from = BufReader::new(from.take(QUESTION_MAX));
    let mut line = String::new();
    loop {
        let read = tokio::select! {
            biased;
            read = from.read_line(&mut line) => read?,
            why = leave(slot.as_ref()) => {
                // It may read nothing; then it is not told.
                let answer = Answer::Error(why.to_owned());
                return timeout(CLOSING_MAX, put(&mut to, &answer)).await?;
            }
        };
        if read == 0 {
            return Ok(());
        }
        let answer = match serde_json::from_str(&line) {
            Ok(Ask::Watch { after, incarnation }) => {
                if let Err(full) = slot.as_mut().map_or(Ok(()), ClientSlot::watch) {
                    warn(&full);
                    Answer::Error(full.to_string())
                } else {
                    let own = agent.history().incarnation();
                    let is_own = incarnation.is_none_or(|incarnation| incarnation == own);
                    return watch(agent, after.filter(|_| is_own), &mut to).await;
                }
            }
            Ok(Ask::Act { .. } | Ask::Attach { .. }) if !may_act => {
                Answer::Refused(NOT_YOURS.to_owned())
            }
            Ok(Ask::Attach { grace_ms }) => {
                if let Err(full) = slot.as_mut().map_or(Ok(()), ClientSlot::attach) {
                    warn(&full);
                    let order = JobOrder::Refuse { reason: full.to_string() };
                    return timeout(CLOSING_MAX, put(&mut to, &order)).await?;
                }
                // A client that is told to end at once has said more than this line.
                let unread = from.buffer().to_vec();
                let halves = from.into_inner().into_inner().reunite(to);
                let stream = halves.map_err(io::Error::other)?;
                let grace = Duration::from_millis(grace_ms);
                let conversation = Conversation { stream, unread, grace };
                return match slot {
                    Some(_) => jobs::attach(conversation, agent).await,
                    None => jobs::attend_own(conversation, agent).await,
                };
            }
            Ok(ask) => {
                slot.iter().for_each(ClientSlot::begin);
                answer(ask, agent).await
            }
            Err(_) if !line.ends_with('\n') => {
                put(&mut to, &Answer::Error(TOO_LONG.to_owned())).await?;
                return Ok(());
            }
            Err(error) => Answer::Error(format!("not understood: {error}")),
        };
        timeout(UNREAD_MAX, put(&mut to, &answer)).await??;
        slot.iter().for_each(ClientSlot::finish);
        line.clear();
        from.get_mut().set_limit(QUESTION_MAX);
    }
}

/// Waits until a silent client has to go, and says why.
async fn leave(slot: Option<&ClientSlot>) -> &'static str {
    let Some(slot) = slot else { return pending().await };
    tokio::select! {
        () = slot.is_needed() => GAVE_WAY,
        () = sleep(IDLE_MAX) => IDLE,
    }
}

async fn watch(
    agent: &Agent,
    after: Option<u64>,
    to: &mut (impl AsyncWriteExt + Unpin),
) -> io::Result<()> {
    let newest = agent.history().last().map(|change| change.index);
    // An index that was never given out can only be one of another incarnation: begin with the newest.
    let mut seen = match after.filter(|after| Some(*after) <= newest) {
        Some(after) => Some(after),
        None => newest.and_then(|newest| newest.checked_sub(1)),
    };
    while let Some(later) = agent.history().after(seen).await {
        for change in later.changes {
            let missed = seen.map_or(0, |seen| change.index.saturating_sub(seen + 1));
            seen = Some(change.index);
            let change = RoleChange { missed, ..change.called(agent.group().names()) };
            timeout(UNREAD_MAX, put(to, &change)).await??;
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
        Ask::Views => value(&agent.views().await),
        Ask::Metrics => match group.metrics().await {
            Some(metrics) => value(&metrics),
            None => Err(ENDED.to_owned()),
        },
        Ask::Keys => match agent.keys().await {
            Some(keys) => value(&keys),
            None => Err(ENDED.to_owned()),
        },
        Ask::Settings => value(&agent.settings().await),
        Ask::History => {
            let names = group.names();
            let all = agent.history().all();
            value(&all.iter().map(|change| change.called(names)).collect::<Vec<_>>())
        }
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
    let nodes: Option<Vec<_>> = peers.iter().map(|name| group.names().find(name)).collect();
    group.cut(nodes.ok_or_else(|| format!("{} are not all nodes", peers.join(" ")))?);
    Ok(Value::Null)
}

const ENDED: &str = "the node has stopped";
const NOT_YOURS: &str = "only the user whom the agent runs as, or root, may tell it what to do; \
                         nothing was done. Use sudo, or ask on that user's behalf";
const TOO_LONG: &str = "a question is one line of at most 64 kilobytes; this connection ends here";
/// No question is longer.
pub(crate) const QUESTION_MAX: u64 = 64 * 1024;
const GAVE_WAY: &str = "nothing was asked here for longest of all, and another client needs the \
                        connection; connect when there is something to ask";
const IDLE: &str = "nothing was asked here for a minute; connect when there is something to ask";
/// A connection on which nothing was asked for so long is closed.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// A client that does not read its answer within this, or a watcher its line, is dropped.
const UNREAD_MAX: Duration = Duration::from_secs(10);
/// How long a client may take to be told that it must go.
const CLOSING_MAX: Duration = Duration::from_secs(1);

/// Connections that the system could not give.
static EXHAUSTED: Throttle = Throttle::new();
/// Clients over the limits.
static CROWDED: Throttle = Throttle::new();
