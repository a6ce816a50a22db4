//! P-01, ours: whoever stepped aside takes no part until it returns. Its application does not begin,
//! and it says nothing but that it is gone, which numbers of others it has seen, and whether
//! elections are paused.

use tanist_core::Time;
use tanist_core::trace::Event;

use super::{Breach, Interest, Monitor};
use crate::observe::global_state::Board;

#[derive(Clone, Default)]
pub(crate) struct AsideTakesNoPart {
    has_been_aside: bool,
}

impl Monitor for AsideTakesNoPart {
    fn id(&self) -> &'static str {
        "P-01"
    }

    fn interest(&self) -> Interest {
        Interest::SEND.and(Interest::MILESTONE).and(Interest::FAULT)
    }

    fn see(&mut self, board: &Board, _at: Time, event: &Event) -> Option<Breach> {
        self.has_been_aside |= matches!(event, Event::Aside { .. });
        let node = event.actor()?;
        if !board.seat(node)?.is_aside {
            return None;
        }
        let what = match event {
            Event::Send { message, .. } | Event::Broadcast { message, .. }
                if !message.kind.info().while_withdrawn =>
            {
                format!("sends {}", message.kind)
            }
            Event::Begin { group, .. } => format!("begins to work in group {group}"),
            Event::Call { .. } => "calls an election".to_owned(),
            Event::Start { .. }
            | Event::Crash { .. }
            | Event::Pause { .. }
            | Event::Resume { .. }
            | Event::Aside { .. }
            | Event::Return { .. }
            | Event::Send { .. }
            | Event::Broadcast { .. }
            | Event::Receive { .. }
            | Event::Lose { .. }
            | Event::Timer { .. }
            | Event::Save { .. }
            | Event::State { .. }
            | Event::End { .. }
            | Event::Stop { .. }
            | Event::Stopped { .. }
            | Event::Plan { .. }
            | Event::Cut { .. }
            | Event::Heal { .. }
            | Event::Broken { .. } => return None,
        };
        Some(Breach { nodes: vec![node], why: format!("{node} is aside and {what}") })
    }

    fn is_applicable(&self, _board: &Board) -> bool {
        self.has_been_aside
    }
}
