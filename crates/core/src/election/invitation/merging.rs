//! Merge, listing 10.26: the coordinator's side of a new group.

use super::{CounterRule, Invitation, Merge, MergeWait, Message, Task, Timer, Waits};
use crate::election::{Formation, Notice, next_number, save_late};
use crate::group::{GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::payload::Report;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

impl Invitation {
    /// Merge, listing 10.26 (I-34 to I-36): the groups of other coordinators and this node's own
    /// form a new one.
    pub(super) fn merge(
        &mut self,
        cx: &mut Context<'_>,
        others: &NodeSet,
        out: &mut Effects<Self>,
    ) {
        let standing = self.said(cx);
        let invited: NodeSet = others.iter().chain(self.up.iter()).collect();
        self.leave_task(Outcome::Failed, out);
        out.notify(Notice::Called);
        self.lead_new_group(cx, out);
        for node in invited.iter() {
            out.send(node, Message::Invitation { group: self.group, standing });
        }
        save_late(cx, self.counter, out);
        if !invited.is_empty() {
            out.set_timer(
                Timer::Answers,
                match cx.config.options().invitation.merge_wait {
                    MergeWait::Merge => cx.config.timing().merge(),
                    MergeWait::Literal => cx.config.timing().answer(),
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
        let is_ours = group == self.group || cx.is_mutated(Mutant::ACCEPT_ANY_GROUP);
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
    pub(super) fn go_on_merging(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let Task::Merging(merge) = &mut self.task else { return };
        let waits = cx.config.options().invitation.waits;
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

    /// The group has its definition (I-40 for the coordinator, I-48 for a participant).
    pub(super) fn settled(
        &mut self,
        cx: &mut Context<'_>,
        missing: &NodeSet,
        mut members: NodeSet,
        out: &mut Effects<Self>,
    ) {
        self.status = Status::Normal;
        let timing = cx.config.timing();
        match self.task {
            Task::HandingOver => {
                self.up = self.up.without(missing);
                self.leads |= !self.up.is_empty() && cx.config.preempt().is_sticky();
                out.notify(Notice::Ended(Outcome::Won));
                out.set_timer(Timer::Check, timing.check_every());
            }
            Task::Recovering { is_stuck_after } => {
                out.notify(Notice::Ended(Outcome::Won));
                if is_stuck_after {
                    // Listing 10.27 as printed goes on to this line after Recovery (E-22b).
                    self.status = Status::Reorganization;
                }
                // I-32: a node alone in its group looks for others, or first waits to be found.
                out.set_timer(Timer::Check, cx.config.first_check(cx.members));
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

    pub(super) fn lead_new_group(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        self.group = match cx.config.options().invitation.counter {
            CounterRule::Stable => next_number(cx, &mut self.counter, out),
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

    pub(super) fn leave_task(&mut self, outcome: Outcome, out: &mut Effects<Self>) {
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
