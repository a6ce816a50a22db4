//! V-02: without further failures, eventually every peer is Normal under the coordinator of its
//! group and knows its super-peers: live members of that group, as many as configured.

use std::collections::BTreeSet;

use tanist_core::election::super_peer::Disperse;
use tanist_core::{NodeId, NodeSet, Status};

use super::Violation;
use super::peers::{Peers, peerage};
use super::same_coordinator::name;
use super::settled::Eventual;
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct EverybodyHasSuperPeers {
    peers: Peers,
}

impl EverybodyHasSuperPeers {
    pub(crate) const fn new(peers: Peers) -> Self {
        Self { peers }
    }

    fn wrong_in(&self, global: &GlobalState, group: usize) -> Option<Violation> {
        let live: NodeSet = self.peers.live(global, group).map(|view| view.id).collect();
        let first = global.view(live.first()?)?;
        let chosen = peerage(first).map(|peerage| peerage.super_peers.clone()).unwrap_or_default();
        for view in self.peers.live(global, group) {
            if view.state.status != Status::Normal
                || view.state.coordinator != first.state.coordinator
            {
                let (status, coordinator) = (view.state.status, name(view.state.coordinator));
                return violation(view.id, format!("is {status} under {coordinator}"));
            }
            let known = peerage(view).map(|peerage| &peerage.super_peers);
            if known != Some(&chosen) {
                let (id, all) = (first.id, &chosen);
                return violation(view.id, format!("does not know the super-peers {all} of {id}"));
            }
        }
        if let Some(dead) = chosen.iter().find(|node| !live.contains(*node)) {
            return violation(
                first.id,
                format!("takes {dead} for a super-peer, which is not there"),
            );
        }
        let count = self.count(global, &chosen, &live);
        if chosen.len() != count {
            return violation(first.id, format!("has the super-peers {chosen} and not {count}"));
        }
        None
    }

    /// How many super-peers a group should have.
    fn count(&self, global: &GlobalState, chosen: &NodeSet, live: &NodeSet) -> usize {
        let options = &self.peers.options.super_peer;
        let wanted = options.super_peers(live.len()).min(live.len());
        match options.disperse {
            Disperse::Off => wanted,
            // The coordinator is a super-peer, whatever its rack.
            Disperse::On => {
                let racks = |nodes: &NodeSet| -> BTreeSet<_> {
                    nodes.iter().filter_map(|node| global.members.labels(node).rack).collect()
                };
                let is_coordinator_placed = racks(chosen).len() == chosen.len();
                let there = if is_coordinator_placed { racks(live).len() } else { 1 };
                wanted.min(there.max(1))
            }
        }
    }
}

fn violation(node: NodeId, why: String) -> Option<Violation> {
    Some(Violation { nodes: vec![node], why: format!("{node} {why}") })
}

impl Eventual for EverybodyHasSuperPeers {
    const ID: &'static str = "V-02";

    /// A peer whose state is wrong, and why.
    fn violation(&self, global: &GlobalState) -> Option<Violation> {
        (0..self.peers.hierarchy.groups(0)).find_map(|group| self.wrong_in(global, group))
    }

    fn relapse(&self, _global: &GlobalState) -> Violation {
        Violation {
            nodes: Vec::new(),
            why: "the super-peers changed again and again within a check period".to_owned(),
        }
    }

    fn is_applicable(&self, global: &GlobalState) -> bool {
        global.is_whole() && global.live().next().is_some()
    }
}
