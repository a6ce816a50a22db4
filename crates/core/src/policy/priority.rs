//! A priority that changes while nodes run.
//!
//! Only with `invitation` by delay: there a priority says who waits longer before it merges, and
//! nothing depends on all nodes having the same order. With its other policies each of two nodes
//! with different orders may leave the merge to the other for ever (fuzz seed `invitation` 325).
//!
//! What a node says of itself lies over the configuration, here and wherever it is heard. It lasts
//! as long as the node runs. Others learn of it when it is said, and:
//!
//! ```text
//!   when they come up      what they said before is void; whoever has a priority of its own says it
//!   when they step aside   they forget what others said; whoever has one of its own says it
//! ```
//!
//! So a coordinator that makes room for somebody because of a priority that is out of date does it
//! once: the farewell brings it the right one, or none.
//!
//! Assumes that a node that comes up asks for its numbers (recall), or else it is taken for the one
//! that it was. Leaves out: telling those that were cut off when it was said, and have not stepped
//! aside since; they go by the last that they heard.

use alloc::collections::BTreeMap;

use super::{Message, Policy};
use crate::config::GroupConfig;
use crate::membership::{Membership, NodeId};
use crate::protocol::{Context, Effects};

/// Why a priority cannot change while nodes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriorityError {
    /// The algorithm needs nodes that agree on who is higher.
    #[error(
        "with {0} all nodes need one order at all times, so nothing was done; change `priorities` \
         on all nodes and start them again, or choose `invitation`"
    )]
    OneOrder(&'static str),
    /// So does the way in which groups merge.
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
        match descriptor.adjustable {
            Some(adjustable) => (adjustable.priorities)(config.options()),
            None => Err(Self::OneOrder(descriptor.name)),
        }
    }
}

impl Policy {
    /// What this node has said of its own priority, if anything.
    #[must_use]
    pub fn priority(&self, me: NodeId) -> Option<u32> {
        self.priorities.get(&me).copied()
    }

    /// The nodes in the order that holds; none if it is the configured one.
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

    /// A peer has come up, with the priority that it is configured with.
    pub(super) fn greet(&mut self, cx: &Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        self.priorities.remove(&peer);
        self.tell_priority(cx, peer, out);
    }

    pub(super) fn tell_priority(&self, cx: &Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        if let Some(priority) = self.priority(cx.me) {
            out.send(peer, Message::Priority { priority });
        }
    }

    /// This node steps aside; whoever has a priority of its own will say so again.
    pub(super) fn forget_priorities(&mut self, cx: &Context<'_>) {
        let own = self.priorities.remove(&cx.me);
        self.priorities = BTreeMap::from_iter(own.map(|priority| (cx.me, priority)));
    }
}
