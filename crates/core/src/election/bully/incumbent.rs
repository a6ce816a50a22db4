//! Whether an established coordinator keeps leading when a node of higher rank joins.
//!
//! The bully lets the highest node take over. With `preempt` at `never` or `after` a coordinator
//! outranks every node that does not lead, until it is halted, withdraws or restarts:
//!
//! ```text
//!   rank   (leads, priority, node)    instead of    (priority, node)
//! ```
//!
//! Only the node itself knows whether it leads, so each AYU_answer and each Enter_Election says so.
//! A node that does not lead asks all others whether they are up, not only the higher ones, since
//! any of them may lead. A node that leads asks the higher ones, one of which may lead as well, and
//! halts all that do not. A candidate that did not know of the leader is refused by it, and by the
//! nodes that the leader has halted.
//!
//! A node leads from the moment its group has its definition. Its rank does not change during an
//! election of its own, so all nodes compare a candidate by the same rank.

use super::{Bully, Options, Task, Waits};
use crate::group::GroupNumber;
use crate::membership::{NodeId, NodeSet};
use crate::mutant::{Mutant, mutants};
use crate::policy::{Preempt, PreemptError};
use crate::protocol::Context;

/// A node, and whether it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Standing {
    pub(super) node: NodeId,
    pub(super) leads: bool,
}

/// An election, and whether the node that called it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidate {
    pub(super) group: GroupNumber,
    pub(super) leads: bool,
}

impl Candidate {
    pub(super) const fn standing(self) -> Standing {
        Standing { node: self.group.node, leads: self.leads }
    }
}

impl Standing {
    /// Whether this node comes before another one.
    pub(super) fn outranks(self, other: Self, cx: &Context<'_>) -> bool {
        if self.leads == other.leads || cx.is_mutated(Mutant::IGNORE_INCUMBENT) {
            cx.members.outranks(self.node, other.node)
        } else {
            self.leads
        }
    }
}

impl Bully {
    pub(super) const fn standing(&self, cx: &Context<'_>) -> Standing {
        Standing { node: cx.me, leads: self.leads }
    }

    /// Whether members of this node's new group may be Normal before it leads.
    pub(super) fn is_handing_over(&self, cx: &Context<'_>) -> bool {
        cx.config.preempt().is_sticky() && matches!(self.task, Task::HandingOver { .. })
    }

    /// The nodes that may outrank this one.
    pub(super) fn may_be_above(&self, cx: &Context<'_>) -> NodeSet {
        let asks_all = cx.config.preempt().is_sticky()
            && !self.leads
            && !cx.is_mutated(Mutant::ASK_HIGHER_ONLY);
        if asks_all {
            cx.members.others(cx.me).collect()
        } else {
            cx.members.above(cx.me).collect()
        }
    }

    /// The nodes that this one halts, lowest first.
    pub(super) fn may_be_below(&self, cx: &Context<'_>) -> alloc::vec::Vec<NodeId> {
        if self.leads {
            cx.members.others(cx.me).collect()
        } else {
            cx.members.below(cx.me).collect()
        }
    }
}

/// A coordinator that yields must be replaced at once by its members.
pub(super) const fn may_keep_leading(
    options: &crate::options::Options,
    preempt: Preempt,
) -> Result<(), PreemptError> {
    let Options { waits, .. } = options.bully;
    match (preempt, waits) {
        (Preempt::Always | Preempt::Never, _) | (Preempt::After(_), Waits::Early) => Ok(()),
        (Preempt::After(_), Waits::Full) => Err(PreemptError::NobodyTakesOver),
    }
}

mutants! {
    /// Bully that keeps its leader: a leader is compared by its rank alone.
    IGNORE_INCUMBENT = "ignore-incumbent",
    /// Bully that keeps its leader: a node that starts asks the higher nodes only.
    ASK_HIGHER_ONLY = "ask-higher-only",
    /// Bully that keeps its leader: a leader ignores a candidate that does not lead, instead of
    /// refusing it.
    IGNORE_CHALLENGER = "ignore-challenger",
}
