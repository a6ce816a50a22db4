//! The successor rule: a token goes to the next live node of the ring.
//!
//! The ring is the order of ids, or the one that the members have, whatever the priorities (T-01,
//! T-02); every node knows all of it (F-18, M-08). A node that takes a token acknowledges it. If it
//! has not done so after T, or the transport reports that it failed, everything that it did not
//! acknowledge goes to the node after it. Every token is offered to the first successor again: a
//! node that has restarted must not be skipped.
//!
//! A token is passed on before it is acknowledged, so it is not lost if that node crashes; it may
//! be duplicated, which every rule tolerates.

use alloc::vec::Vec;

use super::listing::Concurrent;
use super::order::Elect;
use super::{Label, Message, Phase, Ring, Timer, Token};
use crate::group::Counter;
use crate::membership::NodeId;
use crate::mutant::Mutant;
use crate::protocol::{Context, Effects};

/// Tokens that were passed on and not acknowledged yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Succession {
    outbox: Vec<Passed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Passed {
    to: NodeId,
    token: Token,
}

impl Succession {
    /// Discards the tokens of elections before this one.
    pub(super) fn forget_before(&mut self, number: Counter, out: &mut Effects<Ring>) {
        let (old, kept) = core::mem::take(&mut self.outbox)
            .into_iter()
            .partition(|passed| passed.token.label().number < number);
        self.outbox = kept;
        let old: Vec<Passed> = old;
        for passed in old {
            self.rest(passed.to, out);
        }
    }

    /// Ends the wait for a node that has nothing left to acknowledge.
    fn rest(&self, to: NodeId, out: &mut Effects<Ring>) {
        if !self.is_awaiting(to) {
            out.cancel_timer(Timer::Acknowledgement(to));
        }
    }

    /// Whether a node has not acknowledged a name; a result may go another way than the names.
    fn owes_names(&self, to: NodeId) -> bool {
        let is_name = |passed: &Passed| match passed.token {
            Token::Elect { .. } => true,
            Token::Election { .. }
            | Token::Elected { .. }
            | Token::List { .. }
            | Token::Coordinator { .. }
            | Token::Probe { .. }
            | Token::Okay { .. } => false,
        };
        self.outbox.iter().any(|passed| passed.to == to && is_name(passed))
    }

    fn is_awaiting(&self, to: NodeId) -> bool {
        self.outbox.iter().any(|passed| passed.to == to)
    }
}

impl Ring {
    /// Sends a token to the successor, or the other way round to the predecessor.
    pub(super) fn pass(&mut self, cx: &mut Context<'_>, token: Token, out: &mut Effects<Self>) {
        // In a ring that must not change during an election all tokens go to the same successor.
        let to = self.line().and_then(|line| line.heading);
        let to = to.unwrap_or_else(|| cx.members.towards(token.direction(), cx.me));
        self.pass_to(cx, to, token, out);
    }

    /// Sends a token to this node; if that is the sender itself, it is alone in the ring.
    fn pass_to(&mut self, cx: &mut Context<'_>, to: NodeId, token: Token, out: &mut Effects<Self>) {
        if to == cx.me {
            return self.come_round(cx, token, out);
        }
        if !self.succession.is_awaiting(to) {
            out.set_timer(Timer::Acknowledgement(to), cx.config.timing().answer());
        }
        let token = match self.line_mut() {
            Some(line) => line.count(to, token),
            None => token,
        };
        self.succession.outbox.push(Passed { to, token: token.clone() });
        out.send(to, Message::Pass(token));
    }

    /// A token arrives: it is handled, passed on, and only then acknowledged.
    pub(super) fn take(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        token: Token,
        out: &mut Effects<Self>,
    ) {
        let label = token.label();
        self.counter = self.counter.max(label.number);
        let past = self.is_over(cx, &token).then(|| self.past());
        if past.is_some() && label.owner != from && self.is_too_late(cx, label) {
            out.send(label.owner, Message::Ack { label, past });
        }
        if past.is_none() {
            match token {
                Token::Elect { number, node, place, leads } => {
                    self.take_in_order(cx, from, Elect { number, node, place, leads }, out);
                }
                Token::Election { .. }
                | Token::Elected { .. }
                | Token::List { .. }
                | Token::Coordinator { .. }
                | Token::Probe { .. }
                | Token::Okay { .. } => self.on_token(cx, token, out),
            }
        }
        out.send(from, Message::Ack { label, past });
    }

