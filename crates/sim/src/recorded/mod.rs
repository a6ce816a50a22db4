//! A run of live nodes, merged from the traces that they wrote, and judged like a simulated one.
//!
//! Each process writes its own file; the harness that kills processes and cuts links writes one
//! more. [`Recorded::merge`] makes one trace of them, [`Recorded::judge`] runs the same monitors on
//! it that check simulated runs.
//!
//! ```text
//!   file          a file, read line by line         \
//!   group         the group of the headers, checked   |
//!   incarnations  who was up when; unseen crashes    | recorded lines, plus what follows from them
//!   order         one order: causes before effects   |
//!   losses        messages that were not received   /
//!   judge         monitors, and what they cannot say     window   a part of it, for a picture
//! ```
//!
//! Assumes that all files are stamped with one clock, as by the processes of one machine. Stamps of
//! several machines cannot be compared: they contradict each other sooner or later; then the files
//! are refused and can only be judged one by one.
//!
//! An event that was not recorded but follows from recorded ones (an unrecorded crash, a lost
//! message) is marked as inferred, so that it is inferred again and not taken for evidence when a
//! merged trace is read back.

mod faults;
mod file;
mod group;
mod incarnations;
mod judge;
mod losses;
mod order;
mod window;

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;
use tanist_core::election::Algorithm;
use tanist_core::membership::{MembershipError, NodeNames};
use tanist_core::trace::{Entry, Event, Header};
use tanist_core::{Membership, NodeId, NodeSet, Time};

use self::group::Group;
use self::incarnations::Incarnations;

pub use self::file::{FileError, TraceFile};
pub use self::judge::{Judged, Ruling};
pub use self::window::Window;

/// The run that a set of files records.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The header, on which the files agree.
    pub header: Header,
    /// How well the files fit together.
    pub fit: Fit,
    members: Membership,
    algorithm: Algorithm,
    entries: Vec<Known>,
}

/// An entry, and how it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    entry: Entry,
    by: Source,
}

/// How an entry is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A process wrote it.
    Recorded,
    /// It follows from recorded entries.
    Inferred,
}

/// How well a set of files fits together, and what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fit {
    /// How many files there are.
    pub files: usize,
    /// Lines that were cut in half when their writer was killed.
    pub half_lines: usize,
    /// Receipts that were stamped before their sendings, and moved behind them.
    pub nudged: usize,
    /// How far the worst of them was off.
    pub nudged_max: Duration,
    /// Nodes with a crash that no file records.
    pub unseen_crashes: NodeSet,
    /// Nodes that others received messages from and whose own lines are missing, in whole or in
    /// part.
    pub gaps: NodeSet,
    /// Messages that were never received.
    pub losses: usize,
}

impl Recorded {
    /// Merges the files of one run into one trace; stamps may contradict each other by `tolerance`.
    pub fn merge(mut files: Vec<TraceFile>, tolerance: Duration) -> Result<Self, MergeError> {
        let header = agreed_header(&files)?;
        let Group { algorithm, members } = group::group(&files, &header)?;
        // At equal stamps faults come first, as in the simulator; then nodes by id. So the order of
        // the arguments does not matter.
        files.sort_by_cached_key(|file| (file.first_node(), file.name.clone()));
        let incarnations = Incarnations::find(&mut files, &header)?;
        let (mut entries, nudges) = order::order(&files, &incarnations, tolerance)?;
        begin_at_zero(&mut entries);
        let gaps = incarnations.gaps(&files);
        let lost = losses::find(&header, &entries, &gaps);
        let fit = Fit {
            files: files.len(),
            half_lines: files.iter().map(|file| file.half_lines).sum(),
            nudged: nudges.count,
            nudged_max: nudges.longest,
            unseen_crashes: unseen_crashes(&entries),
            gaps,
            losses: lost.len(),
        };
        entries.extend(lost);
        entries.sort_by_key(|known| known.entry.at);
        Ok(Self { header, fit, members, algorithm, entries })
    }

