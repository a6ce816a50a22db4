//! What is said over an agent's socket: one line of JSON asks, one line answers, or many.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
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
    /// Every change of role from here on.
    Watch,
    /// For experiments: discard everything to and from these nodes.
    Cut {
        /// Their names.
        peers: Vec<String>,
    },
    /// End every cut.
    Heal,
}

/// What comes back for a question that has one answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// This.
    Ok(serde_json::Value),
    /// Nothing, because of this.
    Error(String),
}

/// A connection to a socket.
pub(crate) struct Client {
    lines: BufReader<UnixStream>,
}

impl Client {
    /// Connects. No agent there is an error with an exit code of its own.
    pub(crate) fn connect(socket: &Path) -> Result<Self, Problem> {
        let stream = UnixStream::connect(socket).map_err(|error| {
            let path = socket.display();
            Problem::Unreachable(format!("no agent answers at {path}: {error}. Is it running?"))
        })?;
        let limit = Some(ANSWER_MAX);
        stream
            .set_read_timeout(limit)
            .and_then(|()| stream.set_write_timeout(limit))
            .map_err(|error| Problem::Unreachable(error.to_string()))?;
        Ok(Self { lines: BufReader::new(stream) })
    }

    /// Asks a question that has one answer.
    pub(crate) fn ask<R: DeserializeOwned>(&mut self, ask: &impl Serialize) -> anyhow::Result<R> {
        self.put(ask)?;
        let line = self.line()?.unwrap_or_default();
        match serde_json::from_str(&line)? {
            Answer::Ok(value) => Ok(serde_json::from_value(value)?),
            Answer::Error(what) => anyhow::bail!("error: {what}"),
        }
    }

    /// Asks a question that is answered line by line, for as long as it takes.
    pub(crate) fn follow(mut self, ask: &Ask) -> anyhow::Result<Self> {
        self.put(ask)?;
        self.lines.get_ref().set_read_timeout(None)?;
        Ok(self)
    }

    /// The next line; none when the agent has gone.
    pub(crate) fn line(&mut self) -> anyhow::Result<Option<String>> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line)?;
        Ok((read > 0).then_some(line))
    }

    fn put(&mut self, ask: &impl Serialize) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(ask)?;
        line.push(b'\n');
        Ok(self.lines.get_mut().write_all(&line)?)
    }
}

/// An agent answers within this or not at all.
const ANSWER_MAX: Duration = Duration::from_secs(5);
