//! P-02, ours: no change of leader without cause.
//!
//! A node *reigns* from the moment it and all its live members, at least one, are Normal in its
//! group; or it alone, if the run begins so. Its reign ends when it crashes, withdraws or is paused,
//! or when links change. Until then it follows no other node, unless
//!
//! - that node reigns as well: two established groups met, and one of them must give in;
//! - that node is the named successor of one that withdrew, also alone;
//! - or the group is configured so that the highest node takes over, and that node outranks it.
//!
//! And a member of a group whose leader withdraws and names another node leaves the election to that
//! one: it does not call one itself when it is told.
//!
//! Assumes that messages keep their bounds and none is lost: a late message looks like a crash.

use std::collections::{BTreeMap, BTreeSet};

use tanist_core::trace::{Event, Header, Kind};
use tanist_core::{GroupNumber, NodeId, Status, Time};

use super::{Interest, Monitor, Violation, mix};
use crate::observe::global_state::{GlobalState, NodeView};

#[derive(Clone)]
pub(crate) struct SteadyLeader {
    /// The nodes that reign, each with the last group of its own.
    reigning: BTreeMap<NodeId, GroupNumber>,
    /// The groups of nodes whose reign has ended by a fault: a message that names one may still be in
    /// flight.
    fallen: BTreeSet<GroupNumber>,
    /// The nodes that a leader has named when it withdrew, until they follow another.
    heirs: BTreeSet<NodeId>,
    /// The node that was told in the last event that another one is named, and which. Only the rest
    /// of that step looks at it, so it is not part of the memory.
    told: Option<Told>,
    /// The nodes that have started, and have not shown a state since.
    starting: BTreeSet<NodeId>,
    /// Whether a node of higher rank may take over.
    highest_wins: bool,
    /// Whether priorities have changed, so that rank is not known from the header.
    has_changed_ranks: bool,
}

/// A member that was told of the successor of its leader.
#[derive(Clone, Copy)]
struct Told {
    node: NodeId,
    successor: NodeId,
    at: Time,
}

impl SteadyLeader {
    pub(crate) fn new(header: &Header) -> Self {
        let highest_wins = header.preempt.is_empty();
        Self {
            reigning: BTreeMap::new(),
            fallen: BTreeSet::new(),
            heirs: BTreeSet::new(),
            told: None,
            starting: BTreeSet::new(),
            highest_wins,
            has_changed_ranks: false,
        }
    }

    /// The state of a node has changed: it may follow another, or complete a group.
    fn changed(&mut self, global: &GlobalState, node: NodeId) -> Option<Violation> {
        let state = &global.view(node)?.state;
        let is_first = self.starting.remove(&node);
        let own = state.group.filter(|group| group.node == node);
        if let (Some(group), Some(reign)) = (own, self.reigning.get_mut(&node)) {
            *reign = group;
        }
        let coordinator = state.coordinator?;
        if coordinator != node {
            self.heirs.remove(&node);
        }
        if coordinator == node || !self.reigning.contains_key(&node) {
            let is_alone = is_first && state.status == Status::Normal && coordinator == node;
            let group = global.view(coordinator)?.state.group?;
            if is_alone || is_established(global, coordinator) {
                self.reigning.insert(coordinator, group);
            }
            return None;
        }
        self.reigning.remove(&node);
        let is_outranked = self.has_changed_ranks || global.members.outranks(coordinator, node);
        let may_take_over = self.highest_wins && is_outranked;
        let has_fallen = state.group.is_some_and(|group| self.fallen.contains(&group));
        let leads_too =
            self.reigning.contains_key(&coordinator) || self.heirs.contains(&coordinator);
        if may_take_over || has_fallen || leads_too {
            return None;
        }
        let why = format!("{node} led a working group and follows {coordinator} without cause");
        Some(Violation { nodes: vec![node, coordinator], why })
    }

    /// A node that was told that another one is named begins an election all the same.
    fn interferes(&mut self, at: Time, event: &Event) -> Option<Violation> {
        let told = self.told.take()?;
        let Told { node, successor, .. } = told;
        let is_its_own = matches!(event, Event::Call { node: caller } if *caller == node);
        let why = || format!("{node} calls an election although {successor} is named to lead");
        (is_its_own && told.at == at)
            .then(|| Violation { nodes: vec![node, successor], why: why() })
    }

    /// Notes a farewell that names another member of the receiver's group.
    fn heard_farewell(&mut self, global: &GlobalState, at: Time, event: &Event) {
        let Event::Receive { node, from, message, .. } = event else { return };
        let Some(successor) = message.successor.filter(|named| named != node) else { return };
        let Some(view) = global.view(*node) else { return };
        let state = &view.state;
        let is_led = state.status == Status::Normal && state.coordinator == Some(*from);
        if is_led && !view.is_withdrawn && state.up.contains(successor) {
            self.told = Some(Told { node: *node, successor, at });
        }
    }
}

impl Monitor for SteadyLeader {
    fn id(&self) -> &'static str {
        "P-02"
    }

    fn memory(&self) -> u64 {
        let groups = self.reigning.values().chain(&self.fallen);
        let groups = groups.flat_map(|group| [group.counter, group.node.0.into()]);
        let starting = self.starting.iter().map(|node| u64::from(node.0) << 32);
        let heirs = self.heirs.iter().map(|node| u64::from(node.0) << 48);
        mix(&groups.chain(starting).chain(heirs).collect::<Vec<_>>())
    }

    fn interest(&self) -> Interest {
        let messages = Interest::SEND.and(Interest::RECEIVE);
        Interest::STATE.and(Interest::FAULT).and(Interest::MILESTONE).and(messages)
    }

    fn see(&mut self, global: &GlobalState, at: Time, event: &Event) -> Option<Violation> {
        if let Some(violation) = self.interferes(at, event) {
            return Some(violation);
        }
        self.heard_farewell(global, at, event);
        if let Event::Start { node, .. } = event {
            self.reigning.remove(node);
            self.heirs.remove(node);
            self.starting.insert(*node);
        } else if let Event::Crash { node }
        | Event::Withdraw { node }
        | Event::Overdue { node }
        | Event::Pause { node } = event
        {
            self.fallen.extend(self.reigning.remove(node));
        } else if let Event::Cut { .. } | Event::Heal { .. } = event {
            self.reigning.clear();
        } else if let Event::Send { node, message, .. } = event {
            self.has_changed_ranks |= message.kind == Kind::Priority;
            // It may crash before it has withdrawn.
            if self.reigning.contains_key(node) {
                self.heirs.extend(message.successor);
            }
        } else if let Event::State { node, .. } = event {
            return self.changed(global, *node);
        }
        None
    }
}

/// Whether a node leads a group of at least two, and all live members are Normal in it.
fn is_established(global: &GlobalState, leader: NodeId) -> bool {
    let Some(view) = global.view(leader) else { return false };
    let is_in = |member: &NodeView| {
        member.state.status == Status::Normal
            && member.state.coordinator == Some(leader)
            && member.state.group == view.state.group
    };
    let live = || view.state.up.iter().filter_map(|id| global.view(id)).filter(|one| one.is_up);
    let is_complete = live().next().is_some() && live().all(is_in);
    view.is_up && !view.is_withdrawn && is_in(view) && is_complete
}
