//! What makes a node call an election: listings 10.18 and 10.19, and evidence from the transport.

use super::{Bully, CheckRule, Message, Task, TimeoutRule, Timer, Waits};
use crate::group::Status;
use crate::membership::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::protocol::{Context, Effects};

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
                out.set_timer(Timer::Answers, cx.config.timing().answer());
                self.task = Task::Probing;
            }
            // A node whose own election was abandoned half-way coordinates no other node.
            (Status::Reorganization, _) => self.elect(cx, 0, out),
            (Status::Normal, _) => {}
            (Status::Down | Status::Election, _) => match cx.config.options().bully.timeout {
                TimeoutRule::AllStates => self.elect(cx, 0, out),
                TimeoutRule::Literal => {}
            },
        }
    }

    /// B-15 for the coordinator, B-19 for a member; the silence of other nodes means nothing.
    pub(super) fn silent(&mut self, cx: &mut Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        if self.coordinator == Some(cx.me) && self.up.contains(peer) {
            // Check asks the silent member, and B-21 follows if it does not answer.
            self.check(cx, out);
        } else if self.coordinator == Some(peer) {
            self.coordinator_silent(cx, peer, out);
        }
    }

    /// A coordinator that should send heartbeats and does not counts as one that did not answer.
    /// The election asks it once more, with every other node of higher rank, so the query of
    /// Coordinator_Timeout would only cost another T.
    fn coordinator_silent(
        &mut self,
        cx: &mut Context<'_>,
        coordinator: NodeId,
        out: &mut Effects<Self>,
    ) {
        let is_asked_by_election = cx.config.timing().heartbeat().is_some()
            && self.may_be_above(cx).contains(coordinator)
            && self.status.has_coordinator()
            && self.task == Task::Idle;
        if is_asked_by_election {
            self.elect(cx, 0, out);
        } else {
            self.coordinator_timeout(cx, out);
        }
    }

    pub(super) fn stalled(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if self.status == Status::Normal || cx.is_mutated(Mutant::IGNORE_STALL) {
            return;
        }
        self.wait_for_others(cx, out);
        self.coordinator_timeout(cx, out);
    }

    /// Check, listing 10.19 (B-19, B-20, E-19).
    pub(super) fn check(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let is_due = self.status == Status::Normal
            && self.coordinator == Some(cx.me)
            && self.task == Task::Idle;
        if !is_due {
            return;
        }
        let awaiting: NodeSet = cx.members.others(cx.me).collect();
        for other in awaiting.iter() {
            out.send(other, Message::AreYouNormal);
        }
        // No node waits for the result of a check, so it collects answers for the whole of T.
        out.set_timer(Timer::Answers, cx.config.timing().answer());
        self.task = Task::Checking { awaiting, has_changed: false };
    }

    pub(super) fn check_again(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        out.set_timer(Timer::Check, cx.config.timing().check_every());
        self.check(cx, out);
    }

    pub(super) fn found_normal(&mut self, from: NodeId, is_normal_here: bool) {
        if let Task::Checking { awaiting, has_changed } = &mut self.task
            && awaiting.remove(from)
        {
            // A member must be Normal in this group; a node outside the group need only be alive.
            *has_changed |= !(self.up.contains(from) && is_normal_here);
        }
    }

    /// B-21, with E-10 or as printed.
    pub(super) fn conclude_check(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Task::Checking { awaiting, has_changed } = &self.task else { return };
        let is_silent_member = awaiting.iter().any(|node| self.up.contains(node));
        let is_silent_stranger = awaiting.iter().any(|node| !self.up.contains(node));
        let must_elect = match cx.config.options().bully.check {
            CheckRule::Changed => *has_changed || is_silent_member,
            CheckRule::Literal => *has_changed || is_silent_member || is_silent_stranger,
        };
        self.task = Task::Idle;
        if must_elect {
            self.elect(cx, 0, out);
        }
    }

    /// E-09: the sender has lost its coordinator, so this node checks its own.
    pub(super) fn nudged(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if self.coordinator == Some(cx.me) {
            self.check(cx, out);
        } else if self.status.has_coordinator() || !cx.config.preempt().is_sticky() {
            self.coordinator_timeout(cx, out);
        }
        // Nodes that ask all others, and not only the higher ones, would nudge each other without
        // end.
    }

    /// The coordinator has failed, so this node calls an election, which asks it once more. Where a
    /// higher node ended that election by its answer, the lost question is evidence again; then
    /// the higher node has the time that a refused candidate gives.
    fn coordinator_failed(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        self.rest(out);
        if self.has_lost_coordinator {
            return self.back_off(cx, out);
        }
        self.has_lost_coordinator = true;
        self.elect(cx, 0, out);
    }

    /// Evidence that a peer failed ends the wait for it at once, as if T had passed.
    pub(super) fn failed(&mut self, cx: &mut Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        if cx.config.options().bully.waits == Waits::Full {
            return;
        }
        let is_coordinator = self.coordinator == Some(peer);
        match &mut self.task {
            Task::Idle | Task::Probing if is_coordinator => self.coordinator_failed(cx, out),
            Task::Idle => {
                if self.halted.is_some_and(|halted| halted.group.node == peer)
                    && self.status == Status::Election
                {
                    self.halted = None;
                    self.elect(cx, 0, out);
                }
            }
            Task::Doubting => {
                if self.halted.is_some_and(|halted| halted.group.node == peer) {
                    self.halted = None;
                    self.rest(out);
                }
            }
            Task::Asking { attempt, awaiting } => {
                awaiting.remove(peer);
                if awaiting.is_empty() {
                    let attempt = *attempt;
                    self.conclude_asking(cx, attempt, out);
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
            // A check waits for T anyway; the other tasks do not wait for this peer.
            Task::Probing
            | Task::Checking { .. }
            | Task::BackingOff { .. }
            | Task::HandingOver { .. }
            | Task::Answering { .. } => {}
        }
    }
}
