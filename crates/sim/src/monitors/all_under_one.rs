//! without further failures, eventually some node is Normal and its own coordinator, and every
//! other live node is Normal under it.

use tanist_core::trace::{Event, Header};
use tanist_core::{NodeId, NodeSet, Status, Time};

use super::settled::Settled;
use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct AllUnderOne {
    settled: Settled,
}

impl AllUnderOne {
    pub(crate) fn new(header: &Header) -> Self {
        Self { settled: Settled::new(header) }
    }
}

impl Monitor for AllUnderOne {
    fn id(&self) -> &'static str {
        "A-2"
    }

    fn interest(&self) -> Interest {
        Interest::STATE.and(Interest::FAULT)
    }

    fn see(&mut self, global: &GlobalState, at: Time, _event: &Event) -> Option<Violation> {
        let live: NodeSet = global.live().map(|view| view.id).collect();
        let is_good = out_of_line(global, &live).is_none();
        self.settled.note(at, global.disturbed_at, is_good);
        None
    }

    fn finish(&mut self, global: &GlobalState, at: Time) -> Option<Violation> {
        if !self.is_applicable(global) {
            return None;
        }
        let live: NodeSet = global.live().map(|view| view.id).collect();
        if let Some((node, why)) = out_of_line(global, &live) {
            return Some(Violation { nodes: vec![node], why });
        }
        self.settled.is_relapsing(at).then(|| Violation {
            nodes: live.iter().collect(),
            why: "every agreement was given up again within a check period".to_owned(),
        })
    }

    fn is_about_the_end(&self) -> bool {
        true
    }

    fn is_settled(&self, global: &GlobalState) -> bool {
        let live: NodeSet = global.live().map(|view| view.id).collect();
        out_of_line(global, &live).is_none()
    }

    fn is_applicable(&self, global: &GlobalState) -> bool {
        global.is_whole() && global.live().next().is_some()
    }
}

/// A node of the set that is not Normal under the one coordinator of the set, and its state
/// instead.
pub(super) fn out_of_line(global: &GlobalState, nodes: &NodeSet) -> Option<(NodeId, String)> {
    let views = || nodes.iter().filter_map(|id| global.view(id));
    let leader = views().find(|view| {
        view.state.status == Status::Normal && view.state.coordinator == Some(view.id)
    });
    let Some(leader) = leader else {
        let first = nodes.iter().next()?;
        return Some((first, format!("nobody of {nodes} is Normal and its own coordinator")));
    };
    let astray = views().find(|view| {
        view.state.status != Status::Normal
            || view.state.coordinator != Some(leader.id)
            || view.state.group != leader.state.group
    })?;
    let why = format!(
        "{} is {} under {}, not Normal under {}",
        astray.id,
        astray.state.status,
        super::same_coordinator::name(astray.state.coordinator),
        leader.id,
    );
    Some((astray.id, why))
}
