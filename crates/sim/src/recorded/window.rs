//! A part of a run, for a picture that is small enough to read.

use std::collections::BTreeSet;
use std::time::Duration;

use tanist_core::trace::{Entry, Event, Link};
use tanist_core::{Membership, Status, Time};

use super::Recorded;
use crate::observe::global_state::GlobalState;

/// From one time of the run to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The beginning.
    pub from: Time,
    /// The end.
    pub to: Time,
}

impl Window {
    /// From shortly before the crash with this number, counted from 1, until all survivors are
    /// Normal again in the group of a live coordinator. None if there are fewer crashes.
    #[must_use]
    pub fn around_crash(run: &Recorded, number: usize) -> Option<Self> {
        let after = Duration::from_micros(run.header.answer_us);
        let before = after * 2;
        let mut global = GlobalState::new(run.members.clone());
        let mut crashes = 0;
        let mut crash: Option<Time> = None;
        let mut has_reacted = false;
        for entry in run.entries() {
            global.note(entry.at, &entry.event);
            if let Event::Crash { .. } = entry.event {
                crashes += 1;
                if crashes == number {
                    crash = Some(entry.at);
                }
            }
            let Some(crash) = crash else { continue };
            has_reacted |= matches!(entry.event, Event::State { .. });
            if has_reacted && is_normal(&global) {
                return Some(Self { from: crash - before, to: entry.at + after });
            }
        }
        crash.map(|crash| Self { from: crash - before, to: run.end() })
    }

    /// How many crashes there are to choose from.
    #[must_use]
    pub fn crashes(run: &Recorded) -> usize {
        run.entries().filter(|entry| matches!(entry.event, Event::Crash { .. })).count()
    }

    /// The entries in the window.
    #[must_use]
    pub fn entries(&self, entries: &[Entry]) -> Vec<Entry> {
        entries.iter().filter(|entry| self.has(entry.at)).cloned().collect()
    }

    /// The entries in the window, after some that describe the global state at its beginning.
    #[must_use]
    pub fn picture(&self, run: &Recorded, entries: &[Entry]) -> Vec<Entry> {
        let mut drawn = self.beginning(&run.members, entries);
        drawn.extend(self.entries(entries));
        drawn
    }

    /// Entries that describe the global state at the beginning of the window: which nodes run and
    /// in which state, which are paused or take no part, which links are cut. None for a window that begins
    /// with the run.
    #[must_use]
    pub fn beginning(&self, members: &Membership, entries: &[Entry]) -> Vec<Entry> {
        let mut global = GlobalState::new(members.clone());
        let mut cut: BTreeSet<Link> = BTreeSet::new();
        for entry in entries.iter().take_while(|entry| entry.at < self.from) {
            global.note(entry.at, &entry.event);
            if let Event::Cut { links } = &entry.event {
                cut.extend(links);
            } else if let Event::Heal { links } = &entry.event {
                cut.retain(|link| !links.contains(link));
            }
        }
        let mut drawn = Vec::new();
        let mut push = |event| drawn.push(Entry { at: self.from, event });
        for view in global.views().iter().filter(|view| view.is_running) {
            let node = view.id;
            push(Event::Start { node, restarted: false });
            push(Event::State { node, state: view.state.clone() });
            if view.is_overdue {
                push(Event::Overdue { node });
            } else if view.is_withdrawn {
                push(Event::Withdraw { node });
            }
            if view.is_paused {
                push(Event::Pause { node });
            }
        }
        if !cut.is_empty() {
            push(Event::Cut { links: cut.into_iter().collect() });
        }
        drawn
    }

    fn has(&self, at: Time) -> bool {
        self.from <= at && at <= self.to
    }
}

/// Whether every running node is Normal in the same group as its coordinator; a coordinator that
/// restarted is in another group.
fn is_normal(global: &GlobalState) -> bool {
    global.live().filter(|view| !view.is_paused).all(|view| {
        let coordinator = view.state.coordinator.and_then(|id| global.view(id));
        view.state.status == Status::Normal
            && coordinator.is_some_and(|other| other.is_up && other.state.group == view.state.group)
    })
}
