//! What nodes said of their priorities, laid over the configuration for every layer.

use super::Node;
use crate::membership::NodeId;
use crate::protocol::Context;

impl Node {
    /// The priority that this node was told to have while it ran, if any.
    #[must_use]
    pub fn priority(&self, me: NodeId) -> Option<u32> {
        self.policy.priority(me)
    }

    /// Works with the order of nodes that holds, so that whoever compares priorities need not know
    /// that they change. The clone is for the few groups in which somebody has changed one.
    pub(super) fn with_members_in_force(
        &mut self,
        cx: &mut Context<'_>,
        work: impl FnOnce(&mut Self, &mut Context<'_>),
    ) {
        let Some(members) = self.policy.members_in_force(cx.members) else {
            return work(self, cx);
        };
        cx.within(cx.config, &members, |cx| work(self, cx));
    }
}
