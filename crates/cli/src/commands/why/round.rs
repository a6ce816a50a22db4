//! A question to some nodes, and what came back.

use std::time::Duration;

use tanist::{NodeId, NodeNames};
use tanist_core::Time;
use tanist_core::trace::{Kind, MessageFacts};

use crate::terminal::moment;

/// One question that a node asked some others at about the same time.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub(super) at: Time,
    pub(super) kind: Kind,
    pub(super) to: Vec<NodeId>,
    answers: Vec<Reply>,
    /// When a timer ended the wait.
    ended: Option<Time>,
}

#[derive(Clone, Debug)]
struct Reply {
    from: NodeId,
    ok: Option<bool>,
    after: Duration,
}

impl Round {
    /// A question to one node.
    pub(super) fn new(at: Time, kind: Kind, to: NodeId) -> Self {
        Self { at, kind, to: vec![to], answers: Vec::new(), ended: None }
    }

    /// Whether a question is of this round.
    pub(super) fn takes(&self, at: Time, kind: Kind, to: NodeId) -> bool {
        self.kind == kind && !self.to.contains(&to) && at.since(self.at) < TOGETHER
    }

    /// Notes an answer, if it is one to this question.
    pub(super) fn hear(&mut self, at: Time, from: NodeId, message: MessageFacts) -> bool {
        let is_new = self.answers.iter().all(|reply| reply.from != from);
        let is_one = message.kind.info().answers.contains(&self.kind) && self.to.contains(&from);
        if is_one && is_new {
            self.answers.push(Reply { from, ok: message.ok, after: at.since(self.at) });
        }
        is_one
    }

    /// Notes that the node does not wait any more.
    pub(super) fn give_up(&mut self, at: Time) {
        if !self.silent().is_empty() {
            self.ended.get_or_insert(at);
        }
    }

    /// Who did not answer.
    pub(super) fn silent(&self) -> Vec<NodeId> {
        if !has_answer(self.kind) {
            return Vec::new();
        }
        let has_answered = |node: &NodeId| self.answers.iter().any(|reply| reply.from == *node);
        self.to.iter().filter(|node| !has_answered(node)).copied().collect()
    }

    /// The whole in a sentence.
    pub(super) fn text(&self, names: &NodeNames) -> String {
        let mut parts: Vec<String> = self.answers.iter().map(|reply| reply.text(names)).collect();
        let silent = self.silent();
        if !silent.is_empty() {
            let names = names.list(silent.iter().copied());
            let verb = if silent.len() == 1 { "does" } else { "do" };
            parts.push(match self.ended {
                Some(ended) => {
                    let waited = moment::span(ended.since(self.at));
                    format!("{names} {verb} not answer within the {waited} that it waits")
                }
                None => format!("{names} {verb} not answer"),
            });
        }
        let verb = if has_answer(self.kind) { "asks" } else { "tells" };
        let said = format!("{verb} {}: {}", names.list(self.to.iter().copied()), self.kind);
        if parts.is_empty() { said } else { format!("{said}. {}", parts.join("; ")) }
    }
}

impl Reply {
    fn text(&self, names: &NodeNames) -> String {
        let word = match self.ok {
            Some(true) => " yes",
            Some(false) => " no",
            None => "",
        };
        format!("{} answers{word} after {}", names.of(self.from), moment::span(self.after))
    }
}

/// Whether something comes back for a message of this kind.
fn has_answer(question: Kind) -> bool {
    Kind::ALL.iter().any(|kind| kind.info().answers.contains(&question))
}

/// What is sent within this belongs together.
const TOGETHER: Duration = Duration::from_millis(5);
