//! P-04, ours: a node that is down does nothing. Between its crash and its next start it sends and
//! receives no message, no timer of it expires, and neither its state nor its disk changes.
//!
//! No algorithm can violate this: it is a property of what runs the nodes, the simulated world and
//! the recording of live nodes.

use tanist_core::Time;
use tanist_core::trace::Event;

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct DownDoesNothing;

impl Monitor for DownDoesNothing {
    fn id(&self) -> &'static str {
        "P-04"
    }

    fn interest(&self) -> Interest {
        Interest::ALL
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let node = event.actor().filter(|_| !event.is_from_outside())?;
        if global.view(node)?.is_running {
            return None;
        }
        let why = format!("{node} is down and {}", deed(event));
        Some(Violation { nodes: vec![node], why })
    }
}

/// What it did, in short; the event itself is in the trace beside the violation.
fn deed(event: &Event) -> String {
    match (event, event.message()) {
        (Event::Receive { .. }, Some(message)) => format!("receives {}", message.kind),
        (_, Some(message)) => format!("sends {}", message.kind),
        (Event::Timer { timer, .. }, None) => format!("its timer {timer} expires"),
        (Event::Save { counter, .. }, None) => format!("saves its counter {counter}"),
        (Event::State { state, .. }, None) => format!("changes its state to {}", state.status),
        (_, None) => "goes on".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use tanist_core::{Membership, NodeId};

    use super::*;

    const NODE: NodeId = NodeId(2);

    fn see(events: &[Event]) -> Option<Violation> {
        let members = Membership::numbered(3).expect("three nodes make a group");
        let mut global = GlobalState::new(members);
        events.iter().find_map(|event| {
            global.note(Time::ZERO, event);
            DownDoesNothing.see(&global, Time::ZERO, event)
        })
    }

    #[test]
    fn a_node_acts_while_it_is_up_and_while_it_is_withdrawn() {
        let start = Event::Start { node: NODE, restarted: false };
        let (save, away) = (Event::Save { node: NODE, counter: 1 }, Event::Withdraw { node: NODE });
        let back = Event::Rejoin { node: NODE };
        assert_eq!(see(&[start, save.clone(), away, save.clone(), back, save]), None);
    }

    #[test]
    fn a_crashed_node_acts_again_only_after_its_next_start() {
        let (start, again) = (
            Event::Start { node: NODE, restarted: false },
            Event::Start { node: NODE, restarted: true },
        );
        let (crash, save) = (Event::Crash { node: NODE }, Event::Save { node: NODE, counter: 7 });
        let found = see(&[start.clone(), crash.clone(), save.clone()]).expect("a violation");
        assert_eq!(found.why, "n2 is down and saves its counter 7");
        assert_eq!(see(&[start.clone(), crash.clone(), again, save]), None);
        let found = see(&[start, crash, Event::Withdraw { node: NODE }]).expect("a violation");
        assert_eq!(found.why, "n2 is down and goes on");
    }
}
