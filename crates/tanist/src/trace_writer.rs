//! A node's own trace, in the simulator's schema: what it did, when, one line each.
//!
//! A line is written before the driver goes on, by one system call, so that what was sent is in the
//! file even if the process is killed the moment after. Heartbeats are left out. A writer that
//! cannot be written is given up with a warning; an election does not depend on it. The last few
//! thousand entries are kept in memory as well, file or no file.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use serde::Serialize;
use tanist_core::membership::NodeNames;
use tanist_core::time::micros;
use tanist_core::trace::{Entry, Header, SCHEMA, Source};
use tanist_core::{GroupConfig, Membership};

/// A trace file that is being written.
#[derive(Debug)]
pub(crate) struct TraceWriter {
    path: PathBuf,
    file: Option<File>,
    line: Vec<u8>,
}

impl TraceWriter {
    /// Opens the file, and begins a new part of it if there is one from an earlier incarnation.
    pub(crate) fn open(
        path: &Path,
        group: &str,
        config: &GroupConfig,
        members: &Membership,
    ) -> io::Result<Self> {
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        drop_half_line(&mut file)?;
        let mut writer = Self { path: path.to_owned(), file: Some(file), line: Vec::new() };
        writer.write(&header(group, config, members));
        Ok(writer)
    }

    /// Writes down that something happened.
    pub(crate) fn note(&mut self, entry: &Entry) {
        self.write(entry);
    }

    fn write(&mut self, what: &impl Serialize) {
        let Some(file) = &mut self.file else { return };
        let written =
            serde_json::to_writer(&mut self.line, what).map_err(io::Error::from).and_then(|()| {
                self.line.push(b'\n');
                file.write_all(&self.line)
            });
        self.line.clear();
        if let Err(error) = written {
            let path = self.path.display();
            tracing::warn!("the trace {path} ends here: {error}. The node goes on without one.");
            self.file = None;
        }
    }
}

/// The last things that a node did, in memory, to explain elections.
///
/// The driver never waits here: it sends an entry through a channel, and moves what waits into the
/// ring only if no reader holds the ring at that moment. A reader moves what waits itself, so it
/// misses nothing. What waits is bounded by what the driver does while one reader copies pointers.
#[derive(Debug)]
pub(crate) struct RecentTrace {
    header: Header,
    entries: Sender<Arc<Entry>>,
    ring: Mutex<Ring>,
}

#[derive(Debug)]
struct Ring {
    waiting: Receiver<Arc<Entry>>,
    recent: Recent,
}

/// What a node did lately, in the schema of its trace.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    /// How many entries came before the first of these and are forgotten.
    pub forgotten: u64,
    /// The entries, oldest first.
    pub entries: VecDeque<Arc<Entry>>,
}

impl RecentTrace {
    /// Of a node that has done nothing yet.
    pub(crate) fn new(group: &str, config: &GroupConfig, members: &Membership) -> Self {
        let (entries, waiting) = mpsc::channel();
        let ring = Mutex::new(Ring { waiting, recent: Recent::default() });
        Self { header: header(group, config, members), entries, ring }
    }

    /// What the first line of this node's trace says.
    pub(crate) const fn header(&self) -> &Header {
        &self.header
    }

    /// Remembers, and forgets what is too long ago. Waits for no reader.
    pub(crate) fn keep(&self, entry: Entry) {
        // The other end is in this very struct, so it is there.
        let _ = self.entries.send(Arc::new(entry));
        match self.ring.try_lock() {
            Ok(mut ring) => ring.take_in(),
            Err(TryLockError::Poisoned(ring)) => ring.into_inner().take_in(),
            // The reader that holds it is followed by another reader or by the next entry.
            Err(TryLockError::WouldBlock) => {}
        }
    }

    /// All that is remembered.
    pub(crate) fn recent(&self) -> Recent {
        let mut ring = self.lock();
        ring.take_in();
        ring.recent.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        // No holder can panic: entries are only moved.
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn take_in(&mut self) {
        while let Ok(entry) = self.waiting.try_recv() {
            if self.recent.entries.len() >= REMEMBERED_MAX {
                self.recent.entries.pop_front();
                self.recent.forgotten += 1;
            }
            self.recent.entries.push_back(entry);
        }
    }
}

/// An earlier incarnation may have been killed in the middle of a line.
fn drop_half_line(file: &mut File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let from = length.saturating_sub(LINE_MAX);
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    let whole = end.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    file.set_len(from + whole as u64)
}

fn header(group: &str, config: &GroupConfig, members: &Membership) -> Header {
    let options = config.options().changed(config.algorithm());
    Header {
        tanist_trace: SCHEMA,
        source: Source::Live,
        scenario: group.to_owned(),
        algorithm: config.algorithm().name().to_owned(),
        options: options.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        seed: 0,
        nodes: members.all().to_vec(),
        labels: members.labelled().to_vec(),
        names: NodeNames::clone(members.names()),
        answer_us: micros(config.timing().answer()),
        ring: Vec::new(),
        stop_within_us: micros(config.timing().stop_within()),
        check_every_us: micros(config.timing().check_every()),
        preempt: config.preempt().in_header(),
    }
}

/// Some elections of a group of a hundred nodes, in less than a megabyte.
const REMEMBERED_MAX: usize = 4096;
/// No line is longer; what is longer is not one of ours.
const LINE_MAX: u64 = 1 << 22;

#[cfg(test)]
mod tests {
    use tanist_core::election::Algorithm;
    use tanist_core::timing::{Timing, TimingConfig};
    use tanist_core::trace::Event;
    use tanist_core::{GroupSettings, Membership, NodeId, Time};

    use super::*;

    fn group() -> (GroupConfig, Membership) {
        let millisecond = std::time::Duration::from_millis(1);
        let timing = Timing::new(TimingConfig::bounded_by(millisecond, millisecond)).unwrap();
        let config = GroupConfig::new(GroupSettings::new(Algorithm::Bully, timing)).unwrap();
        (config, Membership::numbered(3).unwrap())
    }

    #[test]
    fn a_second_life_drops_the_half_line_of_the_first() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("n1.jsonl");
        let (config, members) = group();
        let mut writer = TraceWriter::open(&path, "billing", &config, &members).unwrap();
        let event = Event::Start { node: NodeId(1), restarted: false };
        writer.note(&Entry { at: Time::ZERO, event });
        let first = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&first[..], b"{\"at_us\":12,\"ev"].concat()).unwrap();
        drop(TraceWriter::open(&path, "billing", &config, &members).unwrap());
        let lines = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[0], lines[2]);
        assert!(lines[1].contains("\"start\""), "{}", lines[1]);
    }

    #[test]
    fn the_driver_does_not_wait_for_a_reader_and_the_reader_misses_nothing() {
        let (config, members) = group();
        let kept = RecentTrace::new("billing", &config, &members);
        let count = REMEMBERED_MAX as u64 + 100;
        let keep = |from: u64, to: u64| {
            for at in from..to {
                let event = Event::Call { node: NodeId(1) };
                kept.keep(Entry { at: Time::from_micros(at), event });
            }
        };
        keep(0, 10);
        // A reader in the middle of its copy: with a lock in common, this would stand still.
        let reader = kept.lock();
        keep(10, count);
        drop(reader);
        let recent = kept.recent();
        assert_eq!(recent.forgotten, 100);
        let times: Vec<u64> = recent.entries.iter().map(|entry| entry.at.as_micros()).collect();
        assert_eq!(times, (100..count).collect::<Vec<u64>>());
    }
}
