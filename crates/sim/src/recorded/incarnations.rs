//! Who was up when, as far as files tell: each life of a node from its start to its last line.
//!
//! A harness stamps a crash right before it kills, so the crash belongs to the life that had begun
//! by then, and a last word of that life may be stamped after it. A death that nobody noted is
//! inferred: surely where the node starts again, and for a live run also where it fell silent and
//! did not take up what others wrote to it. The earliest possible moment is taken, right after the
//! last line; the judge looks at the latest one, too.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tanist_core::trace::{Entry, Event, Header, Source as Writer};
use tanist_core::{NodeId, NodeSet, Time};

use super::faults::Faults;
use super::file::{Line, TraceFile};
use super::{MergeError, Source, own};

/// Where a line is: which file, which line of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: usize,
    pub(super) line: usize,
}

/// The lives of every node, in order.
pub(super) struct Lives {
    by_node: BTreeMap<NodeId, Vec<Life>>,
}

/// One life of one node.
#[derive(Clone, Debug)]
pub(super) struct Life {
    /// Its first line.
    pub(super) start: Place,
    /// Its last line.
    pub(super) last: Place,
    /// The note of its death.
    pub(super) crash: Option<Place>,
    started_at: Time,
    last_at: Time,
}

impl Lives {
    /// Finds all lives, and puts the crashes into the files that nobody wrote there.
    pub(super) fn find(files: &mut [TraceFile], header: &Header) -> Result<Self, MergeError> {
        let lives = Self::read(files)?;
        let mut deaths = lives.unseen_deaths(files, header);
        // From the back, so that earlier places stay what they are.
        deaths.sort_by_key(|(_, last)| std::cmp::Reverse(*last));
        for (node, last) in &deaths {
            let lines = &mut files[last.file].lines;
            let Line { ref entry, number, .. } = lines[last.line];
            let entry = Entry { at: entry.at, event: Event::Crash { node: *node } };
            lines.insert(last.line + 1, Line { entry, number, by: Source::Inferred });
        }
        if deaths.is_empty() { Ok(lives) } else { Self::read(files) }
    }

    /// All lives.
    pub(super) fn all(&self) -> impl Iterator<Item = &[Life]> + '_ {
        self.by_node.values().map(Vec::as_slice)
    }

    /// Nodes that others heard and whose own lines do not tell of it.
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
        let mut by_node: BTreeMap<NodeId, Vec<Life>> = BTreeMap::new();
        for (file, text) in files.iter().enumerate() {
            let mut current: BTreeMap<NodeId, Life> = BTreeMap::new();
            for (line, Line { entry, number, .. }) in text.lines.iter().enumerate() {
                let Some(node) = own(&entry.event) else { continue };
                let here = Place { file, line };
                if let Event::Start { .. } = entry.event {
                    let (started_at, last_at) = (entry.at, entry.at);
                    let life = Life { start: here, last: here, crash: None, started_at, last_at };
                    let before = current.insert(node, life);
                    by_node.entry(node).or_default().extend(before);
                    continue;
                }
                let Some(life) = current.get_mut(&node) else {
                    let (file, line) = (text.name.clone(), *number);
                    return Err(MergeError::NotStarted { file, line, node });
                };
                (life.last, life.last_at) = (here, entry.at);
            }
            for (node, life) in current {
                by_node.entry(node).or_default().push(life);
            }
        }
        for (node, lives) in &mut by_node {
            lives.sort_by_key(|life| (life.started_at, life.start));
            no_overlap(files, *node, lives)?;
        }
        let mut lives = Self { by_node };
        lives.note_crashes(files);
        Ok(lives)
    }

    fn note_crashes(&mut self, files: &[TraceFile]) {
        for (file, text) in files.iter().enumerate() {
            for (line, Line { entry, .. }) in text.lines.iter().enumerate() {
                let Event::Crash { node } = entry.event else { continue };
                let Some(lives) = self.by_node.get_mut(&node) else { continue };
                let here = Place { file, line };
                let has_begun = |life: &&mut Life| {
                    // In one file the order of lines says more than stamps.
                    if life.start.file == file {
                        life.start < here
                    } else {
                        life.started_at <= entry.at
                    }
                };
                // A crash and a restart of one moment: the crash was first.
                let is_restart =
                    |life: &Life| life.start.file != file && life.started_at == entry.at;
                let mut begun: Vec<&mut Life> = lives.iter_mut().filter(has_begun).collect();
                if begun.len() > 1 && begun.last().is_some_and(|life| is_restart(life)) {
                    begun.pop();
                }
                if let Some(life) = begun.pop() {
                    life.crash.get_or_insert(here);
                }
            }
        }
    }

    /// Deaths that nobody noted: whose, and the last line of that life.
    fn unseen_deaths(&self, files: &[TraceFile], header: &Header) -> Vec<(NodeId, Place)> {
        let silent = self.silent(files, header);
        let mut deaths = Vec::new();
        for (node, lives) in &self.by_node {
            let Some((latest, earlier)) = lives.split_last() else { continue };
            let ended = earlier.iter().chain(silent.contains(*node).then_some(latest));
            let unseen = ended.filter(|life| life.crash.is_none());
            deaths.extend(unseen.map(|life| (*node, life.last)));
        }
        deaths
    }

    /// Live nodes that wrote nothing more although others wrote to them at least T before the end.
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
        let last = self.by_node.iter().filter_map(|(node, lives)| Some((*node, lives.last()?)));
        last.filter(|(node, life)| header.source == Writer::Live && is_ignored(*node, life.last_at))
            .map(|(node, _)| node)
            .collect()
    }
}

/// Who wrote to this node, or to everybody in reach.
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

/// Refuses lines of one node that two files have from one time.
fn no_overlap(files: &[TraceFile], node: NodeId, lives: &[Life]) -> Result<(), MergeError> {
    let pair = lives.windows(2).find(|pair| {
        pair[0].start.file != pair[1].start.file && pair[0].last_at >= pair[1].started_at
    });
    match pair {
        None => Ok(()),
        Some(pair) => {
            let name = |life: &Life| files[life.start.file].name.clone();
            Err(MergeError::Twice { node, file: name(&pair[1]), other: name(&pair[0]) })
        }
    }
}
