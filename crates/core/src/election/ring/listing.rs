//! The two rounds of the list rings: every node signs a list, then every node learns who won.
//!
//! ```text
//!   initiator   list round -> best of the list -> result round -> winner among those told? -> over
//!                  ^                                                  |
//!                  +-------------------- no: a new election ----------+
//! ```
//!
//! [`super::modified`] and [`super::list`] differ in what the second round carries and in whether
//! the last step is taken; [`Rules`] says which. A message whose initiator crashed comes back to a
//! node that has signed it already: that node adopts it (E-37). Of several messages of one election
//! only that of the highest initiator completes the round (E-32), so an election has one result.

use alloc::vec;
use alloc::vec::Vec;

use super::incumbent::Standing;
use super::rules::Rule;
use super::{Message, Phase, Ring, Token};
use crate::group::Counter;
use crate::membership::{NodeId, NodeSet};
use crate::mutant::{Mutant, mutants};
use crate::options::values;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

values! {
    /// What happens to several messages of the same election (E-32).
    Concurrent {
        /// Only the message of the highest initiator is passed on.
        #[default] Highest = "highest",
        /// All of them complete the round; two of them may disagree if a node crashes between them.
        All = "all" [literal],
    }
}

values! {
    /// What happens to a message whose initiator crashed (E-37).
    Orphans {
        /// A node that finds its own name in a list that it did not begin adopts it; and when an
        /// election has had no winner for too long, a new one begins (M-07).
        #[default] Adopted = "adopted",
        /// As printed: it circulates forever, and all nodes wait.
        Literal = "literal" [literal],
    }
}

values! {
    /// Whether the coordinator must have received the result (E-32).
    Confirmation {
        /// If it has not, it has failed and the election is repeated.
        #[default] Winner = "winner",
        /// As printed: that is not checked.
        Literal = "literal" [literal],
    }
}

/// How the two rounds work in the configured ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Rules {
    pub(super) concurrent: Concurrent,
    pub(super) orphans: Orphans,
    confirmation: Confirmation,
    /// Whether the result carries the whole list (T-06).
    tells_list: bool,
}

impl Rules {
    /// Of a ring that finds the winner without lists: only the second round.
    pub(super) const OF_RESULTS: Self = Self::of_modified(Concurrent::Highest, Orphans::Adopted);

    pub(super) const fn of_modified(concurrent: Concurrent, orphans: Orphans) -> Self {
        Self { concurrent, orphans, confirmation: Confirmation::Winner, tells_list: false }
    }

    pub(super) const fn of_list(
        concurrent: Concurrent,
        orphans: Orphans,
        confirmation: Confirmation,
    ) -> Self {
        Self { concurrent, orphans, confirmation, tells_list: true }
    }
}

/// What the first round carries.
pub(super) struct List {
    pub(super) initiator: NodeId,
    pub(super) names: Vec<NodeId>,
    pub(super) leader: Option<NodeId>,
}

/// What the second round says.
pub(super) struct Result {
    pub(super) initiator: NodeId,
    pub(super) owner: NodeId,
    pub(super) winner: NodeId,
    pub(super) names: Vec<NodeId>,
    pub(super) told: NodeSet,
    pub(super) leader: Option<NodeId>,
}

impl Ring {
    /// M-01, T-03: the list begins with the initiator.
    pub(super) fn send_list(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        self.follow_initiator(cx.me);
        let (number, initiator, names) = (self.number, cx.me, vec![cx.me]);
        let leader = self.mark(cx, None);
        self.pass(cx, Token::List { number, initiator, names, leader }, out);
    }

    /// M-02, T-04: every node appends its name and passes the list on.
    pub(super) fn sign(
        &mut self,
        cx: &mut Context<'_>,
        number: Counter,
        list: List,
        out: &mut Effects<Self>,
    ) {
        let Some(rules) = self.list_rules() else { return };
        let List { initiator, mut names, mut leader } = list;
        if number > self.number {
            self.join(cx, number, out);
        }
        if self.is_outdone(cx, initiator) {
            return;
        }
        let has_signed = names.contains(&cx.me);
        // T-05: the initiator knows the message by its own name in it; E-37: so does an adopter.
        if has_signed && (initiator == cx.me || rules.orphans == Orphans::Adopted) {
            return self.elect_best(cx, List { initiator, names, leader }, out);
        }
        self.follow_initiator(initiator);
        if rules.concurrent == Concurrent::Highest {
            self.end_own(Outcome::Yielded, out);
        }
        if !has_signed {
            names.push(cx.me);
            leader = self.mark(cx, leader);
        }
        self.pass(cx, Token::List { number, initiator, names, leader }, out);
    }

