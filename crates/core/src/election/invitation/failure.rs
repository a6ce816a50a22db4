//! Timeout and Recovery, listings 10.24 and 10.25: what a node does when another one has failed.

use super::{Invitation, Message, Reinvite, SilenceRule, Task, Timer, Waits};
use crate::election::{Notice, save_late};
use crate::group::{GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

impl Invitation {
    /// Timeout, listing 10.24 (I-28); a coordinator's own does nothing (I-30).
    pub(super) fn timeout(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let is_due = self.coordinator != cx.me
            && self.status.has_coordinator()
            && self.task == Task::Idle
            && !cx.is_mutated(Mutant::NEVER_ASK_COORDINATOR);
        if is_due {
            out.send(self.coordinator, Message::AreYouThere { group: self.group });
            out.set_timer(Timer::Answers, cx.config.timing().answer());
            self.task = Task::Probing;
        }
    }

    pub(super) fn timeout_again(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        if self.coordinator != cx.me {
            out.set_timer(Timer::Timeout, cx.config.timing().timeout_every());
            self.timeout(cx, out);
        }
    }

    /// AYT_answer (I-29, I-30, E-22).
    pub(super) fn on_coordinator_answer(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        group: GroupNumber,
        ok: bool,
        out: &mut Effects<Self>,
    ) {
        let is_expected =
            self.task == Task::Probing && from == self.coordinator && group == self.group;
        if !is_expected {
            return;
        }
        if ok {
            self.task = Task::Idle;
            out.cancel_timer(Timer::Answers);
        } else {
            self.recover(cx, out);
        }
    }

    /// I-30, or I-33: the highest of the old members invites the others at once.
    pub(super) fn lose_coordinator(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let can_reinvite = cx.config.options().invitation.reinvite == Reinvite::On
            && self.status == Status::Normal;
        if !can_reinvite {
            return self.recover(cx, out);
        }
        out.cancel_timer(Timer::Answers);
        let members = cx.members;
        let higher = self
            .up
            .iter()
            .filter(|node| *node != self.coordinator && members.outranks(*node, cx.me))
            .count();
        let delay = self.staggered(cx, higher, higher == 0);
        self.task = Task::Regrouping;
        if delay.is_zero() {
            self.regroup(cx, out);
        } else {
            out.set_timer(Timer::Delay, delay);
        }
    }

    pub(super) fn regroup(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        self.up.remove(self.coordinator);
        self.merge(cx, &NodeSet::new(), out);
    }

    /// Recovery, listing 10.25 (I-31): a group of one, legal by.
    pub(super) fn recover(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        self.recover_and(cx, false, out);
    }

    pub(super) fn recover_and(
        &mut self,
        cx: &Context<'_>,
        is_stuck_after: bool,
        out: &mut Effects<Self>,
    ) {
        self.leave_task(Outcome::Failed, out);
        out.notify(Notice::Called);
        self.lead_new_group(cx, out);
        self.task = Task::Recovering { is_stuck_after };
        out.notify(Notice::Stop);
        save_late(cx, self.counter, out);
    }

    /// E-26: the group is formed again without the member that is silent.
    pub(super) fn member_silent(
        &mut self,
        cx: &mut Context<'_>,
        peer: NodeId,
        out: &mut Effects<Self>,
    ) {
        let is_mine = self.coordinator == cx.me
            && self.status == Status::Normal
            && cx.config.options().invitation.silence == SilenceRule::Reform;
        if is_mine && self.up.remove(peer) {
            self.merge(cx, &NodeSet::new(), out);
        }
    }

    /// Evidence that a peer failed ends the wait for it at once, as if it had timed out.
    pub(super) fn failed(&mut self, cx: &mut Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        if cx.config.options().invitation.waits == Waits::Full {
            return;
        }
        let has_lost_coordinator = peer == self.coordinator && peer != cx.me;
        match &mut self.task {
            Task::Idle | Task::Probing | Task::Accepting if has_lost_coordinator => {
                self.lose_coordinator(cx, out);
            }
            Task::Checking { awaiting, .. } => {
                awaiting.remove(peer);
                if awaiting.is_empty() {
                    self.conclude_check(cx, out);
                }
            }
            Task::Merging(merge) => {
                merge.awaiting.remove(peer);
                self.go_on_merging(cx, out);
            }
            Task::Idle
            | Task::Delaying { .. }
            | Task::HandingOver
            | Task::Probing
            | Task::Regrouping
            | Task::Stopping { .. }
            | Task::Accepting
            | Task::Recovering { .. } => {}
        }
        self.member_silent(cx, peer, out);
    }

    /// The coordinator has the detector watch its members; a member asks its coordinator itself.
    pub(super) fn watch(&self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let watches = self.coordinator == cx.me
            && cx.config.options().invitation.silence == SilenceRule::Reform;
        out.notify(Notice::Watch(if watches { self.up.clone() } else { NodeSet::new() }));
    }

    /// The mutant `abandon-members` tells the members that it left that it still leads them.
    pub(super) fn pretends(&self, cx: &Context<'_>) -> bool {
        cx.is_mutated(Mutant::ABANDON_MEMBERS) && self.coordinator != cx.me
    }
}
