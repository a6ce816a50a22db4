//! The side of the socket that asks: one connection, its questions, and what can go wrong.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::protocol::{Answer, Ask};
use crate::problem::Problem;

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

    /// Waits so long for every line; without a limit, as long as it takes.
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
