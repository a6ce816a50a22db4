//! The procedures of listings 10.23 to 10.28, one method each, in the order of a run.

use core::time::Duration;

use super::{
    CounterRule, Invitation, Joining, Merge, MergeWait, Message, Policy, RecoveryRule, Reinvite,
    SilenceRule, Task, Timer, Waits,
};
use crate::dice::jitter;
use crate::election::{Formation, Notice, mint, mint_late};
use crate::group::{GroupNumber, Status};
use crate::members::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::payload::Report;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

impl Invitation {
    /// Recovery, listing 10.25 (I-31): a group of one, legal by.
    pub(super) fn recover(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        self.recover_and(cx, false, out);
    }

    fn recover_and(&mut self, cx: &Context<'_>, is_stuck_after: bool, out: &mut Effects<Self>) {
        self.leave_task(Outcome::Failed, out);
        out.notify(Notice::Called);
        self.lead_new_group(cx, out);
        self.task = Task::Recovering { is_stuck_after };
        out.notify(Notice::Stop);
        mint_late(cx, self.counter, out);
    }

    /// Check, listing 10.23 (I-12, I-13).
    pub(super) fn check(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let is_due =
            self.status == Status::Normal && self.coordinator == cx.me && self.task == Task::Idle;
        if !is_due {
            return;
        }
        let awaiting: NodeSet = cx.config.members.others(cx.me).collect();
        if awaiting.is_empty() {
            return;
        }
        for other in awaiting.iter() {
            out.send(other, Message::AreYouCoordinator);
        }
        out.set_timer(Timer::Answers, cx.config.timing.answer());
        self.task = Task::Checking { awaiting, others: NodeSet::new() };
    }

    pub(super) fn check_again(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        out.set_timer(Timer::Check, cx.config.timing.check_every());
        self.check(cx, out);
    }

