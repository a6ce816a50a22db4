//! I-02: every functioning node belongs to exactly one group: the one that its coordinator formed,
//! and that its application works in.

use tanist_core::Time;
use tanist_core::trace::Event;

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::{Gate, GlobalState};

#[derive(Clone)]
pub(crate) struct OneGroupEach;

impl Monitor for OneGroupEach {
    fn id(&self) -> &'static str {
        "I-02"
    }

    fn interest(&self) -> Interest {
        Interest::STATE.and(Interest::MILESTONE)
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        if let Event::State { node, state } = event {
            if !state.status.has_coordinator() {
                return None;
            }
            let (Some(group), Some(coordinator)) = (state.group, state.coordinator) else {
                let why = format!("{node} is {} in no group", state.status);
                return Some(Violation { nodes: vec![*node], why });
            };
            return (group.node != coordinator).then(|| Violation {
                nodes: vec![*node, coordinator],
                why: format!("{node} follows {coordinator} in group {group}"),
            });
        }
        // When the application begins, the node itself must already be in that group.
        let Event::Begin { node, group } = event else { return None };
        let view = global.view(*node)?;
        let is_in = view.state.group == Some(*group) && view.gate == Gate::Open;
        (!is_in).then(|| Violation {
            nodes: vec![*node],
            why: format!("{node} works in group {group} and is elsewhere"),
        })
    }
}
