//! G-15: at the end of a run every process has elected the best live process, or none.

use tanist_core::trace::Event;
use tanist_core::{NodeId, Status, Time};

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::{GlobalState, NodeView};

#[derive(Clone)]
pub(crate) struct BestOrUndefined;

impl Monitor for BestOrUndefined {
    fn id(&self) -> &'static str {
        "G-15"
    }

    fn interest(&self) -> Interest {
        Interest::FAULT
    }

    fn see(&mut self, _global: &GlobalState, _at: Time, _event: &Event) -> Option<Violation> {
        None
    }

    fn finish(&mut self, global: &GlobalState, _at: Time) -> Option<Violation> {
        self.is_applicable(global).then(|| violation(global)).flatten()
    }

    /// A node in an election will give it up some day, and a node whose coordinator has crashed
    /// will notice: such a run is not at its end.
    fn at_rest(&self, global: &GlobalState) -> Option<Violation> {
        let is_up = |id| global.view(id).is_some_and(|view| view.is_up);
        let is_done = |view: &NodeView| {
            view.state.status == Status::Normal && view.state.coordinator.is_some_and(is_up)
        };
        let has_ended = global.live().all(is_done);
        (has_ended && self.is_applicable(global)).then(|| violation(global)).flatten()
    }

    fn is_about_the_end(&self) -> bool {
        true
    }

    fn is_settled(&self, global: &GlobalState) -> bool {
        wrong(global).is_none()
    }

    /// Nodes that cannot reach each other cannot agree.
    fn is_applicable(&self, global: &GlobalState) -> bool {
        global.components().len() == 1 && global.live().all(|view| !view.is_paused)
    }
}

fn violation(global: &GlobalState) -> Option<Violation> {
    let (wrong, best) = wrong(global)?;
    let elected = super::same_coordinator::name(wrong.state.coordinator);
    let why = format!("{} has elected {elected}, the best live process is {best}", wrong.id);
    Some(Violation { nodes: vec![wrong.id, best], why })
}

/// A node that has elected a process other than the best live one, and which one.
fn wrong(global: &GlobalState) -> Option<(&NodeView, NodeId)> {
    let is_up = |id| global.view(id).is_some_and(|view| view.is_up);
    let best = global.members.all().iter().rev().find(|member| is_up(member.id))?.id;
    let elected_other =
        |view: &&NodeView| view.state.coordinator.is_some_and(|elected| elected != best);
    global.live().find(elected_other).map(|view| (view, best))
}
