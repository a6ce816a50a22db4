//! P-01, ours: a withdrawn node takes no part until it rejoins. Its application does not begin, and
//! it sends only farewells, the group numbers of other nodes that it has seen, and whether
//! elections are paused.

use tanist_core::Time;
use tanist_core::trace::Event;

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone, Default)]
pub(crate) struct WithdrawnTakesNoPart {
    has_been_aside: bool,
}

impl Monitor for WithdrawnTakesNoPart {
    fn id(&self) -> &'static str {
        "P-01"
    }

    fn interest(&self) -> Interest {
        Interest::SEND.and(Interest::MILESTONE).and(Interest::FAULT)
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        self.has_been_aside |= matches!(event, Event::Withdraw { .. });
        let node = event.actor()?;
        if !global.view(node)?.is_withdrawn {
            return None;
        }
        let what = if let Event::Send { message, .. } | Event::Broadcast { message, .. } = event
            && !message.kind.info().while_withdrawn
        {
            format!("sends {}", message.kind)
        } else if let Event::Begin { group, .. } = event {
            format!("begins to work in group {group}")
        } else if matches!(event, Event::Call { .. }) {
            "calls an election".to_owned()
        } else {
            return None;
        };
        Some(Violation { nodes: vec![node], why: format!("{node} is withdrawn and {what}") })
    }

    fn is_applicable(&self, _global: &GlobalState) -> bool {
        self.has_been_aside
    }
}
