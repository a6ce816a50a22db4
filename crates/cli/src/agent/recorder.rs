//! Why a node's role changed: its changes, each compared with the group before it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tanist::{Change, Lead, NodeId, NodeNames, NodeSet, PeerSign, RoleKind, View, Why, clock};
use tanist_core::Time;

use super::change::{Changed, Reason, RoleChange};
use super::loss::{LostNode, Signs};

/// Numbers the changes of one incarnation of a node, and adds to each its reason, which nodes were
/// lost, and for how long the node was in no group.
#[derive(Debug)]
pub(super) struct ChangeRecorder {
    me: NodeId,
    names: Arc<NodeNames>,
    incarnation: u64,
    /// Silence that is suspicious.
    suspect_after: Duration,
    next: u64,
    /// The last group that it was in, in this incarnation.
    before: Option<View>,
    /// Since when it is in none.
    left: Option<Left>,
    /// The leadership in which it is active.
    active: Option<Lead>,
    last: Option<RoleChange>,
}

/// When a node left a group, and what it knew of its peers then.
#[derive(Debug)]
struct Left {
    at: Time,
    peers: Arc<[PeerSign]>,
}

impl ChangeRecorder {
    pub(super) const fn new(
        me: NodeId,
        names: Arc<NodeNames>,
        incarnation: u64,
        suspect_after: Duration,
    ) -> Self {
        let (before, left, active, last) = (None, None, None, None);
        Self { me, names, incarnation, suspect_after, next: 0, before, left, active, last }
    }

    /// The entry that an incarnation begins with, also if the node is in a group by the time that
    /// its first change is read.
    pub(super) fn start(&mut self, first: &Change) -> RoleChange {
        self.left = Some(Left { at: first.at, peers: Arc::clone(&first.peers) });
        let text = format!("{} starts", self.names.of(self.me));
        self.number(RoleChange { text, ..RoleChange::start(self.me, first.at, first.when) })
    }

    /// The entry for a change; these peers had said farewell before it.
    pub(super) fn take(&mut self, change: &Change, farewells: &[NodeId]) -> RoleChange {
        let mut entry = RoleChange::new(self.me, change);
        let me = self.names.of(self.me);
        entry.text = format!("{me} {}", change.role.called(&self.names));
        entry.old_leader = self.before.as_ref().map(|before| before.coordinator());
        self.active.take_if(|lead| !lead.is_leading());
        entry.active = self.active.is_some();
        match change.role.suspension() {
            Some(suspension) => {
                let peers = || Arc::clone(&change.peers);
                self.left.get_or_insert_with(|| Left { at: change.at, peers: peers() });
                entry.reason = match suspension.why {
                    Why::Starting => Reason::Start,
                    Why::Withdrawn => Reason::StepDown,
                    Why::Stopped => Reason::Stop,
                    Why::Election | _ => Reason::Election,
                };
            }
            None => {
                let now = change.role.view();
                entry.reason = reason(self.before.as_ref(), now, farewells);
                let left = self.left.take();
                entry.lost = self.lost(now, left.as_ref(), change, farewells);
                entry.gap = left.map(|left| change.at.since(left.at) + unnoticed(&entry));
                self.before = now.cloned();
            }
        }
        self.number(entry)
    }

    /// The entry for a leader that became active, once the change that began its leadership was
    /// taken; none if nothing is new.
    pub(super) fn activate(&mut self, active: Option<Lead>) -> Option<RoleChange> {
        let lead = active?;
        if self.active.as_ref().is_some_and(|known| known.is_same_leadership(&lead)) {
            return None;
        }
        let number = lead.group_number();
        let is_begun =
            |last: &&RoleChange| last.role == RoleKind::Leader && last.group_number == Some(number);
        let last = self.last.as_ref().filter(is_begun)?;
        let (at, when) = (clock::now(), SystemTime::now());
        let entry = RoleChange {
            at,
            when,
            event: Changed::Activity,
            active: true,
            lost: Vec::new(),
            gap: None,
            text: format!("{} is active as the leader of group {number}", self.names.of(self.me)),
            ..last.clone()
        };
        self.active = Some(lead);
        Some(self.number(entry))
    }

