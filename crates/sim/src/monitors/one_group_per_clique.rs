//! in a maximal set of nodes that can communicate, eventually some node is Normal and its own
//! coordinator, and all others are Normal under it.
//!
//! Where "can communicate" is not transitive no assignment satisfies this (E-27), so it is checked
//! for components that are cliques; the others are left alone. The literal reading takes every
//! component.

use tanist_core::trace::{Event, Header};
use tanist_core::{NodeSet, Time};

use super::all_under_one::out_of_line;
use super::settled::Settled;
use super::{Breach, Interest, Monitor};
use crate::observe::global_state::Board;

#[derive(Clone)]
pub(crate) struct OneGroupPerClique {
    settled: Settled,
    is_literal: bool,
}

impl OneGroupPerClique {
    pub(crate) fn new(header: &Header, is_literal: bool) -> Self {
        Self { settled: Settled::new(header), is_literal }
    }

    fn concerned(&self, board: &Board) -> Vec<NodeSet> {
        let mut components = board.components();
        components.retain(|component| self.is_literal || board.is_clique(component));
        components
    }
}

impl Monitor for OneGroupPerClique {
    fn id(&self) -> &'static str {
        "A-4"
    }

    fn interest(&self) -> Interest {
        Interest::STATE.and(Interest::FAULT)
    }

    fn see(&mut self, board: &Board, at: Time, _event: &Event) -> Option<Breach> {
        // Relapses are followed for a whole network only; the end is judged for every component.
        if board.is_whole() {
            let live: NodeSet = board.live().map(|seat| seat.id).collect();
            let is_good = out_of_line(board, &live).is_none();
            self.settled.note(at, board.disturbed_at, is_good);
        }
        None
    }

    fn finish(&mut self, board: &Board, at: Time) -> Option<Breach> {
        for component in self.concerned(board) {
            if let Some((node, why)) = out_of_line(board, &component) {
                return Some(Breach { nodes: vec![node], why });
            }
        }
        let relapses = board.is_whole() && self.settled.is_relapsing(at);
        (relapses && self.is_applicable(board)).then(|| Breach {
            nodes: board.live().map(|seat| seat.id).collect(),
            why: "every agreement was given up again within a check period".to_owned(),
        })
    }

    fn is_about_the_end(&self) -> bool {
        true
    }

    fn is_settled(&self, board: &Board) -> bool {
        self.concerned(board).iter().all(|component| out_of_line(board, component).is_none())
    }

    fn is_applicable(&self, board: &Board) -> bool {
        !self.concerned(board).is_empty()
    }
}
