//! A coordinator has withdrawn and has named this node: it stands as one that leads.
//!
//! From then on it outranks every node that does not lead (`incumbent.rs`), so the election is the
//! usual one: it asks the higher nodes, one of which may lead by now, and halts all others. Its
//! rank does not change during an election of its own, so the name counts only outside of one.

use super::{Bully, Task};
use crate::membership::NodeId;
use crate::protocol::{Context, Effects};

impl Bully {
    pub(super) fn succeed(&mut self, cx: &mut Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        match self.task {
            Task::Idle | Task::Probing => {
                self.leads = cx.config.preempt().is_sticky();
                self.rest(out);
                self.elect(cx, 0, out);
            }
            Task::Doubting
            | Task::Checking { .. }
            | Task::Asking { .. }
            | Task::BackingOff { .. }
            | Task::Halting(_)
            | Task::Appointing { .. }
            | Task::HandingOver { .. }
            | Task::Answering { .. } => {}
        }
        // An election that has just begun need not wait for the answer of the withdrawn node.
        self.failed(cx, peer, out);
    }
}
