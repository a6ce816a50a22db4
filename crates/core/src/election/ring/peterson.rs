//! Peterson's ring, also found by Dolev, Klawe and Rodeh: candidates compare with the two before
//! them, and at most half of them stay; no arrangement costs more than about 2n lg n messages.
//!
//! ```text
//!   Bidding: sends its name; the first name that arrives is that of the candidate before it
//!       |  its own: it is the last candidate, and the name has won
//!       v  otherwise: passes it on
//!   Comparing: the second name is that of the candidate before that one
//!       |  the first is the highest of the three: Bidding, for the first name
//!       +-- otherwise: Relaying, passes on every name
//! ```
//!
//! A candidate takes over the name of the one before it, so the last candidate is seldom the winner
//! itself: the result goes round as in the modified ring (`listing.rs`), and the winner must
//! confirm. All nodes stand in every election, whichever node called it, so that the highest wins.
//!
//! Assumes, as printed, FIFO links and a ring that does not change during an election; `order.rs`
//! checks both, and a changed ring begins a new election.

use alloc::vec::Vec;

use super::Ring;
pub use super::active_list::Order;
use super::incumbent::Standing;
use super::listing::List;
use super::order::{Elect, Line};
use super::rules::Rule;
use crate::election::descriptor::{Descriptor, Groups, Handover, Model, Network, rows};
use crate::group::Counter;
use crate::mutant::{Mutant, mutants};
use crate::options::options;
use crate::protocol::{Context, Effects};

options! {
    /// How the messages of one link are kept in order.
    order / "order": Order,
}

/// What a node keeps during one election.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Contest {
    stage: Stage,
    /// The links on both sides.
    pub(super) line: Line,
}

/// How far a candidate has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    /// It has sent nothing in this election.
    Idle,
    /// It stands for this name and waits for that of the candidate before it.
    Bidding(Standing),
    /// It knows that one, too, and waits for the one before that.
    Comparing { own: Standing, first: Standing },
    /// It is no candidate any more.
    Relaying,
}

impl Contest {
    pub(super) fn new() -> Self {
        Self { stage: Stage::Idle, line: Line::default() }
    }

    /// Discards the state of the last election.
    pub(super) fn begin(&mut self, number: Counter) {
        self.stage = Stage::Idle;
        self.line.begin(number);
    }
}

impl Ring {
    /// Stands for its own name, once in an election.
    pub(super) fn send_bid(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if self.stage() == Some(&Stage::Idle) {
            let own = self.standing(cx);
            self.set_stage(Stage::Bidding(own));
            self.pass_name(cx, own, out);
        }
    }

    /// A name from the candidate before this one, or from the one before that.
    pub(super) fn take_bid(&mut self, cx: &mut Context<'_>, elect: Elect, out: &mut Effects<Self>) {
        if elect.number > self.number {
            self.join(cx, elect.number, out);
            self.save_number(cx, out);
        }
        // The first name makes a node stand, too.
        self.send_bid(cx, out);
        let name = Standing { node: elect.node, leads: elect.leads };
        match self.stage().cloned() {
            Some(Stage::Bidding(own)) if own.node == name.node => self.elect_bid(cx, name, out),
            Some(Stage::Bidding(own)) => {
                self.set_stage(Stage::Comparing { own, first: name });
                self.pass_name(cx, name, out);
            }
            Some(Stage::Comparing { own, first }) => {
                if first.outranks(own, cx) && first.outranks(name, cx) {
                    let kept = if cx.is_mutated(Mutant::KEEP_OWN_NAME) { own } else { first };
                    self.set_stage(Stage::Bidding(kept));
                    self.pass_name(cx, kept, out);
                } else {
                    self.set_stage(Stage::Relaying);
                }
            }
            Some(Stage::Relaying) => self.pass_name(cx, name, out),
            Some(Stage::Idle) | None => {}
        }
    }

    /// The last candidate tells all nodes who has won.
    fn elect_bid(&mut self, cx: &mut Context<'_>, winner: Standing, out: &mut Effects<Self>) {
        let leader = winner.leads.then_some(winner.node);
        let names: Vec<_> = [winner.node].into();
        self.elect_best(cx, List { initiator: cx.me, names, leader }, out);
    }

    const fn stage(&self) -> Option<&Stage> {
        match &self.rule {
            Rule::Peterson(contest) => Some(&contest.stage),
            Rule::ChangRoberts
            | Rule::List { .. }
            | Rule::ActiveList(_)
            | Rule::HirschbergSinclair(_) => None,
        }
    }

    fn set_stage(&mut self, stage: Stage) {
        if let Rule::Peterson(contest) = &mut self.rule {
            contest.stage = stage;
        }
    }
}

/// The facts about Peterson's ring.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "ring-peterson",
    source: "Peterson 1982; Dolev, Klawe and Rodeh 1982: at most 2n lg n + O(n) messages one way \
             round",
    guarantee: super::GUARANTEE,
    summary: "one coordinator and one definition among all live nodes",
    network: Network::Ring,
    model: Model::Synchronous,
    groups: Groups::One,
    handover: Some(Handover::NEW_STATE),
    adjustable: Some(super::ADJUSTABLE),
    options: OPTIONS,
    messages: super::messages![super::ELECT, rows::COORDINATOR, super::TOLD],
    timers: super::TIMERS,
    mutants: &[super::MUTANTS, super::incumbent::MUTANTS, MUTANTS],
};

mutants! {
    /// Peterson: a candidate that stays keeps its own name instead of the one before it.
    KEEP_OWN_NAME = "keep-own-name",
}
