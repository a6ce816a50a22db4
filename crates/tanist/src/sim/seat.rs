//! What stands above one incarnation of a simulated node: its task and its program, and the code
//! that runs them in a live node.
//!
//! The parts are a live node's own: [`Desk`] passes on what node and program tell each other, the
//! [`Application`] in it decides when it has stopped, [`Runner`] calls the task. Leaves out: what
//! only a real network has; a program finds it absent.

use std::sync::Arc;
use std::time::Duration;

use tanist_core::node::{Command, Notice};
use tanist_core::{GroupConfig, Membership, NodeId, NodeSet, Time};
use tanist_sim::world::application::{Listener, Pace};
use tokio::sync::{mpsc, oneshot};

use super::executor;
use super::program::{Begun, Programs, Running};
use crate::clock::Clock;
use crate::driver::Request;
use crate::driver::application::Application;
use crate::driver::desk::{Behind, Desk, Handled};
use crate::ended::Ended;
use crate::error::Failure;
use crate::metrics::Metrics;
use crate::operations::Control;
use crate::role::View;
use crate::status::{PeerSign, Shared};
use crate::task::{Answer, Ask, GroupTask, Runner, TaskError};
use crate::transport::question::AskError;

/// The application of one incarnation of a node.
pub(super) struct Seat<T> {
    desk: Desk,
    shared: Arc<Shared>,
    runner: Runner<T>,
    asked: mpsc::UnboundedReceiver<Ask>,
    requests: mpsc::UnboundedReceiver<Request>,
    pub(super) program: Option<Running>,
    view: Option<View>,
    /// The task does one thing after the other.
    is_busy_until: Time,
    pending: Vec<Pending>,
}

/// The node that a seat is made for.
pub(super) struct Starting<'a> {
    pub(super) me: NodeId,
    pub(super) name: &'a str,
    pub(super) config: &'a GroupConfig,
    pub(super) members: &'a Membership,
    pub(super) clock: Clock,
}

/// An answer that is not due yet.
struct Pending {
    at: Time,
    listener: Listener,
    answer: Answer,
}

/// What a program asks of the world around its node.
pub(super) enum Asked {
    /// The node takes this command.
    Command(Command),
    /// Say what is known of the peers, and ask these whether they are there.
    Inspect { probe: NodeSet, reply: oneshot::Sender<Metrics> },
    /// Cut the links with these nodes.
    Block(Vec<NodeId>),
    /// Heal all links of this node.
    Unblock,
    /// Nothing: it has its answer.
    Answered,
}

