//! What happens to a node, brought into the order of its record.
//!
//! Roles, acting and questions at the gate come from different tasks. A term's question and its
//! acting are taken up when the record's line of that term has been, never earlier.

use std::sync::Arc;
use std::time::Instant;

use super::event::Event;
use super::pre_leader::{Question, Questions};
use super::queue::{News, Queue};
use crate::agent::Agent;
use crate::agent::acting::Acting;
use crate::agent::change::{ChangeLine, Reason};

/// Everything that happens to a node.
#[derive(Debug)]
pub(super) struct Feed {
    agent: Agent,
    acting: Acting,
    questions: Questions,
    /// The newest line that was taken up.
    last: Option<Arc<ChangeLine>>,
    /// A question whose line has not come yet.
    question: Option<Question>,
    /// The group number of the term that was told as `leader`.
    told: Option<String>,
    is_over: bool,
}

impl Feed {
    pub(super) fn new(agent: Agent, questions: Questions) -> Self {
        let acting = agent.acting().clone();
        let (last, question, told) = (None, None, None);
        Self { agent, acting, questions, last, question, told, is_over: false }
    }

    /// Whether the node has ended and nothing more will happen.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// The newest line.
    pub(super) fn last(&self) -> Option<Arc<ChangeLine>> {
        self.last.clone()
    }

    /// Waits until something happens, and adds it.
    pub(super) async fn fill(&mut self, queue: &mut Queue) {
        let seen = self.last.as_ref().map(|line| line.index);
        tokio::select! {
            later = self.agent.record().after(seen) => match later {
                Some(later) => for line in later.lines {
                    self.take(line, queue);
                },
                None => self.is_over = true,
            },
            // None: the node has ended, and the record tells so.
            Some(()) = self.acting.changed() => {}
            Some(question) = self.questions.asked.recv() => self.question = Some(question),
        }
        self.ask(queue);
        self.act(queue);
    }

    fn take(&mut self, line: Arc<ChangeLine>, queue: &mut Queue) {
        let event = match line.role.as_str() {
            // Told when it acts.
            "leader" => None,
            "member" => Some(Event::Member),
            _ => Some(Event::Suspended),
        };
        if self.last.is_none() && line.is_in_group() {
            let (event, since) = (Event::Suspended, Instant::now());
            queue.push(News { event, line: Arc::new(start(&line)), since, reply: None });
        }
        self.last = Some(Arc::clone(&line));
        if let Some(event) = event {
            queue.push(News { event, line, since: Instant::now(), reply: None });
        }
    }

    /// Takes up the question of the current term.
    fn ask(&mut self, queue: &mut Queue) {
        let Some(question) = self.question.take() else { return };
        if question.reply.is_closed() {
            return;
        }
        match self.term(&question.lead.group_number().to_string()) {
            Some(line) => {
                let (since, reply) = (Instant::now(), Some(question.reply));
                queue.push(News { event: Event::PreLeader, line, since, reply });
            }
            None => self.question = Some(question),
        }
    }

    /// Takes up that the node acts in the current term.
    fn act(&mut self, queue: &mut Queue) {
        let Some(lead) = self.acting.now() else { return };
        let number = lead.group_number().to_string();
        if self.told.as_ref() == Some(&number) {
            return;
        }
        if let Some(line) = self.term(&number) {
            queue.push(News { event: Event::Leader, line, since: Instant::now(), reply: None });
            self.told = Some(number);
        }
    }

    /// The newest line, if it says that the node leads this group.
    fn term(&self, number: &str) -> Option<Arc<ChangeLine>> {
        let is_this = |line: &&Arc<ChangeLine>| {
            line.role == "leader" && line.group.as_deref() == Some(number)
        };
        self.last.as_ref().filter(is_this).cloned()
    }
}

/// The line before the first one: a node may be in a group before anybody looks, and hooks that
/// clean up after a crash are told first that it came up.
fn start(first: &ChangeLine) -> ChangeLine {
    ChangeLine {
        index: first.index.saturating_sub(1),
        role: "suspended".to_owned(),
        group: None,
        coordinator: None,
        members: Vec::new(),
        reason: Reason::Start,
        old_leader: None,
        gap_ms: None,
        text: format!("{} comes up", first.node),
        ..first.clone()
    }
}
