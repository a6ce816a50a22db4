//! B-42 to B-45: what a bully candidate knows at the four cuts of figure 10.8.
//!
//! The cuts are drawn for a run in which no node recovers and no higher candidate interferes, so
//! they are checked only where a scenario asks for them.

use tanist_core::trace::{Event, NodeState};
use tanist_core::{NodeId, Status, Time};

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::{GlobalState, NodeView};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// No higher node is Normal.
    NoHigherNormal,
    /// No node is Normal, and none is active as coordinator.
    NoneActive,
    /// All of Up are in Reorganization under the candidate.
    AllReorganizing,
    /// All of Up are Normal.
    AllNormal,
}

#[derive(Clone)]
struct CutMonitor(Cut);

pub(crate) fn all() -> impl Iterator<Item = Box<dyn Monitor>> {
    [Cut::NoHigherNormal, Cut::NoneActive, Cut::AllReorganizing, Cut::AllNormal]
        .into_iter()
        .map(|cut| Box::new(CutMonitor(cut)) as Box<dyn Monitor>)
}

impl Monitor for CutMonitor {
    fn id(&self) -> &'static str {
        match self.0 {
            Cut::NoHigherNormal => "B-42",
            Cut::NoneActive => "B-43",
            Cut::AllReorganizing => "B-44",
            Cut::AllNormal => "B-45",
        }
    }

    fn interest(&self) -> Interest {
        Interest::STATE.and(Interest::MILESTONE)
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let (node, spoiler) = match (self.0, event) {
            (Cut::NoHigherNormal, Event::State { node, state }) => {
                let is_cut = state.status == Status::Election && is_own(*node, state);
                (node, is_cut.then(|| higher_normal(global, *node)).flatten())
            }
            (Cut::NoneActive, Event::State { node, state }) => {
                let is_cut = entered(global, *node, state, Status::Reorganization);
                (node, is_cut.then(|| acting(global, *node)).flatten())
            }
            (Cut::AllReorganizing, Event::Plan { node, .. }) => {
                (node, member_not_in(global, *node, Status::Reorganization))
            }
            (Cut::AllNormal, Event::State { node, state }) => {
                let is_cut = entered(global, *node, state, Status::Normal)
                    && state.coordinator == Some(*node);
                (node, is_cut.then(|| member_not_in(global, *node, Status::Normal)).flatten())
            }
            (Cut::NoHigherNormal | Cut::NoneActive | Cut::AllReorganizing | Cut::AllNormal, _) => {
                return None;
            }
        };
        let spoiler = spoiler?;
        Some(Violation {
            nodes: vec![*node, spoiler.id],
            why: format!("at {node}'s cut {} is {}", spoiler.id, spoiler.state.status),
        })
    }
}

fn is_own(node: NodeId, state: &NodeState) -> bool {
    state.group.is_some_and(|group| group.node == node)
}

fn entered(global: &GlobalState, node: NodeId, state: &NodeState, status: Status) -> bool {
    state.status == status
        && state.coordinator == Some(node)
        && global.view(node).is_some_and(|view| view.was() != status)
}

fn higher_normal(global: &GlobalState, node: NodeId) -> Option<&NodeView> {
    global
        .live()
        .find(|view| view.state.status == Status::Normal && global.members.outranks(view.id, node))
}

fn acting(global: &GlobalState, node: NodeId) -> Option<&NodeView> {
    global.live().find(|view| {
        view.id != node
            && (view.state.status == Status::Normal || view.state.coordinator == Some(view.id))
    })
}

fn member_not_in(global: &GlobalState, node: NodeId, status: Status) -> Option<&NodeView> {
    let up = &global.view(node)?.state.up;
    global.live().find(|view| {
        up.contains(view.id)
            && (view.state.status != status || view.state.coordinator != Some(node))
    })
}
