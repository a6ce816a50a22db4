//! From a winner to a group: participants follow the winner, which gathers them and hands over.
//!
//! The sources end when all nodes know the winner. What follows is not in them, and is the same for
//! every ring: each participant sends one message directly to the winner, which says that its
//! application has stopped and carries its report; then comes New_State.

use core::time::Duration;

use super::incumbent::Leading;
use super::{Message, Phase, Ring, Timer};
use crate::election::{Formation, Notice};
use crate::group::{GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::payload::Report;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

/// A winner waits for its participants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Gathering {
    /// The nodes that know the winner, once this node has learned it.
    pub(super) told: Option<NodeSet>,
}

impl Ring {
    /// The election has a winner, as far as this node knows.
    pub(super) fn decide(&mut self, cx: &mut Context<'_>, winner: NodeId, out: &mut Effects<Self>) {
        self.status = Status::Reorganization;
        self.coordinator = Some(winner);
        let group = self.number.group(winner);
        self.group = Some(group);
        if winner == cx.me {
            self.phase = Phase::Gathering(Gathering { told: None });
            return;
        }
        self.phase = Phase::Following;
        self.end_own(Outcome::Yielded, out);
        self.yield_leadership(cx, out);
        out.notify(Notice::Joined { group, coordinator: winner });
        if cx.is_mutated(Mutant::ANSWER_BEFORE_STOPPING) {
            out.send(winner, Message::Follow { group, report: Report::default() });
        } else {
            self.say_so(out);
        }
    }

    /// Tells the winner that this node follows it, once the application has stopped.
    pub(super) fn say_so(&self, out: &mut Effects<Self>) {
        if let (Some(group), Some(report)) = (self.group, &self.report) {
            out.send(group.node, Message::Follow { group, report: report.clone() });
        }
    }

    pub(super) fn followed(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        group: GroupNumber,
        report: Report,
        out: &mut Effects<Self>,
    ) {
        let is_open = match self.phase {
            Phase::Running | Phase::Gathering(_) => true,
            Phase::Settled | Phase::Following | Phase::HandingOver => false,
        };
        let is_known = self.follows.iter().any(|(node, _)| *node == from);
        if is_open && !is_known && group == self.number.group(cx.me) {
            self.follows.push((from, report));
            self.form_if_complete(cx, out);
        }
    }

    /// This node is the winner, and these nodes know it.
    pub(super) fn expect(&mut self, cx: &mut Context<'_>, all: NodeSet, out: &mut Effects<Self>) {
        self.expect_within(cx, all, cx.config.timing().answer(), out);
    }

    /// The same, with a longer wait for nodes that learn of the winner later than others.
    pub(super) fn expect_within(
        &mut self,
        cx: &mut Context<'_>,
        mut all: NodeSet,
        wait: Duration,
        out: &mut Effects<Self>,
    ) {
        let Phase::Gathering(gathering) = &mut self.phase else { return };
        if gathering.told.is_none() {
            all.remove(cx.me);
            gathering.told = Some(all);
            out.set_timer(Timer::Follows, wait);
            self.form_if_complete(cx, out);
        }
    }

    pub(super) fn form_if_complete(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Phase::Gathering(Gathering { told: Some(told) }) = &self.phase else { return };
        let has_followed = |node| self.follows.iter().any(|(follower, _)| *follower == node);
        if told.iter().all(has_followed) {
            self.form(cx, out);
        }
    }

    /// Forms the group of the nodes that follow by now. This node's own application must have
    /// stopped.
    pub(super) fn form(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Phase::Gathering(Gathering { told: Some(_) }) = &self.phase else { return };
        let (Some(group), Some(report)) = (self.group, self.report.clone()) else {
            // Stopping takes longer than the wait; a node that follows until then is a member.
            if let Phase::Gathering(gathering) = &mut self.phase {
                gathering.told = Some(NodeSet::new());
            }
            return;
        };
        let mut reports = core::mem::take(&mut self.follows);
        self.up = reports.iter().map(|(node, _)| *node).collect();
        reports.push((cx.me, report));
        self.phase = Phase::HandingOver;
        out.cancel_timer(Timer::Follows);
        // Set here, so that no member waits longer than S for the first check.
        out.set_timer(Timer::Check, cx.config.timing().check_every());
        out.notify(Notice::Formed(Formation {
            group,
            members: self.up.clone(),
            reports,
            is_strict: false,
            waits_full: false,
        }));
    }

    /// The definition is in place, at this participant or at all members of this coordinator.
    pub(super) fn settled(
        &mut self,
        cx: &Context<'_>,
        missing: &NodeSet,
        mut members: NodeSet,
        out: &mut Effects<Self>,
    ) {
        self.status = Status::Normal;
        out.cancel_timer(Timer::Stall);
        if self.phase == Phase::HandingOver {
            self.up = self.up.without(missing);
            self.is_caller = false;
            self.leading = Leading::Yes;
            out.notify(Notice::Ended(Outcome::Won));
        } else {
            members.remove(cx.me);
            self.up = members;
            out.notify(Notice::Watch(self.coordinator.into_iter().collect()));
        }
        self.phase = Phase::Settled;
    }
}
