//! The active-list ring: everybody sends its own name round and decides by itself.
//!
//! The first elect message that a node sees makes it send its own name and then the other's (S-04);
//! later ones are added to its list and passed on (S-05). When its own name comes back the list is
//! complete, and the best of it coordinates (S-06). Nobody announces anything (S-07).
//!
//! "Complete" needs links that keep order, and a ring that stays as it is during an election. Both are
//! checked: elect messages are counted on each link and taken in that order, and all that a node gets
//! in one election must come from one node, and go to one. If the ring changes a new election begins.
//! The slides reset nothing between elections and let a later message decide; here a number tells
//! elections apart, and only the own name decides (E-02).

use alloc::vec::Vec;
use core::time::Duration;

use super::{Phase, Ring, Token};
use crate::election::descriptor::{Descriptor, Groups, Handover, Model, Network};
use crate::group::Counter;
use crate::membership::{NodeId, NodeSet};
use crate::mutant::{Mutant, mutants};
use crate::options::options;
use crate::protocol::{Context, Effects};

options! {
    /// What keeps messages of one link in order (S-08).
    order / "order": Order {
        /// They are counted; one that overtook others waits for them.
        #[default] Counted = "counted",
        /// As printed: the link, if it does.
        Literal = "literal" [literal],
    },
}

/// What a node knows of the ring in one election.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Active {
    /// The active list.
    list: NodeSet,
    /// From whom elect messages come, and how many were taken.
    source: Option<NodeId>,
    taken: u32,
    /// To whom they go, how many went there, and whether that one has acknowledged any.
    pub(super) heading: Option<NodeId>,
    sent: u32,
    pub(super) is_settled: bool,
    /// What has overtaken others: from whom, place and name.
    held: Vec<(NodeId, Elect)>,
}

/// A name that goes round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Elect {
    pub(super) number: Counter,
    pub(super) node: NodeId,
    pub(super) place: u32,
}

impl Active {
    /// A new election knows nothing of the last one.
    pub(super) fn begin(&mut self, number: Counter) {
        let mut held = core::mem::take(&mut self.held);
        held.retain(|(_, elect)| elect.number >= number);
        *self = Self { held, ..Self::default() };
    }

    /// Everything goes to another node, from the first on.
    pub(super) fn turn(&mut self) {
        (self.heading, self.sent) = (None, 0);
    }

    fn is_next(&self, number: Counter, (from, elect): &(NodeId, Elect)) -> bool {
        let is_known = elect.number == number && self.source == Some(*from);
        let is_stranger = elect.number == number && self.source.is_some() && !is_known;
        let expected = if is_known { self.taken } else { 0 };
        is_stranger || (elect.number >= number && elect.place == expected)
    }

    /// Counts a message that goes to this node.
    pub(super) fn count(&mut self, to: NodeId, token: Token) -> Token {
        match token {
            Token::Elect { number, node, place: _ } => {
                let place = self.sent;
                (self.heading, self.sent) = (Some(to), self.sent + 1);
                Token::Elect { number, node, place }
            }
            Token::Election { .. }
            | Token::Elected { .. }
            | Token::List { .. }
            | Token::Coordinator { .. } => token,
        }
    }
}

impl Ring {
    /// S-03: an empty list, and the own name.
    pub(super) fn send_name(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if let Some(active) = self.active_mut() {
            active.list.insert(cx.me);
            self.pass_name(cx, cx.me, out);
        }
    }

    fn pass_name(&mut self, cx: &mut Context<'_>, node: NodeId, out: &mut Effects<Self>) {
        let token = Token::Elect { number: self.number, node, place: 0 };
        self.pass(cx, token, out);
    }

