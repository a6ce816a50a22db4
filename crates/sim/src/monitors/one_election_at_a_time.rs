//! G-09: a process runs at most one election of its own at a time.

use tanist_core::Time;
use tanist_core::trace::Event;

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct OneElectionAtATime;

impl Monitor for OneElectionAtATime {
    fn id(&self) -> &'static str {
        "G-09"
    }

    fn interest(&self) -> Interest {
        Interest::MILESTONE
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let Event::Call { node } = event else { return None };
        (global.view(*node)?.elections_open > 1).then(|| Violation {
            nodes: vec![*node],
            why: format!("{node} calls an election while one of its own is on"),
        })
    }
}