    /// Whether a token that is over comes from a node that should have won: it restarted after the
    /// others had elected, and calls the same election. Nodes before this one in the ring may have
    /// passed its token on, and stop the result of the lower node; so it is told to call again,
    /// with a higher number, instead of finding out after the timeout of a whole election.
    fn is_too_late(&self, cx: &Context<'_>, label: Label) -> bool {
        label.owner != cx.me
            && label.number == self.number
            && self.coordinator.is_some_and(|winner| cx.members.outranks(label.owner, winner))
    }

    /// The highest number of an election that is over at this node, or that it took no part in.
    fn past(&self) -> Counter {
        match self.phase {
            Phase::Running => Counter(self.number.0.saturating_sub(1)),
            Phase::Settled | Phase::Following | Phase::Gathering(_) | Phase::HandingOver => {
                self.number
            }
        }
    }

    pub(super) fn is_over(&self, cx: &Context<'_>, token: &Token) -> bool {
        match token {
            // The message that the winner itself began comes back to it.
            Token::Elected { number, winner, .. } if *winner == cx.me => *number < self.number,
            Token::Election { number, .. }
            | Token::Elected { number, .. }
            | Token::Elect { number, .. }
            | Token::Probe { number, .. }
            | Token::Okay { number, .. } => *number <= self.past(),
            Token::List { number, .. } => match self.concurrent() {
                Concurrent::Highest => *number <= self.past(),
                Concurrent::All => *number < self.number,
            },
            // It comes back to its owner, or to the node that adopts it.
            Token::Coordinator { number, told, .. } => match self.concurrent() {
                Concurrent::Highest if !told.contains(cx.me) => *number <= self.past(),
                Concurrent::Highest | Concurrent::All => *number < self.number,
            },
        }
    }

    /// What happens to several lists of one election; rings without lists pass on at most one
    /// token.
    fn concurrent(&self) -> Concurrent {
        self.list_rules().map_or(Concurrent::Highest, |rules| rules.concurrent)
    }

    pub(super) fn acknowledged(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        label: Label,
        past: Option<Counter>,
        out: &mut Effects<Self>,
    ) {
        let is_it = |passed: &Passed| passed.to == from && passed.token.label() == label;
        let before = self.succession.outbox.len();
        self.succession.outbox.retain(|passed| !is_it(passed));
        if before > self.succession.outbox.len() {
            if self.succession.is_awaiting(from) {
                out.set_timer(Timer::Acknowledgement(from), cx.config.timing().answer());
            } else {
                self.succession.rest(from, out);
            }
        }
        let Some(past) = past else {
            let number = self.number;
            if let Some(line) = self.line_mut() {
                line.is_settled |= line.heading == Some(from) && label.number == number;
            }
            return;
        };
        self.counter = self.counter.max(past);
        // That number was over before this node called; it calls again with a higher one.
        let is_own_call = self.phase == Phase::Running && self.is_caller;
        if is_own_call && label.number == self.number && past >= self.number {
            self.call(cx, out);
        }
    }

    /// A node has failed: whatever it did not acknowledge goes to the one after it.
    pub(super) fn skip(&mut self, cx: &mut Context<'_>, gone: NodeId, out: &mut Effects<Self>) {
        if !self.succession.is_awaiting(gone) || cx.is_mutated(Mutant::NEVER_SKIP) {
            return;
        }
        out.cancel_timer(Timer::Acknowledgement(gone));
        let owes_names = self.succession.owes_names(gone);
        if let Some(line) = self.line_mut() {
            if line.heading == Some(gone) && line.is_settled && owes_names {
                // It has taken some names and may not have passed them on.
                return self.call(cx, out);
            }
            line.turn();
        }
        let (moved, kept): (Vec<Passed>, Vec<Passed>) =
            core::mem::take(&mut self.succession.outbox)
                .into_iter()
                .partition(|passed| passed.to == gone);
        self.succession.outbox = kept;
        for passed in moved {
            // A node that is alone in the ring may be in the next election by then.
            let is_current = passed.token.label().number == self.number;
            if is_current && !self.drop_orphan(cx, gone, &passed.token, out) {
                let next = cx.members.towards(passed.token.direction(), gone);
                self.pass_to(cx, next, passed.token, out);
            }
        }
    }
}
