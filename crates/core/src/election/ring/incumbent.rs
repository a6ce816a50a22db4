//! Whether an established coordinator keeps leading when a node of higher rank joins.
//!
//! In the sources the highest node wins. With `preempt` at `never` or `after` a coordinator comes
//! before every node that does not lead, until another node wins or it restarts. Only the node
//! itself knows whether it leads, so its candidacy, its signature and its name say so, and all
//! nodes compare what the tokens carry. A node's rank does not change during an election.

use super::Ring;
use crate::election::Notice;
use crate::membership::NodeId;
use crate::mutant::{Mutant, mutants};
use crate::options::Options;
use crate::policy::{Preempt, PreemptError};
use crate::protocol::{Context, Effects};

/// A node, and whether it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Standing {
    pub(super) node: NodeId,
    pub(super) leads: bool,
}

impl Standing {
    /// Whether this node comes before another one.
    pub(super) fn outranks(self, other: Self, cx: &Context<'_>) -> bool {
        if self.leads == other.leads {
            cx.members.outranks(self.node, other.node)
        } else {
            self.leads
        }
    }
}

/// Whether a node leads, as its election knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Leading {
    No,
    Yes,
    /// Another node has won. The leadership ends as soon as the application has stopped.
    Ending,
}

impl Ring {
    pub(super) fn standing(&self, cx: &Context<'_>) -> Standing {
        let is_kept = cx.config.preempt().is_sticky() && !cx.is_mutated(Mutant::HIDE_INCUMBENT);
        Standing { node: cx.me, leads: self.leading == Leading::Yes && is_kept }
    }

    /// The higher of two nodes that lead, this one included if it leads.
    pub(super) fn mark(&self, cx: &Context<'_>, leader: Option<NodeId>) -> Option<NodeId> {
        let is_best = leader.is_none_or(|leader| cx.members.outranks(cx.me, leader));
        if self.standing(cx).leads && is_best { Some(cx.me) } else { leader }
    }
}

impl Ring {
    /// Another node has won: the leadership of this one ends before the winner is told.
    pub(super) fn yield_leadership(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        if self.leading != Leading::Yes || cx.is_mutated(Mutant::KEEP_LEADING) {
            return;
        }
        if self.report.take().is_some() {
            self.leading = Leading::No;
            out.notify(Notice::Yield);
        } else {
            // The answer to the stop of this election is still to come, and must not pass for the
            // end of the leadership.
            self.leading = Leading::Ending;
        }
    }

    /// The application has stopped. Whether the leadership has to end first, which stops it again.
    pub(super) fn must_yield_first(&mut self, out: &mut Effects<Self>) -> bool {
        let must_yield = self.leading == Leading::Ending;
        if must_yield {
            self.leading = Leading::No;
            out.notify(Notice::Yield);
        }
        must_yield
    }
}

/// The members of a coordinator that yields call an election as soon as it has said farewell.
pub(super) const fn may_keep_leading(_: &Options, _: Preempt) -> Result<(), PreemptError> {
    Ok(())
}

mutants! {
    /// Rings that keep their leader: a leader does not say that it leads.
    HIDE_INCUMBENT = "hide-incumbent",
}
