//! The monitor of listing 10.21: how a node obeys a candidate of higher rank.

use super::{Answers, Bully, Candidate, Halted, Message, Standing, Task, TimeoutRule, Timer};
use crate::election::Notice;
use crate::group::{GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::payload::Report;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

impl Message {
    pub(super) fn refusal(group: GroupNumber) -> Self {
        Self::EeAnswer { group, ok: false, report: Report::default() }
    }
}

impl Bully {
    /// Enter_Election, listing 10.21 (B-34, B-39).
    pub(super) fn halt(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        candidate: Candidate,
        is_appointed: bool,
        out: &mut Effects<Self>,
    ) {
        let (group, own) = (candidate.group, self.standing(cx));
        if self.is_outdated(group) {
            return;
        }
        if !(Standing { node: from, leads: candidate.leads }).outranks(own, cx) {
            // A lower candidate would have found this node up, unless this node leads since then.
            if self.leads && !cx.is_mutated(Mutant::IGNORE_CHALLENGER) {
                out.send(from, Message::refusal(group));
            }
            return;
        }
        if self.puts_off(cx, candidate, is_appointed, out) {
            return;
        }
        if self.must_refuse(cx, candidate.standing()) {
            out.send(from, Message::refusal(group));
            return self.doubt(cx, out);
        }
        let runs_on = cx.is_mutated(Mutant::KEEP_RUNNING_WHEN_HALTED)
            && matches!(self.task, Task::Halting(_) | Task::Appointing { .. });
        if runs_on {
            out.send(from, Message::EeAnswer { group, ok: true, report: Report::default() });
            return;
        }
        self.end_election(Outcome::Yielded, out);
        self.status = Status::Election;
        self.coordinator = None;
        self.has_lost_coordinator = false;
        self.group = Some(group);
        self.up = NodeSet::new();
        self.halted = Some(candidate);
        self.leads = false;
        out.cancel_timer(Timer::Answers);
        out.cancel_timer(Timer::Check);
        self.wait_for_others(cx, out);
        out.notify(Notice::Watch(NodeSet::new()));
        if cx.is_mutated(Mutant::ANSWER_BEFORE_STOPPING) {
            out.send(from, Message::EeAnswer { group, ok: true, report: Report::default() });
            self.task = Task::Idle;
        } else {
            self.task = Task::Answering { is_appointed };
        }
        out.notify(Notice::Yield);
    }

    /// An Enter_Election that a later one overtook, or a duplicate of one whose election is
    /// complete.
    pub(super) fn is_outdated(&self, group: GroupNumber) -> bool {
        self.halted.is_some_and(|Candidate { group: halted, .. }| {
            halted.node == group.node
                && (halted.counter > group.counter
                    || (halted.counter == group.counter && self.status.has_coordinator()))
        })
    }

    /// Monotone `halted` (E-14): the node does not obey a lower candidate while it does not suspect
    /// the higher one that halted it.
    pub(super) fn must_refuse(&self, cx: &Context<'_>, candidate: Standing) -> bool {
        let Some(halted) = self.halted else { return false };
        let halted = halted.standing();
        if self.status != Status::Election || halted.node == candidate.node {
            return false;
        }
        let is_lower = if cx.is_mutated(Mutant::HALTED_THE_WRONG_WAY) {
            candidate.outranks(halted, cx)
        } else {
            halted.outranks(candidate, cx)
        };
        match cx.config.options().bully.halted {
            Halted::Monotone => is_lower,
            Halted::Last => false,
        }
    }

    pub(super) fn doubt(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let Some(Candidate { group: halted, .. }) = self.halted else { return };
        if self.task == Task::Idle && halted.node != cx.me {
            out.send(halted.node, Message::AreYouUp { nudge: false });
            out.set_timer(Timer::Answers, cx.config.timing().answer());
            self.task = Task::Doubting;
        }
    }

    /// The application has stopped: answer the candidate that halted this node, or continue this
    /// node's own election.
    pub(super) fn stopped(
        &mut self,
        cx: &mut Context<'_>,
        report: Report,
        out: &mut Effects<Self>,
    ) {
        match &mut self.task {
            Task::Answering { is_appointed } => {
                let is_appointed = *is_appointed;
                self.task = Task::Idle;
                let Some(Candidate { group, .. }) = self.halted else { return };
                if is_appointed {
                    self.join(group, out);
                }
                out.send(group.node, Message::EeAnswer { group, ok: true, report });
            }
            Task::Halting(round) => {
                round.has_stopped = true;
                round.reports.push((cx.me, report));
                self.go_on_halting(cx, out);
            }
            Task::Idle
            | Task::Probing
            | Task::Doubting
            | Task::Checking { .. }
            | Task::Asking { .. }
            | Task::BackingOff { .. }
            | Task::Appointing { .. }
            | Task::HandingOver { .. } => {}
        }
    }

    /// Set_Coordinator, listing 10.21 (B-35).
    pub(super) fn follow(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        group: GroupNumber,
        out: &mut Effects<Self>,
    ) {
        let is_halted_by_it = self.halted.is_some_and(|halted| halted.group == group)
            || cx.is_mutated(Mutant::OBEY_ANY_COORDINATOR);
        let is_stopped = match self.task {
            Task::Answering { .. } => false,
            Task::Idle
            | Task::Probing
            | Task::Doubting
            | Task::Checking { .. }
            | Task::Asking { .. }
            | Task::BackingOff { .. }
            | Task::Halting(_)
            | Task::Appointing { .. }
            | Task::HandingOver { .. } => true,
        };
        let obeys =
            self.status == Status::Election && is_halted_by_it && is_stopped && group.node == from;
        if obeys {
            self.end_election(Outcome::Yielded, out);
            self.rest(out);
            self.join(group, out);
        }
        let ok = obeys || cx.config.options().bully.answers == Answers::Literal;
        out.send(from, Message::ScAnswer { group, ok });
    }

    pub(super) fn join(&mut self, group: GroupNumber, out: &mut Effects<Self>) {
        self.status = Status::Reorganization;
        self.coordinator = Some(group.node);
        self.has_lost_coordinator = false;
        self.group = Some(group);
        out.cancel_timer(Timer::Stall);
        out.notify(Notice::Joined { group, coordinator: group.node });
        out.notify(Notice::Watch([group.node].into_iter().collect()));
    }

    /// B-31 for the coordinator, B-36 for a participant.
    pub(super) fn settled(
        &mut self,
        cx: &mut Context<'_>,
        missing: &NodeSet,
        mut members: NodeSet,
        out: &mut Effects<Self>,
    ) {
        self.status = Status::Normal;
        if let Task::HandingOver { .. } = self.task {
            self.up = self.up.without(missing);
            self.task = Task::Idle;
            self.leads = cx.config.preempt().is_sticky();
            out.notify(Notice::Ended(Outcome::Won));
            // Members count S from the definition, which was sent at most T ago.
            let timing = cx.config.timing();
            let first = timing.check_every().saturating_sub(timing.answer());
            out.set_timer(Timer::Check, first);
        } else {
            members.remove(cx.me);
            self.up = members;
        }
    }

    pub(super) fn rest(&mut self, out: &mut Effects<Self>) {
        self.task = Task::Idle;
        out.cancel_timer(Timer::Answers);
    }

    /// A node that leaves the next move to other nodes sets a timer, to check later whether they
    /// made it (E-11).
    pub(super) fn wait_for_others(&self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let is_literal = cx.config.options().bully.timeout == TimeoutRule::Literal;
        if self.status != Status::Normal && !is_literal {
            out.set_timer(Timer::Stall, cx.config.timing().stall());
        }
    }
}
