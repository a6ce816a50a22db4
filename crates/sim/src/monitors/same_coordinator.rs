//! any two nodes that are Normal or in Reorganization have the same coordinator.

use tanist_core::Time;
use tanist_core::trace::Event;

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct SameCoordinator;

impl Monitor for SameCoordinator {
    fn id(&self) -> &'static str {
        "A-1.1"
    }

    fn interest(&self) -> Interest {
        Interest::STATE
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let Event::State { node, state } = event else { return None };
        if !state.status.has_coordinator() {
            return None;
        }
        let other = global.live().find(|view| {
            view.state.status.has_coordinator() && view.state.coordinator != state.coordinator
        })?;
        Some(Violation {
            nodes: vec![*node, other.id],
            why: format!(
                "{node} is {} under {}, {} is {} under {}",
                state.status,
                name(state.coordinator),
                other.id,
                other.state.status,
                name(other.state.coordinator),
            ),
        })
    }
}

/// A coordinator's name, or a text for none.
pub(super) fn name(node: Option<tanist_core::NodeId>) -> String {
    node.map_or_else(|| "nobody".to_owned(), |node| node.to_string())
}
