//! The faults of a recorded run, and what they meant at a given moment.
//!
//! A run has few faults and few queries, so every query scans all of them.

use tanist_core::trace::{Entry, Event, Link};
use tanist_core::{NodeId, Time};

/// Pauses, cuts and their ends, in order of time.
pub(super) struct Faults<'a> {
    entries: Vec<&'a Entry>,
}

impl<'a> Faults<'a> {
    /// The faults among these entries.
    pub(super) fn among(entries: impl Iterator<Item = &'a Entry>) -> Self {
        let is_crash = |event: &Event| matches!(event, Event::Crash { .. });
        let is_fault = |entry: &&Entry| entry.event.is_from_outside() && !is_crash(&entry.event);
        let mut entries: Vec<&Entry> = entries.filter(is_fault).collect();
        entries.sort_by_key(|entry| entry.at);
        Self { entries }
    }

    /// Whether a node was paused.
    pub(super) fn is_paused(&self, node: NodeId, at: Time) -> bool {
        let mut is_paused = false;
        for entry in self.until(at) {
            if entry.event == (Event::Pause { node }) {
                is_paused = true;
            } else if entry.event == (Event::Resume { node }) {
                is_paused = false;
            }
        }
        is_paused
    }

    /// When the link was cut, if it was down at some moment of this period; none if it was up all
    /// the time.
    pub(super) fn cut(&self, from: NodeId, to: NodeId, since: Time, until: Time) -> Option<Time> {
        let mut cut_at = None;
        for entry in self.until(until) {
            if let Event::Cut { links } = &entry.event
                && links.contains(&Link { from, to })
            {
                cut_at = Some(entry.at);
            } else if let Event::Heal { links } = &entry.event
                && links.contains(&Link { from, to })
            {
                if cut_at.is_some() && entry.at > since {
                    return cut_at;
                }
                cut_at = None;
            }
        }
        cut_at
    }

    fn until(&self, at: Time) -> impl Iterator<Item = &Entry> + '_ {
        self.entries.iter().copied().take_while(move |entry| entry.at <= at)
    }
}