    /// Whether this node has signed the list of a higher initiator in this election. If so, the
    /// list and the result of the lower initiator stop here, so that no two results pass the same
    /// node.
    fn is_outdone(&self, cx: &Context<'_>, initiator: NodeId) -> bool {
        let Rule::List { rules, initiator: best } = &self.rule else { return false };
        rules.concurrent == Concurrent::Highest
            && !cx.is_mutated(Mutant::SIGN_ANY_LIST)
            && best.is_some_and(|best| cx.members.outranks(best, initiator))
    }

    /// Records the initiator whose list this node has signed.
    const fn follow_initiator(&mut self, best: NodeId) {
        if let Rule::List { initiator, .. } = &mut self.rule {
            *initiator = Some(best);
        }
    }

    /// M-03, M-04, T-06: sends the best of the list round as the winner.
    pub(super) fn elect_best(&mut self, cx: &mut Context<'_>, list: List, out: &mut Effects<Self>) {
        let Some(rules) = self.list_rules() else { return };
        let List { initiator, names, leader } = list;
        if self.phase != Phase::Running && rules.concurrent == Concurrent::Highest {
            return;
        }
        let Some(winner) = leader.or_else(|| best(cx, &names)) else { return };
        let names = if rules.tells_list { names } else { Vec::new() };
        let told = [cx.me].into_iter().collect();
        self.accept(cx, winner, &names, out);
        let (number, owner) = (self.number, cx.me);
        let token = Token::Coordinator { number, owner, winner, names, told, initiator, leader };
        self.pass(cx, token, out);
    }

    /// M-04, T-07: records the winner and passes the result on with this node's name; M-05, T-08:
    /// back at its owner it ends.
    pub(super) fn learn_coordinator(
        &mut self,
        cx: &mut Context<'_>,
        number: Counter,
        result: Result,
        out: &mut Effects<Self>,
    ) {
        let Result { initiator, owner, winner, names, mut told, leader } = result;
        let Some(rules) = self.list_rules() else { return };
        if number == self.number && self.is_outdone(cx, initiator) {
            return;
        }
        if owner == cx.me || (told.contains(cx.me) && rules.orphans == Orphans::Adopted) {
            return self.judge(cx, winner, told, out);
        }
        // T-07: a node reads the winner off the list, where the message carries one.
        let winner = leader.or_else(|| best(cx, &names)).unwrap_or(winner);
        // This node restarted after the list had passed its place.
        let elected = Standing { node: winner, leads: leader == Some(winner) };
        let is_above = self.standing(cx).outranks(elected, cx);
        if is_above && rules.confirmation == Confirmation::Winner {
            return self.call(cx, out);
        }
        if number > self.number {
            self.join(cx, number, out);
        }
        self.accept(cx, winner, &names, out);
        told.insert(cx.me);
        let token = Token::Coordinator { number, owner, winner, names, told, initiator, leader };
        self.pass(cx, token, out);
    }

    fn accept(
        &mut self,
        cx: &mut Context<'_>,
        winner: NodeId,
        names: &[NodeId],
        out: &mut Effects<Self>,
    ) {
        let Some(rules) = self.list_rules() else { return };
        if self.coordinator == Some(winner) {
            return;
        }
        self.keep_number(cx, winner, out);
        self.decide(cx, winner, out);
        if winner == cx.me && rules.confirmation == Confirmation::Literal {
            self.expect(cx, names.iter().copied().collect(), out);
        }
    }

    /// The number becomes that of the winner's group, so the winner saves it before it acts on it.
    fn keep_number(&self, cx: &Context<'_>, winner: NodeId, out: &mut Effects<Self>) {
        if winner == cx.me && !self.is_caller {
            self.save_number(cx, out);
        }
    }

    /// M-05: if the winner is not among the nodes that received the result, it has failed.
    fn judge(
        &mut self,
        cx: &mut Context<'_>,
        winner: NodeId,
        told: NodeSet,
        out: &mut Effects<Self>,
    ) {
        let Some(rules) = self.list_rules() else { return };
        if rules.confirmation == Confirmation::Literal {
            return;
        }
        if !told.contains(winner) {
            // Unless this node is in a newer election, or that is complete already.
            if self.coordinator == Some(winner) {
                self.call(cx, out);
            }
        } else if winner == cx.me {
            self.expect(cx, told, out);
        } else {
            let group = self.number.group(winner);
            out.send(winner, Message::Told { group, all: told });
        }
    }
}

/// The node of highest rank in a list.
fn best(cx: &Context<'_>, names: &[NodeId]) -> Option<NodeId> {
    let members = cx.members;
    let mut ranked = members.all().iter().map(|member| member.id);
    if cx.is_mutated(Mutant::TAKE_LOWEST) {
        return ranked.find(|id| names.contains(id));
    }
    ranked.rev().find(|id| names.contains(id))
}

mutants! {
    /// List rings: the list of a lower initiator is passed on beside that of a higher one.
    SIGN_ANY_LIST = "sign-any-list",
    /// List rings: the lowest of the list is elected.
    TAKE_LOWEST = "take-lowest",
}
