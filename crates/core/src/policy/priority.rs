//! Priorities that change at run time.
//!
//! Only with `invitation` and its policy `delay`: there a priority only decides how long a node
//! waits before it merges, and no rule needs the same priorities at all nodes. With its other
//! policies two nodes that know different priorities may each leave the merge to the other forever
//! (fuzz seed `invitation` 325).
//!
//! The priority that a node announces overrides the configured one, at the node itself and at every
//! receiver, for as long as the node runs. Others learn of it when it is announced, and:
//!
//! ```text
//!   when they restart      what they announced before is void; nodes with a new priority repeat it
//!   when they withdraw     they forget the priorities of others; nodes with a new one repeat it
//! ```
//!
//! So a coordinator that yields because of an outdated priority does it once: the answer to its
//! farewell brings the current one, or none.
//!
//! Assumes that a node that restarts asks for its numbers (recall); otherwise its old priority
//! stays in force at the others. Leaves out: nodes that were partitioned when a priority was
//! announced, and have not withdrawn since; they use the last one that they received.

use alloc::collections::BTreeMap;

use super::{Message, Policy};
use crate::config::GroupConfig;
use crate::membership::{Membership, NodeId};
use crate::protocol::{Context, Effects};

/// Why a priority cannot change while nodes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriorityError {
    /// The algorithm needs the same priorities at all nodes.
    #[error(
        "with {0} all nodes need one order at all times, so nothing was done; change `priorities` \
         on all nodes and start them again, or choose `invitation`"
    )]
    OneOrder(&'static str),
    /// The merge policy needs them.
    #[error(
        "only the policy `delay` merges groups of nodes that do not agree on who is higher, so \
         nothing was done; remove the option `policy`, or change `priorities` on all nodes and \
         start them again"
    )]
    NobodyMerges,
}

impl PriorityError {
    /// Refuses what a group's configuration does not allow.
    pub fn check(config: &GroupConfig) -> Result<(), Self> {
        let descriptor = config.algorithm().descriptor();
        match descriptor.adjustable.and_then(|adjustable| adjustable.priorities) {
            Some(may_change) => may_change(config.options()),
            None => Err(Self::OneOrder(descriptor.name)),
        }
    }
}

impl Policy {
    /// The priority that this node has announced, if any.
    #[must_use]
    pub fn priority(&self, me: NodeId) -> Option<u32> {
        self.priorities.get(&me).copied()
    }

    /// The members with the priorities in force; none if those are the configured ones.
    pub(crate) fn members_in_force(&self, members: &Membership) -> Option<Membership> {
        (!self.priorities.is_empty()).then(|| members.with_priorities(&self.priorities))
    }

    pub(super) fn set_priority(
        &mut self,
        cx: &Context<'_>,
        priority: u32,
        out: &mut Effects<Self>,
    ) {
        if PriorityError::check(cx.config).is_err() {
            return;
        }
        self.priorities.insert(cx.me, priority);
        for other in cx.members.peer_group(cx.me).others(cx.me) {
            out.send(other, Message::Priority { priority });
        }
    }

    pub(super) fn on_priority(&mut self, cx: &Context<'_>, from: NodeId, priority: u32) {
        let is_other = from != cx.me && cx.members.peer_group(cx.me).contains(from);
        if is_other && PriorityError::check(cx.config).is_ok() {
            self.priorities.insert(from, priority);
        }
    }

    /// A peer has started, with its configured priority.
    pub(super) fn greet(&mut self, cx: &Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        self.priorities.remove(&peer);
        self.tell_priority(cx, peer, out);
    }

    pub(super) fn tell_priority(&self, cx: &Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        if let Some(priority) = self.priority(cx.me) {
            out.send(peer, Message::Priority { priority });
        }
    }

    /// This node withdraws; nodes that announced a priority will send it again.
    pub(super) fn forget_priorities(&mut self, cx: &Context<'_>) {
        let own = self.priorities.remove(&cx.me);
        self.priorities = BTreeMap::from_iter(own.map(|priority| (cx.me, priority)));
    }
}
