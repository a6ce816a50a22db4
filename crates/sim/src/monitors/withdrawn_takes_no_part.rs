//! P-01, ours: a withdrawn node takes no part until it rejoins, and an overdue one, whose
//! application has not stopped in time, until it has. Its application does not begin, it calls no
//! election, and it sends only farewells, the group numbers of other nodes that it has seen, and
//! whether elections are paused.
//!
//! Leaves out: whether a node is overdue in time, which P-05 watches.

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
        let view = global.view(node)?;
        if !view.is_withdrawn {
            return None;
        }
        let is = if view.is_overdue { "waits for its application to stop" } else { "is withdrawn" };
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
        Some(Violation { nodes: vec![node], why: format!("{node} {is} and {what}") })
    }

    fn is_applicable(&self, _global: &GlobalState) -> bool {
        self.has_been_aside
    }
}

#[cfg(test)]
mod tests {
    use tanist_core::{Membership, NodeId};

    use super::*;

    #[test]
    fn a_node_is_said_to_be_withdrawn_or_to_wait_for_its_application() {
        let node = NodeId(1);
        let reasons = [
            (Event::Withdraw { node }, "n1 is withdrawn and calls an election"),
            (Event::Overdue { node }, "n1 waits for its application to stop and calls an election"),
        ];
        for (event, said) in reasons {
            let mut global = GlobalState::new(Membership::numbered(2).unwrap());
            let mut monitor = WithdrawnTakesNoPart::default();
            let mut why = None;
            for event in [Event::Start { node, restarted: false }, event, Event::Call { node }] {
                global.note(Time::ZERO, &event);
                why = why.or_else(|| monitor.see(&global, Time::ZERO, &event));
            }
            assert_eq!(why.map(|violation| violation.why).as_deref(), Some(said));
        }
    }
}
