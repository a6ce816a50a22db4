//! Hirschberg and Sinclair's ring: candidates probe both sides, twice as far in every phase; no
//! arrangement costs more than 8n + 8 n lg n messages.
//!
//! ```text
//!   phase k: a candidate sends a probe 2^k hops in each direction
//!     at a higher candidate      it ends there
//!     at its last hop            the node there replies, back to the candidate
//!     at its own candidate       it has gone round: the candidate has won
//!   replies from both sides: phase k + 1
//!   a node that lets a higher probe pass is no candidate any more
//! ```
//!
//! The winner's name goes round as in Chang and Roberts' ring (`chang_roberts.rs`), and so does the
//! rest: a node stands when the first message of an election is that of a lower candidate, and a
//! winner needs a whole round past all live nodes, so that the order of messages does not matter.
//!
//! As printed it assumes that nothing fails during an election. By default a node that would have
//! to hand on a message of a failed candidate past that candidate's place calls the next election.

use super::chang_roberts::Candidate;
use super::incumbent::Standing;
use super::rules::Rule;
use super::{Phase, Ring, Token};
use crate::election::descriptor::{Descriptor, Groups, Handover, Model, Network, rows};
use crate::group::Counter;
use crate::membership::{Direction, NodeId};
use crate::mutant::{Mutant, mutants};
use crate::options::options;
use crate::protocol::{Context, Effects};
use crate::trace::Outcome;

options! {
    /// What happens to the messages of a candidate that has failed.
    orphans / "orphans": Orphans {
        /// The node before its place drops them and calls the next election; one begins also when
        /// an election has had no winner for too long.
        #[default] Recalled = "recalled",
        /// As printed: nothing fails, so they are lost, and all nodes wait.
        Literal = "literal" [literal],
    },
}

/// What a candidate keeps during one election.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Campaign {
    /// Its probes go 2^phase hops.
    phase: u32,
    /// Whether the probe in each direction was answered.
    onward: bool,
    back: bool,
}

impl Campaign {
    /// Records a reply; whether both are here.
    const fn answered(&mut self, direction: Direction) -> bool {
        match direction {
            Direction::Onward => self.onward = true,
            Direction::Back => self.back = true,
        }
        self.onward && self.back
    }
}

/// A probe, or the reply to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    pub(super) number: Counter,
    pub(super) candidate: Standing,
    pub(super) phase: u32,
    /// The direction of the probe.
    pub(super) direction: Direction,
}

impl Probe {
    /// With so many hops left, this one included.
    const fn with(self, left: u32) -> Token {
        let Self { number, candidate: Standing { node: candidate, leads }, .. } = self;
        let Self { phase, direction, .. } = self;
        Token::Probe { number, candidate, phase, left, direction, leads }
    }

    const fn reply(self) -> Token {
        let Self { number, candidate: Standing { node: candidate, leads }, .. } = self;
        let Self { phase, direction, .. } = self;
        Token::Okay { number, candidate, phase, direction, leads }
    }
}

/// How many hops a probe goes in this phase.
pub(super) fn reach(phase: u32) -> u32 {
    1_u32.checked_shl(phase).unwrap_or(u32::MAX)
}

impl Ring {
    /// Probes both sides.
    pub(super) fn send_probes(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Rule::HirschbergSinclair(campaign) = &self.rule else { return };
        let (number, candidate, phase) = (self.number, self.standing(cx), campaign.phase);
        for direction in [Direction::Onward, Direction::Back] {
            // A node that is alone in the ring has won with the first one.
            if self.phase == Phase::Running && self.number == number {
                let probe = Probe { number, candidate, phase, direction };
                self.pass(cx, probe.with(reach(phase)), out);
            }
        }
    }

