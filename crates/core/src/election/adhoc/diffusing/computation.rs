//! One computation: asking, answering, and its result.

use alloc::collections::BTreeMap;

use super::{Diffusing, Message, Phase, Timer};
use crate::election::adhoc::pace;
use crate::election::{Notice, next_number, save_late};
use crate::group::{Counter, GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

/// A computation that a node takes part in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Computation {
    index: GroupNumber,
    /// Whether this node began it.
    is_own: bool,
    /// The node that asked first; none for the source, and when the parent is lost.
    pub(super) parent: Option<Parent>,
    /// Nodes that were asked and have not answered, each with the number of probes since.
    pub(super) awaiting: BTreeMap<NodeId, u8>,
    /// Nodes that have this node as their parent.
    children: NodeSet,
    /// The number of the best node below, as far as is known; this node's own if it is better.
    /// Final once it was reported.
    pub(super) best: Option<GroupNumber>,
    /// Whether the result was reported to the parent.
    pub(super) has_reported: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Parent {
    pub(super) node: NodeId,
    /// Probes that it left unanswered.
    pub(super) missed: u8,
}

impl Computation {
    pub(super) const fn index(&self) -> GroupNumber {
        self.index
    }

    pub(super) const fn is_own(&self) -> bool {
        self.is_own
    }

    pub(super) fn has_parent(&self, node: NodeId) -> bool {
        self.parent.is_some_and(|parent| parent.node == node)
    }

    /// Whether the node may follow a leader before the result: it has reported, and no node below
    /// it is better.
    pub(super) fn may_follow(&self, cx: &Context<'_>, leader: NodeId) -> bool {
        let is_outranked = |best: GroupNumber| cx.members.outranks(best.node, leader);
        self.has_reported && !self.best.is_some_and(is_outranked)
    }
}

impl Diffusing {
    /// Begins a computation with a higher index than all that this node knows.
    pub(super) fn call(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        self.end_computation(Outcome::Failed, out);
        out.notify(Notice::Called);
        let index = next_number(cx, &mut self.counter, out);
        self.join(cx, index, None, out);
        save_late(cx, self.counter, out);
    }

    /// Takes part: this node follows no leader from here on.
    fn join(
        &mut self,
        cx: &mut Context<'_>,
        index: GroupNumber,
        parent: Option<NodeId>,
        out: &mut Effects<Self>,
    ) {
        self.end_computation(Outcome::Yielded, out);
        self.counter = self.counter.max(Counter(index.counter));
        self.last = self.last.max(index);
        self.status = Status::Election;
        self.leadership.leave(out);
        out.notify(Notice::Yield);
        let near = self.neighbours.all();
        let asked = near.iter().filter(|node| Some(*node) != parent);
        let awaiting: BTreeMap<NodeId, u8> = asked.map(|node| (node, 0)).collect();
        for node in awaiting.keys() {
            out.send(*node, Message::Election { index });
        }
        self.phase = Phase::Computing(Computation {
            index,
            is_own: parent.is_none(),
            parent: parent.map(|node| Parent { node, missed: 0 }),
            awaiting,
            children: NodeSet::new(),
            best: None,
            has_reported: false,
        });
        out.set_timer(Timer::Probe, cx.config.timing().answer());
        out.set_timer(Timer::Stall, pace::computation(cx));
        self.report_when_done(cx, out);
    }

    /// A neighbour asks this node to take part.
    pub(super) fn asked(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        index: GroupNumber,
        out: &mut Effects<Self>,
    ) {
        let Phase::Computing(computation) = &mut self.phase else {
            if index > self.last {
                return self.join(cx, index, Some(from), out);
            }
            // That computation, or a later one, is over at this node.
            return out.send(from, Message::Ack { index, best: None });
        };
        if index > computation.index {
            self.join(cx, index, Some(from), out);
        } else if index < computation.index {
            // The lower computation is abandoned: its sender is asked to take part in the higher
            // one. A parent takes part already, and a node that was asked will.
            let index = computation.index;
            if computation.has_parent(from) || computation.awaiting.contains_key(&from) {
                return;
            }
            if !computation.has_reported {
                computation.awaiting.insert(from, 0);
            }
            out.send(from, Message::Election { index });
        } else if computation.has_parent(from) {
            if computation.has_reported {
                let best = computation.best;
                out.send(from, Message::Ack { index, best });
            }
        } else {
            let twice = cx.is_mutated(Mutant::TWO_PARENTS).then_some(self.counter.group(cx.me));
            out.send(from, Message::Ack { index, best: twice });
        }
    }

    /// A node that was asked has answered.
    pub(super) fn answered(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        index: GroupNumber,
        best: Option<GroupNumber>,
        out: &mut Effects<Self>,
    ) {
        let Phase::Computing(computation) = &mut self.phase else {
            // A child whose parent went on without it still needs the result.
            if let (Some(_), Some(group)) = (best, self.leadership.leader())
                && index == self.last
            {
                out.send(from, Message::Leader { index, group });
            }
            return;
        };
        if index != computation.index {
            return;
        }
        computation.awaiting.remove(&from);
        if let Some(best) = best {
            computation.children.insert(from);
            let known = computation.best;
            let is_better = |known: GroupNumber| cx.members.outranks(best.node, known.node);
            if !computation.has_reported && known.is_none_or(is_better) {
                computation.best = Some(best);
            }
        }
        self.report_when_done(cx, out);
    }

    /// Reports to the parent, or decides at the root, when every node that was asked has answered
    /// or is lost.
    pub(super) fn report_when_done(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Phase::Computing(computation) = &mut self.phase else { return };
        let is_early = cx.is_mutated(Mutant::ACK_BEFORE_CHILDREN) && computation.parent.is_some();
        if computation.has_reported || !(computation.awaiting.is_empty() || is_early) {
            return;
        }
        let below = computation.best;
        let outranks_me = |best: &GroupNumber| cx.members.outranks(best.node, cx.me);
        let best = match below.filter(outranks_me) {
            Some(best) => best,
            None => next_number(cx, &mut self.counter, out),
        };
        computation.best = Some(best);
        computation.has_reported = true;
        match computation.parent {
            Some(parent) => {
                let index = computation.index;
                out.send(parent.node, Message::Ack { index, best: Some(best) });
            }
            None => self.decide(cx, best, out),
        }
        save_late(cx, self.counter, out);
    }

    /// The root of a tree sends the winner down the tree.
    pub(super) fn decide(
        &mut self,
        cx: &mut Context<'_>,
        group: GroupNumber,
        out: &mut Effects<Self>,
    ) {
        self.pass_down(group, cx.me, out);
        if group.node == cx.me {
            self.lead(cx, group, out);
        } else {
            self.leadership.adopt(cx, group, out);
            self.settle(group, out);
        }
    }

    /// The parent has sent the winner.
    pub(super) fn told(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        index: GroupNumber,
        group: GroupNumber,
        out: &mut Effects<Self>,
    ) {
        let Phase::Computing(computation) = &self.phase else { return };
        if computation.index != index {
            return;
        }
        if group.node == cx.me && computation.best != Some(group) {
            // The sender follows this node under an earlier number, under which it does not lead
            // any more.
            return;
        }
        if cx.members.outranks(cx.me, group.node) {
            // The tree went on without this node, which is better than the winner.
            return self.call(cx, out);
        }
        self.pass_down(group, from, out);
        if group.node == cx.me {
            self.lead(cx, group, out);
        } else {
            self.leadership.adopt(cx, group, out);
            self.settle(group, out);
        }
    }

    fn pass_down(&self, group: GroupNumber, but: NodeId, out: &mut Effects<Self>) {
        let Phase::Computing(computation) = &self.phase else { return };
        let index = computation.index;
        let below = computation.children.iter().chain(computation.awaiting.keys().copied());
        for node in below.filter(|node| *node != but) {
            out.send(node, Message::Leader { index, group });
        }
    }

    /// The computation has not ended in time.
    pub(super) fn restart(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if let Phase::Computing(_) = self.phase {
            self.call(cx, out);
        }
    }
}
