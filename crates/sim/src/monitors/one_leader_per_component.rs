//! W-05: in the end every component has one leader, its best node, and every node follows it.
//!
//! A component is connected by links that work in both directions. Where a link works in one
//! direction only, nothing is required.

use tanist_core::trace::{Event, Header};
use tanist_core::{NodeId, NodeSet, Status, Time};

use super::settled::Settled;
use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct OneLeaderPerComponent {
    settled: Settled,
}

impl OneLeaderPerComponent {
    pub(crate) fn new(header: &Header) -> Self {
        Self { settled: Settled::new(header) }
    }
}

impl Monitor for OneLeaderPerComponent {
    fn id(&self) -> &'static str {
        "W-05"
    }

    fn interest(&self) -> Interest {
        Interest::STATE.and(Interest::FAULT)
    }

    fn see(&mut self, global: &GlobalState, at: Time, _event: &Event) -> Option<Violation> {
        let is_good = astray(global).is_none();
        self.settled.note(at, global.disturbed_at, is_good);
        None
    }

    fn finish(&mut self, global: &GlobalState, at: Time) -> Option<Violation> {
        if !self.is_applicable(global) {
            return None;
        }
        if let Some((node, why)) = astray(global) {
            return Some(Violation { nodes: vec![node], why });
        }
        self.settled.is_relapsing(at).then(|| Violation {
            nodes: global.live().map(|view| view.id).collect(),
            why: "every agreement was given up again within a check period".to_owned(),
        })
    }

    fn is_about_the_end(&self) -> bool {
        true
    }

    fn is_settled(&self, global: &GlobalState) -> bool {
        astray(global).is_none()
    }

    fn is_applicable(&self, global: &GlobalState) -> bool {
        let views = global.views();
        let mut pairs = views.iter().flat_map(|a| views.iter().map(move |b| (a.id, b.id)));
        global.live().next().is_some()
            && pairs.all(|(a, b)| global.hears(a, b) == global.hears(b, a))
    }
}

/// A node that is not in one group with the best node of its component, following it, and why.
fn astray(global: &GlobalState) -> Option<(NodeId, String)> {
    global.components().iter().find_map(|component| astray_in(global, component))
}

fn astray_in(global: &GlobalState, component: &NodeSet) -> Option<(NodeId, String)> {
    let members = global.members.all().iter().rev().map(|member| member.id);
    let best = members.into_iter().find(|id| component.contains(*id))?;
    let group = global.view(best)?.state.group;
    component.iter().filter_map(|id| global.view(id)).find_map(|view| {
        let state = &view.state;
        let is_in_line = state.status == Status::Normal
            && state.coordinator == Some(best)
            && state.group == group;
        (!is_in_line).then(|| {
            let follows = super::same_coordinator::name(state.coordinator);
            let why = format!(
                "{} is {} under {follows}, the best of its component {component} is {best}",
                view.id, state.status,
            );
            (view.id, why)
        })
    })
}
