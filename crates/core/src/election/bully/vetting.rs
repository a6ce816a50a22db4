//! A node that has just come up does not know to whom it belonged, so it vets whoever wants to halt it.
//!
//! Monotone `halted` (E-14) is a promise not to go back from a higher candidate to a lower one, and a
//! crash makes a node forget it. Whatever the higher candidate does because of an earlier life of this
//! node, it has done within T. So for T after it came up a node refuses candidates below somebody who
//! it knows is there, and lets a candidate wait while it does not know. It has asked them all anyway.
//! Leaves out the readings without monotone `halted`, which promise nothing.

use super::{Bully, Halted, Message, Timer};
use crate::group::GroupNumber;
use crate::membership::{NodeId, NodeSet};
use crate::protocol::{Context, Effects};

/// What a node that has just come up knows of those above it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Vetting {
    /// Those who were asked and have not answered.
    awaiting: NodeSet,
    /// Those who are there.
    alive: NodeSet,
    /// A candidate that waits for the outcome, and whether it appoints in the same breath.
    candidate: Option<(GroupNumber, bool)>,
}

/// What a candidate gets.
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
    /// The node comes up.
    pub(super) fn begin_vetting(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let awaiting: NodeSet = cx.members.above(cx.me).collect();
        if cx.config.options().bully.halted == Halted::Monotone && !awaiting.is_empty() {
            self.vetting = Some(Vetting { awaiting, alive: NodeSet::new(), candidate: None });
            out.set_timer(Timer::Vet, cx.config.timing().answer());
        }
    }

    /// Refuses a candidate or lets it wait, if it is not to be obeyed at once; tells whether it did.
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

    /// Somebody above is there, or is not.
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

    /// Whoever was to answer has not.
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
