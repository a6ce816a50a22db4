//! G-16: every election terminates, and then every non-faulty process has elected a coordinator.

use tanist_core::Time;
use tanist_core::trace::Event;

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct EverybodyKnows;

impl Monitor for EverybodyKnows {
    fn id(&self) -> &'static str {
        "G-16"
    }

    fn interest(&self) -> Interest {
        Interest::FAULT
    }

    fn see(&mut self, _global: &GlobalState, _at: Time, _event: &Event) -> Option<Violation> {
        None
    }

    fn finish(&mut self, global: &GlobalState, _at: Time) -> Option<Violation> {
        if !self.is_applicable(global) {
            return None;
        }
        let ignorant = global.live().find(|view| view.state.coordinator.is_none())?;
        Some(Violation {
            nodes: vec![ignorant.id],
            why: format!("{} is still in {}", ignorant.id, ignorant.state.status),
        })
    }

    fn is_about_the_end(&self) -> bool {
        true
    }

    fn is_settled(&self, global: &GlobalState) -> bool {
        global.live().all(|view| view.state.coordinator.is_some())
    }

    /// Nodes that cannot reach each other cannot agree.
    fn is_applicable(&self, global: &GlobalState) -> bool {
        global.components().len() == 1 && global.live().all(|view| !view.is_paused)
    }
}