    /// Who was in the last group and is not in this one.
    fn lost(
        &self,
        now: Option<&View>,
        left: Option<&Left>,
        change: &Change,
        farewells: &[NodeId],
    ) -> Vec<LostNode> {
        let (Some(before), Some(now)) = (&self.before, now) else { return Vec::new() };
        let signs = Signs {
            left_at: left.map_or(change.at, |left| left.at),
            before: left.map_or(&change.peers, |left| &left.peers),
            after: &change.peers,
            farewells,
            suspect_after: self.suspect_after,
        };
        let lost = before.members().iter().filter(|node| !now.members().contains(*node));
        lost.map(|node| signs.judge(node)).collect()
    }

    fn number(&mut self, mut entry: RoleChange) -> RoleChange {
        (entry.index, entry.incarnation) = (self.next, self.incarnation);
        self.next += 1;
        self.last = Some(entry.clone());
        entry
    }
}

/// For how long the loss of the old leader was not noticed.
fn unnoticed(entry: &RoleChange) -> Duration {
    let leader = entry.lost.iter().find(|lost| Some(lost.node) == entry.old_leader);
    leader.map_or(Duration::ZERO, LostNode::unnoticed)
}

/// Why a node that was in one group is now in another.
fn reason(before: Option<&View>, now: Option<&View>, farewells: &[NodeId]) -> Reason {
    let (Some(before), Some(now)) = (before, now) else { return Reason::Start };
    let coordinator = before.coordinator();
    reason_of_difference(coordinator, before.members(), now.members(), farewells)
}

/// The same from what matters: who led, who was there, who is there now, and who said goodbye.
fn reason_of_difference(
    coordinator: NodeId,
    before: &NodeSet,
    now: &NodeSet,
    farewells: &[NodeId],
) -> Reason {
    let lost: Vec<NodeId> = before.iter().filter(|node| !now.contains(*node)).collect();
    let has_gained = now.iter().any(|node| !before.contains(node));
    let is_orderly = |node: &NodeId| farewells.contains(node);
    if lost.contains(&coordinator) {
        return if is_orderly(&coordinator) { Reason::StepDown } else { Reason::Failure };
    }
    match (lost.is_empty(), has_gained) {
        (true | false, true) => Reason::Merge,
        (false, false) if lost.iter().all(is_orderly) => Reason::StepDown,
        (false, false) => Reason::Failure,
        (true, false) => Reason::Election,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(ids: &[u32]) -> NodeSet {
        ids.iter().copied().map(NodeId).collect()
    }

    #[test]
    fn a_change_is_explained_by_who_came_and_who_went() {
        let was_led_by_3 = |before: &[u32], now: &[u32], farewells: &[u32]| {
            let farewells: Vec<NodeId> = farewells.iter().copied().map(NodeId).collect();
            reason_of_difference(NodeId(3), &nodes(before), &nodes(now), &farewells)
        };
        assert_eq!(was_led_by_3(&[1, 2, 3], &[1, 2], &[]), Reason::Failure);
        assert_eq!(was_led_by_3(&[1, 2, 3], &[1, 2], &[3]), Reason::StepDown);
        assert_eq!(was_led_by_3(&[1, 2, 3], &[1, 3], &[]), Reason::Failure);
        assert_eq!(was_led_by_3(&[1, 2, 3], &[1, 3], &[2]), Reason::StepDown);
        assert_eq!(was_led_by_3(&[2, 3], &[1, 2, 3], &[]), Reason::Merge);
        assert_eq!(was_led_by_3(&[1, 2, 3], &[1, 2, 3], &[]), Reason::Election);
        // The leader is gone, and another node has come back meanwhile: the loss is the cause.
        assert_eq!(was_led_by_3(&[2, 3], &[1, 2], &[]), Reason::Failure);
    }
}
