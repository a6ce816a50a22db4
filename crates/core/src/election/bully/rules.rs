//! The procedures of listings 10.18 to 10.21, one method each, in the order of a run.

use super::{
    Answers, Bully, CheckRule, Halted, Halting, HaltingRound, Message, Nudge, Recheck, Rounds,
    Task, TimeoutRule, Timer, Waits,
};
use crate::dice::jitter;
use crate::election::{Formation, Notice, mint, mint_late};
use crate::group::{GroupNumber, Status};
use crate::members::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::payload::Report;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

/// The longest back-off, in units of T.
const BACK_OFF_MAX: u32 = 8;

impl Bully {
    /// Coordinator_Timeout, listing 10.18 (B-15 to B-17, E-11, E-20).
    pub(super) fn coordinator_timeout(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if self.task != Task::Idle {
            return;
        }
        match (self.status, self.coordinator) {
            (Status::Normal | Status::Reorganization, Some(coordinator))
                if coordinator != cx.me =>
            {
                out.send(coordinator, Message::AreYouUp { nudge: false });
                out.set_timer(Timer::Answers, cx.config.timing.answer());
                self.task = Task::Probing;
            }
            // A coordinator whose own election was given up half-way is nobody's coordinator.
            (Status::Reorganization, _) => self.elect(cx, 0, out),
            (Status::Normal, _) => {}
            (Status::Down | Status::Election, _) => match cx.config.options.bully.timeout {
                TimeoutRule::AllStates => self.elect(cx, 0, out),
                TimeoutRule::Literal => {}
            },
        }
    }

    pub(super) fn stalled(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if self.status == Status::Normal || cx.is_mutated(Mutant::IgnoreStall) {
            return;
        }
        self.wait_for_others(cx, out);
        self.coordinator_timeout(cx, out);
    }

    /// Election, listing 10.20, first step: is anybody of higher rank up? (B-23, B-47)
    pub(super) fn elect(&mut self, cx: &mut Context<'_>, attempt: u8, out: &mut Effects<Self>) {
        match self.task {
            Task::Idle
            | Task::Probing
            | Task::Doubting
            | Task::Checking { .. }
            | Task::BackingOff { .. } => {}
            // One election of one's own at a time (G-09), and none while a higher one is on.
            Task::Asking { .. }
            | Task::Halting(_)
            | Task::Appointing { .. }
            | Task::HandingOver { .. }
            | Task::Answering { .. } => return,
        }
        out.cancel_timer(Timer::Retry);
        out.notify(Notice::Called);
        let mut above: NodeSet = cx.config.members.above(cx.me).collect();
        if cx.is_mutated(Mutant::ProbeAllButHighest)
            && let Some(highest) = cx.config.members.above(cx.me).next_back()
        {
            above.remove(highest);
        }
        if above.is_empty() {
            return self.halt_lower(cx, attempt, out);
        }
        let nudge = cx.config.options.bully.nudge == Nudge::On;
        for higher in above.iter() {
            out.send(higher, Message::AreYouUp { nudge });
        }
        out.set_timer(Timer::Answers, cx.config.timing.answer());
        self.task = Task::Asking { attempt, awaiting: above };
    }

