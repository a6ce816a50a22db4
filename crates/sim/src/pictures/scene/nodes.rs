//! What nodes are at a moment of a trace: up or down, and which coordinator they follow.

use std::collections::{BTreeMap, BTreeSet};

use tanist_core::trace::{Entry, Event, Header};
use tanist_core::{NodeId, Status};

use crate::pictures::looks::Mark;

/// How a node is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) is_up: bool,
    pub(super) is_paused: bool,
    pub(super) is_withdrawn: bool,
    /// Whether it takes part in nothing because its application has not stopped in time.
    pub(super) is_silent: bool,
    pub(super) status: Option<Status>,
    pub(super) coordinator: Option<NodeId>,
    /// Whether it calls an election in what is drawn.
    pub(super) calls: bool,
}

/// All nodes of a picture.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks {
    pub(super) nodes: BTreeMap<NodeId, Look>,
    pub(super) detail: Detail,
}

/// How much a node says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Detail {
    /// Whether it is dead, and whether it coordinates.
    #[default]
    Outcome,
    /// Its status and its coordinator, too.
    All,
}

impl Looks {
    /// After the first so many entries of a trace.
    pub(super) fn after(header: &Header, entries: &[Entry], count: usize, detail: Detail) -> Self {
        let blank = |member: &tanist_core::Member| (member.id, Look::default());
        let mut nodes: BTreeMap<NodeId, Look> = header.nodes.iter().map(blank).collect();
        for Entry { event, .. } in entries.iter().take(count) {
            let Some(look) = event.actor().and_then(|node| nodes.get_mut(&node)) else { continue };
            look.note(event);
        }
        Self { nodes, detail }
    }

    /// Marks these nodes as callers.
    pub(super) fn called_by(mut self, callers: &BTreeSet<NodeId>) -> Self {
        for (node, look) in &mut self.nodes {
            look.calls = callers.contains(node);
        }
        self
    }

    pub(super) fn of(&self, node: NodeId) -> Look {
        self.nodes.get(&node).copied().unwrap_or_default()
    }

    pub(super) fn leads(&self, node: NodeId) -> bool {
        let look = self.of(node);
        look.takes_part() && look.status == Some(Status::Normal) && look.coordinator == Some(node)
    }

    /// The coordinator that a node follows, if that is another node.
    pub(super) fn follows(&self, node: NodeId) -> Option<NodeId> {
        let look = self.of(node);
        look.coordinator.filter(|other| look.takes_part() && *other != node)
    }

    pub(super) fn leaders(&self) -> Vec<NodeId> {
        self.nodes.keys().copied().filter(|node| self.leads(*node)).collect()
    }

    pub(super) fn down(&self) -> Vec<NodeId> {
        let down = self.nodes.iter().filter(|(_, look)| !look.is_up);
        down.map(|(node, _)| *node).collect()
    }

    /// The nodes that are silent since their applications hang.
    pub(super) fn silent(&self) -> Vec<NodeId> {
        let silent = self.nodes.iter().filter(|(_, look)| look.is_silent);
        silent.map(|(node, _)| *node).collect()
    }

    /// The sign of a node.
    pub(super) fn sign(&self, node: NodeId) -> Option<Mark> {
        let look = self.of(node);
        let signs = [
            (!look.is_up, Mark::Crash),
            (look.is_silent, Mark::Silent),
            (look.is_withdrawn, Mark::Withdraw),
            (look.is_paused, Mark::Paused),
            (self.leads(node), Mark::Coordinator),
        ];
        signs.into_iter().find(|(is_shown, _)| *is_shown).map(|(_, mark)| mark)
    }
}

impl Look {
    /// Whether it is up and not silent.
    pub(super) fn takes_part(self) -> bool {
        self.is_up && !self.is_silent
    }

    fn note(&mut self, event: &Event) {
        if let Event::Start { .. } = event {
            *self = Self { is_up: true, ..Self::default() };
        } else if let Event::Crash { .. } = event {
            *self = Self::default();
        } else if let Event::Pause { .. } = event {
            self.is_paused = true;
        } else if let Event::Resume { .. } = event {
            self.is_paused = false;
        } else if let Event::Withdraw { .. } = event {
            (self.is_withdrawn, self.is_silent) = (true, false);
        } else if let Event::Overdue { .. } = event {
            self.is_silent = true;
        } else if let Event::Rejoin { .. } = event {
            (self.is_withdrawn, self.is_silent) = (false, false);
        } else if let Event::State { state, .. } = event {
            (self.status, self.coordinator) = (Some(state.status), state.coordinator);
        }
    }
}

/// The nodes that call an election in these entries.
pub(super) fn callers(entries: &[Entry]) -> BTreeSet<NodeId> {
    let called = entries.iter().filter_map(|entry| {
        let Event::Call { node } = entry.event else { return None };
        Some(node)
    });
    called.collect()
}
