//! B-37: a node that acknowledges that it has stopped (EE_answer, Accept) has stopped.

use tanist_core::Time;
use tanist_core::trace::Event;

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::{Gate, GlobalState};

#[derive(Clone)]
pub(crate) struct StopBeforeAcknowledge;

impl Monitor for StopBeforeAcknowledge {
    fn id(&self) -> &'static str {
        "B-37"
    }

    fn interest(&self) -> Interest {
        Interest::SEND
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let (Event::Send { node, message, .. } | Event::Broadcast { node, message, .. }) = event
        else {
            return None;
        };
        if !message.kind.info().promises_stop || message.ok == Some(false) {
            return None;
        }
        let gate = global.view(*node)?.gate;
        (gate != Gate::Stopped).then(|| Violation {
            nodes: vec![*node],
            why: format!("{node} sends {} while its application still works", message.kind),
        })
    }
}