    /// All entries, in order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> + '_ {
        self.entries.iter().map(|known| &known.entry)
    }

    /// The time of the last entry.
    #[must_use]
    pub fn end(&self) -> Time {
        self.entries.last().map_or(Time::ZERO, |known| known.entry.at)
    }

    /// Writes the trace as JSON lines that [`TraceFile::read`] reads; inferred entries are marked.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *to, &self.header)?;
        to.write_all(b"\n")?;
        for Known { entry, by } in &self.entries {
            match by {
                Source::Recorded => serde_json::to_writer(&mut *to, entry)?,
                Source::Inferred => {
                    serde_json::to_writer(&mut *to, &Marked { entry, inferred: true })?;
                }
            }
            to.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// Stamps that contradict each other by more than this are not of one machine.
pub const TOLERANCE: Duration = Duration::from_millis(10);

/// An entry with its mark.
#[derive(Serialize)]
struct Marked<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    inferred: bool,
}

/// Why files do not make one run.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// No file.
    #[error(
        "there is no trace to read; nothing was judged. Name files that nodes wrote, or a folder \
         of them"
    )]
    NoFiles,
    /// Two headers differ.
    #[error(
        "{file}:{line}: its {what} is {here}, that of {other} is {there}; nothing was judged. Files of \
         one run have the same group: leave out those of another run"
    )]
    Differs {
        /// The file that differs.
        file: String,
        /// The line of its header.
        line: usize,
        /// From this one.
        other: String,
        /// The field that differs.
        what: &'static str,
        /// Its value.
        here: String,
        /// Its value in the other file.
        there: String,
    },
    /// An algorithm that this program does not know.
    #[error(
        "{file}:{line}: the trace is of algorithm {name:?}, which this program does not know; nothing was \
         judged. Known ones: tanist algorithms"
    )]
    Algorithm {
        /// Which file.
        file: String,
        /// The line of its header.
        line: usize,
        /// Its name.
        name: String,
    },
    /// The header's nodes do not make a group.
    #[error(
        "{file}:{line}: the nodes in the header do not make a group: {source}. Nothing was judged; \
         the header was changed"
    )]
    Members {
        /// Which file.
        file: String,
        /// The line of its header.
        line: usize,
        /// What is wrong with them.
        source: MembershipError,
    },
    /// A field of the header that no group could have.
    #[error(
        "{file}:{line}: `{field}` in the header is wrong: {why}. Nothing was judged; the header \
         was changed: take it as tanist wrote it"
    )]
    Header {
        /// Which file.
        file: String,
        /// The line of its header.
        line: usize,
        /// The field.
        field: &'static str,
        /// What is wrong with it, and what was expected.
        why: String,
    },
    /// A clock that runs backwards.
    #[error(
        "{file}:{line}: the clock runs back by {by:?}; nothing was judged. The machine was \
         restarted, or the file holds two runs: split it there and judge the parts"
    )]
    Backwards {
        /// Which file.
        file: String,
        /// Which line.
        line: usize,
        /// By how much.
        by: Duration,
    },
    /// Lines of one node in two files at one time.
    #[error(
        "{file}: it holds lines of {node} from the time that {other} holds, too; nothing was \
         judged. A copy or a merged trace lies among the files: leave one of the two out"
    )]
    Twice {
        /// The node.
        node: NodeId,
        /// In this file.
        file: String,
        /// And in this one.
        other: String,
    },
    /// A node that acts before it starts.
    #[error(
        "{file}:{line}: {node} acts and has not started; nothing was judged. The beginning of its \
         file is missing: record from the start of each node"
    )]
    NotStarted {
        /// Which file.
        file: String,
        /// Which line.
        line: usize,
        /// The node.
        node: NodeId,
    },
    /// An effect that is stamped before its cause.
    #[error(
        "{effect} comes {by:?} before {cause}, which it needs; nothing was judged. The files are \
         of machines with different clocks: judge them one by one, tanist trace check FILE"
    )]
    Contradiction {
        /// Place and name of the effect.
        effect: String,
        /// Place and name of the cause.
        cause: String,
        /// How far apart they are.
        by: Duration,
    },
}

