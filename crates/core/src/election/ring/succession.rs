//! A coordinator has withdrawn and has named this node: it stands as one that leads.
//!
//! From then on it comes before every node that does not lead (`incumbent.rs`), so the election is
//! the usual one, and its own candidacy wins it. A node's rank does not change during an election,
//! so the name counts only outside of one.

use super::incumbent::Leading;
use super::{Phase, Ring};
use crate::membership::NodeId;
use crate::protocol::{Context, Effects};

impl Ring {
    pub(super) fn succeed(&mut self, cx: &mut Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        match self.phase {
            Phase::Settled if cx.config.preempt().is_sticky() => self.leading = Leading::Yes,
            Phase::Settled
            | Phase::Running
            | Phase::Following
            | Phase::Gathering(_)
            | Phase::HandingOver => {}
        }
        self.failed(cx, peer, out);
    }
}
