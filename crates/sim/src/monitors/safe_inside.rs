//! V-04: inside a peer group the inner algorithm's safety holds: any two of its nodes that are
//! Normal or in Reorganization have the same coordinator, and if both are Normal the same
//! definition.
//!
//! Invitation guarantees this only for nodes with the same group number, and the lectures' bully
//! only without concurrent failures; other monitors check those.

use tanist_core::trace::Event;
use tanist_core::{Status, Time};

use super::peers::Peers;
use super::same_coordinator::name;
use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct SafeInside {
    peers: Peers,
    is_promised: bool,
}

impl SafeInside {
    /// `is_promised`: whether the algorithm inside the groups guarantees this in the run.
    pub(crate) const fn new(peers: Peers, is_promised: bool) -> Self {
        Self { peers, is_promised }
    }
}

impl Monitor for SafeInside {
    fn id(&self) -> &'static str {
        "V-04"
    }

    fn interest(&self) -> Interest {
        Interest::STATE
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let Event::State { node, state } = event else { return None };
        if !self.is_promised || !state.status.has_coordinator() {
            return None;
        }
        let group = self.peers.hierarchy.place(*node, 0)?;
        let mut others =
            self.peers.live(global, group).filter(|view| view.state.status.has_coordinator());
        let is_normal = state.status == Status::Normal;
        let other = others.find(|view| {
            let are_normal = is_normal && view.state.status == Status::Normal;
            view.state.coordinator != state.coordinator
                || are_normal && view.state.definition != state.definition
        })?;
        let (mine, theirs) = (name(state.coordinator), name(other.state.coordinator));
        Some(Violation {
            nodes: vec![*node, other.id],
            why: format!(
                "{node} is {} under {mine}, {} of the same peer group is {} under {theirs}",
                state.status, other.id, other.state.status,
            ),
        })
    }

    fn is_applicable(&self, _global: &GlobalState) -> bool {
        self.is_promised
    }
}
