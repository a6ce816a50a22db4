//! V-05: without further failures, eventually the super-peers that form a group above agree on one
//! of them, no other node has a seat there, and the top is one node.

use tanist_core::trace::SeatState;
use tanist_core::{NodeId, NodeSet, Status};

use super::Violation;
use super::peers::{Peers, peerage};
use super::same_coordinator::name;
use super::settled::Eventual;
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct AgreedAbove {
    peers: Peers,
}

impl AgreedAbove {
    pub(crate) const fn new(peers: Peers) -> Self {
        Self { peers }
    }

    /// The super-peers that a group above the peer groups has selected, if all its members agree.
    fn agreed(
        &self,
        global: &GlobalState,
        level: usize,
        group: usize,
        holders: &NodeSet,
    ) -> Result<NodeSet, Violation> {
        let seat_of = |node: NodeId| -> Option<&SeatState> {
            let view = global.view(node).filter(|view| view.is_up)?;
            peerage(view)?.seats.get(level - 1)
        };
        let violation = |node: NodeId, why: String| {
            Err(Violation { nodes: vec![node], why: format!("{node} {why} at level {level}") })
        };
        let usurper = self
            .peers
            .hierarchy
            .nodes(level, group)
            .find(|node| !holders.contains(*node) && seat_of(*node).is_some());
        if let Some(node) = usurper {
            return violation(node, format!("has a seat beside {holders}"));
        }
        let Some(first) = holders.first() else { return Ok(NodeSet::new()) };
        let coordinator = seat_of(first).and_then(|seat| seat.coordinator);
        for node in holders.iter() {
            let Some(seat) = seat_of(node) else {
                return violation(node, "has no seat".to_owned());
            };
            let is_led = coordinator.is_some_and(|leader| holders.contains(leader));
            if seat.status != Status::Normal || seat.coordinator != coordinator || !is_led {
                let (status, leader) = (seat.status, name(seat.coordinator));
                return violation(node, format!("is {status} under {leader} among {holders}"));
            }
        }
        let leader = coordinator.and_then(seat_of);
        Ok(leader.map(|seat| seat.super_peers.clone()).unwrap_or_default())
    }
}

impl Eventual for AgreedAbove {
    const ID: &'static str = "V-05";

    /// Checks the levels from the lowest up.
    fn violation(&self, global: &GlobalState) -> Option<Violation> {
        let hierarchy = &self.peers.hierarchy;
        let mut chosen: Vec<NodeSet> = (0..hierarchy.groups(0))
            .map(|group| {
                let first = self.peers.live(global, group).next();
                let known = first.and_then(peerage).map(|peerage| peerage.super_peers.clone());
                known.unwrap_or_default()
            })
            .collect();
        for level in 1..hierarchy.depth() {
            let mut next = Vec::new();
            for group in 0..hierarchy.groups(level) {
                let children = hierarchy.children(level, group);
                let holders = chosen[children].iter().flat_map(NodeSet::iter).collect();
                match self.agreed(global, level, group, &holders) {
                    Ok(selected) => next.push(selected),
                    Err(violation) => return Some(violation),
                }
            }
            chosen = next;
        }
        None
    }

    fn relapse(&self, _global: &GlobalState) -> Violation {
        Violation {
            nodes: Vec::new(),
            why: "every agreement above was given up again within a check period".to_owned(),
        }
    }

    fn is_applicable(&self, global: &GlobalState) -> bool {
        let has_levels = self.peers.hierarchy.depth() > 1;
        has_levels && global.is_whole() && global.live().next().is_some()
    }
}
