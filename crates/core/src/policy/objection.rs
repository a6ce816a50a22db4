//! Objections: why a node must not take part at the moment.
//!
//! What is around a node can object to it: its health check, the gate that an operator put before
//! leading, the loss of the job that it runs. While any objection stands the node is withdrawn, and
//! neither the end of a hold nor an operator's [`super::Command::Rejoin`] brings it back; both are
//! remembered, and count when the last objection is lifted. So a node that could not lead does not
//! take over from one that can, again and again, and is not elected either.
//!
//! A node can start with objections: then it says farewell instead of standing for election, and
//! an established coordinator is not disturbed by a node that must not lead.
//!
//! Leaves out: what an objection is about, and when it is lifted. Objections do not survive a
//! restart; the program that starts the node says which stand.

use alloc::collections::BTreeSet;
use core::time::Duration;

use super::withdrawal::say_farewell;
use super::{Notice, Policy, Presence};
use crate::protocol::{Context, Effects};

/// Who objects to a node taking part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Objection {
    /// The check that is asked before the node acts as a leader.
    Gate,
    /// The check of the node's health.
    Health,
    /// The job that the node ran as a leader is gone.
    Job,
}

impl Policy {
    /// The state of a node that starts although these objections stand.
    pub(crate) fn objected(
        cx: &Context<'_>,
        objections: BTreeSet<Objection>,
        out: &mut Effects<Self>,
    ) -> Self {
        if objections.is_empty() {
            return Self::default();
        }
        say_farewell(cx, None, out);
        out.notify(Notice::Withdrawn);
        let presence = Presence::Withdrawn { is_quiet: false, wants_back: true };
        Self { presence, objections, ..Self::default() }
    }

    /// Whether nothing is against this node's taking part.
    pub(super) fn is_unobjected(&self) -> bool {
        self.objections.is_empty()
    }

    pub(super) fn object(
        &mut self,
        cx: &Context<'_>,
        objection: Objection,
        out: &mut Effects<Self>,
    ) {
        self.objections.insert(objection);
        match self.presence {
            // It wants back at once, and the objection keeps it from that.
            Presence::Present => self.withdraw(cx, Some(Duration::ZERO), out),
            Presence::Leaving { .. } | Presence::Overdue { .. } | Presence::Withdrawn { .. } => {}
        }
    }

    pub(super) fn lift(&mut self, objection: Objection, out: &mut Effects<Self>) {
        self.objections.remove(&objection);
        match self.presence {
            Presence::Withdrawn { is_quiet: true, wants_back: true } if self.is_unobjected() => {
                self.rejoin_now(out);
            }
            Presence::Withdrawn { .. }
            | Presence::Present
            | Presence::Leaving { .. }
            | Presence::Overdue { .. } => {}
        }
    }
}
