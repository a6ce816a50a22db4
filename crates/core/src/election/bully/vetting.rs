//! Vetting: how a node that has just started decides whether to obey a candidate.
//!
//! Monotone `halted` (E-14) is a promise not to go back from a higher candidate to a lower one, and
//! a crash makes a node forget it. Whatever the higher candidate does because of an earlier
//! incarnation of this node, it has done within T. So for a time T after its start a node refuses a
//! candidate if it knows that a node above that candidate is up, and lets the candidate wait while
//! it does not know. It costs no messages: a node that starts asks all higher nodes anyway. Leaves
//! out the options without monotone `halted`, which promise nothing.

use super::{Bully, Halted, Message, Timer};
use crate::group::GroupNumber;
use crate::membership::{NodeId, NodeSet};
use crate::protocol::{Context, Effects};

/// What a node that has just started knows of the nodes above it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Vetting {
    /// Nodes that were asked and have not answered.
    awaiting: NodeSet,
    /// Nodes that have answered.
    alive: NodeSet,
    /// A candidate that waits for the outcome, and whether it appoints itself with the same
    /// message.
    candidate: Option<(GroupNumber, bool)>,
}

/// What to do with a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opinion {
    Obey,
    Refuse,
    Wait,
}

impl Vetting {
    fn of(&self, cx: &Context<'_>, candidate: NodeId) -> Opinion {
        let is_above = |node: NodeId| cx.members.outranks(node, candidate);
        if self.alive.iter().any(is_above) {
            return Opinion::Refuse;
        }
        if self.awaiting.iter().any(is_above) { Opinion::Wait } else { Opinion::Obey }
    }
}

impl Bully {
    /// The node starts.
    pub(super) fn begin_vetting(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let awaiting: NodeSet = cx.members.above(cx.me).collect();
        if cx.config.options().bully.halted == Halted::Monotone && !awaiting.is_empty() {
            self.vetting = Some(Vetting { awaiting, alive: NodeSet::new(), candidate: None });
            out.set_timer(Timer::Vet, cx.config.timing().answer());
        }
    }

    /// Refuses a candidate or lets it wait, unless it is to be obeyed at once; true if it did.
    pub(super) fn puts_off(
        &mut self,
        cx: &Context<'_>,
        group: GroupNumber,
        is_appointed: bool,
        out: &mut Effects<Self>,
    ) -> bool {
        let Some(vetting) = &mut self.vetting else { return false };
        match vetting.of(cx, group.node) {
            Opinion::Obey => {
                self.end_vetting(out);
                return false;
            }
            Opinion::Refuse => out.send(group.node, Message::refusal(group)),
            Opinion::Wait => {
                let is_best =
                    |(other, _): (GroupNumber, bool)| !cx.members.outranks(other.node, group.node);
                if vetting.candidate.is_none_or(is_best) {
                    vetting.candidate = Some((group, is_appointed));
                }
            }
        }
        true
    }

    /// A node above has answered, or is known to have failed.
    pub(super) fn vet(
        &mut self,
        cx: &mut Context<'_>,
        peer: NodeId,
        is_alive: bool,
        out: &mut Effects<Self>,
    ) {
        let Some(vetting) = &mut self.vetting else { return };
        if vetting.awaiting.remove(peer) && is_alive {
            vetting.alive.insert(peer);
        }
        if let Some((group, is_appointed)) = vetting.candidate.take() {
            self.halt(cx, group.node, group, is_appointed, out);
        }
    }

    /// The nodes that have not answered within T count as failed.
    pub(super) fn conclude_vetting(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let candidate = self.vetting.take().and_then(|vetting| vetting.candidate);
        if let Some((group, is_appointed)) = candidate {
            self.halt(cx, group.node, group, is_appointed, out);
        }
    }

    pub(super) fn end_vetting(&mut self, out: &mut Effects<Self>) {
        if self.vetting.take().is_some() {
            out.cancel_timer(Timer::Vet);
        }
    }
}