    /// Takes names in the order in which they were sent.
    pub(super) fn take_in_order(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        elect: Elect,
        out: &mut Effects<Self>,
    ) {
        if cx.config.options().ring_active_list.order == Order::Literal {
            return self.take_name(cx, elect, out);
        }
        let Some(active) = self.active_mut() else { return };
        active.held.push((from, elect));
        while let Some((from, elect, source)) = self.next_in_order() {
            if elect.number == self.number && source.is_some_and(|node| node != from) {
                // Somebody else comes before this node: the ring is not what it was.
                return self.call(cx, out);
            }
            let is_first = elect.number > self.number;
            if is_first {
                self.join(cx, elect.number, out);
                self.save_number(cx, out);
            }
            if let Some(active) = self.active_mut() {
                active.source = Some(from);
                active.taken += 1;
            }
            self.take_name(cx, elect, out);
            if self.phase != Phase::Running {
                break;
            }
        }
    }

    /// The next name that can be taken: from whom, and from whom the others of its election came.
    fn next_in_order(&mut self) -> Option<(NodeId, Elect, Option<NodeId>)> {
        let number = self.number;
        let active = self.active_mut()?;
        let at = active.held.iter().position(|held| active.is_next(number, held))?;
        let (from, elect) = active.held.swap_remove(at);
        Some((from, elect, active.source))
    }

    /// S-04 to S-06.
    pub(super) fn take_name(
        &mut self,
        cx: &mut Context<'_>,
        elect: Elect,
        out: &mut Effects<Self>,
    ) {
        if elect.number > self.number {
            self.join(cx, elect.number, out);
            self.save_number(cx, out);
        }
        let Some(active) = self.active_mut() else { return };
        let is_first = active.list.is_empty();
        if is_first && cx.is_mutated(Mutant::OTHERS_FIRST) {
            self.pass_name(cx, elect.node, out);
            self.list(elect.node);
            return self.send_name(cx, out);
        }
        if is_first {
            self.send_name(cx, out);
        }
        if elect.node == cx.me {
            if !is_first {
                self.list_is_complete(cx, out);
            }
            return;
        }
        // Whoever is in the list has been here: the name of a node that died stops.
        if self.list(elect.node) {
            self.pass_name(cx, elect.node, out);
        }
        if !is_first && cx.is_mutated(Mutant::DECIDE_EARLY) {
            self.list_is_complete(cx, out);
        }
    }

    /// Adds a name to the active list; tells whether it was new.
    fn list(&mut self, node: NodeId) -> bool {
        self.active_mut().is_some_and(|active| active.list.insert(node))
    }

    /// S-06, S-07: the best of the list coordinates; the others find out by themselves.
    fn list_is_complete(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Some(list) = self.active().map(|active| active.list.clone()) else { return };
        let mut ranked = cx.members.all().iter().rev().map(|member| member.id);
        let Some(winner) = ranked.find(|id| list.contains(*id)) else { return };
        self.decide(cx, winner, out);
        if winner == cx.me {
            // The last to find out is a round behind the first.
            let timing = cx.config.timing();
            let nodes = u32::try_from(cx.members.count()).unwrap_or(u32::MAX);
            let round: Duration = (timing.message_max() + timing.processing_max()) * nodes;
            self.expect_within(cx, list, round + timing.answer(), out);
        }
    }
}

/// What there is to know of the active-list ring.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "ring-active-list",
    source: "the active-list ring of the operating-systems slides: elect(i)",
    guarantee: super::GUARANTEE,
    summary: "one coordinator and one definition among all live nodes",
    network: Network::Ring,
    model: Model::Synchronous,
    groups: Groups::One,
    handover: Some(Handover::NEW_STATE),
    adjustable: None,
    options: OPTIONS,
    messages: super::MESSAGES,
    timers: super::TIMERS,
    mutants: &[super::MUTANTS, MUTANTS],
};

mutants! {
    /// Active list: a node passes the first name on before its own.
    OTHERS_FIRST = "others-first",
    /// Active list: a later name is taken for the end of the list.
    DECIDE_EARLY = "decide-early",
}
