//! VKT-2: a node answers its parent only when every child that it asked has answered, or is gone.
//!
//! No child is taken for gone sooner than T after it was asked. A child that is down, paused or
//! withdrawn, or that has sent something else meanwhile, may have been given up for another reason.

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
    at: Time,
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
                && at.since(question.at) < self.answer
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
            self.open.push(Question { asker: node, asked: to, computation, at });
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
        } else if let Event::Crash { node } | Event::Withdraw { node } | Event::Start { node, .. } =
            event
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
