//! W-04, E-34: in the end there are no two leaders of which one is within the other's last ring.

use tanist_core::trace::{Event, Header};
use tanist_core::{NodeId, NodeSet, Time};

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct OneLeaderInReach {
    /// The radius of the last ring, in links.
    limit: usize,
}

impl OneLeaderInReach {
    pub(crate) fn new(header: &Header) -> Self {
        let given = header.options.iter().find_map(|option| option.strip_prefix("ttl-limit="));
        let limit = given.and_then(|limit| limit.parse().ok());
        Self { limit: limit.unwrap_or(header.nodes.len()) }
    }

    fn rivals(&self, global: &GlobalState) -> Option<(NodeId, NodeId)> {
        let leaders: Vec<NodeId> = global
            .live()
            .filter(|view| !view.is_paused && view.state.coordinator == Some(view.id))
            .map(|view| view.id)
            .collect();
        if leaders.len() < 2 {
            return None;
        }
        leaders.iter().find_map(|leader| {
            let within = within(global, *leader, self.limit);
            let rival = leaders.iter().find(|other| *other != leader && within.contains(**other));
            rival.map(|rival| (*leader, *rival))
        })
    }
}

impl Monitor for OneLeaderInReach {
    fn id(&self) -> &'static str {
        "W-04"
    }

    fn interest(&self) -> Interest {
        Interest::FAULT
    }

    fn see(&mut self, _global: &GlobalState, _at: Time, _event: &Event) -> Option<Violation> {
        None
    }

    fn finish(&mut self, global: &GlobalState, _at: Time) -> Option<Violation> {
        let (leader, rival) = self.rivals(global)?;
        Some(Violation {
            nodes: vec![leader, rival],
            why: format!("{leader} and {rival} lead, within {} links of each other", self.limit),
        })
    }

    fn is_about_the_end(&self) -> bool {
        true
    }

    fn is_settled(&self, global: &GlobalState) -> bool {
        self.rivals(global).is_none()
    }
}

/// The nodes within this many links, over running nodes.
fn within(global: &GlobalState, from: NodeId, limit: usize) -> NodeSet {
    let mut found: NodeSet = [from].into_iter().collect();
    let mut frontier = vec![from];
    for _ in 0..limit {
        let near = |other: NodeId| frontier.iter().any(|node| global.can_talk(*node, other));
        let running = global.live().filter(|view| !view.is_paused).map(|view| view.id);
        frontier = running.filter(|id| !found.contains(*id) && near(*id)).collect();
        if frontier.is_empty() {
            break;
        }
        for node in &frontier {
            found.insert(*node);
        }
    }
    found
}
