//! W-05: in every component some node leads in the end, the best of it, and everybody follows.
//!
//! A component is made of links that work in both directions. Where something comes in by a link
//! that works in one direction only, nothing is demanded.

use tanist_core::trace::{Event, Header};
use tanist_core::{NodeId, NodeSet, Status, Time};

use super::settled::Settled;
use super::{Breach, Interest, Monitor};
use crate::observe::global_state::Board;

#[derive(Clone)]
pub(crate) struct OneLeaderPerComponent {
    settled: Settled,
}

impl OneLeaderPerComponent {
    pub(crate) fn new(header: &Header) -> Self {
        Self { settled: Settled::new(header) }
    }
}

impl Monitor for OneLeaderPerComponent {
    fn id(&self) -> &'static str {
        "W-05"
    }

    fn interest(&self) -> Interest {
        Interest::STATE.and(Interest::FAULT)
    }

    fn see(&mut self, board: &Board, at: Time, _event: &Event) -> Option<Breach> {
        let is_good = astray(board).is_none();
        self.settled.note(at, board.disturbed_at, is_good);
        None
    }

    fn finish(&mut self, board: &Board, at: Time) -> Option<Breach> {
        if !self.is_applicable(board) {
            return None;
        }
        if let Some((node, why)) = astray(board) {
            return Some(Breach { nodes: vec![node], why });
        }
        self.settled.is_relapsing(at).then(|| Breach {
            nodes: board.live().map(|seat| seat.id).collect(),
            why: "every agreement was given up again within a check period".to_owned(),
        })
    }

    fn is_about_the_end(&self) -> bool {
        true
    }

    fn is_settled(&self, board: &Board) -> bool {
        astray(board).is_none()
    }

    fn is_applicable(&self, board: &Board) -> bool {
        let seats = board.seats();
        let mut pairs = seats.iter().flat_map(|a| seats.iter().map(move |b| (a.id, b.id)));
        board.live().next().is_some() && pairs.all(|(a, b)| board.hears(a, b) == board.hears(b, a))
    }
}

/// A node that does not follow the best of its component in one group with it, and why.
fn astray(board: &Board) -> Option<(NodeId, String)> {
    board.components().iter().find_map(|component| astray_in(board, component))
}

fn astray_in(board: &Board, component: &NodeSet) -> Option<(NodeId, String)> {
    let members = board.members.all().iter().rev().map(|member| member.id);
    let best = members.into_iter().find(|id| component.contains(*id))?;
    let group = board.seat(best)?.state.group;
    component.iter().filter_map(|id| board.seat(id)).find_map(|seat| {
        let state = &seat.state;
        let is_in_line = state.status == Status::Normal
            && state.coordinator == Some(best)
            && state.group == group;
        (!is_in_line).then(|| {
            let follows = super::same_coordinator::name(state.coordinator);
            let why = format!(
                "{} is {} under {follows}, the best of its component {component} is {best}",
                seat.id, state.status,
            );
            (seat.id, why)
        })
    })
}
