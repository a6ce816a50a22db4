//! Names in the order in which they were sent, round a ring that does not change.
//!
//! Some rings rest on FIFO links and on a ring that stays the same during an election. Both are
//! checked: names are numbered on each link and taken in that order, and all that a node receives
//! in one election must come from one predecessor and go to one successor. If the ring changes, a
//! new election begins.

use alloc::vec::Vec;

use super::active_list::Order;
use super::incumbent::Standing;
use super::{Phase, Ring, Token};
use crate::group::Counter;
use crate::membership::NodeId;
use crate::protocol::{Context, Effects};

/// What a node knows of the links on both sides in one election.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Line {
    /// The predecessor that names come from, and how many were taken.
    source: Option<NodeId>,
    taken: u32,
    /// The successor that they go to, how many were sent, and whether it has acknowledged any.
    pub(super) heading: Option<NodeId>,
    sent: u32,
    pub(super) is_settled: bool,
    /// Names that overtook others, each with its sender.
    held: Vec<(NodeId, Elect)>,
}

/// A name that goes round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Elect {
    pub(super) number: Counter,
    pub(super) node: NodeId,
    pub(super) place: u32,
    pub(super) leads: bool,
}

impl Line {
    /// Discards the state of the last election.
    pub(super) fn begin(&mut self, number: Counter) {
        let mut held = core::mem::take(&mut self.held);
        held.retain(|(_, elect)| elect.number >= number);
        *self = Self { held, ..Self::default() };
    }

    /// The successor has changed: numbering starts again.
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
            Token::Elect { number, node, place: _, leads } => {
                let place = self.sent;
                (self.heading, self.sent) = (Some(to), self.sent + 1);
                Token::Elect { number, node, place, leads }
            }
            Token::Election { .. }
            | Token::Elected { .. }
            | Token::List { .. }
            | Token::Coordinator { .. }
            | Token::Probe { .. }
            | Token::Okay { .. } => token,
        }
    }
}

impl Ring {
    /// Sends a name to the successor.
    pub(super) fn pass_name(
        &mut self,
        cx: &mut Context<'_>,
        name: Standing,
        out: &mut Effects<Self>,
    ) {
        let Standing { node, leads } = name;
        let token = Token::Elect { number: self.number, node, place: 0, leads };
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
        if self.order(cx) == Order::Literal {
            return self.take_any(cx, elect, out);
        }
        let Some(line) = self.line_mut() else { return };
        line.held.push((from, elect));
        while let Some((from, elect, source)) = self.next_in_order() {
            if elect.number == self.number && source.is_some_and(|node| node != from) {
                // Another predecessor: the ring has changed during the election.
                return self.call(cx, out);
            }
            let is_first = elect.number > self.number;
            if is_first {
                self.join(cx, elect.number, out);
                self.save_number(cx, out);
            }
            if let Some(line) = self.line_mut() {
                line.source = Some(from);
                line.taken += 1;
            }
            self.take_any(cx, elect, out);
            if self.phase != Phase::Running {
                break;
            }
        }
    }

    /// The next name in order, its sender, and the sender of the earlier ones of its election.
    fn next_in_order(&mut self) -> Option<(NodeId, Elect, Option<NodeId>)> {
        let number = self.number;
        let line = self.line_mut()?;
        let at = line.held.iter().position(|held| line.is_next(number, held))?;
        let (from, elect) = line.held.swap_remove(at);
        Some((from, elect, line.source))
    }
}
