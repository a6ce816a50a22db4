//! without further failures, eventually some node is Normal and its own coordinator, and every
//! other live node is Normal under it.

use tanist_core::trace::{Event, Header};
use tanist_core::{NodeId, NodeSet, Status, Time};

use super::settled::Settled;
use super::{Breach, Interest, Monitor};
use crate::observe::global_state::Board;

#[derive(Clone)]
pub(crate) struct AllUnderOne {
    settled: Settled,
}

impl AllUnderOne {
    pub(crate) fn new(header: &Header) -> Self {
        Self { settled: Settled::new(header) }
    }
}

impl Monitor for AllUnderOne {
    fn id(&self) -> &'static str {
        "A-2"
    }

    fn interest(&self) -> Interest {
        Interest::STATE.and(Interest::FAULT)
    }

    fn see(&mut self, board: &Board, at: Time, _event: &Event) -> Option<Breach> {
        let live: NodeSet = board.live().map(|seat| seat.id).collect();
        let is_good = out_of_line(board, &live).is_none();
        self.settled.note(at, board.disturbed_at, is_good);
        None
    }

    fn finish(&mut self, board: &Board, at: Time) -> Option<Breach> {
        if !self.is_applicable(board) {
            return None;
        }
        let live: NodeSet = board.live().map(|seat| seat.id).collect();
        if let Some((node, why)) = out_of_line(board, &live) {
            return Some(Breach { nodes: vec![node], why });
        }
        self.settled.is_relapsing(at).then(|| Breach {
            nodes: live.iter().collect(),
            why: "every agreement was given up again within a check period".to_owned(),
        })
    }

    fn is_about_the_end(&self) -> bool {
        true
    }

    fn is_settled(&self, board: &Board) -> bool {
        let live: NodeSet = board.live().map(|seat| seat.id).collect();
        out_of_line(board, &live).is_none()
    }

    fn is_applicable(&self, board: &Board) -> bool {
        board.is_whole() && board.live().next().is_some()
    }
}

/// A node of the set that is not Normal under the one coordinator of the set, and what it is
/// instead.
pub(super) fn out_of_line(board: &Board, nodes: &NodeSet) -> Option<(NodeId, String)> {
    let seats = || nodes.iter().filter_map(|id| board.seat(id));
    let leader = seats().find(|seat| {
        seat.state.status == Status::Normal && seat.state.coordinator == Some(seat.id)
    });
    let Some(leader) = leader else {
        let first = nodes.iter().next()?;
        return Some((first, format!("nobody of {nodes} is Normal and its own coordinator")));
    };
    let astray = seats().find(|seat| {
        seat.state.status != Status::Normal
            || seat.state.coordinator != Some(leader.id)
            || seat.state.group != leader.state.group
    })?;
    let why = format!(
        "{} is {} under {}, not Normal under {}",
        astray.id,
        astray.state.status,
        super::same_coordinator::name(astray.state.coordinator),
        leader.id,
    );
    Some((astray.id, why))
}
