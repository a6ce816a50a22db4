//! I-50, B-36: a definition is taken only in Reorganization, and only from the current coordinator
//! of the current group.

use tanist_core::trace::Event;
use tanist_core::{Status, Time};

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct DefinitionOnlyInReorganization;

impl Monitor for DefinitionOnlyInReorganization {
    fn id(&self) -> &'static str {
        "I-50"
    }

    fn interest(&self) -> Interest {
        Interest::STATE
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let Event::State { node, state } = event else { return None };
        let view = global.view(*node)?;
        // The first recorded state of a node is what it started in, not a definition that it took.
        let before = view.before.as_ref()?;
        if before.definition == state.definition {
            return None;
        }
        let heard = view.last_heard;
        let is_own = state.coordinator == Some(*node);
        let is_right = before.status == Status::Reorganization
            && before.group == state.group
            && before.coordinator == state.coordinator
            && (is_own || heard == state.coordinator);
        (!is_right).then(|| Violation {
            nodes: vec![*node],
            why: format!(
                "{node} takes a definition in {} (heard last: {})",
                before.status,
                super::same_coordinator::name(heard),
            ),
        })
    }
}
