//! V-05: without further failures, eventually the super-peers of each group above agree on one of
//! them, nobody else has a seat there, and the top is one node.

use tanist_core::trace::{Event, Header, SeatState};
use tanist_core::{NodeId, NodeSet, Status, Time};

use super::peers::{Peers, peerage};
use super::same_coordinator::name;
use super::settled::Settled;
use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct AgreedAbove {
    peers: Peers,
    settled: Settled,
}

impl AgreedAbove {
    pub(crate) fn new(peers: Peers, header: &Header) -> Self {
        Self { peers, settled: Settled::new(header) }
    }

    /// Where somebody above is not in line, from the lowest level up.
    pub(super) fn discord(&self, global: &GlobalState) -> Option<Violation> {
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

    /// Whom a group above has selected, if all its members agree.
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

impl Monitor for AgreedAbove {
    fn id(&self) -> &'static str {
        "V-05"
    }

    fn interest(&self) -> Interest {
        Interest::STATE.and(Interest::FAULT)
    }

    fn see(&mut self, global: &GlobalState, at: Time, _event: &Event) -> Option<Violation> {
        let is_good = self.discord(global).is_none();
        self.settled.note(at, global.disturbed_at, is_good);
        None
    }

    fn finish(&mut self, global: &GlobalState, at: Time) -> Option<Violation> {
        if !self.is_applicable(global) {
            return None;
        }
        let relapse = || Violation {
            nodes: Vec::new(),
            why: "every agreement above was given up again within a check period".to_owned(),
        };
        self.discord(global).or_else(|| self.settled.is_relapsing(at).then(relapse))
    }

    fn is_about_the_end(&self) -> bool {
        true
    }

    fn is_settled(&self, global: &GlobalState) -> bool {
        self.discord(global).is_none()
    }

    fn is_applicable(&self, global: &GlobalState) -> bool {
        let has_levels = self.peers.hierarchy.depth() > 1;
        has_levels && global.is_whole() && global.live().next().is_some()
    }
}
