//! What happens to a node, brought into the order of its history.
//!
//! Roles, activity and questions of the `pre_leader` check come from different tasks. The question
//! and the activity of a leadership are queued when the change that began it has been, not earlier.

use std::sync::Arc;
use std::time::Instant;

use tanist::{Activities, GroupNumber, NodeSet, RoleKind};

use super::event::Event;
use super::pre_leader::{Question, Questions};
use super::queue::{News, Queue};
use crate::agent::Agent;
use crate::agent::change::{Reason, RoleChange};

/// Everything that happens to a node.
#[derive(Debug)]
pub(super) struct Feed {
    agent: Agent,
    activity: Activities,
    questions: Questions,
    /// The newest change that was queued.
    last: Option<Arc<RoleChange>>,
    /// A question whose change has not come yet.
    question: Option<Question>,
    /// The number of the group for which `leader` was queued.
    told: Option<GroupNumber>,
    is_over: bool,
}

impl Feed {
    pub(super) fn new(agent: Agent, questions: Questions) -> Self {
        let activity = agent.activity().clone();
        let (last, question, told) = (None, None, None);
        Self { agent, activity, questions, last, question, told, is_over: false }
    }

    /// Whether the node has stopped and nothing more will happen.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// The newest change.
    pub(super) fn last(&self) -> Option<Arc<RoleChange>> {
        self.last.clone()
    }

    /// Waits until something happens, and adds it.
    pub(super) async fn fill(&mut self, queue: &mut Queue) {
        let seen = self.last.as_ref().map(|change| change.index);
        tokio::select! {
            later = self.agent.history().after(seen) => match later {
                Some(later) => for change in later.changes {
                    self.take(change, queue);
                },
                None => self.is_over = true,
            },
            // None: the node has stopped, and the history says so.
            Some(()) = self.activity.changed() => {}
            Some(question) = self.questions.asked.recv() => self.question = Some(question),
        }
        self.ask(queue);
        self.activate(queue);
    }

    fn take(&mut self, change: Arc<RoleChange>, queue: &mut Queue) {
        let event = match change.role {
            // Queued when the node is active.
            RoleKind::Leader => None,
            RoleKind::Member => Some(Event::Member),
            RoleKind::Suspended => Some(Event::Suspended),
        };
        if self.last.is_none() && change.is_in_group() {
            let (event, since) = (Event::Suspended, Instant::now());
            queue.push(News { event, change: Arc::new(start(&change)), since, reply: None });
        }
        self.last = Some(Arc::clone(&change));
        if let Some(event) = event {
            queue.push(News { event, change, since: Instant::now(), reply: None });
        }
    }

    /// Queues the question of the current leadership.
    fn ask(&mut self, queue: &mut Queue) {
        let Some(question) = self.question.take() else { return };
        if question.reply.is_closed() {
            return;
        }
        match self.leadership(question.lead.group_number()) {
            Some(change) => {
                let (since, reply) = (Instant::now(), Some(question.reply));
                queue.push(News { event: Event::PreLeader, change, since, reply });
            }
            None => self.question = Some(question),
        }
    }

    /// Queues that the node is active in the current leadership.
    fn activate(&mut self, queue: &mut Queue) {
        let Some(lead) = self.activity.active() else { return };
        let number = lead.group_number();
        if self.told == Some(number) {
            return;
        }
        if let Some(change) = self.leadership(number) {
            queue.push(News { event: Event::Leader, change, since: Instant::now(), reply: None });
            self.told = Some(number);
        }
    }

    /// The newest change, if it says that the node leads this group.
    fn leadership(&self, number: GroupNumber) -> Option<Arc<RoleChange>> {
        let is_this = |change: &&Arc<RoleChange>| {
            change.role == RoleKind::Leader && change.group_number == Some(number)
        };
        self.last.as_ref().filter(is_this).cloned()
    }
}

/// The change before the first one: a node may be in a group before hooks are run, and hooks that
/// clean up after a crash are told first that it started.
fn start(first: &RoleChange) -> RoleChange {
    RoleChange {
        index: first.index.saturating_sub(1),
        role: RoleKind::Suspended,
        group_number: None,
        coordinator: None,
        members: NodeSet::new(),
        reason: Reason::Start,
        old_leader: None,
        gap: None,
        text: format!("{} starts", first.node),
        ..first.clone()
    }
}
