//! The candidate, listing 10.20 (Election): ask, halt, appoint, hand over, or start over.

use super::vetting::Vetting;
use super::{
    Bully, Candidate, Halting, HaltingRound, Message, Nudge, Recheck, Rounds, Standing, Task,
    Timer, Waits,
};
use crate::dice::jitter;
use crate::election::{Formation, Notice, next_number, save_late};
use crate::group::{GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::payload::Report;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

/// The longest back-off, in units of T.
const BACK_OFF_MAX: u32 = 8;

impl Bully {
    /// Election, listing 10.20, first step: is a node of higher rank up? (B-23, B-47)
    pub(super) fn elect(&mut self, cx: &mut Context<'_>, attempt: u8, out: &mut Effects<Self>) {
        match self.task {
            Task::Idle
            | Task::Probing
            | Task::Doubting
            | Task::Checking { .. }
            | Task::BackingOff { .. } => {}
            // A node runs one election of its own at a time (G-09), and none during that of a
            // higher node.
            Task::Asking { .. }
            | Task::Halting(_)
            | Task::Appointing { .. }
            | Task::HandingOver { .. }
            | Task::Answering { .. } => return,
        }
        out.cancel_timer(Timer::Retry);
        out.notify(Notice::Called);
        let mut above = self.may_be_above(cx);
        if cx.is_mutated(Mutant::PROBE_ALL_BUT_HIGHEST)
            && let Some(highest) = cx.members.above(cx.me).next_back()
        {
            above.remove(highest);
        }
        if above.is_empty() {
            return self.halt_lower(cx, attempt, out);
        }
        // A leader that a newcomer asks checks at once, and takes it in.
        let is_joining = cx.config.preempt().is_sticky() && self.status == Status::Down;
        let nudge = cx.config.options().bully.nudge == Nudge::On || is_joining;
        for higher in above.iter() {
            out.send(higher, Message::AreYouUp { nudge });
        }
        out.set_timer(Timer::Answers, cx.config.timing().answer());
        self.task = Task::Asking { attempt, awaiting: above };
    }

    /// A peer is up: a node that outranks this one ends its election.
    pub(super) fn found_up(
        &mut self,
        cx: &mut Context<'_>,
        answer: Standing,
        out: &mut Effects<Self>,
    ) {
        let (from, own) = (answer.node, self.standing(cx));
        if self.coordinator == Some(from) {
            self.has_lost_coordinator = false;
        }
        match &mut self.task {
            Task::Probing if self.coordinator == Some(from) => {
                self.rest(out);
                if cx.config.preempt().is_sticky() && !answer.leads {
                    // It has restarted, and waits for a leader as this node does.
                    self.elect(cx, 0, out);
                }
            }
            Task::Doubting if self.halted.is_some_and(|halted| halted.group.node == from) => {
                // A leader keeps its rank during its own election, so that election is over.
                self.halted = self.halted.filter(|halted| !halted.leads || answer.leads);
                self.rest(out);
            }
            Task::Asking { attempt, awaiting } if own.outranks(answer, cx) => {
                let attempt = *attempt;
                if awaiting.remove(from) && awaiting.is_empty() {
                    self.conclude_asking(cx, attempt, out);
                }
            }
            Task::Asking { awaiting, .. } if awaiting.contains(from) => {
                let awaiting = awaiting.clone();
                out.notify(Notice::Ended(Outcome::Yielded));
                self.wait_for_others(cx, out);
                match self.halted {
                    // Another node answered; the one that halted this node may still answer.
                    Some(halted)
                        if self.status == Status::Election
                            && halted.group.node != from
                            && awaiting.contains(halted.group.node) =>
                    {
                        self.task = Task::Doubting;
                    }
                    Some(_) | None => self.rest(out),
                }
            }
            Task::Idle
            | Task::Probing
            | Task::Doubting
            | Task::Checking { .. }
            | Task::Asking { .. }
            | Task::BackingOff { .. }
            | Task::Halting(_)
            | Task::Appointing { .. }
            | Task::HandingOver { .. }
            | Task::Answering { .. } => {}
        }
    }

    /// No node that outranks this one has answered.
    pub(super) fn conclude_asking(
        &mut self,
        cx: &mut Context<'_>,
        attempt: u8,
        out: &mut Effects<Self>,
    ) {
        // A candidate of higher rank, which had not started when it was asked, waits for the same
        // answers.
        if self.vetting.as_ref().is_some_and(Vetting::has_candidate) {
            self.conclude_vetting(cx, out);
        }
        if let Task::Asking { .. } = self.task {
            self.halt_lower(cx, attempt, out);
        }
    }

    /// Listing 10.20, second step: no lower node may go on under an old coordinator (B-25, B-26).
    pub(super) fn halt_lower(
        &mut self,
        cx: &mut Context<'_>,
        attempt: u8,
        out: &mut Effects<Self>,
    ) {
        let group = next_number(cx, &mut self.counter, out);
        self.status = Status::Election;
        self.halted = Some(Candidate { group, leads: self.leads });
        self.coordinator = None;
        self.has_lost_coordinator = false;
        self.group = Some(group);
        self.up = NodeSet::new();
        self.end_vetting(out);
        out.cancel_timer(Timer::Stall);
        out.cancel_timer(Timer::Check);
        out.notify(Notice::Watch(NodeSet::new()));
        out.notify(Notice::Stop);
        let mut queue = self.may_be_below(cx);
        if cx.is_mutated(Mutant::FORGET_LOWEST_NODE) && queue.len() > 1 {
            queue.remove(0);
        }
        let mut round = HaltingRound {
            attempt,
            group,
            awaiting: NodeSet::new(),
            queue,
            reports: alloc::vec::Vec::new(),
            has_stopped: false,
            is_over: false,
            leads: self.leads,
        };
        round.ask(cx, out);
        save_late(cx, self.counter, out);
        self.task = Task::Halting(round);
    }

    pub(super) fn count_halted(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        group: GroupNumber,
        ok: bool,
        report: Report,
        out: &mut Effects<Self>,
    ) {
        let Task::Halting(round) = &mut self.task else { return };
        if round.group != group || !round.awaiting.remove(from) {
            return;
        }
        if !ok {
            return self.refused(cx, out);
        }
        round.reports.push((from, report));
        self.up.insert(from);
        self.go_on_halting(cx, out);
    }

    /// A lower node obeys a candidate higher than this node. That candidate may have crashed, so
    /// this node tries again once the candidate must have been noticed.
    pub(super) fn refused(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        self.end_election(Outcome::Yielded, out);
        out.cancel_timer(Timer::Answers);
        self.wait_for_others(cx, out);
        self.back_off(cx, out);
    }

    /// Tries again once a higher node must have noticed what this one has noticed.
    pub(super) fn back_off(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        self.task = Task::BackingOff { attempt: 0 };
        let pause = cx.config.timing().answer() + cx.config.timing().message_max();
        let random = jitter(cx.dice, cx.config.timing().answer());
        out.set_timer(Timer::Retry, pause + random);
    }

    pub(super) fn end_of_halting_wait(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if let Task::Halting(round) = &mut self.task {
            round.awaiting = NodeSet::new();
            round.is_over = true;
        }
        self.go_on_halting(cx, out);
    }

    pub(super) fn go_on_halting(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Task::Halting(round) = &mut self.task else { return };
        if !round.awaiting.is_empty() {
            return;
        }
        if !round.is_over && cx.config.options().bully.waits == Waits::Full && round.has_asked(cx) {
            return;
        }
        if !round.queue.is_empty() {
            return round.ask(cx, out);
        }
        if round.has_stopped {
            self.appoint(cx, out);
        }
    }

    /// Listing 10.20, third step: tell the halted nodes who coordinates them (B-27, B-28).
    pub(super) fn appoint(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Task::Halting(round) = &mut self.task else { return };
        let (attempt, group) = (round.attempt, round.group);
        let reports = core::mem::take(&mut round.reports);
        self.coordinator = Some(cx.me);
        self.status = Status::Reorganization;
        self.task = Task::Appointing {
            attempt,
            awaiting: self.up.clone(),
            missing: NodeSet::new(),
            reports,
        };
        let is_done = self.up.is_empty() || cx.config.options().bully.rounds == Rounds::Merged;
        if is_done {
            out.cancel_timer(Timer::Answers);
            return self.hand_over(cx, out);
        }
        for member in self.up.iter() {
            out.send(member, Message::SetCoordinator { group });
        }
        out.set_timer(Timer::Answers, cx.config.timing().answer());
    }

    pub(super) fn count_appointed(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        group: GroupNumber,
        ok: bool,
        out: &mut Effects<Self>,
    ) {
        let Task::Appointing { awaiting, missing, .. } = &mut self.task else { return };
        if self.group != Some(group) || !awaiting.remove(from) {
            return;
        }
        if !ok {
            missing.insert(from);
        }
        if awaiting.is_empty() && cx.config.options().bully.waits == Waits::Early {
            self.conclude_appointing(cx, out);
        }
    }

    /// B-29, and the lenient reading of B-32.
    pub(super) fn conclude_appointing(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Task::Appointing { attempt, awaiting, missing, .. } = &self.task else { return };
        let attempt = *attempt;
        let missing: NodeSet = missing.iter().chain(awaiting.iter()).collect();
        out.cancel_timer(Timer::Answers);
        if !missing.is_empty() && cx.config.options().bully.recheck == Recheck::Strict {
            return self.start_over(cx, attempt, out);
        }
        self.up = self.up.without(&missing);
        self.hand_over(cx, out);
    }

    /// Listing 10.20, fourth step: New_State, which the reorganization layer sends (B-30).
    pub(super) fn hand_over(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let Task::Appointing { attempt, reports, .. } = &mut self.task else { return };
        let (attempt, mut reports) = (*attempt, core::mem::take(reports));
        reports.retain(|(node, _)| *node == cx.me || self.up.contains(*node));
        let Some(group) = self.group else { return };
        self.task = Task::HandingOver { attempt };
        let options = cx.config.options().bully;
        out.notify(Notice::Formed(Formation {
            group,
            members: self.up.clone(),
            reports,
            is_strict: options.recheck == Recheck::Strict,
            waits_full: options.waits == Waits::Full,
        }));
    }

    /// B-29, B-30, E-16: at once the first time, with a growing pause after that.
    pub(super) fn start_over(
        &mut self,
        cx: &mut Context<'_>,
        attempt: u8,
        out: &mut Effects<Self>,
    ) {
        self.end_election(Outcome::Failed, out);
        self.task = Task::BackingOff { attempt: attempt.saturating_add(1) };
        if attempt == 0 {
            return self.retry(cx, out);
        }
        let timing = cx.config.timing();
        let factor = u32::from(attempt).min(BACK_OFF_MAX);
        let pause = timing.answer() * factor + jitter(cx.dice, timing.answer());
        out.set_timer(Timer::Retry, pause);
    }

    pub(super) fn retry(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if let Task::BackingOff { attempt } = self.task {
            self.elect(cx, attempt, out);
        }
    }

    pub(super) fn end_election(&mut self, outcome: Outcome, out: &mut Effects<Self>) {
        match self.task {
            Task::Asking { .. }
            | Task::Halting(_)
            | Task::Appointing { .. }
            | Task::HandingOver { .. } => out.notify(Notice::Ended(outcome)),
            Task::Idle
            | Task::Probing
            | Task::Doubting
            | Task::Checking { .. }
            | Task::BackingOff { .. }
            | Task::Answering { .. } => {}
        }
        self.task = Task::Idle;
        out.cancel_timer(Timer::Retry);
    }
}

impl HaltingRound {
    /// Sends the next Enter_Election: to all lower nodes, or to the highest that was not asked yet.
    pub(super) fn ask(&mut self, cx: &Context<'_>, out: &mut Effects<Bully>) {
        let options = cx.config.options().bully;
        let message = Message::EnterElection {
            group: self.group,
            appoints: options.rounds == Rounds::Merged,
            leads: self.leads,
        };
        match options.halting {
            Halting::Parallel => {
                for lower in self.queue.drain(..) {
                    self.awaiting.insert(lower);
                    out.send(lower, message.clone());
                }
            }
            Halting::Descending => {
                if let Some(lower) = self.queue.pop() {
                    self.awaiting.insert(lower);
                    out.send(lower, message);
                }
            }
        }
        self.is_over = self.awaiting.is_empty();
        if !self.awaiting.is_empty() {
            out.set_timer(Timer::Answers, cx.config.timing().answer());
        }
    }

    pub(super) fn has_asked(&self, cx: &Context<'_>) -> bool {
        self.leads || cx.members.below(cx.me).next().is_some()
    }
}
