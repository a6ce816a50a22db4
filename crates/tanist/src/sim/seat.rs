//! One incarnation of a simulated node's application: the task, and the code that runs it in a live
//! node.
//!
//! The parts are a live node's own: [`Application`] decides when it has stopped, [`Runner`] calls
//! the task. Assumes that no guards are held, since the role is not handed out.

use std::time::Duration;

use tanist_core::Time;
use tanist_core::node::{Command, Notice};
use tanist_sim::world::application::{Listener, Pace};
use tokio::sync::mpsc;

use super::executor;
use crate::driver::application::Application;
use crate::role::View;
use crate::status::Shared;
use crate::task::{Answer, Ask, GroupTask, Runner, TaskError};

/// The application of one incarnation of a node.
pub(super) struct Seat<T> {
    application: Application,
    shared: Shared,
    runner: Runner<T>,
    asked: mpsc::UnboundedReceiver<Ask>,
    view: Option<View>,
    /// The task does one thing after the other.
    is_busy_until: Time,
    pending: Vec<Pending>,
}

/// An answer that is not due yet.
struct Pending {
    at: Time,
    listener: Listener,
    answer: Answer,
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
    pub(super) fn new(task: T) -> Self {
        let (asks, asked) = mpsc::unbounded_channel();
        // Only guards use the inbox, and there are none.
        let (inbox, _) = mpsc::unbounded_channel();
        Self {
            application: Application::new(Some(asks), inbox),
            shared: Shared::new(),
            runner: Runner::new(task),
            asked,
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

    /// Takes what the node tells its application, and runs the task. What it answers at once is
    /// returned, what takes time comes with [`Seat::answers`].
    pub(super) fn receive(
        &mut self,
        listener: Listener,
        notice: Notice,
        now: Time,
        pace: Pace,
    ) -> Result<Option<Command>, SeatError> {
        let me = listener.node();
        let mut command = None;
        if let Notice::Stop = notice {
            self.view = None;
            command = self.application.stop(&self.shared)?;
        } else if let Notice::Yield = notice {
            self.view = None;
            command = self.application.yield_leadership(&self.shared)?;
        } else if let Notice::Plan { group, members, reports } = notice {
            let view = View { me, group, coordinator: me, members };
            command = self.application.plan(view, reports)?;
        } else if let Notice::Begin { group, coordinator, members, definition } = notice {
            let view = View { me, group, coordinator, members };
            self.application.begin(view.clone(), definition, &self.shared)?;
            self.view = Some(view);
        }
        while let Ok(ask) = self.asked.try_recv() {
            self.carry_out(listener, ask, now, pace)?;
        }
        Ok(command)
    }

    /// When the next answer is due.
    pub(super) fn next_at(&self) -> Option<Time> {
        self.pending.first().map(|pending| pending.at)
    }

    /// What the application answers by now, first things first.
    pub(super) fn answers(&mut self, now: Time) -> Result<Vec<(Listener, Command)>, SeatError> {
        let due = self.pending.iter().take_while(|pending| pending.at <= now).count();
        let mut commands = Vec::new();
        for Pending { listener, answer, .. } in self.pending.drain(..due) {
            let command = self.application.answered(answer)?;
            commands.extend(command.map(|command| (listener, command)));
        }
        Ok(commands)
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
