//! P-05, ours: a node whose application was told to stop, and has not stopped within the limit by
//! the node's own clock, takes no part until it has. So no group stays under a node that never
//! answers.
//!
//! Leaves out: plans. A trace says when one is asked for, and not when it is made; a group whose
//! plan never comes violates A-2.

use std::collections::BTreeMap;
use std::time::Duration;

use tanist_core::trace::{Event, Header};
use tanist_core::{NodeId, Status, Time};

use super::{Interest, Monitor, Violation, mix};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct OverdueTakesNoPart {
    stop_within: Duration,
    /// The nodes whose application is stopping, and when each of them must have stopped.
    stopping: BTreeMap<NodeId, Time>,
    has_been_late: bool,
}

impl OverdueTakesNoPart {
    pub(crate) fn new(header: &Header) -> Self {
        let stop_within = Duration::from_micros(header.stop_within_us);
        Self { stop_within, stopping: BTreeMap::new(), has_been_late: false }
    }

    /// At equal times messages come before timers, so a node may send something at the limit.
    fn is_late(&self, node: NodeId, at: Time) -> bool {
        self.stopping.get(&node).is_some_and(|limit| at > *limit)
    }

    fn violation(&self, node: NodeId, what: &str) -> Violation {
        let limit = self.stop_within;
        let why = format!("the application of {node} has not stopped within {limit:?}, and {what}");
        Violation { nodes: vec![node], why }
    }
}

impl Monitor for OverdueTakesNoPart {
    fn id(&self) -> &'static str {
        "P-05"
    }

    fn memory(&self) -> u64 {
        mix(&self.stopping.keys().map(|node| u64::from(node.0)).collect::<Vec<_>>())
    }

    fn interest(&self) -> Interest {
        Interest::SEND.and(Interest::MILESTONE).and(Interest::FAULT)
    }

    fn see(&mut self, global: &GlobalState, at: Time, event: &Event) -> Option<Violation> {
        let node = event.actor()?;
        self.has_been_late |=
            matches!(event, Event::Overdue { .. }) && self.stopping.contains_key(&node);
        if let Event::Stop { .. } | Event::Yield { .. } = event {
            self.stopping.insert(node, at + global.real(node, self.stop_within));
        } else if let Event::Stopped { .. } | Event::Crash { .. } | Event::Start { .. } = event {
            self.stopping.remove(&node);
        } else if let Event::Resume { .. } = event {
            // Whatever ran out during its pause runs out at this moment.
            self.stopping.entry(node).and_modify(|limit| *limit = (*limit).max(at));
        } else if self.is_late(node, at) {
            if let Event::Send { message, .. } | Event::Broadcast { message, .. } = event
                && !message.kind.info().while_withdrawn
            {
                return Some(self.violation(node, &format!("it sends {}", message.kind)));
            }
            if let Event::Begin { group, .. } = event {
                return Some(self.violation(node, &format!("it begins in group {group}")));
            }
        }
        None
    }

    fn finish(&mut self, global: &GlobalState, at: Time) -> Option<Violation> {
        let late = self.stopping.keys().copied().filter(|node| self.is_late(*node, at));
        let mut views = late.filter_map(|node| global.view(node));
        let stays = views
            .find(|view| view.is_up && !view.is_paused && view.state.status != Status::Down)?;
        Some(self.violation(stays.id, &format!("it is {}", stays.state.status)))
    }

    fn is_applicable(&self, _global: &GlobalState) -> bool {
        self.has_been_late || !self.stopping.is_empty()
    }
}