    /// A probe that may go this many hops, the one to this node included.
    pub(super) fn take_probe(
        &mut self,
        cx: &mut Context<'_>,
        probe: Probe,
        left: u32,
        out: &mut Effects<Self>,
    ) {
        if probe.candidate.node == cx.me {
            if self.is_caller {
                self.win(cx, out);
            } else {
                // It has let a higher probe pass, and has been let pass all round: that candidate
                // has failed.
                self.recall(cx, out);
            }
        } else if self.must_hand_on(cx, probe, out) {
            let token = if left > 1 { probe.with(left - 1) } else { probe.reply() };
            self.pass(cx, token, out);
        }
    }

    /// A reply to a probe, on its way back to the candidate.
    pub(super) fn take_reply(
        &mut self,
        cx: &mut Context<'_>,
        probe: Probe,
        out: &mut Effects<Self>,
    ) {
        if probe.candidate.node != cx.me {
            if self.must_hand_on(cx, probe, out) {
                self.pass(cx, probe.reply(), out);
            }
            return;
        }
        let Rule::HirschbergSinclair(campaign) = &mut self.rule else { return };
        if self.is_caller && campaign.phase == probe.phase && campaign.answered(probe.direction) {
            *campaign = Campaign { phase: campaign.phase + 1, ..Campaign::default() };
            if cx.is_mutated(Mutant::WIN_FROM_REPLIES) {
                return self.win(cx, out);
            }
            self.send_probes(cx, out);
        }
    }

    /// Whether a message of another candidate goes on from here. A higher one does, and this node
    /// is no candidate any more. A lower one does not, and makes this node stand if it is the first
    /// message of its election.
    fn must_hand_on(
        &mut self,
        cx: &mut Context<'_>,
        probe: Probe,
        out: &mut Effects<Self>,
    ) -> bool {
        let is_first = probe.number > self.number;
        if is_first {
            self.join(cx, probe.number, out);
        }
        match self.compare(cx, probe.candidate) {
            Candidate::Higher => {
                self.end_own(Outcome::Yielded, out);
                true
            }
            Candidate::Own | Candidate::Lower => {
                if is_first {
                    self.stand(cx, out);
                    self.send_probes(cx, out);
                }
                false
            }
        }
    }

    /// A candidate has failed whose message should go past it: the message ends here.
    fn recall(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        match cx.config.options().ring_hirschberg_sinclair.orphans {
            Orphans::Recalled => self.call(cx, out),
            Orphans::Literal => {}
        }
    }

    /// Drops a message of a failed candidate that was on its way to that one. Whether it was one.
    pub(super) fn drop_orphan(
        &mut self,
        cx: &mut Context<'_>,
        gone: NodeId,
        token: &Token,
        out: &mut Effects<Self>,
    ) -> bool {
        let is_orphan = match token {
            Token::Probe { candidate, .. } | Token::Okay { candidate, .. } => *candidate == gone,
            Token::Election { .. }
            | Token::Elected { .. }
            | Token::List { .. }
            | Token::Coordinator { .. }
            | Token::Elect { .. } => false,
        };
        if is_orphan && self.phase == Phase::Running {
            self.recall(cx, out);
        }
        is_orphan
    }
}

/// The facts about Hirschberg and Sinclair's ring.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "ring-hirschberg-sinclair",
    source: "Hirschberg and Sinclair 1980: at most 8n + 8 n lg n messages both ways round",
    guarantee: super::GUARANTEE,
    summary: "one coordinator and one definition among all live nodes",
    network: Network::Ring,
    model: Model::Synchronous,
    groups: Groups::One,
    handover: Some(Handover::NEW_STATE),
    adjustable: Some(super::ADJUSTABLE),
    options: OPTIONS,
    messages: super::messages![rows::ELECTION, super::OKAY, super::ELECTED],
    timers: super::TIMERS,
    mutants: &[super::MUTANTS, super::incumbent::MUTANTS, MUTANTS],
};

mutants! {
    /// Hirschberg and Sinclair: a candidate that is answered from both sides takes itself for the
    /// winner.
    WIN_FROM_REPLIES = "win-from-replies",
}
