//! V-03: the super-peers and the coordinator that a peer knows are of its own group, and a node
//! with a seat above is one of the super-peers that it knows.

use tanist_core::Time;
use tanist_core::trace::Event;

use super::peers::Peers;
use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct OfOwnGroup {
    peers: Peers,
}

impl OfOwnGroup {
    pub(crate) const fn new(peers: Peers) -> Self {
        Self { peers }
    }
}

impl Monitor for OfOwnGroup {
    fn id(&self) -> &'static str {
        "V-03"
    }

    fn interest(&self) -> Interest {
        Interest::STATE
    }

    fn see(&mut self, _global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let Event::State { node, state } = event else { return None };
        let home = self.peers.home(*node);
        let coordinator = state.coordinator.filter(|_| state.status.has_coordinator());
        let known = state.super_peer.iter().flat_map(|peerage| peerage.super_peers.iter());
        let stranger = known.chain(coordinator).find(|other| !home.contains(*other));
        if let Some(other) = stranger {
            let why = format!("{node} follows {other}, which is not of its group {home}");
            return Some(Violation { nodes: vec![*node, other], why });
        }
        let peerage = state.super_peer.as_deref()?;
        let is_seated = !peerage.seats.is_empty() && !peerage.super_peers.contains(*node);
        is_seated.then(|| Violation {
            nodes: vec![*node],
            why: format!("{node} has a seat, and its super-peers are {}", peerage.super_peers),
        })
    }
}
