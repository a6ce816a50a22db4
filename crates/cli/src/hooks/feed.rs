//! What happens to a node, brought into the order of its history.
//!
//! Roles, activity and questions of the `pre_leader` check come from different tasks. The question
//! and the activity of a leadership are queued when the change that began it has been, not earlier.

use std::sync::Arc;
use std::time::Instant;

use tanist::{Activities, GroupNumber, Lead, RoleKind};

use super::event::Event;
use super::pre_leader::{Question, Questions};
use super::queue::{News, Queue};
use crate::agent::Agent;
use crate::agent::change::{Changed, RoleChange};

/// Everything that happens to a node.
#[derive(Debug)]
pub(super) struct Feed {
    agent: Agent,
    activity: Activities,
    questions: Questions,
    /// The newest change that was taken.
    last: Option<Arc<RoleChange>>,
    /// A question whose change has not come yet.
    question: Option<Question>,
    /// The leadership for which `leader` was queued.
    told: Option<Lead>,
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
        if change.event == Changed::Activity {
            // `leader` is queued when the node is active.
            self.last = Some(change);
            return;
        }
        let event = match change.role {
            // A leadership that goes on in another group; `leader` is queued when the node is active.
            RoleKind::Leader => {
                self.told.as_ref().is_some_and(Lead::is_leading).then_some(Event::Members)
            }
            RoleKind::Member => Some(Event::Member),
            RoleKind::Suspended => Some(Event::Suspended),
        };
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
        let change = match &question.lead {
            Some(lead) => self.leadership(lead.group_number()),
            // The node takes no part, whatever the newest change says.
            None => self.last(),
        };
        match change {
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
        // A leader that forms another group goes on leading, and is told nothing.
        if self.told.as_ref().is_some_and(|told| told.is_same_leadership(&lead)) {
            return;
        }
        let change = self.leadership(lead.group_number());
        // The history may be a moment behind the activity.
        if let Some(change) = change.filter(|change| change.active) {
            queue.push(News { event: Event::Leader, change, since: Instant::now(), reply: None });
            self.told = Some(lead);
        }
    }

    /// The newest change, if it says that the node leads this group, or a later one of its own.
    fn leadership(&self, number: GroupNumber) -> Option<Arc<RoleChange>> {
        let is_this = |change: &&Arc<RoleChange>| {
            let own = change.group_number.filter(|own| own.node == number.node);
            change.role == RoleKind::Leader && own.is_some_and(|own| own >= number)
        };
        self.last.as_ref().filter(is_this).cloned()
    }
}
