//! Probes of the nodes that a node waits for, since links break while it waits (W-03).

use super::computation::Parent;
use super::{Diffusing, Message, Phase, Timer};
use crate::group::GroupNumber;
use crate::membership::NodeId;
use crate::protocol::{Context, Effects};

/// How many probes in a row may be lost.
const MISSED_MAX: u8 = 2;

impl Diffusing {
    /// Probes the nodes that have not answered, and the parent; gives up on those that missed too
    /// many.
    pub(super) fn probe(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Phase::Computing(computation) = &mut self.phase else { return };
        let index = computation.index();
        for (node, missed) in &mut computation.awaiting {
            *missed += 1;
            if *missed > MISSED_MAX {
                self.neighbours.forget(*node);
            } else {
                out.send(*node, Message::Probe { index, awaits_ack: true });
            }
        }
        computation.awaiting.retain(|_, missed| *missed <= MISSED_MAX);
        out.set_timer(Timer::Probe, cx.config.timing().answer());
        if let Some(Parent { node, missed }) = &mut computation.parent {
            *missed += 1;
            let (node, is_gone) = (*node, *missed > MISSED_MAX);
            if is_gone {
                self.neighbours.forget(node);
                self.lose_parent(cx, out);
            } else {
                out.send(node, Message::Probe { index, awaits_ack: false });
            }
        }
        self.report_when_done(cx, out);
    }

    pub(super) fn probed(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        index: GroupNumber,
        awaits_ack: bool,
        out: &mut Effects<Self>,
    ) {
        let (takes_part, is_deferring) = match &self.phase {
            Phase::Computing(computation) if computation.index() == index => {
                (true, computation.has_parent(from) && !computation.has_reported)
            }
            Phase::Computing(_) | Phase::Settled | Phase::Greeting { .. } => (false, false),
        };
        if !awaits_ack {
            if let (false, Some(group)) =
                (takes_part || index != self.last, self.leadership.leader())
            {
                // The child has missed the result.
                return out.send(from, Message::Leader { index, group });
            }
            out.send(from, Message::Reply { index, takes_part });
        } else if is_deferring {
            out.send(from, Message::Reply { index, takes_part });
        } else {
            // The request was lost, or the answer.
            self.asked(cx, from, index, out);
        }
    }

    pub(super) fn replied(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        index: GroupNumber,
        takes_part: bool,
        out: &mut Effects<Self>,
    ) {
        let Phase::Computing(computation) = &mut self.phase else { return };
        if computation.index() != index {
            return;
        }
        if !takes_part {
            return self.give_up_on(cx, from, out);
        }
        if let Some(missed) = computation.awaiting.get_mut(&from) {
            *missed = 0;
        }
        if let Some(parent) = computation.parent.as_mut().filter(|parent| parent.node == from) {
            parent.missed = 0;
        }
    }

    /// There is evidence that a node has failed, or it has withdrawn.
    pub(super) fn lose(&mut self, cx: &mut Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        self.neighbours.forget(peer);
        self.give_up_on(cx, peer, out);
        if self.leadership.leader().is_some_and(|leader| leader.node == peer) && peer != cx.me {
            self.call(cx, out);
        }
    }

    /// Goes on without a node whose answer was awaited.
    fn give_up_on(&mut self, cx: &mut Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        let Phase::Computing(computation) = &mut self.phase else { return };
        computation.awaiting.remove(&peer);
        if computation.has_parent(peer) {
            self.lose_parent(cx, out);
        }
        self.report_when_done(cx, out);
    }

    /// A node that has lost its parent becomes the root of the tree below it.
    fn lose_parent(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Phase::Computing(computation) = &mut self.phase else { return };
        computation.parent = None;
        if let Some(best) = computation.best.filter(|_| computation.has_reported) {
            self.decide(cx, best, out);
        }
    }
}
