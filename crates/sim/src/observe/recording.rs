//! Records a trace and computes its hash: the same seed must give the same bytes.

use std::borrow::Cow;
use std::io::{self, BufRead, Write};

use serde::Serialize;
use sha2::{Digest, Sha256};
use tanist_core::trace::{Entry, Header, SCHEMA};

/// A trace in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The header.
    pub header: Header,
    /// The entries after it.
    pub entries: Vec<Entry>,
}

impl Recording {
    /// Writes the trace as JSON lines.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        line(&self.header, to)?;
        self.entries.iter().try_for_each(|entry| line(entry, to))
    }

    /// Reads a trace; an error names the line.
    pub fn read(from: impl BufRead) -> Result<Self, ReadError> {
        let mut lines = from.lines().enumerate();
        let (_, first) = lines.next().ok_or(ReadError::Empty)?;
        let header: Header = parse(&first?, 1)?;
        if header.tanist_trace != SCHEMA {
            return Err(ReadError::Schema { found: header.tanist_trace });
        }
        let mut entries = Vec::new();
        for (number, text) in lines {
            entries.push(parse(&text?, number + 1)?);
        }
        Ok(Self { header, entries })
    }

    /// SHA-256 of the written form.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hash = Hashing(Sha256::new());
        // Writing to a hash cannot fail.
        let _ = self.write(&mut hash);
        hash.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The entries without those of heartbeats.
pub(crate) fn without_heartbeats(entries: &[Entry]) -> Cow<'_, [Entry]> {
    if entries.iter().any(|entry| entry.event.is_of_heartbeat()) {
        entries.iter().filter(|entry| !entry.event.is_of_heartbeat()).cloned().collect()
    } else {
        Cow::Borrowed(entries)
    }
}

/// Why a text is not a trace.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The text is empty.
    #[error("line 1: the trace is empty; its first line must be a header")]
    Empty,
    /// The trace has another version.
    #[error("line 1: the trace has schema {found}, this program reads schema {SCHEMA}")]
    Schema {
        /// Which.
        found: u32,
    },
    /// A line that is not an entry.
    #[error("line {line}: {source}")]
    Line {
        /// Which, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

struct Hashing(Sha256);

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn line(value: &impl Serialize, to: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *to, value)?;
    to.write_all(b"\n")
}

fn parse<T: serde::de::DeserializeOwned>(text: &str, line: usize) -> Result<T, ReadError> {
    serde_json::from_str(text).map_err(|source| ReadError::Line { line, source })
}