    /// AreYouCoordinator, listing 10.28 (I-14), with the policies of I-22 and I-23.
    pub(super) fn asked_for_coordinator(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        out: &mut Effects<Self>,
    ) {
        let is_coordinator = self.status == Status::Normal && self.coordinator == cx.me;
        let is_from_lower = is_coordinator && cx.config.members.outranks(cx.me, from);
        let policy = cx.config.options.invitation.policy;
        if is_from_lower && policy == Policy::IgnoreLower {
            return;
        }
        let coordinator = self.coordinator;
        out.send(from, Message::AycAnswer { is_coordinator, coordinator });
        if is_from_lower && policy == Policy::Prompted {
            match &mut self.task {
                // Prompted: the higher one waits for nobody but its dice.
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
        out: &mut Effects<Self>,
    ) {
        let Task::Checking { awaiting, others } = &mut self.task else { return };
        if !awaiting.remove(from) {
            return;
        }
        let is_mergeable = match cx.config.options.invitation.policy {
            Policy::Delay | Policy::IgnoreLower => true,
            Policy::Prompted | Policy::OnlyLower => cx.config.members.outranks(cx.me, from),
        };
        if is_coordinator && is_mergeable && !cx.is_mutated(Mutant::MergeNobody) {
            others.insert(from);
        }
        if awaiting.is_empty() && cx.config.options.invitation.waits == Waits::Early {
            self.conclude_check(cx, out);
        }
    }

    pub(super) fn conclude_check(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Task::Checking { others, .. } = &mut self.task else { return };
        let others = core::mem::take(others);
        self.task = Task::Idle;
        out.cancel_timer(Timer::Answers);
        if others.is_empty() {
            return;
        }
        let higher = match cx.config.options.invitation.policy {
            Policy::Delay | Policy::Prompted => cx.config.members.above(cx.me).count(),
            Policy::IgnoreLower | Policy::OnlyLower => 0,
        };
        self.delay_merge(cx, others, higher, out);
    }

    /// I-18, I-19, E-24: nothing for the highest, a unit for each node above, and jitter.
    fn delay_merge(
        &mut self,
        cx: &mut Context<'_>,
        others: NodeSet,
        higher: usize,
        out: &mut Effects<Self>,
    ) {
        let is_highest = cx.config.members.above(cx.me).next().is_none();
        let delay = self.staggered(cx, higher, is_highest);
        if delay.is_zero() {
            return self.merge(cx, &others, out);
        }
        self.task = Task::Delaying { others };
        out.set_timer(Timer::Delay, delay);
    }

    fn staggered(&self, cx: &mut Context<'_>, higher: usize, is_highest: bool) -> Duration {
        let units = u32::try_from(higher).unwrap_or(u32::MAX);
        let random =
            if is_highest { Duration::ZERO } else { jitter(cx.dice, cx.config.timing.jitter()) };
        cx.config.timing.delay_unit().saturating_mul(units) + random
    }

    pub(super) fn end_delay(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        match &mut self.task {
            // I-20: whoever was invited in the meantime has another task, and stays a participant.
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

    /// Merge, listing 10.26 (I-34 to I-36): the others' groups and ours into a new one.
    pub(super) fn merge(
        &mut self,
        cx: &mut Context<'_>,
        others: &NodeSet,
        out: &mut Effects<Self>,
    ) {
        let invited: NodeSet = others.iter().chain(self.up.iter()).collect();
        self.leave_task(Outcome::Failed, out);
        out.notify(Notice::Called);
        self.lead_new_group(cx, out);
        for node in invited.iter() {
            out.send(node, Message::Invitation { group: self.group });
        }
        mint_late(cx, self.counter, out);
        if !invited.is_empty() {
            out.set_timer(
                Timer::Answers,
                match cx.config.options.invitation.merge_wait {
                    MergeWait::Merge => cx.config.timing.merge(),
                    MergeWait::Literal => cx.config.timing.answer(),
                },
            );
        }
        self.task = Task::Merging(Merge {
            is_over: invited.is_empty(),
            awaiting: invited,
            reports: alloc::vec::Vec::new(),
            has_stopped: false,
        });
        out.notify(Notice::Stop);
    }

    /// Invitation, listing 10.27 (I-43 to I-45).
    pub(super) fn invited(
        &mut self,
        cx: &mut Context<'_>,
        group: GroupNumber,
        out: &mut Effects<Self>,
    ) {
        let is_stale = group.node == self.group.node && group.counter <= self.group.counter;
        let is_acceptable = self.status == Status::Normal
            && group.node != cx.me
            && cx.config.members.contains(group.node)
            && !is_stale;
        if !is_acceptable {
            return;
        }
        let mut forwarded = NodeSet::new();
        if self.coordinator == cx.me && !cx.is_mutated(Mutant::AbandonMembers) {
            forwarded = core::mem::take(&mut self.up);
            forwarded.remove(group.node);
        }
        self.leave_task(Outcome::Yielded, out);
        self.status = Status::Election;
        self.coordinator = group.node;
        if !cx.is_mutated(Mutant::KeepOldGroup) {
            self.group = group;
        }
        self.up = NodeSet::new();
        self.watch(cx, out);
        for member in forwarded.iter() {
            out.send(member, Message::Invitation { group });
        }
        if cx.is_mutated(Mutant::AnswerBeforeStopping) {
            let report = Report::default();
            out.send(group.node, Message::Accept { group, report, forwarded: forwarded.clone() });
        }
        self.task = Task::Stopping { group, forwarded };
        out.notify(Notice::Stop);
    }

    /// The application has stopped: whoever waited for that goes on.
    pub(super) fn stopped(
        &mut self,
        cx: &mut Context<'_>,
        report: Report,
        out: &mut Effects<Self>,
    ) {
        match &mut self.task {
            Task::Stopping { group, forwarded } => {
                let (group, forwarded) = (*group, core::mem::take(forwarded));
                self.accept(cx, group, report, forwarded, out);
            }
            Task::Merging(merge) => {
                merge.has_stopped = true;
                merge.reports.push((cx.me, report));
                self.go_on_merging(cx, out);
            }
            Task::Recovering { .. } => {
                self.status = Status::Reorganization;
                let reports = alloc::vec![(cx.me, report)];
                out.notify(Notice::Formed(Formation {
                    group: self.group,
                    members: NodeSet::new(),
                    reports,
                    is_strict: true,
                    waits_full: false,
                }));
            }
            Task::Idle
            | Task::Checking { .. }
            | Task::Delaying { .. }
            | Task::HandingOver
            | Task::Probing
            | Task::Regrouping
            | Task::Accepting => {}
        }
    }

    /// I-46, E-25.
    fn accept(
        &mut self,
        cx: &Context<'_>,
        group: GroupNumber,
        report: Report,
        forwarded: NodeSet,
        out: &mut Effects<Self>,
    ) {
        match cx.config.options.invitation.joining {
            Joining::WithAccept => self.join(group, out),
            Joining::Literal => {}
        }
        if !cx.is_mutated(Mutant::AnswerBeforeStopping) {
            out.send(group.node, Message::Accept { group, report, forwarded });
        }
        out.set_timer(Timer::Answers, cx.config.timing.answer());
        self.task = Task::Accepting;
    }

    fn join(&mut self, group: GroupNumber, out: &mut Effects<Self>) {
        self.status = Status::Reorganization;
        out.notify(Notice::Joined { group, coordinator: group.node });
    }

    /// Accept, listing 10.28 (I-37, I-49); forwarded invitations are waited for as well (E-21).
    pub(super) fn count_accept(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        group: GroupNumber,
        report: Report,
        forwarded: &NodeSet,
        out: &mut Effects<Self>,
    ) {
        let is_ours = group == self.group || cx.is_mutated(Mutant::AcceptAnyGroup);
        let Task::Merging(merge) = &mut self.task else {
            return out.send(from, Message::AcceptAnswer { group, ok: false });
        };
        out.send(from, Message::AcceptAnswer { group, ok: is_ours });
        if !is_ours {
            return;
        }
        merge.awaiting.remove(from);
        if self.up.insert(from) {
            merge.reports.push((from, report));
        }
        for node in forwarded.iter() {
            if node != cx.me && !self.up.contains(node) {
                merge.awaiting.insert(node);
            }
        }
        self.go_on_merging(cx, out);
    }

    pub(super) fn end_of_merge_wait(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if let Task::Merging(merge) = &mut self.task {
            merge.is_over = true;
        }
        self.go_on_merging(cx, out);
    }

    /// I-38: the nodes that accepted, and no others, are the group (I-51).
    fn go_on_merging(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let Task::Merging(merge) = &mut self.task else { return };
        let waits = cx.config.options.invitation.waits;
        let is_over = merge.is_over || (merge.awaiting.is_empty() && waits == Waits::Early);
        if !is_over || !merge.has_stopped {
            return;
        }
        let reports = core::mem::take(&mut merge.reports);
        self.status = Status::Reorganization;
        self.task = Task::HandingOver;
        out.cancel_timer(Timer::Answers);
        out.notify(Notice::Formed(Formation {
            group: self.group,
            members: self.up.clone(),
            reports,
            is_strict: true,
            waits_full: waits == Waits::Full,
        }));
    }

    /// Accept_answer, listing 10.27 (I-47); E-25: of this group only.
    pub(super) fn accepted(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        group: GroupNumber,
        ok: bool,
        out: &mut Effects<Self>,
    ) {
        if self.task != Task::Accepting || from != self.coordinator || group != self.group {
            return;
        }
        if !ok {
            return self.refused(cx, out);
        }
        self.task = Task::Idle;
        out.cancel_timer(Timer::Answers);
        out.set_timer(Timer::Timeout, cx.config.timing.timeout_every());
        if self.status == Status::Election {
            self.join(group, out);
        }
    }

    pub(super) fn refused(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let is_stuck_after = cx.config.options.invitation.recovery == RecoveryRule::Literal;
        self.recover_and(cx, is_stuck_after, out);
    }

    /// The group has its definition (I-40 for the coordinator, I-48 for a participant).
    pub(super) fn settled(
        &mut self,
        cx: &mut Context<'_>,
        missing: &NodeSet,
        mut members: NodeSet,
        out: &mut Effects<Self>,
    ) {
        self.status = Status::Normal;
        let timing = &cx.config.timing;
        match self.task {
            Task::HandingOver => {
                self.up = self.up.without(missing);
                out.notify(Notice::Ended(Outcome::Won));
                out.set_timer(Timer::Check, timing.check_every());
            }
            Task::Recovering { is_stuck_after } => {
                out.notify(Notice::Ended(Outcome::Won));
                if is_stuck_after {
                    // Listing 10.27 as printed goes on to this line after Recovery (E-22b).
                    self.status = Status::Reorganization;
                }
                // I-32: a lone node looks for company.
                out.set_timer(Timer::Check, timing.first_check());
            }
            Task::Idle
            | Task::Checking { .. }
            | Task::Delaying { .. }
            | Task::Merging(_)
            | Task::Probing
            | Task::Regrouping
            | Task::Stopping { .. }
            | Task::Accepting => {
                members.remove(cx.me);
                self.up = members;
                out.cancel_timer(Timer::Answers);
                out.set_timer(Timer::Timeout, timing.timeout_every());
            }
        }
        self.task = Task::Idle;
        self.watch(cx, out);
    }

    /// Timeout, listing 10.24 (I-28); a coordinator's own does nothing (I-30).
    pub(super) fn timeout(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let is_due = self.coordinator != cx.me
            && self.status.has_coordinator()
            && self.task == Task::Idle
            && !cx.is_mutated(Mutant::NeverAskCoordinator);
        if is_due {
            out.send(self.coordinator, Message::AreYouThere { group: self.group });
            out.set_timer(Timer::Answers, cx.config.timing.answer());
            self.task = Task::Probing;
        }
    }

    pub(super) fn timeout_again(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        if self.coordinator != cx.me {
            out.set_timer(Timer::Timeout, cx.config.timing.timeout_every());
            self.timeout(cx, out);
        }
    }

    /// AYT_answer (I-29, I-30, E-22).
    pub(super) fn heard_of_coordinator(
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
        let can_reinvite =
            cx.config.options.invitation.reinvite == Reinvite::On && self.status == Status::Normal;
        if !can_reinvite {
            return self.recover(cx, out);
        }
        out.cancel_timer(Timer::Answers);
        let members = &cx.config.members;
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

    fn regroup(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        self.up.remove(self.coordinator);
        self.merge(cx, &NodeSet::new(), out);
    }

    /// E-26: the group is formed again without the member that is silent.
    pub(super) fn member_silent(
        &mut self,
        cx: &mut Context<'_>,
        peer: NodeId,
        out: &mut Effects<Self>,
    ) {
        let is_mine = self.coordinator == cx.me && self.status == Status::Normal;
        if is_mine && self.up.remove(peer) {
            self.merge(cx, &NodeSet::new(), out);
        }
    }

    /// Evidence ends a wait at once, as if it had run out for this peer.
    pub(super) fn failed(&mut self, cx: &mut Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        if cx.config.options.invitation.waits == Waits::Full {
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
        if cx.config.options.invitation.silence == SilenceRule::Reform {
            self.member_silent(cx, peer, out);
        }
    }

    /// The coordinator watches its members; a member asks for itself.
    pub(super) fn watch(&self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let watches = self.coordinator == cx.me
            && cx.config.options.invitation.silence == SilenceRule::Reform;
        out.notify(Notice::Watch(if watches { self.up.clone() } else { NodeSet::new() }));
    }

    /// The `abandon-members` mutant keeps those it left in the belief that it leads them.
    pub(super) fn pretends(&self, cx: &Context<'_>, _asker: NodeId) -> bool {
        cx.is_mutated(Mutant::AbandonMembers) && self.coordinator != cx.me
    }

    fn lead_new_group(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        self.group = match cx.config.options.invitation.counter {
            CounterRule::Stable => mint(cx, &mut self.counter, out),
            CounterRule::Volatile => {
                self.counter = self.counter.next();
                self.counter.group(cx.me)
            }
        };
        self.status = Status::Election;
        self.coordinator = cx.me;
        self.up = NodeSet::new();
        out.notify(Notice::Watch(NodeSet::new()));
    }

    fn leave_task(&mut self, outcome: Outcome, out: &mut Effects<Self>) {
        match self.task {
            Task::Merging(_) | Task::HandingOver | Task::Recovering { .. } => {
                out.notify(Notice::Ended(outcome));
            }
            Task::Idle
            | Task::Checking { .. }
            | Task::Delaying { .. }
            | Task::Probing
            | Task::Regrouping
            | Task::Stopping { .. }
            | Task::Accepting => {}
        }
        self.task = Task::Idle;
        for timer in [Timer::Answers, Timer::Delay, Timer::Check, Timer::Timeout] {
            out.cancel_timer(timer);
        }
    }
}
