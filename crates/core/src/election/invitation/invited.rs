//! The handler of listing 10.27: the participant's side of a new group.

use super::{Invitation, Joining, Message, RecoveryRule, Standing, Strangers, Task, Timer};
use crate::election::{Formation, Notice};
use crate::group::{GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::payload::Report;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

impl Invitation {
    /// Invitation, listing 10.27 (I-43 to I-45).
    pub(super) fn invited(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        group: GroupNumber,
        standing: Option<Standing>,
        out: &mut Effects<Self>,
    ) {
        let is_stale = group.node == self.group.node && group.counter <= self.group.counter;
        let is_acceptable = self.status == Status::Normal
            && group.node != cx.me
            && cx.members.contains(group.node)
            && !is_stale;
        if !is_acceptable {
            return;
        }
        if self.is_invited_by_stranger(cx, from, group) {
            return out.send(self.coordinator, Message::Invitation { group, standing });
        }
        if self.keeps_leading(cx, group.node, standing.unwrap_or_default()) {
            return;
        }
        let mut forwarded = NodeSet::new();
        if self.coordinator == cx.me && !cx.is_mutated(Mutant::ABANDON_MEMBERS) {
            forwarded = core::mem::take(&mut self.up);
            forwarded.remove(group.node);
        }
        self.leave_task(Outcome::Yielded, out);
        self.leads = false;
        self.status = Status::Election;
        self.coordinator = group.node;
        if !cx.is_mutated(Mutant::KEEP_OLD_GROUP) {
            self.group = group;
        }
        self.up = NodeSet::new();
        self.watch(cx, out);
        for member in forwarded.iter() {
            out.send(member, Message::Invitation { group, standing });
        }
        if cx.is_mutated(Mutant::ANSWER_BEFORE_STOPPING) {
            let report = Report::default();
            out.send(group.node, Message::Accept { group, report, forwarded: forwarded.clone() });
        }
        self.task = Task::Stopping { group, forwarded };
        out.notify(Notice::Yield);
    }

    /// A coordinator that found this node alone a moment ago may invite it although it is in a
    /// group by now. If it accepted, its own coordinator would miss it and form the group again,
    /// and so on: two coordinators could take each other's members for a long time. An invitation
    /// is forwarded only by the node that got it from the inviting coordinator, so none circulates.
    fn is_invited_by_stranger(&self, cx: &Context<'_>, from: NodeId, group: GroupNumber) -> bool {
        cx.config.options().invitation.strangers == Strangers::Redirect
            && self.coordinator != cx.me
            && self.task != Task::Regrouping
            && from == group.node
            && from != self.coordinator
            && !self.up.contains(from)
    }

    /// The application has stopped: the task that waited for it goes on.
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
    pub(super) fn accept(
        &mut self,
        cx: &Context<'_>,
        group: GroupNumber,
        report: Report,
        forwarded: NodeSet,
        out: &mut Effects<Self>,
    ) {
        match cx.config.options().invitation.joining {
            Joining::WithAccept => self.join(group, out),
            Joining::Literal => {}
        }
        if !cx.is_mutated(Mutant::ANSWER_BEFORE_STOPPING) {
            out.send(group.node, Message::Accept { group, report, forwarded });
        }
        out.set_timer(Timer::Answers, cx.config.timing().answer());
        self.task = Task::Accepting;
    }

    pub(super) fn join(&mut self, group: GroupNumber, out: &mut Effects<Self>) {
        self.status = Status::Reorganization;
        out.notify(Notice::Joined { group, coordinator: group.node });
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
        out.set_timer(Timer::Timeout, cx.config.timing().timeout_every());
        if self.status == Status::Election {
            self.join(group, out);
        }
    }

    pub(super) fn refused(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let is_stuck_after = cx.config.options().invitation.recovery == RecoveryRule::Literal;
        self.recover_and(cx, is_stuck_after, out);
    }
}