/// A task that the simulation cannot go on with.
#[derive(Debug, thiserror::Error)]
pub(super) enum SeatError {
    /// A future that never gets ready.
    #[error(
        "its `{0}` waited for something that the simulation does not have (a timer, a socket, \
         another thread), so it would never end. Put that behind something that your test \
         replaces; how long `{0}` takes is said to the world's builder"
    )]
    Waits(&'static str),
    /// What would end a live node.
    #[error(transparent)]
    Task(#[from] TaskError),
}

impl<T: GroupTask> Seat<T> {
    /// What stands above a node that has just started.
    pub(super) fn new(task: T, node: Starting<'_>, programs: Option<&mut Programs>) -> Self {
        let Starting { me, name, config, members, clock } = node;
        let (asks, asked) = mpsc::unbounded_channel();
        let (inbox, requests) = mpsc::unbounded_channel();
        let (shared, control) = (Arc::new(Shared::new(clock)), Control::default());
        let application = Application::new(Some(asks), inbox.clone());
        let stop_within = config.timing().stop_within();
        let program = programs.map(|programs| {
            let (shared, control) = (Arc::clone(&shared), control.clone());
            programs.begin(Begun { me, name, config, members, shared, control, requests: inbox })
        });
        Self {
            desk: Desk::new(me, application, Arc::clone(&shared), control, stop_within),
            shared,
            runner: Runner::new(task),
            asked,
            requests,
            program,
            view: None,
            is_busy_until: Time::ZERO,
            pending: Vec::new(),
        }
    }

    pub(super) const fn task(&self) -> &T {
        self.runner.task()
    }

    pub(super) const fn task_mut(&mut self) -> &mut T {
        self.runner.task_mut()
    }

    /// The group that the task works in; none between groups.
    pub(super) const fn view(&self) -> Option<&View> {
        self.view.as_ref()
    }

    /// The task and its group, while it is in one.
    pub(super) fn at_work(&mut self) -> Option<(&mut T, &View)> {
        let view = self.view.as_ref()?;
        Some((self.runner.task_mut(), view))
    }

    /// A peer said something to the node.
    pub(super) fn heard(&self, peer: NodeId) {
        self.desk.heard(peer);
    }

    /// Takes what the node tells its user, and runs the task. What it answers at once is returned,
    /// what takes time comes with [`Seat::answers`].
    pub(super) fn receive(
        &mut self,
        listener: Listener,
        notice: Notice,
        now: Time,
        pace: Pace,
    ) -> Result<Option<Command>, SeatError> {
        let me = listener.node();
        if let Notice::Stop | Notice::Yield | Notice::Overdue = notice {
            self.view = None;
        } else if let Notice::Begin { group, coordinator, members, .. } = &notice {
            let (group, coordinator, members) = (*group, *coordinator, members.clone());
            self.view = Some(View { me, group, coordinator, members });
        }
        let command = self.desk.on_notice(notice)?;
        while let Ok(ask) = self.asked.try_recv() {
            self.carry_out(listener, ask, now, pace)?;
        }
        Ok(command)
    }

    /// Notes what is known of the peers, for readers of the next change of role.
    pub(super) fn note_signs(&self, signs: Vec<PeerSign>) {
        self.shared.note_signs(signs.into());
    }

    /// Takes what the program asked, one thing after the other; none any more.
    pub(super) fn take_request(&mut self, behind: Behind<'_>) -> Result<Option<Asked>, SeatError> {
        if let Ok(request) = self.requests.try_recv() {
            return Ok(Some(match self.desk.on_request(request, behind)? {
                Handled::Here(Some(command)) => Asked::Command(command),
                Handled::Here(None) => Asked::Answered,
                Handled::ByOwner(request) => self.pass_on(request),
            }));
        }
        // A program without a handle has left.
        let Some(program) = &mut self.program else { return Ok(None) };
        let leaves = !program.is_leaving && program.is_alone();
        Ok(leaves.then(|| Self::leave(program)))
    }

    /// Shows what a step of the node has changed; whether the program has to look at it.
    pub(super) fn after_step(&mut self, behind: Behind<'_>) -> bool {
        let is_waited_for = self.desk.after_step(behind.node);
        let leaving = |program: &&mut Running| program.is_leaving && !program.has_left;
        let Some(program) = self.program.as_mut().filter(leaving) else { return is_waited_for };
        let ended = if behind.node.is_withdrawn() {
            Ok(())
        } else if behind.node.is_overdue() {
            Err(Failure::Overdue(self.desk.overdue()))
        } else {
            return is_waited_for;
        };
        program.leave(&self.shared, Ended::of(ended));
        true
    }

    /// When the next answer is due.
    pub(super) fn next_at(&self) -> Option<Time> {
        self.pending.first().map(|pending| pending.at)
    }

    /// What the application answers by now, first things first.
    pub(super) fn answers(
        &mut self,
        now: Time,
        behind: Behind<'_>,
    ) -> Result<Vec<(Listener, Command)>, SeatError> {
        let due = self.pending.iter().take_while(|pending| pending.at <= now).count();
        let mut commands = Vec::new();
        for Pending { listener, answer, .. } in self.pending.drain(..due) {
            let handled = self.desk.on_request(Request::Answered(answer), behind)?;
            if let Handled::Here(Some(command)) = handled {
                commands.push((listener, command));
            }
        }
        Ok(commands)
    }

    /// What a program asks of its network is answered as by one that has none of it.
    fn pass_on(&mut self, request: Request) -> Asked {
        match request {
            Request::Inspect { probe, reply } => Asked::Inspect { probe, reply },
            Request::Block(peers) => Asked::Block(peers),
            Request::Unblock => Asked::Unblock,
            Request::Shutdown => self.program.as_mut().map_or(Asked::Answered, Self::leave),
            Request::Ask { reply, .. } => {
                // The requester may be gone.
                let _ = reply.send(Err(AskError::Silent));
                Asked::Answered
            }
            Request::Questions(reply) => {
                // The requester may be gone.
                let _ = reply.send(mpsc::channel(1).1);
                Asked::Answered
            }
            #[cfg(test)]
            Request::Say { .. } => Asked::Answered,
            Request::SetSecrets(_)
            | Request::HoldPort(_)
            | Request::GuardsDropped
            | Request::Answered(_)
            | Request::Call
            | Request::Withdraw { .. }
            | Request::Successor { .. }
            | Request::HandOver { .. }
            | Request::Acting(_)
            | Request::Rejoin(_)
            | Request::Object { .. }
            | Request::Priority { .. }
            | Request::Pause { .. } => Asked::Answered,
        }
    }

    const fn leave(program: &mut Running) -> Asked {
        program.is_leaving = true;
        Asked::Command(Command::Leave)
    }

    fn carry_out(
        &mut self,
        listener: Listener,
        ask: Ask,
        now: Time,
        pace: Pace,
    ) -> Result<(), SeatError> {
        let (method, takes) = match &ask {
            Ask::Stop { .. } => ("stop", pace.stop),
            Ask::Plan { .. } => ("plan", pace.plan),
            Ask::Start { .. } => ("start", Duration::ZERO),
        };
        let answer = executor::finish(self.runner.run(ask)).ok_or(SeatError::Waits(method))?;
        self.is_busy_until = self.is_busy_until.max(now) + takes;
        if let Some(answer) = answer {
            // In order, since the task is never free earlier than before.
            self.pending.push(Pending { at: self.is_busy_until, listener, answer });
        }
        Ok(())
    }
}
