//! The active-list ring: every node sends its name round the ring and decides by itself.
//!
//! The first elect message that a node receives makes it send its own name and then the received
//! one (S-04); later ones are added to its list and passed on (S-05). When its own name comes back
//! the list is complete, and the best of it coordinates (S-06). There is no announcement (S-07).
//!
//! A complete list needs FIFO links, and a ring that does not change during an election; `order.rs`
//! checks both. The slides reset nothing between elections and let a later
//! message decide; here a number tells elections apart, and only a node's own name completes its
//! list (E-02).

use core::time::Duration;

use super::Ring;
use super::incumbent::Standing;
use super::order::{Elect, Line};
use crate::election::descriptor::{Descriptor, Groups, Handover, Model, Network};
use crate::group::Counter;
use crate::membership::NodeSet;
use crate::mutant::{Mutant, mutants};
use crate::options::options;
use crate::protocol::{Context, Effects};

options! {
    /// How the messages of one link are kept in order (S-08).
    order / "order": Order {
        /// They are numbered; a message that overtook others waits for them.
        #[default] Counted = "counted",
        /// As printed: not at all; the link must be FIFO.
        Literal = "literal" [literal],
    },
}

/// What a node knows of the ring in one election.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Active {
    /// The active list.
    list: NodeSet,
    /// The nodes of the list that lead, and keep that.
    leaders: NodeSet,
    /// The links on both sides.
    pub(super) line: Line,
}

impl Active {
    /// Discards the state of the last election.
    pub(super) fn begin(&mut self, number: Counter) {
        (self.list, self.leaders) = (NodeSet::new(), NodeSet::new());
        self.line.begin(number);
    }
}

impl Ring {
    /// S-03: the list begins with this node's own name, which is sent.
    pub(super) fn send_name(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let own = self.standing(cx);
        if self.active().is_some() {
            self.list(own);
            self.pass_name(cx, own, out);
        }
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
        let name = Standing { node: elect.node, leads: elect.leads };
        if is_first && cx.is_mutated(Mutant::OTHERS_FIRST) {
            self.pass_name(cx, name, out);
            self.list(name);
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
        // A name that is in the list has passed here before, so the name of a crashed node stops
        // here.
        if self.list(name) {
            self.pass_name(cx, name, out);
        }
        if !is_first && cx.is_mutated(Mutant::DECIDE_EARLY) {
            self.list_is_complete(cx, out);
        }
    }

    /// Adds a name to the active list; true if it was new.
    fn list(&mut self, name: Standing) -> bool {
        let Some(active) = self.active_mut() else { return false };
        if name.leads {
            active.leaders.insert(name.node);
        }
        active.list.insert(name.node)
    }

    /// S-06, S-07: the best of the list coordinates; the other nodes decide by themselves.
    fn list_is_complete(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Some(active) = self.active() else { return };
        let list = active.list.clone();
        let ranked = || cx.members.all().iter().rev().map(|member| member.id);
        let leader = ranked().find(|id| active.leaders.contains(*id));
        let Some(winner) = leader.or_else(|| ranked().find(|id| list.contains(*id))) else {
            return;
        };
        self.decide(cx, winner, out);
        if winner == cx.me {
            // The last node decides one round after the first.
            let timing = cx.config.timing();
            let nodes = u32::try_from(cx.members.count()).unwrap_or(u32::MAX);
            let round: Duration = (timing.message_max() + timing.processing_max()) * nodes;
            self.expect_within(cx, list, round + timing.answer(), out);
        }
    }
}

/// The facts about the active-list ring.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "ring-active-list",
    source: "the active-list ring of the operating-systems slides: elect(i)",
    guarantee: super::GUARANTEE,
    summary: "one coordinator and one definition among all live nodes",
    network: Network::Ring,
    model: Model::Synchronous,
    groups: Groups::One,
    handover: Some(Handover::NEW_STATE),
    adjustable: Some(super::ADJUSTABLE),
    options: OPTIONS,
    messages: super::messages![super::ELECT],
    timers: super::TIMERS,
    mutants: &[super::MUTANTS, super::incumbent::MUTANTS, MUTANTS],
};

mutants! {
    /// Active list: a node passes the first name on before its own.
    OTHERS_FIRST = "others-first",
    /// Active list: a later name is taken for the end of the list.
    DECIDE_EARLY = "decide-early",
}
