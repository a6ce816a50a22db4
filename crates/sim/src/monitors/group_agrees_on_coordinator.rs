//! two nodes that are Normal or in Reorganization in the same group have the same
//! coordinator.

use tanist_core::Time;
use tanist_core::trace::Event;

use super::same_coordinator::name;
use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct GroupAgreesOnCoordinator;

impl Monitor for GroupAgreesOnCoordinator {
    fn id(&self) -> &'static str {
        "A-3.1"
    }

    fn interest(&self) -> Interest {
        Interest::STATE
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let Event::State { node, state } = event else { return None };
        let group = state.group?;
        if !state.status.has_coordinator() {
            return None;
        }
        let other = global.live().find(|view| {
            view.state.status.has_coordinator()
                && view.state.group == Some(group)
                && view.state.coordinator != state.coordinator
        })?;
        Some(Violation {
            nodes: vec![*node, other.id],
            why: format!(
                "in group {group}, {node} follows {} and {} follows {}",
                name(state.coordinator),
                other.id,
                name(other.state.coordinator),
            ),
        })
    }
}
