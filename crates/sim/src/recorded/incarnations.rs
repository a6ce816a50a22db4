//! When each node was up, as far as the files show: each incarnation from its start to its last
//! line.
//! | A harness records a crash right before it kills the process, so the crash belongs to the
//! incarnation that had begun by then, and the last lines of that incarnation may be stamped after
//! it. A crash that was not recorded is inferred: with certainty where the node starts again, and
//! for a live run also where it fell silent and did not receive what others sent to it. The
//! earliest possible moment is taken, right after the last line; the judge also tries the latest
//! one.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tanist_core::trace::{Entry, Event, Header, Source as Writer};
use tanist_core::{NodeId, NodeSet, Time};

use super::faults::Faults;
use super::file::{Line, TraceFile};
use super::{MergeError, Source, own};

/// Where a line is: its file, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: usize,
    pub(super) line: usize,
}

/// The incarnations of every node, in order.
pub(super) struct Incarnations {
    by_node: BTreeMap<NodeId, Vec<Incarnation>>,
}

/// One incarnation of one node.
#[derive(Clone, Debug)]
pub(super) struct Incarnation {
    /// Its first line.
    pub(super) start: Place,
    /// Its last line.
    pub(super) last: Place,
    /// The record of its crash.
    pub(super) crash: Option<Place>,
    started_at: Time,
    last_at: Time,
}

impl Incarnations {
    /// Finds all incarnations, and inserts the crashes that are not recorded into the files.
    pub(super) fn find(files: &mut [TraceFile], header: &Header) -> Result<Self, MergeError> {
        let incarnations = Self::read(files)?;
        let mut crashes = incarnations.unseen_crashes(files, header);
        // From the back, so that earlier indexes stay valid.
        crashes.sort_by_key(|(_, last)| std::cmp::Reverse(*last));
        for (node, last) in &crashes {
            let lines = &mut files[last.file].lines;
            let Line { ref entry, number, .. } = lines[last.line];
            let entry = Entry { at: entry.at, event: Event::Crash { node: *node } };
            lines.insert(last.line + 1, Line { entry, number, by: Source::Inferred });
        }
        if crashes.is_empty() { Ok(incarnations) } else { Self::read(files) }
    }

