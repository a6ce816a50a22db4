//! I-50, B-36: a definition is taken only in Reorganization, and only from the current coordinator
//! of the current group.

use tanist_core::trace::{Event, NodeState};
use tanist_core::{NodeId, Status, Time};

use super::{Breach, Interest, Monitor};
use crate::board::Board;

#[derive(Clone, Default)]
pub(super) struct DefinitionOnlyInReorganization {
    before: Vec<(NodeId, NodeState)>,
}

impl Monitor for DefinitionOnlyInReorganization {
    fn id(&self) -> &'static str {
        "I-50"
    }

    fn interest(&self) -> Interest {
        Interest::STATE.and(Interest::FAULT)
    }

    fn see(&mut self, board: &Board, _at: Time, event: &Event) -> Option<Breach> {
        if let Event::Start { node, .. } | Event::Crash { node } = event {
            self.before.retain(|(id, _)| id != node);
            return None;
        }
        let Event::State { node, state } = event else { return None };
        let Some((_, before)) = self.before.iter_mut().find(|(id, _)| id == node) else {
            // What a node shows first is what it stands in, not what it took.
            self.before.push((*node, state.clone()));
            return None;
        };
        let before = std::mem::replace(before, state.clone());
        if before.definition == state.definition {
            return None;
        }
        let heard = board.seat(*node)?.last_heard;
        let is_own = state.coordinator == Some(*node);
        let is_right = before.status == Status::Reorganization
            && before.group == state.group
            && before.coordinator == state.coordinator
            && (is_own || heard == state.coordinator);
        (!is_right).then(|| Breach {
            nodes: vec![*node],
            why: format!(
                "{node} takes a definition in {} (heard last: {})",
                before.status,
                super::a_1_1::name(heard),
            ),
        })
    }
}
