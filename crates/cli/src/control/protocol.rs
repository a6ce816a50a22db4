//! What is said over an agent's socket: one line of JSON asks, one line answers, or many.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::agent::action::Action;
use crate::problem::Problem;

/// What an agent can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Ask {
    /// The node at a glance.
    Status,
    /// All configured nodes as this one sees them.
    Members,
    /// What the node counted.
    Meter,
    /// What it was told at its start, and where its things are.
    Settings,
    /// The keys that it accepts, and what its links rest on.
    Keys,
    /// What it was and is, and why.
    History,
    /// What it did lately, message by message.
    Events,
    /// Do something.
    Act {
        /// What.
        what: Action,
    },
    /// For experiments: how far the shared work is.
    Work,
    /// Every change of role, from here on or after a number.
    Watch {
        /// The last number that the reader has seen.
        #[serde(default)]
        after: Option<u64>,
    },
    /// For experiments: discard everything to and from these nodes.
    Cut {
        /// Their names.
        peers: Vec<String>,
    },
    /// End every cut.
    Heal,
    /// Have a job run here whenever the node leads: from here on the connection carries
    /// [`JobOrder`] one way and [`JobNews`] the other.
    Attach {
        /// How long the job may take to end.
        grace_ms: u64,
    },
}

/// What an agent tells whoever runs a job for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub(crate) enum JobOrder {
    /// The node leads: start. The node's port may come with it, to be held until the job is gone.
    Start {
        /// What the job is told of the group.
        environment: BTreeMap<String, String>,
    },
    /// It leads no more: stop.
    Stop {
        /// Why.
        reason: String,
    },
    /// It takes no further job.
    Refuse {
        /// Why.
        reason: String,
    },
    /// It leaves its group on purpose, and will never say start again.
    Leave,
}

/// What an agent is told of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "news", rename_all = "snake_case")]
pub(crate) enum JobNews {
    /// It was stopped, nobody of it is left, and it could be started again.
    Stopped,
    /// It has ended by itself.
    Exited {
        /// With this code.
        code: u8,
    },
}

/// What comes back for a question that has one answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// This.
    Ok(serde_json::Value),
    /// Nothing, because of this.
    Error(String),
    /// Nothing, because it would be unsafe, is impossible, or is not for this user to ask.
    Refused(String),
}

/// A connection to a socket.
pub(crate) struct Client {
    lines: BufReader<UnixStream>,
    path: PathBuf,
}

impl Client {
    /// Connects. No agent there is an error with an exit code of its own.
    pub(crate) fn connect(socket: &Path) -> Result<Self, Problem> {
        let stream = UnixStream::connect(socket).map_err(|error| {
            let path = socket.display();
            Problem::Unreachable(format!("no agent answers at {path}: {error}. Is it running?"))
        })?;
        let client = Self { lines: BufReader::new(stream), path: socket.to_owned() };
        client.patient(Some(ANSWER_MAX))
    }

    /// Waits so long for every line; without a limit, for ever.
    pub(crate) fn patient(self, limit: Option<Duration>) -> Result<Self, Problem> {
        let stream = self.lines.get_ref();
        let set = stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit));
        set.map_err(|error| self.lost(&error)).map(|()| self)
    }

    /// Asks a question that has one answer.
    pub(crate) fn ask<R: DeserializeOwned>(&mut self, ask: &impl Serialize) -> anyhow::Result<R> {
        self.put(ask)?;
        let gone = io::Error::from(io::ErrorKind::UnexpectedEof);
        let line = self.line()?.ok_or_else(|| self.lost(&gone))?;
        match serde_json::from_str(&line)? {
            Answer::Ok(value) => Ok(serde_json::from_value(value)?),
            Answer::Error(what) => anyhow::bail!("error: {what}"),
            Answer::Refused(what) => Err(Problem::Refused(what).into()),
        }
    }

    /// Asks a question that is answered line by line, for as long as it takes.
    pub(crate) fn follow(mut self, ask: &Ask) -> anyhow::Result<Self> {
        self.put(ask)?;
        Ok(self.patient(None)?)
    }

    /// The connection itself, for a conversation that follows no question and answer.
    pub(crate) fn into_stream(self) -> UnixStream {
        self.lines.into_inner()
    }

    /// The next line; none when the agent has gone.
    pub(crate) fn line(&mut self) -> anyhow::Result<Option<String>> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).map_err(|error| self.lost(&error))?;
        Ok((read > 0).then_some(line))
    }

    fn put(&mut self, ask: &impl Serialize) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(ask)?;
        line.push(b'\n');
        let written = self.lines.get_mut().write_all(&line);
        Ok(written.map_err(|error| self.lost(&error))?)
    }

    fn lost(&self, error: &io::Error) -> Problem {
        let path = self.path.display();
        let kind = error.kind();
        let what = if [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut].contains(&kind) {
            "does not answer. It may be stopped or very busy; look at its log".to_owned()
        } else if kind == io::ErrorKind::UnexpectedEof {
            "has closed the connection. Look at its log".to_owned()
        } else {
            format!("is lost: {error}. Look at its log")
        };
        Problem::Unreachable(format!("the agent at {path} {what}"))
    }
}

/// An agent answers within this or not at all.
const ANSWER_MAX: Duration = Duration::from_secs(5);