/// The header that all files share, except for the name of the run, names that some leave out, and
/// how long an application may take to stop.
fn agreed_header(files: &[TraceFile]) -> Result<Header, MergeError> {
    let first = files.first().ok_or(MergeError::NoFiles)?;
    let there = said(&first.header);
    for file in files {
        for (header, line) in file.headers() {
            let pair = said(header).into_iter().zip(&there).find(|(here, there)| here != *there);
            if let Some(((what, here), (_, there))) = pair {
                let (file, other) = (file.name.clone(), first.name.clone());
                let there = there.clone();
                return Err(MergeError::Differs { file, line, other, what, here, there });
            }
        }
    }
    // The harness may name the run differently than the nodes name their group.
    let named = files.iter().filter(|file| file.first_node().is_some());
    let named = named.min_by_key(|file| file.first_node());
    let mut header = named.unwrap_or(first).header.clone();
    header.nodes.sort_unstable();
    header.names = agreed_names(files)?;
    // Each node has a limit of its own for its application. A monitor knows one for all, so the
    // longest: no node is blamed for being within its own.
    let limits = files.iter().flat_map(TraceFile::headers);
    header.stop_within_us =
        limits.map(|(header, _)| header.stop_within_us).max().unwrap_or(header.stop_within_us);
    Ok(header)
}

/// The names of the nodes, in which all files agree that have any: a harness may know none.
fn agreed_names(files: &[TraceFile]) -> Result<NodeNames, MergeError> {
    let all = files
        .iter()
        .flat_map(|file| file.headers().map(move |(header, line)| ((file, line), &header.names)));
    let mut named = all.filter(|(_, names)| !names.is_empty());
    let Some(((first, _), names)) = named.next() else { return Ok(NodeNames::default()) };
    match named.find(|(_, others)| *others != names) {
        None => Ok(names.clone()),
        Some(((file, line), others)) => Err(MergeError::Differs {
            file: file.name.clone(),
            line,
            other: first.name.clone(),
            what: "list of names",
            here: names_words(others),
            there: names_words(names),
        }),
    }
}

fn names_words(names: &NodeNames) -> String {
    let words = names.iter().map(|(id, name)| format!("{id} {name}"));
    words.collect::<Vec<_>>().join(", ")
}

/// The fields that headers of one run share, each with its name.
fn said(header: &Header) -> [(&'static str, String); 7] {
    let mut nodes = header.nodes.clone();
    nodes.sort_unstable();
    let nodes =
        nodes.iter().map(|member| format!("{} (priority {})", member.id, member.priority.0));
    let mut options = header.options.clone();
    options.sort_unstable();
    [
        ("algorithm", header.algorithm.clone()),
        ("list of nodes", nodes.collect::<Vec<_>>().join(", ")),
        ("order of the ring", NodeNames::default().list(header.ring.iter().copied())),
        ("list of options", format!("[{}]", options.join(", "))),
        ("T (answer_us)", header.answer_us.to_string()),
        ("period of Check (check_every_us)", header.check_every_us.to_string()),
        ("preempt", header.preempt.clone()),
    ]
}

fn begin_at_zero(entries: &mut [Known]) {
    let start = entries.first().map_or(Time::ZERO, |known| known.entry.at);
    for known in entries {
        known.entry.at = Time::ZERO + known.entry.at.since(start);
    }
}

fn unseen_crashes(entries: &[Known]) -> NodeSet {
    let inferred = entries.iter().filter(|known| known.by == Source::Inferred);
    let crashes = inferred.filter_map(|known| {
        let Event::Crash { node } = known.entry.event else { return None };
        Some(node)
    });
    crashes.collect()
}

/// The node that recorded an event about itself.
fn own(event: &Event) -> Option<NodeId> {
    event.actor().filter(|_| !event.is_from_outside())
}
