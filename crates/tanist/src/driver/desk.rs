//! What is between a node and the program that embeds it: notices come in, requests come in, and
//! commands to the node come out.
//!
//! A live driver and a simulated node both have one, so what a program sees of its node follows one
//! code. Leaves out: the network, which only the owner of the desk knows; what is asked of that is
//! handed back ([`Handled::ByOwner`]).

use std::sync::Arc;
use std::time::Duration;

use tanist_core::node::{Command, Node, Notice};
use tanist_core::policy::{HandOverError, PriorityError};
use tanist_core::{GroupConfig, GroupNumber, Membership, NodeId, NodeSet};
use tokio::sync::oneshot;

use super::application::Application;
use super::inbox::{Request, WithdrawnReply};
use crate::error::StopOverdue;
use crate::handover::Acting;
use crate::operations::Control;
use crate::role::{Role, Suspension, View, Why};
use crate::status::Shared;
use crate::task::TaskError;

/// What is between a node and its program.
pub(crate) struct Desk {
    me: NodeId,
    application: Application,
    shared: Arc<Shared>,
    control: Control,
    /// How long the application may take to stop.
    stop_within: Duration,
    /// The leader that a pause keeps from being replaced, as it was said last.
    lost_leader: Option<NodeId>,
    /// Requests that wait for the node to be withdrawn, or to have rejoined.
    withdrawing: Vec<WithdrawnReply>,
    rejoining: Vec<oneshot::Sender<()>>,
    /// Requests that wait for the node to have its new priority.
    ranking: Vec<oneshot::Sender<Result<(), PriorityError>>>,
}

/// The node behind a desk, as far as requests depend on it.
#[derive(Clone, Copy)]
pub(crate) struct Behind<'a> {
    pub(crate) node: &'a Node,
    pub(crate) config: &'a GroupConfig,
    pub(crate) members: &'a Membership,
}

/// What comes of a request.
pub(crate) enum Handled {
    /// A command to the node, or nothing.
    Here(Option<Command>),
    /// The owner of the desk carries it out.
    ByOwner(Request),
}

impl Desk {
    pub(crate) const fn new(
        me: NodeId,
        application: Application,
        shared: Arc<Shared>,
        control: Control,
        stop_within: Duration,
    ) -> Self {
        Self {
            me,
            application,
            shared,
            control,
            stop_within,
            lost_leader: None,
            withdrawing: Vec::new(),
            rejoining: Vec::new(),
            ranking: Vec::new(),
        }
    }

    /// What the program reads.
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Whether the task is at a plan.
    pub(crate) const fn is_planning(&self) -> bool {
        self.application.is_planning()
    }

    /// A peer said something.
    pub(crate) fn heard(&self, peer: NodeId) {
        self.control.heard(peer);
    }

    /// Passes on what the node tells its user. The application may answer at once.
    pub(crate) fn on_notice(&mut self, notice: Notice) -> Result<Option<Command>, TaskError> {
        match notice {
            Notice::Called | Notice::Ended(_) => Ok(None),
            Notice::Withdrawn => {
                self.show_withdrawn(true);
                Ok(None)
            }
            Notice::Overdue => {
                self.show_overdue();
                Ok(None)
            }
            Notice::Rejoined => {
                self.show_withdrawn(false);
                Ok(None)
            }
            Notice::Paused => {
                self.control.set_paused(true);
                Ok(None)
            }
            Notice::Resumed => {
                self.control.set_paused(false);
                Ok(None)
            }
            Notice::Farewell(peer) => {
                self.control.miss(peer);
                Ok(None)
            }
            Notice::Acting { peer, group } => {
                self.note_acting(peer, group);
                Ok(None)
            }
            Notice::Stop => self.application.stop(&self.shared),
            Notice::Yield => self.application.yield_leadership(&self.shared),
            Notice::Plan { group, members, reports } => {
                let view = self.view(group, self.me, members);
                self.application.plan(view, reports)
            }
            Notice::Begin { group, coordinator, members, definition } => {
                let view = self.view(group, coordinator, members);
                self.application.begin(view, definition, &self.shared)?;
                Ok(None)
            }
        }
    }

