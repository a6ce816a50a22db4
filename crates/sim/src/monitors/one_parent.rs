//! VKT-1: in one computation a node answers one parent only (theory, section 7).

use tanist_core::trace::{Event, Kind};
use tanist_core::{GroupNumber, NodeId, Time};

use super::{Interest, Monitor, Violation, mix};
use crate::observe::global_state::GlobalState;

#[derive(Clone, Default)]
pub(crate) struct OneParent {
    /// The last answer of each node to a parent.
    answers: Vec<Answer>,
}

#[derive(Clone, Copy)]
struct Answer {
    node: NodeId,
    incarnation: u32,
    computation: GroupNumber,
    parent: NodeId,
}

impl Monitor for OneParent {
    fn id(&self) -> &'static str {
        "VKT-1"
    }

    fn memory(&self) -> u64 {
        self.answers
            .iter()
            .map(|answer| {
                let Answer { node, incarnation, computation, parent } = *answer;
                let numbers = [node.0, incarnation, computation.node.0, parent.0].map(u64::from);
                mix(&numbers).wrapping_add(mix(&[computation.counter]))
            })
            .fold(0, u64::wrapping_add)
    }

    fn interest(&self) -> Interest {
        Interest::SEND
    }

    fn see(&mut self, global: &GlobalState, _at: Time, event: &Event) -> Option<Violation> {
        let Event::Send { node, to, message, .. } = event else { return None };
        if message.kind != Kind::Ack || message.ok != Some(true) {
            return None;
        }
        let incarnation = global.view(*node)?.incarnations;
        let answer = Answer { node: *node, incarnation, computation: message.group?, parent: *to };
        let Some(last) = self.answers.iter_mut().find(|last| last.node == *node) else {
            self.answers.push(answer);
            return None;
        };
        let is_same = last.incarnation == incarnation && last.computation == answer.computation;
        let first = last.parent;
        *last = answer;
        (is_same && first != *to).then(|| Violation {
            nodes: vec![*node, first, *to],
            why: format!("{node} answers {first} and {to} as its parents in one computation"),
        })
    }
}
