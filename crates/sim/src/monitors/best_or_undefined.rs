//! G-15: at the end of a run every process has elected the best live process, or nobody.

use tanist_core::trace::Event;
use tanist_core::{NodeId, Status, Time};

use super::{Breach, Interest, Monitor};
use crate::observe::global_state::{Board, Seat};

#[derive(Clone)]
pub(crate) struct BestOrUndefined;

impl Monitor for BestOrUndefined {
    fn id(&self) -> &'static str {
        "G-15"
    }

    fn interest(&self) -> Interest {
        Interest::FAULT
    }

    fn see(&mut self, _board: &Board, _at: Time, _event: &Event) -> Option<Breach> {
        None
    }

    fn finish(&mut self, board: &Board, _at: Time) -> Option<Breach> {
        self.is_applicable(board).then(|| breach(board)).flatten()
    }

    /// Whoever is in an election will give it up some day, and whoever has elected somebody who is
    /// dead will notice: such a run is not at its end.
    fn at_rest(&self, board: &Board) -> Option<Breach> {
        let is_up = |id| board.seat(id).is_some_and(|seat| seat.is_up);
        let is_done = |seat: &Seat| {
            seat.state.status == Status::Normal && seat.state.coordinator.is_some_and(is_up)
        };
        let has_ended = board.live().all(is_done);
        (has_ended && self.is_applicable(board)).then(|| breach(board)).flatten()
    }

    fn is_about_the_end(&self) -> bool {
        true
    }

    fn is_settled(&self, board: &Board) -> bool {
        wrong(board).is_none()
    }

    /// Nodes that cannot hear of each other cannot agree.
    fn is_applicable(&self, board: &Board) -> bool {
        board.components().len() == 1 && board.live().all(|seat| !seat.is_paused)
    }
}

fn breach(board: &Board) -> Option<Breach> {
    let (wrong, best) = wrong(board)?;
    let elected = super::same_coordinator::name(wrong.state.coordinator);
    let why = format!("{} has elected {elected}, the best live process is {best}", wrong.id);
    Some(Breach { nodes: vec![wrong.id, best], why })
}

/// A node that has elected somebody else than the best live one, and who that is.
fn wrong(board: &Board) -> Option<(&Seat, NodeId)> {
    let is_up = |id| board.seat(id).is_some_and(|seat| seat.is_up);
    let best = board.members.all().iter().rev().find(|member| is_up(member.id))?.id;
    let elected_other =
        |seat: &&Seat| seat.state.coordinator.is_some_and(|elected| elected != best);
    board.live().find(elected_other).map(|seat| (seat, best))
}
