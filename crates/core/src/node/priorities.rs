//! The priorities in force: those announced at run time, over the configured ones.

use super::Node;
use crate::membership::NodeId;
use crate::protocol::Context;

impl Node {
    /// The priority that this node was told to have while it ran, if any.
    #[must_use]
    pub fn priority(&self, me: NodeId) -> Option<u32> {
        self.policy.priority(me)
    }

    /// Runs `work` with the priorities in force, so that no caller needs to know that priorities
    /// can change. Members are cloned only in a group in which a priority has changed.
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
