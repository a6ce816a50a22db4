//! Chang and Roberts' ring: the highest candidacy completes the round, all others are dropped on
//! the way.
//!
//! ```text
//!   a candidacy arrives      higher: passed on       lower: replaced by the own, or dropped by a
//!                            own: won                       node that takes part already
//!   the winner's name goes round once and comes back to the winner
//! ```
//!
//! As printed it assumes that nothing fails during an election (F-15): the candidacy of a crashed
//! node circulates forever. By default a node that receives it after more hops than there are nodes
//! drops it and calls the next election (E-31).

use super::incumbent::Standing;
use super::{Phase, Ring, Token};
use crate::election::descriptor::{Descriptor, Groups, Handover, Model, Network, rows};
use crate::group::Counter;
use crate::membership::NodeSet;
use crate::mutant::{Mutant, mutants};
use crate::options::options;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

options! {
    /// What happens to the candidacy of a crashed node (E-31).
    orphans / "orphans": Orphans {
        /// After as many hops as there are nodes it is dropped and a new election begins; one
        /// begins also when an election has had no winner for too long.
        #[default] Limited = "limited",
        /// As printed: it circulates forever, and all nodes wait.
        Literal = "literal" [literal],
    },
    /// What tells candidates apart (E-30).
    ties / "ties": Ties {
        /// Priority, then id; a node knows its own candidacy by its id.
        #[default] Rank = "rank",
        /// As printed: the attribute alone; a node takes an equal one for its own.
        Attribute = "attribute" [literal],
    },
}

/// How a candidate compares with this node.
pub(super) enum Candidate {
    Higher,
    Own,
    Lower,
}

impl Ring {
    /// R-02: the node that discovers the failure sends its own name.
    pub(super) fn send_candidacy(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Standing { node: candidate, leads } = self.standing(cx);
        let own = Token::Election { number: self.number, candidate, hops: 0, leads };
        self.pass(cx, own, out);
    }

    /// R-03 to R-06.
    pub(super) fn weigh_candidate(
        &mut self,
        cx: &mut Context<'_>,
        number: Counter,
        candidate: Standing,
        hops: u32,
        out: &mut Effects<Self>,
    ) {
        let is_first = number > self.number;
        if is_first {
            self.join(cx, number, out);
        }
        match self.compare(cx, candidate) {
            Candidate::Higher => self.pass_candidate(cx, candidate, hops, out),
            Candidate::Own if self.is_caller => self.win(cx, out),
            Candidate::Lower if cx.is_mutated(Mutant::PASS_LOWER) => {
                self.pass_candidate(cx, candidate, hops, out);
            }
            Candidate::Own | Candidate::Lower if is_first => {
                self.stand(cx, out);
                self.send_candidacy(cx, out);
            }
            // R-05, E-31: this node has sent a higher candidacy.
            Candidate::Own | Candidate::Lower => {}
        }
    }

    fn pass_candidate(
        &mut self,
        cx: &mut Context<'_>,
        candidate: Standing,
        hops: u32,
        out: &mut Effects<Self>,
    ) {
        self.end_own(Outcome::Yielded, out);
        let hops = hops.saturating_add(1);
        let has_come_round = usize::try_from(hops).is_ok_and(|hops| hops >= cx.members.count());
        match cx.config.options().ring_chang_roberts.orphans {
            Orphans::Limited if has_come_round => self.call(cx, out),
            Orphans::Limited | Orphans::Literal => {
                let Standing { node: candidate, leads } = candidate;
                let token = Token::Election { number: self.number, candidate, hops, leads };
                self.pass(cx, token, out);
            }
        }
    }

    pub(super) fn win(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Standing { node: winner, leads } = self.standing(cx);
        self.decide(cx, winner, out);
        let (number, told) = (self.number, NodeSet::new());
        self.pass(cx, Token::Elected { number, winner, told, leads }, out);
    }

    /// R-07; when the message is back at the winner, all nodes know the winner.
    pub(super) fn learn_winner(
        &mut self,
        cx: &mut Context<'_>,
        number: Counter,
        winner: Standing,
        mut told: NodeSet,
        out: &mut Effects<Self>,
    ) {
        if winner.node == cx.me {
            if number == self.number && matches!(self.phase, Phase::Gathering(_)) {
                self.expect(cx, told, out);
            }
            return;
        }
        // This node restarted after the candidacies had passed its place.
        if matches!(self.compare(cx, winner), Candidate::Lower) {
            return self.call(cx, out);
        }
        if number > self.number {
            self.join(cx, number, out);
        }
        let Standing { node: winner, leads } = winner;
        self.decide(cx, winner, out);
        told.insert(cx.me);
        self.pass(cx, Token::Elected { number, winner, told, leads }, out);
    }

    pub(super) fn compare(&self, cx: &Context<'_>, candidate: Standing) -> Candidate {
        let members = cx.members;
        match cx.config.options().ring_chang_roberts.ties {
            Ties::Rank if candidate.node == cx.me => Candidate::Own,
            Ties::Rank if candidate.outranks(self.standing(cx), cx) => Candidate::Higher,
            Ties::Rank => Candidate::Lower,
            Ties::Attribute => {
                let priority =
                    |id| members.all().iter().find(|node| node.id == id).map(|node| node.priority);
                match priority(candidate.node).cmp(&priority(cx.me)) {
                    core::cmp::Ordering::Greater => Candidate::Higher,
                    core::cmp::Ordering::Equal => Candidate::Own,
                    core::cmp::Ordering::Less => Candidate::Lower,
                }
            }
        }
    }
}

/// The facts about Chang and Roberts' ring.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "ring-chang-roberts",
    source: "Chang and Roberts 1979, as the lectures have it: election, elected",
    guarantee: super::GUARANTEE,
    summary: "one coordinator and one definition among all live nodes",
    network: Network::Ring,
    model: Model::Synchronous,
    groups: Groups::One,
    handover: Some(Handover::NEW_STATE),
    adjustable: Some(super::ADJUSTABLE),
    options: OPTIONS,
    messages: super::messages![rows::ELECTION, super::ELECTED],
    timers: super::TIMERS,
    mutants: &[super::MUTANTS, super::incumbent::MUTANTS, MUTANTS],
};

mutants! {
    /// Chang and Roberts: a lower candidate is passed on instead of replaced or dropped.
    PASS_LOWER = "pass-lower",
}
