//! V-03: whomever a peer takes for a super-peer or for its coordinator is of its own group, and
//! whoever has a seat above knows itself selected.

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

    fn see(&mut self, _board: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
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
