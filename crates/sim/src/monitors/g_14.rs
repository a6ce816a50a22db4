//! G-14, B-47: nobody wins while somebody better could have answered.
//!
//! A better process counts if it was up when the winner called its election, ran, and could be reached:
//! one that came up since is a matter of the next election.

use tanist_core::trace::{Event, Outcome};
use tanist_core::{NodeId, Time};

use super::{Breach, Interest, Monitor};
use crate::board::Board;

#[derive(Default)]
pub(super) struct BestWins {
    called_at: Vec<(NodeId, Time)>,
}

impl Monitor for BestWins {
    fn id(&self) -> &'static str {
        "G-14"
    }

    fn interest(&self) -> Interest {
        Interest::MILESTONE
    }

    fn see(&mut self, board: &Board, at: Time, event: &Event) -> Option<Breach> {
        match event {
            Event::Call { node } => {
                self.called_at.retain(|(caller, _)| caller != node);
                self.called_at.push((*node, at));
                None
            }
            Event::End { node, outcome: Outcome::Won } => {
                let (_, called) = self.called_at.iter().find(|(caller, _)| caller == node)?;
                let better = board.live().find(|seat| {
                    board.members.outranks(seat.id, *node)
                        && !seat.is_paused
                        && board.can_talk(seat.id, *node)
                        && seat.started_at <= *called
                })?;
                Some(Breach {
                    nodes: vec![*node, better.id],
                    why: format!("{node} wins although {} has been up all the time", better.id),
                })
            }
            Event::End { outcome: Outcome::Yielded | Outcome::Failed, .. }
            | Event::Start { .. }
            | Event::Crash { .. }
            | Event::Pause { .. }
            | Event::Resume { .. }
            | Event::Send { .. }
            | Event::Receive { .. }
            | Event::Lose { .. }
            | Event::Timer { .. }
            | Event::Save { .. }
            | Event::State { .. }
            | Event::Stop { .. }
            | Event::Stopped { .. }
            | Event::Plan { .. }
            | Event::Begin { .. }
            | Event::Cut { .. }
            | Event::Heal { .. }
            | Event::Broken { .. } => None,
        }
    }
}