    /// Takes what the program asks, or its application answers.
    pub(crate) fn on_request(
        &mut self,
        request: Request,
        behind: Behind<'_>,
    ) -> Result<Handled, TaskError> {
        let command = match request {
            Request::GuardsDropped => self.application.guards_dropped(),
            Request::Answered(answer) => self.application.answered(answer)?,
            Request::Call => Some(Command::Call),
            Request::Withdraw { hold, reply } => {
                if behind.node.is_overdue() {
                    // It was waited for long enough. The requester may be gone.
                    let _ = reply.send(Err(self.overdue()));
                } else {
                    self.withdrawing.push(reply);
                }
                Some(Command::Withdraw { hold })
            }
            Request::Successor { to, reply } => {
                // The requester may be gone.
                let _ = reply.send(self.successor(behind, to));
                None
            }
            Request::HandOver { to, reply, withdrawn } => {
                let checked = self.successor(behind, Some(to)).map(|_| ());
                // The requester may be gone.
                let _ = reply.send(checked);
                checked.is_ok().then(|| {
                    self.withdrawing.push(withdrawn);
                    Command::HandOver { to }
                })
            }
            Request::Acting(group) => {
                self.note_acting(self.me, group);
                Some(Command::Acting(group))
            }
            Request::Rejoin(reply) if behind.node.takes_part() => {
                // The requester may be gone.
                let _ = reply.send(());
                None
            }
            Request::Rejoin(reply) => {
                self.rejoining.push(reply);
                Some(Command::Rejoin)
            }
            Request::Object { objection, stands: true } => Some(Command::Object(objection)),
            Request::Object { objection, stands: false } => Some(Command::Lift(objection)),
            Request::Priority { priority, reply } => self.rank(behind, priority, reply),
            Request::Pause { is_on: true } => Some(Command::Pause),
            Request::Pause { is_on: false } => Some(Command::Resume),
            #[cfg(test)]
            say @ Request::Say { .. } => return Ok(Handled::ByOwner(say)),
            other @ (Request::Block(_)
            | Request::Unblock
            | Request::SetSecrets(_)
            | Request::Inspect { .. }
            | Request::Ask { .. }
            | Request::Questions(_)
            | Request::HoldPort(_)
            | Request::Shutdown) => return Ok(Handled::ByOwner(other)),
        };
        Ok(Handled::Here(command))
    }

    /// Shows what a step of the node has changed, and answers those who waited for it; whether
    /// there was one.
    pub(crate) fn after_step(&mut self, node: &Node) -> bool {
        let lost = node.lost_leader();
        if lost != self.lost_leader {
            self.lost_leader = lost;
            self.control.set_lost_leader(lost);
        }
        if self.ranking.is_empty() {
            return false;
        }
        self.control.set_priority(node.priority(self.me));
        for reply in self.ranking.drain(..) {
            // The requester may be gone.
            let _ = reply.send(Ok(()));
        }
        true
    }

    /// What has not stopped, and how long it was waited for.
    pub(crate) fn overdue(&self) -> StopOverdue {
        StopOverdue { what: self.application.running(), within: self.stop_within }
    }

    fn successor(&self, of: Behind<'_>, to: Option<NodeId>) -> Result<NodeId, HandOverError> {
        of.node.successor(self.me, of.config, of.members, to)
    }

    fn rank(
        &mut self,
        of: Behind<'_>,
        priority: u32,
        reply: oneshot::Sender<Result<(), PriorityError>>,
    ) -> Option<Command> {
        if let Err(error) = PriorityError::check(of.config) {
            // The requester may be gone.
            let _ = reply.send(Err(error));
            return None;
        }
        self.ranking.push(reply);
        Some(Command::SetPriority(priority))
    }

    /// Shows that a leader acts.
    fn note_acting(&self, node: NodeId, group_number: GroupNumber) {
        let acting = Acting { node, group_number, since: self.shared.clock().now() };
        self.control.acting().note(acting);
    }

    /// Shows that the node is withdrawn, or is between groups again, and answers who waits for
    /// that.
    fn show_withdrawn(&mut self, is_withdrawn: bool) {
        if self.control.is_withdrawn() != is_withdrawn {
            self.control.set_withdrawn(is_withdrawn);
            let left = self.shared.role().view().cloned();
            let why = if is_withdrawn { Why::Withdrawn } else { Why::Election };
            self.shared.publish(Role::Suspended(Suspension { why, left }));
        }
        // Those who asked may be gone.
        if is_withdrawn {
            for reply in self.withdrawing.drain(..) {
                let _ = reply.send(Ok(()));
            }
        } else {
            for reply in self.rejoining.drain(..) {
                let _ = reply.send(());
            }
        }
    }

    /// Ends the leadership at once, since the others elect from here on, and tells those who wait
    /// for the application to stop that it has not.
    fn show_overdue(&mut self) {
        let overdue = self.overdue();
        tracing::warn!("{overdue}, until it has stopped");
        self.application.end_leadership(&self.shared);
        for reply in self.withdrawing.drain(..) {
            // The requester may be gone.
            let _ = reply.send(Err(overdue));
        }
    }

    const fn view(&self, group: GroupNumber, coordinator: NodeId, members: NodeSet) -> View {
        View { me: self.me, group, coordinator, members }
    }
}
