//! any two Normal nodes have the same definition.

use tanist_core::trace::Event;
use tanist_core::{Status, Time};

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct SameDefinition;

impl Monitor for SameDefinition {
    fn id(&self) -> &'static str {
        "A-1.2"
    }

    fn interest(&self) -> Interest {
        Interest::STATE
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let Event::State { node, state } = event else { return None };
        if state.status != Status::Normal {
            return None;
        }
        let other = global.live().find(|view| {
            view.state.status == Status::Normal && view.state.definition != state.definition
        })?;
        Some(Violation {
            nodes: vec![*node, other.id],
            why: format!("{node} and {} are Normal under different definitions", other.id),
        })
    }
}
