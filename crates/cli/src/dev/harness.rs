//! What was done to a group from outside, as a trace file beside those of its nodes.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use tanist::{NodeId, clock};
use tanist_core::Time;
use tanist_core::trace::{Entry, Event, Link};

/// The experimenter's own trace. It has the header of the nodes' traces, so it begins when the
/// first of them has one.
#[derive(Debug)]
pub(crate) struct Harness {
    directory: PathBuf,
    file: Option<File>,
}

impl Harness {
    /// A trace in the directory where the nodes write theirs.
    pub(crate) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), file: None }
    }

    /// Notes that a node was killed, and when that began.
    pub(crate) fn crash(&mut self, at: Time, node: NodeId) -> anyhow::Result<()> {
        self.note(at, Event::Crash { node })
    }

    /// Notes that a node was stopped.
    pub(crate) fn pause(&mut self, at: Time, node: NodeId) -> anyhow::Result<()> {
        self.note(at, Event::Pause { node })
    }

    /// Notes that a stopped node goes on.
    pub(crate) fn resume(&mut self, at: Time, node: NodeId) -> anyhow::Result<()> {
        self.note(at, Event::Resume { node })
    }

    /// Notes that all links between two sides are cut.
    pub(crate) fn cut(&mut self, one: &[NodeId], other: &[NodeId]) -> anyhow::Result<()> {
        self.note(clock::now(), Event::Cut { links: links(one, other) })
    }

    /// Notes that they are whole again.
    pub(crate) fn heal(&mut self, one: &[NodeId], other: &[NodeId]) -> anyhow::Result<()> {
        self.note(clock::now(), Event::Heal { links: links(one, other) })
    }

    fn note(&mut self, at: Time, event: Event) -> anyhow::Result<()> {
        let entry = Entry { at, event };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        if self.file.is_none() {
            self.file = self.open()?;
        }
        match &mut self.file {
            Some(file) => Ok(file.write_all(&line)?),
            None => Ok(()),
        }
    }

    /// None while no node has written anything: then there is no run to be part of.
    fn open(&self) -> anyhow::Result<Option<File>> {
        let Some(header) = header(&self.directory)? else { return Ok(None) };
        let path = self.directory.join("experiment.jsonl");
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(header.as_bytes())?;
        Ok(Some(file))
    }
}

fn header(directory: &Path) -> anyhow::Result<Option<String>> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let mut line = String::new();
            BufReader::new(File::open(path)?).read_line(&mut line)?;
            if line.ends_with('\n') {
                return Ok(Some(line));
            }
        }
    }
    Ok(None)
}

fn links(one: &[NodeId], other: &[NodeId]) -> Vec<Link> {
    let pairs = one.iter().flat_map(|from| other.iter().map(move |to| (*from, *to)));
    pairs.flat_map(|(a, b)| [Link { from: a, to: b }, Link { from: b, to: a }]).collect()
}