    /// All incarnations.
    pub(super) fn all(&self) -> impl Iterator<Item = &[Incarnation]> + '_ {
        self.by_node.values().map(Vec::as_slice)
    }

    /// Nodes whose messages others received although their own lines do not show the sending.
    pub(super) fn gaps(&self, files: &[TraceFile]) -> NodeSet {
        let mut sent = BTreeSet::new();
        for entry in entries(files) {
            if let Event::Send { node, to, id, .. } = entry.event {
                sent.insert((node, Some(to), id));
            } else if let Event::Broadcast { node, id, .. } = entry.event {
                sent.insert((node, None, id));
            }
        }
        let heard = entries(files).filter_map(|entry| {
            let Event::Receive { node, from, id, .. } = entry.event else { return None };
            let is_told =
                sent.contains(&(from, Some(node), id)) || sent.contains(&(from, None, id));
            (!is_told).then_some(from)
        });
        heard.collect()
    }

    fn read(files: &[TraceFile]) -> Result<Self, MergeError> {
        let mut by_node: BTreeMap<NodeId, Vec<Incarnation>> = BTreeMap::new();
        for (file, text) in files.iter().enumerate() {
            let mut current: BTreeMap<NodeId, Incarnation> = BTreeMap::new();
            for (line, Line { entry, number, .. }) in text.lines.iter().enumerate() {
                let Some(node) = own(&entry.event) else { continue };
                let here = Place { file, line };
                if let Event::Start { .. } = entry.event {
                    let (started_at, last_at) = (entry.at, entry.at);
                    let incarnation =
                        Incarnation { start: here, last: here, crash: None, started_at, last_at };
                    let before = current.insert(node, incarnation);
                    by_node.entry(node).or_default().extend(before);
                    continue;
                }
                let Some(incarnation) = current.get_mut(&node) else {
                    let (file, line) = (text.name.clone(), *number);
                    return Err(MergeError::NotStarted { file, line, node });
                };
                (incarnation.last, incarnation.last_at) = (here, entry.at);
            }
            for (node, incarnation) in current {
                by_node.entry(node).or_default().push(incarnation);
            }
        }
        for (node, incarnations) in &mut by_node {
            incarnations.sort_by_key(|incarnation| (incarnation.started_at, incarnation.start));
            no_overlap(files, *node, incarnations)?;
        }
        let mut incarnations = Self { by_node };
        incarnations.note_crashes(files);
        Ok(incarnations)
    }

    fn note_crashes(&mut self, files: &[TraceFile]) {
        for (file, text) in files.iter().enumerate() {
            for (line, Line { entry, .. }) in text.lines.iter().enumerate() {
                let Event::Crash { node } = entry.event else { continue };
                let Some(incarnations) = self.by_node.get_mut(&node) else { continue };
                let here = Place { file, line };
                let has_begun = |incarnation: &&mut Incarnation| {
                    // Within one file the order of lines is more reliable than stamps.
                    if incarnation.start.file == file {
                        incarnation.start < here
                    } else {
                        incarnation.started_at <= entry.at
                    }
                };
                // A crash and a restart at the same time: the crash came first.
                let is_restart = |incarnation: &Incarnation| {
                    incarnation.start.file != file && incarnation.started_at == entry.at
                };
                let mut begun: Vec<&mut Incarnation> =
                    incarnations.iter_mut().filter(has_begun).collect();
                if begun.len() > 1
                    && begun.last().is_some_and(|incarnation| is_restart(incarnation))
                {
                    begun.pop();
                }
                if let Some(incarnation) = begun.pop() {
                    incarnation.crash.get_or_insert(here);
                }
            }
        }
    }

    /// Crashes that were not recorded: the node, and the last line of that incarnation.
    fn unseen_crashes(&self, files: &[TraceFile], header: &Header) -> Vec<(NodeId, Place)> {
        let silent = self.silent(files, header);
        let mut crashes = Vec::new();
        for (node, incarnations) in &self.by_node {
            let Some((latest, earlier)) = incarnations.split_last() else { continue };
            let ended = earlier.iter().chain(silent.contains(*node).then_some(latest));
            let unseen = ended.filter(|incarnation| incarnation.crash.is_none());
            crashes.extend(unseen.map(|incarnation| (*node, incarnation.last)));
        }
        crashes
    }

    /// Live nodes that wrote nothing more although others sent to them at least T before the end.
    fn silent(&self, files: &[TraceFile], header: &Header) -> NodeSet {
        let answer = Duration::from_micros(header.answer_us);
        let end = entries(files).map(|entry| entry.at).max().unwrap_or(Time::ZERO);
        let faults = Faults::among(entries(files));
        let is_ignored = |node: NodeId, after: Time| {
            entries(files).any(|entry| {
                let Some(from) = writer(&entry.event, node) else { return false };
                entry.at > after
                    && entry.at + answer <= end
                    && !faults.is_paused(node, entry.at + answer)
                    && faults.cut(from, node, entry.at, entry.at + answer).is_none()
            })
        };
        let last = self
            .by_node
            .iter()
            .filter_map(|(node, incarnations)| Some((*node, incarnations.last()?)));
        last.filter(|(node, incarnation)| {
            header.source == Writer::Live && is_ignored(*node, incarnation.last_at)
        })
        .map(|(node, _)| node)
        .collect()
    }
}

/// The sender of a message to this node, or of a broadcast.
fn writer(event: &Event, node: NodeId) -> Option<NodeId> {
    if let Event::Send { node: from, to, .. } = event {
        (*to == node).then_some(*from)
    } else if let Event::Broadcast { node: from, .. } = event {
        (*from != node).then_some(*from)
    } else {
        None
    }
}

fn entries(files: &[TraceFile]) -> impl Iterator<Item = &Entry> {
    files.iter().flat_map(|file| file.lines.iter().map(|line| &line.entry))
}

/// Refuses two files with lines of one node from the same time.
fn no_overlap(
    files: &[TraceFile],
    node: NodeId,
    incarnations: &[Incarnation],
) -> Result<(), MergeError> {
    let pair = incarnations.windows(2).find(|pair| {
        pair[0].start.file != pair[1].start.file && pair[0].last_at >= pair[1].started_at
    });
    match pair {
        None => Ok(()),
        Some(pair) => {
            let name = |incarnation: &Incarnation| files[incarnation.start.file].name.clone();
            Err(MergeError::Twice { node, file: name(&pair[1]), other: name(&pair[0]) })
        }
    }
}
