//! A coordinator has withdrawn and has named this node: it invites the other members at once.
//!
//! They are still Normal in the old group, so they accept, as they accept the invitation of any
//! member that regroups. It keeps the precedence of an established coordinator (`precedence.rs`),
//! also if it is alone, so that the old coordinator joins it and does not merge it.

use super::{Invitation, Task, Timer};
use crate::membership::NodeId;
use crate::protocol::{Context, Effects};

impl Invitation {
    pub(super) fn succeed(&mut self, cx: &mut Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        match self.task {
            Task::Idle | Task::Probing => {
                self.leads = cx.config.preempt().is_sticky();
                out.cancel_timer(Timer::Answers);
                self.regroup(cx, out);
            }
            Task::Checking { .. }
            | Task::Delaying { .. }
            | Task::Merging(_)
            | Task::HandingOver
            | Task::Regrouping
            | Task::Stopping { .. }
            | Task::Accepting
            | Task::Recovering { .. } => self.failed(cx, peer, out),
        }
    }
}
