//! What makes a node call an election (its user, silence, evidence, a check, a stall), and how it
//! joins one.

use core::time::Duration;

use super::hirschberg_sinclair::Probe;
use super::incumbent::Standing;
use super::listing::{List, Result};
use super::order::Elect;
use super::{Check, Message, Phase, Ring, Timer, Token};
use crate::dice::jitter;
use crate::election::{Notice, save_late};
use crate::group::{Counter, GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::payload::Report;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

impl Ring {
    /// A node takes part in one election at a time (G-09).
    pub(super) fn call_unless_running(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        match self.phase {
            Phase::Settled | Phase::Following => self.call(cx, out),
            Phase::Running | Phase::Gathering(_) | Phase::HandingOver => {}
        }
    }

    /// Begins an election with a number above all that this node has seen.
    pub(super) fn call(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        self.join(cx, self.counter.next(), out);
        self.stand(cx, out);
        self.begin_own(cx, out);
        save_late(cx, self.counter, out);
    }

    /// An election of this node's own begins; its number is on disk before it is sent, so that no
    /// later incarnation of this node stands in the same election again.
    pub(super) fn stand(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        self.is_caller = true;
        out.notify(Notice::Called);
        self.save_number(cx, out);
    }

    pub(super) fn save_number(&self, cx: &Context<'_>, out: &mut Effects<Self>) {
        if !cx.is_mutated(Mutant::SKIP_SAVE) && !cx.is_mutated(Mutant::SAVE_AFTER_SEND) {
            out.save(self.counter);
        }
    }

    /// Takes part in an election: this node has no coordinator from here on (E-33), and its
    /// computation stops.
    pub(super) fn join(&mut self, cx: &mut Context<'_>, number: Counter, out: &mut Effects<Self>) {
        self.end_own(Outcome::Yielded, out);
        self.counter = self.counter.max(number);
        self.number = number;
        self.phase = Phase::Running;
        self.status = Status::Election;
        self.coordinator = None;
        self.group = Some(number.group(cx.me));
        self.up = NodeSet::new();
        self.report = None;
        self.follows.clear();
        self.rule.begin(number);
        self.check = None;
        self.succession.forget_before(number, out);
        out.cancel_timer(Timer::Follows);
        out.cancel_timer(Timer::Check);
        out.cancel_timer(Timer::Answers);
        self.be_patient(cx, out);
        out.notify(Notice::Watch(NodeSet::new()));
        out.notify(Notice::Stop);
    }

    pub(super) fn end_own(&mut self, outcome: Outcome, out: &mut Effects<Self>) {
        if self.is_caller {
            self.is_caller = false;
            out.notify(Notice::Ended(outcome));
        }
    }

    /// Handles a token by its kind.
    pub(super) fn on_token(&mut self, cx: &mut Context<'_>, token: Token, out: &mut Effects<Self>) {
        match token {
            Token::Election { number, candidate, hops, leads } => {
                let candidate = Standing { node: candidate, leads };
                self.weigh_candidate(cx, number, candidate, hops, out);
            }
            Token::Elected { number, winner, told, leads } => {
                let winner = Standing { node: winner, leads };
                self.learn_winner(cx, number, winner, told, out);
            }
            Token::Elect { number, node, place, leads } => {
                self.take_any(cx, Elect { number, node, place, leads }, out);
            }
            Token::Probe { number, candidate, phase, left, direction, leads } => {
                let candidate = Standing { node: candidate, leads };
                self.take_probe(cx, Probe { number, candidate, phase, direction }, left, out);
            }
            Token::Okay { number, candidate, phase, direction, leads } => {
                let candidate = Standing { node: candidate, leads };
                self.take_reply(cx, Probe { number, candidate, phase, direction }, out);
            }
            Token::List { number, initiator, names, leader } => {
                self.sign(cx, number, List { initiator, names, leader }, out);
            }
            Token::Coordinator { number, owner, winner, names, told, initiator, leader } => {
                let result = Result { initiator, owner, winner, names, told, leader };
                self.learn_coordinator(cx, number, result, out);
            }
        }
    }

    /// A token of a node that is alone in the ring: its own has come round, and the owner of any
    /// other has failed.
    pub(super) fn come_round(
        &mut self,
        cx: &mut Context<'_>,
        token: Token,
        out: &mut Effects<Self>,
    ) {
        if token.label().owner == cx.me {
            if !self.is_over(cx, &token) {
                self.on_token(cx, token, out);
            }
        } else {
            self.call(cx, out);
        }
    }

    /// Sets the timeout of a whole election: the rounds for the candidates and one for the result,
    /// in each of which all other nodes may have to be skipped, and the hand-over.
    fn be_patient(&self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if self.rule.is_endless(cx) {
            return;
        }
        let timing = cx.config.timing();
        let nodes = u32::try_from(cx.members.count()).unwrap_or(u32::MAX);
        let hop = timing.message_max() + timing.processing_max() + timing.answer();
        let random = jitter(cx.dice, timing.answer());
        let rounds: Duration = hop.saturating_mul(nodes).saturating_mul(self.rule.rounds(nodes));
        out.set_timer(Timer::Stall, rounds + timing.answer() * 4 + random);
    }

    pub(super) fn stalled(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if self.status != Status::Normal {
            self.call(cx, out);
        }
    }

    /// The coordinator should be heard every check period, a member only where heartbeats are
    /// configured; the silence of other nodes means nothing.
    pub(super) fn silent(&mut self, cx: &mut Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        if self.phase != Phase::Settled {
            // An election ends by its own timeout.
        } else if self.coordinator == Some(cx.me) && self.up.contains(peer) {
            self.check(cx, out);
        } else if self.coordinator == Some(peer) {
            self.call(cx, out);
        }
    }

    pub(super) fn failed(&mut self, cx: &mut Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        self.skip(cx, peer, out);
        if self.coordinator == Some(peer) {
            self.call_unless_running(cx, out);
        }
    }

    /// Asks every other node, so that members hear from their coordinator, and groups find each
    /// other.
    pub(super) fn check(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let is_due = self.status == Status::Normal
            && self.coordinator == Some(cx.me)
            && self.check.is_none();
        let (true, Some(group)) = (is_due, self.group) else { return };
        let awaiting: NodeSet = cx.members.others(cx.me).collect();
        for other in awaiting.iter() {
            out.send(other, Message::AreYouNormal { group });
        }
        out.set_timer(Timer::Answers, cx.config.timing().answer());
        self.check = Some(Check { awaiting, has_changed: false });
    }

    pub(super) fn check_again(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        out.set_timer(Timer::Check, cx.config.timing().check_every());
        self.check(cx, out);
    }

    pub(super) fn found(&mut self, from: NodeId, is_normal: bool, group: Option<GroupNumber>) {
        if let Some(group) = group {
            self.counter = self.counter.max(Counter(group.counter));
        }
        if let Some(check) = &mut self.check
            && check.awaiting.remove(from)
        {
            // A node that is not Normal takes part in an election, which will reach this node.
            check.has_changed |= is_normal && (group != self.group || !self.up.contains(from));
        }
    }

    pub(super) fn conclude_check(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Some(check) = self.check.take() else { return };
        let is_member_silent = check.awaiting.iter().any(|node| self.up.contains(node));
        if check.has_changed || is_member_silent {
            self.call(cx, out);
        }
    }

    pub(super) fn stopped(
        &mut self,
        cx: &mut Context<'_>,
        report: Report,
        out: &mut Effects<Self>,
    ) {
        if self.must_yield_first(out) {
            return;
        }
        self.report = Some(report);
        match self.phase {
            Phase::Following => self.say_so(out),
            Phase::Gathering(_) => self.form_if_complete(cx, out),
            Phase::Settled | Phase::Running | Phase::HandingOver => {}
        }
    }
}
