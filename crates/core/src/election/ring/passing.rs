//! The successor rule: a token goes to the next live node of the ring.
//!
//! The ring is the order of ids, whatever the priorities (T-01, T-02); every node knows all of it
//! (F-18, M-08). A node that takes a token acknowledges it. If it has not done so after T, or the
//! transport reports that it failed, everything that it did not acknowledge goes to the node after
//! it. Every token is offered to the first successor again: a node that has restarted must not be
//! skipped.
//!
//! A token is passed on before it is acknowledged, so it is not lost if that node crashes; it may
//! be duplicated, which every rule tolerates.

use alloc::vec::Vec;

use super::active_list::Elect;
use super::listing::Concurrent;
use super::{Label, Message, Phase, Ring, Timer, Token};
use crate::group::Counter;
use crate::membership::{Membership, NodeId};
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

    fn is_awaiting(&self, to: NodeId) -> bool {
        self.outbox.iter().any(|passed| passed.to == to)
    }
}

/// The node that comes after another in the ring.
fn after(members: &Membership, node: NodeId) -> NodeId {
    let ids = || members.all().iter().map(|member| member.id);
    ids().filter(|id| *id > node).min().or_else(|| ids().min()).unwrap_or(node)
}

impl Ring {
    /// Sends a token to the successor.
    pub(super) fn pass(&mut self, cx: &mut Context<'_>, token: Token, out: &mut Effects<Self>) {
        // In a ring that must not change during an election all tokens go to the same successor.
        let to = self.active().and_then(|active| active.heading);
        let to = to.unwrap_or_else(|| after(cx.members, cx.me));
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
        let token = match self.active_mut() {
            Some(active) => active.count(to, token),
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
        if past.is_none() {
            match token {
                Token::Elect { number, node, place, leads } => {
                    self.take_in_order(cx, from, Elect { number, node, place, leads }, out);
                }
                Token::Election { .. }
                | Token::Elected { .. }
                | Token::List { .. }
                | Token::Coordinator { .. } => self.on_token(cx, token, out),
            }
        }
        out.send(from, Message::Ack { label, past });
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
            | Token::Elect { number, .. } => *number <= self.past(),
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
            if let Some(active) = self.active_mut() {
                active.is_settled |= active.heading == Some(from) && label.number == number;
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
        if let Some(active) = self.active_mut() {
            if active.heading == Some(gone) && active.is_settled {
                // It has taken some tokens and may not have passed them on.
                return self.call(cx, out);
            }
            active.turn();
        }
        let (moved, kept): (Vec<Passed>, Vec<Passed>) =
            core::mem::take(&mut self.succession.outbox)
                .into_iter()
                .partition(|passed| passed.to == gone);
        self.succession.outbox = kept;
        let next = after(cx.members, gone);
        for passed in moved {
            // A node that is alone in the ring may be in the next election by then.
            if passed.token.label().number == self.number {
                self.pass_to(cx, next, passed.token, out);
            }
        }
    }
}
