//! VKT-2: a node answers its parent only when every child that it asked has answered, or is gone.
//!
//! No child is taken for gone sooner than T after it was asked, by the clock of the node that asks,
//! as it ran then. A child that is down, paused or withdrawn, or that has sent something else
//! meanwhile, may have been given up for another reason.

use std::collections::BTreeMap;
use std::time::Duration;

use tanist_core::trace::{Event, Header, Kind, MessageFacts};
use tanist_core::{GroupNumber, NodeId, Time};

use super::{Interest, Monitor, Violation, mix};
use crate::observe::global_state::GlobalState;

#[derive(Clone)]
pub(crate) struct AckAfterChildren {
    answer: Duration,
    open: Vec<Question>,
    /// The computation in which each node has answered its parent: it may answer again.
    reported: BTreeMap<NodeId, GroupNumber>,
}

#[derive(Clone, Copy)]
struct Question {
    asker: NodeId,
    asked: NodeId,
    computation: GroupNumber,
    /// When the asker has waited for T.
    until: Time,
}

impl AckAfterChildren {
    pub(crate) fn new(header: &Header) -> Self {
        let answer = Duration::from_micros(header.answer_us);
        Self { answer, open: Vec::new(), reported: BTreeMap::new() }
    }

    fn unanswered(
        &self,
        global: &GlobalState,
        at: Time,
        node: NodeId,
        computation: GroupNumber,
    ) -> Option<NodeId> {
        let is_there = |id| {
            let view = global.view(id);
            view.is_some_and(|view| view.is_up && !view.is_paused && !view.is_withdrawn)
        };
        let mut open = self.open.iter().filter(|question| {
            question.asker == node
                && question.computation == computation
                && at < question.until
                && is_there(question.asked)
        });
        open.next().map(|question| question.asked)
    }

    /// A node asks a child, or answers its parent.
    fn see_sent(
        &mut self,
        global: &GlobalState,
        at: Time,
        node: NodeId,
        to: NodeId,
        message: &MessageFacts,
    ) -> Option<Violation> {
        if message.kind == Kind::Pause {
            self.open.retain(|question| question.asker != node);
        }
        let computation = message.group?;
        if message.kind == Kind::Election {
            self.open
                .retain(|question| question.asker != node || question.computation >= computation);
            let until = at + global.real(node, self.answer);
            self.open.push(Question { asker: node, asked: to, computation, until });
        }
        if message.kind != Kind::Ack || message.ok != Some(true) {
            return None;
        }
        if self.reported.insert(node, computation) == Some(computation) {
            return None;
        }
        let asked = self.unanswered(global, at, node, computation)?;
        Some(Violation {
            nodes: vec![node, asked],
            why: format!("{node} answers its parent before {asked} has answered it"),
        })
    }
}

impl Monitor for AckAfterChildren {
    fn id(&self) -> &'static str {
        "VKT-2"
    }

    fn memory(&self) -> u64 {
        let open = self.open.iter().map(|question| {
            let Question { asker, asked, computation, .. } = *question;
            let nodes = [asker.0, asked.0, computation.node.0].map(u64::from);
            mix(&nodes).wrapping_add(mix(&[computation.counter]))
        });
        let reported = self.reported.iter().map(|(node, computation)| {
            mix(&[u64::from(node.0), u64::from(computation.node.0), computation.counter])
        });
        open.chain(reported).fold(0, u64::wrapping_add)
    }

    fn interest(&self) -> Interest {
        Interest::SEND.and(Interest::RECEIVE).and(Interest::FAULT)
    }

    fn see(&mut self, global: &GlobalState, at: Time, event: &Event) -> Option<Violation> {
        if let Event::Send { node, to, message, .. } = event {
            return self.see_sent(global, at, *node, *to, message);
        }
        if let Event::Receive { node, from, message, .. } = event {
            // While elections are paused, what a node learns about its peers is withheld from the
            // election and reported later; requests are not followed across a pause.
            let is_pause = message.kind == Kind::Pause;
            self.open.retain(|question| {
                question.asker != *node || (!is_pause && question.asked != *from)
            });
        } else if let Event::Crash { node }
        | Event::Withdraw { node }
        | Event::Overdue { node }
        | Event::Start { node, .. } = event
        {
            self.reported.remove(node);
            self.open.retain(|question| question.asker != *node && question.asked != *node);
        } else if let Event::Rejoin { node } = event {
            // A node that asked it meanwhile got a farewell.
            self.open.retain(|question| question.asked != *node);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use tanist_core::membership::{Member, Priority};
    use tanist_core::{Membership, trace::Source};

    use super::*;

    const T: Duration = Duration::from_millis(10);

    fn header() -> Header {
        Header {
            tanist_trace: tanist_core::trace::SCHEMA,
            source: Source::Sim,
            scenario: String::new(),
            algorithm: "adhoc-diffusing".to_owned(),
            options: Vec::new(),
            seed: 1,
            nodes: Vec::new(),
            labels: Vec::new(),
            names: tanist_core::membership::NodeNames::default(),
            answer_us: 10_000,
            check_every_us: 100_000,
            ring: Vec::new(),
            stop_within_us: 30_000_000,
            preempt: String::new(),
        }
    }

    /// n1 asks n2 at time zero, and answers its parent n3 after this long.
    fn judged(rate_ppm: u32, after: Duration) -> Option<Violation> {
        let ids = [1, 2, 3].map(NodeId);
        let members = ids.map(|id| Member { priority: Priority(id.0), id });
        let mut global = GlobalState::new(Membership::new(members.to_vec()).unwrap());
        let mut monitor = AckAfterChildren::new(&header());
        let mut see = |at: Time, event: Event| {
            global.note(at, &event);
            monitor.see(&global, at, &event)
        };
        for node in ids {
            assert!(see(Time::ZERO, Event::Start { node, restarted: false }).is_none());
        }
        assert!(see(Time::ZERO, Event::Clock { node: ids[0], rate_ppm }).is_none());
        let group = Some(GroupNumber { counter: 1, node: ids[2] });
        let sent = |to: usize, kind, ok| Event::Send {
            node: ids[0],
            to: ids[to],
            id: 1,
            message: MessageFacts::new(kind, group, ok),
            contents: None,
        };
        assert!(see(Time::ZERO, sent(1, Kind::Election, None)).is_none());
        see(Time::ZERO + after, sent(2, Kind::Ack, Some(true)))
    }

    #[test]
    fn a_child_is_waited_for_until_t_has_passed() {
        assert!(judged(1_000_000, T / 2).is_some());
        assert!(judged(1_000_000, T).is_none());
    }

    #[test]
    fn t_passes_by_the_clock_of_the_node_that_waits() {
        assert!(judged(2_000_000, T / 2).is_none(), "a fast clock shows T after half of it");
        assert!(judged(500_000, T).is_some(), "a slow clock has not shown T yet");
    }
}
