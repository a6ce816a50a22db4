//! Check, listing 10.23: find other coordinators, and how long to wait before merging.

use super::{Heard, Invitation, Message, Policy, Standing, Task, Timer, Waits};
use crate::dice::jitter;
use crate::group::Status;
use crate::membership::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::protocol::{Context, Effects};
use core::time::Duration;

impl Invitation {
    /// Check, listing 10.23 (I-12, I-13).
    pub(super) fn check(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let is_due =
            self.status == Status::Normal && self.coordinator == cx.me && self.task == Task::Idle;
        if !is_due {
            return;
        }
        let awaiting: NodeSet = cx.members.others(cx.me).collect();
        if awaiting.is_empty() {
            return;
        }
        for other in awaiting.iter() {
            out.send(other, Message::AreYouCoordinator { standing: self.said(cx) });
        }
        out.set_timer(Timer::Answers, cx.config.timing().answer());
        self.task = Task::Checking { awaiting, others: NodeSet::new(), heard: Heard::Nothing };
    }

    pub(super) fn check_again(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        out.set_timer(Timer::Check, cx.config.timing().check_every());
        self.check(cx, out);
    }

    /// AreYouCoordinator, listing 10.28 (I-14), with the policies of I-22 and I-23.
    pub(super) fn asked_for_coordinator(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        standing: Standing,
        out: &mut Effects<Self>,
    ) {
        let is_coordinator = self.status == Status::Normal && self.coordinator == cx.me;
        let is_from_lower = is_coordinator && cx.members.outranks(cx.me, from);
        let policy = cx.config.options().invitation.policy;
        if is_from_lower && policy == Policy::IgnoreLower {
            return;
        }
        let coordinator = self.coordinator;
        let own = self.said(cx).filter(|_| is_coordinator);
        out.send(from, Message::AycAnswer { is_coordinator, coordinator, standing: own });
        if is_coordinator && policy == Policy::Precedence {
            self.prompted(cx, from, standing, out);
        }
        if is_from_lower && policy == Policy::Prompted {
            match &mut self.task {
                // Prompted: the higher coordinator waits only for its jitter.
                Task::Idle => self.delay_merge(cx, [from].into_iter().collect(), 0, out),
                Task::Delaying { others } | Task::Checking { others, .. } => {
                    others.insert(from);
                }
                Task::Merging(_)
                | Task::HandingOver
                | Task::Probing
                | Task::Regrouping
                | Task::Stopping { .. }
                | Task::Accepting
                | Task::Recovering { .. } => {}
            }
        }
    }

    /// AYC_answer (I-15, I-16). A late one finds no check running and is harmless (I-17).
    pub(super) fn found(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        is_coordinator: bool,
        standing: Standing,
        out: &mut Effects<Self>,
    ) {
        let is_superior = is_coordinator && !self.takes_precedence(cx, from, standing);
        let Task::Checking { awaiting, others, heard } = &mut self.task else { return };
        if !awaiting.remove(from) {
            return;
        }
        *heard = (*heard).max(if is_superior { Heard::Superior } else { Heard::Answers });
        let is_mergeable = match cx.config.options().invitation.policy {
            Policy::Precedence | Policy::Delay | Policy::IgnoreLower => true,
            Policy::Prompted | Policy::OnlyLower => cx.members.outranks(cx.me, from),
        };
        if is_coordinator && is_mergeable && !cx.is_mutated(Mutant::MERGE_NOBODY) {
            others.insert(from);
        }
        if awaiting.is_empty() && cx.config.options().invitation.waits == Waits::Early {
            self.conclude_check(cx, out);
        }
    }

    pub(super) fn conclude_check(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Task::Checking { others, heard, .. } = &mut self.task else { return };
        let (others, heard) = (core::mem::take(others), *heard);
        self.task = Task::Idle;
        out.cancel_timer(Timer::Answers);
        if cx.config.options().invitation.policy == Policy::Precedence {
            return self.conclude_precedence(cx, others, heard, out);
        }
        if others.is_empty() {
            return;
        }
        let higher = match cx.config.options().invitation.policy {
            Policy::Precedence | Policy::Delay | Policy::Prompted => {
                cx.members.above(cx.me).count()
            }
            Policy::IgnoreLower | Policy::OnlyLower => 0,
        };
        self.delay_merge(cx, others, higher, out);
    }

    /// I-18, I-19, E-24: the delay is zero for the highest node, else one unit for each node above,
    /// and jitter.
    pub(super) fn delay_merge(
        &mut self,
        cx: &mut Context<'_>,
        others: NodeSet,
        higher: usize,
        out: &mut Effects<Self>,
    ) {
        let members = cx.members;
        // Two nodes that know different priorities may both take themselves for the highest, and
        // would invite each other in lockstep forever (fuzz seed `invitation` 50976).
        let is_highest = members.is_configured() && members.above(cx.me).next().is_none();
        let delay = self.staggered(cx, higher, is_highest);
        if delay.is_zero() {
            return self.merge(cx, &others, out);
        }
        self.task = Task::Delaying { others };
        out.set_timer(Timer::Delay, delay);
    }

    pub(super) fn staggered(
        &self,
        cx: &mut Context<'_>,
        higher: usize,
        is_highest: bool,
    ) -> Duration {
        let units = u32::try_from(higher).unwrap_or(u32::MAX);
        let random =
            if is_highest { Duration::ZERO } else { jitter(cx.dice, cx.config.timing().jitter()) };
        cx.config.timing().delay_unit().saturating_mul(units) + random
    }

    pub(super) fn end_delay(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        match &mut self.task {
            // I-20: a node that was invited in the meantime has another task, and stays a
            // participant.
            Task::Delaying { others } => {
                let others = core::mem::take(others);
                self.merge(cx, &others, out);
            }
            Task::Regrouping => self.regroup(cx, out),
            Task::Idle
            | Task::Checking { .. }
            | Task::Merging(_)
            | Task::HandingOver
            | Task::Probing
            | Task::Stopping { .. }
            | Task::Accepting
            | Task::Recovering { .. } => {}
        }
    }
}
