//! two Normal nodes in the same group have the same definition.

use tanist_core::trace::Event;
use tanist_core::{Status, Time};

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct GroupAgreesOnDefinition;

impl Monitor for GroupAgreesOnDefinition {
    fn id(&self) -> &'static str {
        "A-3.2"
    }

    fn interest(&self) -> Interest {
        Interest::STATE
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let Event::State { node, state } = event else { return None };
        let group = state.group?;
        if state.status != Status::Normal {
            return None;
        }
        let other = global.live().find(|view| {
            view.state.status == Status::Normal
                && view.state.group == Some(group)
                && view.state.definition != state.definition
        })?;
        Some(Violation {
            nodes: vec![*node, other.id],
            why: format!("{node} and {} are in group {group}, two definitions", other.id),
        })
    }
}
