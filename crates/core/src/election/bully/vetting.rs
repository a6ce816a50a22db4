//! Vetting: how a node that has just started decides whether to obey a candidate.
//!
//! Monotone `halted` (E-14) is a promise not to go back from a higher candidate to a lower one, and
//! a crash makes a node forget it. Whatever the higher candidate does because of an earlier
//! incarnation of this node, it has done within T. So for a time T after its start a node refuses a
//! candidate if it knows that a node above that candidate is up, and lets the candidate wait while
//! it does not know. It costs no messages: a node that starts asks all higher nodes anyway. Leaves
//! out the options without monotone `halted`, which promise nothing.

use alloc::collections::BTreeSet;

use super::{Bully, Candidate, Halted, Message, Standing, Timer};
use crate::membership::NodeSet;
use crate::protocol::{Context, Effects};

/// What a node that has just started knows of the nodes above it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Vetting {
    /// Nodes that were asked and have not answered.
    awaiting: NodeSet,
    /// Nodes that have answered, and whether they lead.
    alive: BTreeSet<Standing>,
    /// A candidate that waits for the outcome, and whether it appoints itself with the same
    /// message.
    candidate: Option<(Candidate, bool)>,
}

/// What to do with a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opinion {
    Obey,
    Refuse,
    Wait,
}

impl Vetting {
    pub(super) const fn has_candidate(&self) -> bool {
        self.candidate.is_some()
    }

    fn of(&self, cx: &Context<'_>, candidate: Standing) -> Opinion {
        if self.alive.iter().any(|node| node.outranks(candidate, cx)) {
            return Opinion::Refuse;
        }
        // A node that has not answered may lead, where that counts; the candidate has said so.
        let leads = cx.config.preempt().is_sticky();
        let may_be_above = |node| Standing { node, leads }.outranks(candidate, cx);
        let mut others = self.awaiting.iter().filter(|node| *node != candidate.node);
        if others.any(may_be_above) { Opinion::Wait } else { Opinion::Obey }
    }
}

impl Bully {
    /// The node starts.
    pub(super) fn begin_vetting(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let awaiting = self.may_be_above(cx);
        if cx.config.options().bully.halted == Halted::Monotone && !awaiting.is_empty() {
            self.vetting = Some(Vetting { awaiting, alive: BTreeSet::new(), candidate: None });
            out.set_timer(Timer::Vet, cx.config.timing().answer());
        }
    }

    /// Refuses a candidate or lets it wait, unless it is to be obeyed at once; true if it did.
    pub(super) fn puts_off(
        &mut self,
        cx: &Context<'_>,
        candidate: Candidate,
        is_appointed: bool,
        out: &mut Effects<Self>,
    ) -> bool {
        let (group, standing) = (candidate.group, candidate.standing());
        let Some(vetting) = &mut self.vetting else { return false };
        match vetting.of(cx, standing) {
            Opinion::Obey => {
                self.end_vetting(out);
                return false;
            }
            Opinion::Refuse => out.send(group.node, Message::refusal(group)),
            Opinion::Wait => {
                let is_best =
                    |(other, _): (Candidate, bool)| !other.standing().outranks(standing, cx);
                if vetting.candidate.is_none_or(is_best) {
                    vetting.candidate = Some((candidate, is_appointed));
                }
            }
        }
        true
    }

    /// A node above has answered, or is known to have failed.
    pub(super) fn vet(
        &mut self,
        cx: &mut Context<'_>,
        peer: Standing,
        is_alive: bool,
        out: &mut Effects<Self>,
    ) {
        let Some(vetting) = &mut self.vetting else { return };
        if vetting.awaiting.remove(peer.node) && is_alive {
            vetting.alive.insert(peer);
        }
        if let Some((candidate, is_appointed)) = vetting.candidate.take() {
            self.halt(cx, candidate.group.node, candidate, is_appointed, out);
        }
    }

    /// The nodes that have not answered within T count as failed.
    pub(super) fn conclude_vetting(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let candidate = self.vetting.as_ref().and_then(|vetting| vetting.candidate);
        self.end_vetting(out);
        if let Some((candidate, is_appointed)) = candidate {
            self.halt(cx, candidate.group.node, candidate, is_appointed, out);
        }
    }

    pub(super) fn end_vetting(&mut self, out: &mut Effects<Self>) {
        if self.vetting.take().is_some() {
            out.cancel_timer(Timer::Vet);
        }
    }
}
