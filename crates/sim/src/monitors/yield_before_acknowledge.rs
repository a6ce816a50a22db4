//! P-03, ours: a node that leads ends that before it accepts another coordinator. What it does as a
//! leader has ended when it acknowledges that it has stopped, when it says farewell, and when it
//! begins under another node.

use tanist_core::Time;
use tanist_core::trace::Event;

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::{GlobalState, Leadership};

#[derive(Clone)]
pub(crate) struct YieldBeforeAcknowledge;

impl Monitor for YieldBeforeAcknowledge {
    fn id(&self) -> &'static str {
        "P-03"
    }

    fn interest(&self) -> Interest {
        Interest::SEND.and(Interest::MILESTONE)
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let node = event.actor()?;
        if global.view(node)?.leadership == Leadership::None {
            return None;
        }
        let what = if let Event::Send { message, .. } | Event::Broadcast { message, .. } = event
            && message.kind.info().promises_stop
            && message.ok != Some(false)
        {
            format!("sends {}", message.kind)
        } else if let Event::Begin { group, .. } = event
            && group.node != node
        {
            format!("begins to work in group {group}")
        } else {
            return None;
        };
        Some(Violation { nodes: vec![node], why: format!("{node} still leads and {what}") })
    }
}