    pub(super) fn found_up(&mut self, cx: &mut Context<'_>, from: NodeId, out: &mut Effects<Self>) {
        match &self.task {
            Task::Probing if self.coordinator == Some(from) => self.rest(out),
            Task::Doubting if self.halted.is_some_and(|halted| halted.node == from) => {
                self.rest(out);
            }
            Task::Asking { awaiting, .. } if awaiting.contains(from) => {
                out.notify(Notice::Ended(Outcome::Yielded));
                self.wait_for_others(cx, out);
                match self.halted {
                    // Somebody else answered; whether the one that halted us will is open.
                    Some(halted)
                        if self.status == Status::Election
                            && halted.node != from
                            && awaiting.contains(halted.node) =>
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

    /// Listing 10.20, second step: nobody may go on under an old coordinator (B-25, B-26).
    pub(super) fn halt_lower(
        &mut self,
        cx: &mut Context<'_>,
        attempt: u8,
        out: &mut Effects<Self>,
    ) {
        let group = mint(cx, &mut self.counter, out);
        self.status = Status::Election;
        self.halted = Some(group);
        self.coordinator = None;
        self.group = Some(group);
        self.up = NodeSet::new();
        out.cancel_timer(Timer::Stall);
        out.cancel_timer(Timer::Check);
        out.notify(Notice::Watch(NodeSet::new()));
        out.notify(Notice::Stop);
        let mut queue: alloc::vec::Vec<NodeId> = cx.config.members.below(cx.me).collect();
        if cx.is_mutated(Mutant::ForgetLowestNode) && queue.len() > 1 {
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
        };
        round.ask(cx, out);
        mint_late(cx, self.counter, out);
        self.task = Task::Halting(round);
    }

    /// Enter_Election, listing 10.21 (B-34, B-39).
    pub(super) fn halt(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        group: GroupNumber,
        is_appointed: bool,
        out: &mut Effects<Self>,
    ) {
        if !cx.config.members.outranks(from, cx.me) || self.is_outdated(group) {
            return;
        }
        if self.must_refuse(cx, from) {
            out.send(from, Message::EeAnswer { group, ok: false, report: Report::default() });
            return self.doubt(cx, out);
        }
        let runs_on = cx.is_mutated(Mutant::KeepRunningWhenHalted)
            && matches!(self.task, Task::Halting(_) | Task::Appointing { .. });
        if runs_on {
            out.send(from, Message::EeAnswer { group, ok: true, report: Report::default() });
            return;
        }
        self.end_election(Outcome::Yielded, out);
        self.status = Status::Election;
        self.coordinator = None;
        self.group = Some(group);
        self.up = NodeSet::new();
        self.halted = Some(group);
        out.cancel_timer(Timer::Answers);
        out.cancel_timer(Timer::Check);
        self.wait_for_others(cx, out);
        out.notify(Notice::Watch(NodeSet::new()));
        if cx.is_mutated(Mutant::AnswerBeforeStopping) {
            out.send(from, Message::EeAnswer { group, ok: true, report: Report::default() });
            self.task = Task::Idle;
        } else {
            self.task = Task::Answering { is_appointed };
        }
        out.notify(Notice::Stop);
    }

    /// An Enter_Election that was overtaken, or came twice after it was obeyed to the end.
    fn is_outdated(&self, group: GroupNumber) -> bool {
        self.halted.is_some_and(|halted| {
            halted.node == group.node
                && (halted.counter > group.counter
                    || (halted.counter == group.counter && self.status.has_coordinator()))
        })
    }

    /// Monotone `halted` (E-14): not back to a lower candidate while the higher one is not suspected.
    fn must_refuse(&self, cx: &Context<'_>, candidate: NodeId) -> bool {
        let Some(halted) = self.halted else { return false };
        if self.status != Status::Election || halted.node == candidate {
            return false;
        }
        let is_lower = if cx.is_mutated(Mutant::HaltedTheWrongWay) {
            cx.config.members.outranks(candidate, halted.node)
        } else {
            cx.config.members.outranks(halted.node, candidate)
        };
        match cx.config.options.bully.halted {
            Halted::Monotone => is_lower,
            Halted::Last => false,
        }
    }

    fn doubt(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let Some(halted) = self.halted else { return };
        if self.task == Task::Idle && halted.node != cx.me {
            out.send(halted.node, Message::AreYouUp { nudge: false });
            out.set_timer(Timer::Answers, cx.config.timing.answer());
            self.task = Task::Doubting;
        }
    }

    /// The application has stopped: answer whoever halted us, or go on with our own election.
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
                let Some(group) = self.halted else { return };
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

    /// A lower node obeys somebody higher than us. That one may be dead: try again when it must show.
    fn refused(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        self.end_election(Outcome::Yielded, out);
        out.cancel_timer(Timer::Answers);
        self.wait_for_others(cx, out);
        self.task = Task::BackingOff { attempt: 0 };
        let pause = cx.config.timing.answer() + cx.config.timing.message_max();
        let random = jitter(cx.dice, cx.config.timing.answer());
        out.set_timer(Timer::Retry, pause + random);
    }

    pub(super) fn end_of_halting_wait(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if let Task::Halting(round) = &mut self.task {
            round.awaiting = NodeSet::new();
            round.is_over = true;
        }
        self.go_on_halting(cx, out);
    }

    fn go_on_halting(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Task::Halting(round) = &mut self.task else { return };
        if !round.awaiting.is_empty() {
            return;
        }
        if !round.is_over && cx.config.options.bully.waits == Waits::Full && round.has_asked(cx) {
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
    fn appoint(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
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
        let is_done = self.up.is_empty() || cx.config.options.bully.rounds == Rounds::Merged;
        if is_done {
            out.cancel_timer(Timer::Answers);
            return self.hand_over(cx, out);
        }
        for member in self.up.iter() {
            out.send(member, Message::SetCoordinator { group });
        }
        out.set_timer(Timer::Answers, cx.config.timing.answer());
    }

    /// Set_Coordinator, listing 10.21 (B-35).
    pub(super) fn follow(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        group: GroupNumber,
        out: &mut Effects<Self>,
    ) {
        let is_halted_by_it =
            self.halted == Some(group) || cx.is_mutated(Mutant::ObeyAnyCoordinator);
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
        let ok = obeys || cx.config.options.bully.answers == Answers::Literal;
        out.send(from, Message::ScAnswer { group, ok });
    }

    fn join(&mut self, group: GroupNumber, out: &mut Effects<Self>) {
        self.status = Status::Reorganization;
        self.coordinator = Some(group.node);
        self.group = Some(group);
        out.cancel_timer(Timer::Stall);
        out.notify(Notice::Joined { group, coordinator: group.node });
        out.notify(Notice::Watch([group.node].into_iter().collect()));
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
        if awaiting.is_empty() && cx.config.options.bully.waits == Waits::Early {
            self.conclude_appointing(cx, out);
        }
    }

    /// B-29, and the lenient reading of B-32.
    pub(super) fn conclude_appointing(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Task::Appointing { attempt, awaiting, missing, .. } = &self.task else { return };
        let attempt = *attempt;
        let missing: NodeSet = missing.iter().chain(awaiting.iter()).collect();
        out.cancel_timer(Timer::Answers);
        if !missing.is_empty() && cx.config.options.bully.recheck == Recheck::Strict {
            return self.start_over(cx, attempt, out);
        }
        self.up = self.up.without(&missing);
        self.hand_over(cx, out);
    }

    /// Listing 10.20, fourth step: New_State, which the reorganization layer sends (B-30).
    fn hand_over(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let Task::Appointing { attempt, reports, .. } = &mut self.task else { return };
        let (attempt, mut reports) = (*attempt, core::mem::take(reports));
        reports.retain(|(node, _)| *node == cx.me || self.up.contains(*node));
        let Some(group) = self.group else { return };
        self.task = Task::HandingOver { attempt };
        let options = cx.config.options.bully;
        out.notify(Notice::Formed(Formation {
            group,
            members: self.up.clone(),
            reports,
            is_strict: options.recheck == Recheck::Strict,
            waits_full: options.waits == Waits::Full,
        }));
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
            out.notify(Notice::Ended(Outcome::Won));
            out.set_timer(Timer::Check, cx.config.timing.check_every());
        } else {
            members.remove(cx.me);
            self.up = members;
        }
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
        let timing = &cx.config.timing;
        let factor = u32::from(attempt).min(BACK_OFF_MAX);
        let pause = timing.answer() * factor + jitter(cx.dice, timing.answer());
        out.set_timer(Timer::Retry, pause);
    }

    pub(super) fn retry(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if let Task::BackingOff { attempt } = self.task {
            self.elect(cx, attempt, out);
        }
    }

    /// Check, listing 10.19 (B-19, B-20, E-19).
    pub(super) fn check(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let is_due = self.status == Status::Normal
            && self.coordinator == Some(cx.me)
            && self.task == Task::Idle;
        if !is_due {
            return;
        }
        let awaiting: NodeSet = cx.config.members.others(cx.me).collect();
        for other in awaiting.iter() {
            out.send(other, Message::AreYouNormal);
        }
        // Nobody waits for a check, so it collects for the whole of T.
        out.set_timer(Timer::Answers, cx.config.timing.answer());
        self.task = Task::Checking { awaiting, has_changed: false };
    }

    pub(super) fn check_again(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        out.set_timer(Timer::Check, cx.config.timing.check_every());
        self.check(cx, out);
    }

    pub(super) fn found_normal(&mut self, from: NodeId, is_normal_here: bool) {
        if let Task::Checking { awaiting, has_changed } = &mut self.task
            && awaiting.remove(from)
        {
            // A member must be Normal in this group; an outsider need only be alive.
            *has_changed |= !(self.up.contains(from) && is_normal_here);
        }
    }

    /// B-21, with E-10 or as printed.
    pub(super) fn conclude_check(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Task::Checking { awaiting, has_changed } = &self.task else { return };
        let is_silent_member = awaiting.iter().any(|node| self.up.contains(node));
        let is_silent_stranger = awaiting.iter().any(|node| !self.up.contains(node));
        let must_elect = match cx.config.options.bully.check {
            CheckRule::Changed => *has_changed || is_silent_member,
            CheckRule::Literal => *has_changed || is_silent_member || is_silent_stranger,
        };
        self.task = Task::Idle;
        if must_elect {
            self.elect(cx, 0, out);
        }
    }

    /// E-09: whoever asked has lost its coordinator; see to ours.
    pub(super) fn nudged(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if self.coordinator == Some(cx.me) {
            self.check(cx, out);
        } else {
            self.coordinator_timeout(cx, out);
        }
    }

    /// Evidence ends a wait at once, as if T had passed for this peer.
    pub(super) fn failed(&mut self, cx: &mut Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        if cx.config.options.bully.waits == Waits::Full {
            return;
        }
        let is_coordinator = self.coordinator == Some(peer);
        match &mut self.task {
            Task::Idle | Task::Probing if is_coordinator => {
                self.rest(out);
                self.elect(cx, 0, out);
            }
            Task::Idle => {
                if self.halted.is_some_and(|halted| halted.node == peer)
                    && self.status == Status::Election
                {
                    self.halted = None;
                    self.elect(cx, 0, out);
                }
            }
            Task::Doubting => {
                if self.halted.is_some_and(|halted| halted.node == peer) {
                    self.halted = None;
                    self.rest(out);
                }
            }
            Task::Asking { attempt, awaiting } => {
                awaiting.remove(peer);
                if awaiting.is_empty() {
                    let attempt = *attempt;
                    self.halt_lower(cx, attempt, out);
                }
            }
            Task::Halting(round) => {
                round.awaiting.remove(peer);
                self.go_on_halting(cx, out);
            }
            Task::Appointing { awaiting, missing, .. } => {
                if awaiting.remove(peer) {
                    missing.insert(peer);
                    if awaiting.is_empty() {
                        self.conclude_appointing(cx, out);
                    }
                }
            }
            // A check waits for T anyway, and what has no wait needs no end of it.
            Task::Probing
            | Task::Checking { .. }
            | Task::BackingOff { .. }
            | Task::HandingOver { .. }
            | Task::Answering { .. } => {}
        }
    }

    fn end_election(&mut self, outcome: Outcome, out: &mut Effects<Self>) {
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

    fn rest(&mut self, out: &mut Effects<Self>) {
        self.task = Task::Idle;
        out.cancel_timer(Timer::Answers);
    }

    /// Whoever leaves the next move to others looks after a while whether they made it (E-11).
    fn wait_for_others(&self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let is_literal = cx.config.options.bully.timeout == TimeoutRule::Literal;
        if self.status != Status::Normal && !is_literal {
            out.set_timer(Timer::Stall, cx.config.timing.silence());
        }
    }
}

impl HaltingRound {
    /// Sends the next Enter_Election: to everybody, or to the highest that was not asked yet.
    fn ask(&mut self, cx: &Context<'_>, out: &mut Effects<Bully>) {
        let options = cx.config.options.bully;
        let message = Message::EnterElection {
            group: self.group,
            appoints: options.rounds == Rounds::Merged,
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
            out.set_timer(Timer::Answers, cx.config.timing.answer());
        }
    }

    fn has_asked(&self, cx: &Context<'_>) -> bool {
        cx.config.members.below(cx.me).next().is_some()
    }
}
