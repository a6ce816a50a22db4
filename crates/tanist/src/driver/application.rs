//! The application's side of a node: who has to stop before the node may answer.
//!
//! ```text
//!   Notice::Stop  -> ask the task to stop; a leadership goes on      -> Command::Stopped(report)
//!   Notice::Yield -> lower the leader's flag, ask the task to stop unless it has,
//!                    wait for guards and task                        -> Command::Stopped(report)
//!   Notice::Plan  -> ask the task (or plan nothing)       -> Command::Define
//!   Notice::Begin -> show the new role, tell the task to start; a leadership that went on goes on
//! ```
//!
//! Nothing in here waits: what takes time comes back through the driver's inbox.

use tanist_core::election::Reports;
use tanist_core::node::Command;
use tanist_core::{Definition, Report};
use tokio::sync::mpsc;

use crate::driver::Request;
use crate::lead::Leadership;
use crate::panics::Guard;
use crate::role::{Role, Suspension, View, Why};
use crate::status::Shared;
use crate::task::{Answer, Ask, TaskError};

/// What stands above the node.
#[derive(Debug)]
pub(crate) struct Application {
    task: Option<mpsc::UnboundedSender<Ask>>,
    inbox: mpsc::UnboundedSender<Request>,
    leadership: Option<Leadership>,
    /// Whether the task has stopped, and was not told to start since.
    has_stopped: bool,
    drain: Option<Drain>,
    drains: u64,
    /// Plans that the task was asked for and has not made yet.
    plans: u64,
}

/// A stop in progress.
#[derive(Debug)]
struct Drain {
    number: u64,
    has_guards: bool,
    /// What the task handed up; none while it is still at it.
    report: Option<Report>,
}

impl Application {
    pub(crate) const fn new(
        task: Option<mpsc::UnboundedSender<Ask>>,
        inbox: mpsc::UnboundedSender<Request>,
    ) -> Self {
        Self { task, inbox, leadership: None, has_stopped: false, drain: None, drains: 0, plans: 0 }
    }

    /// Stops the task: no operation is accepted from here on. A leader goes on leading. The answer
    /// may be there at once.
    pub(crate) fn stop(&mut self, shared: &Shared) -> Result<Option<Command>, TaskError> {
        self.begin_drain(None, shared)
    }

    /// The same, and ends the leadership, if there is one.
    pub(crate) fn yield_leadership(
        &mut self,
        shared: &Shared,
    ) -> Result<Option<Command>, TaskError> {
        let leadership = self.leadership.take();
        self.begin_drain(leadership, shared)
    }

    /// One that is stopping already goes on with that, guards and report included.
    fn begin_drain(
        &mut self,
        ending: Option<Leadership>,
        shared: &Shared,
    ) -> Result<Option<Command>, TaskError> {
        if self.drain.is_some() {
            return Ok(None);
        }
        self.drains += 1;
        let number = self.drains;
        let mut has_guards = false;
        if let Some(leadership) = ending {
            let mut guards = leadership.end();
            has_guards = !guards.are_dropped();
            if has_guards {
                let inbox = self.inbox.clone();
                tokio::spawn(async move {
                    let _guard = Guard;
                    guards.dropped().await;
                    // A driver that is gone does not wait.
                    let _ = inbox.send(Request::GuardsDropped { drain: number });
                });
            }
        }
        if self.leadership.is_none() {
            let left = shared.role().view().cloned();
            let why = if left.is_none() { Why::Starting } else { Why::Election };
            shared.publish(Role::Suspended(Suspension { why, left }));
        }
        let report = match &self.task {
            Some(task) if !self.has_stopped => {
                task.send(Ask::Stop { drain: number }).map_err(|_| TaskError::Gone)?;
                None
            }
            // The report of a task that stopped before was handed up then.
            Some(_) | None => Some(Report::default()),
        };
        self.drain = Some(Drain { number, has_guards, report });
        Ok(self.drained())
    }

    /// All guards of the leadership are gone.
    pub(crate) fn guards_dropped(&mut self, number: u64) -> Option<Command> {
        let drain = self.drain.as_mut().filter(|drain| drain.number == number)?;
        drain.has_guards = false;
        self.drained()
    }

    /// The task has something to say.
    pub(crate) fn answered(&mut self, answer: Answer) -> Result<Option<Command>, TaskError> {
        match answer {
            Answer::Stopped { drain: number, report } => {
                if let Some(drain) = self.drain.as_mut().filter(|drain| drain.number == number) {
                    drain.report = Some(report);
                }
                Ok(self.drained())
            }
            Answer::Planned { group, definition } => {
                self.plans = self.plans.saturating_sub(1);
                Ok(Some(Command::Define { group, definition }))
            }
            Answer::Failed(error) => Err(error),
        }
    }

    /// Asks for a plan. Without a task there is none.
    pub(crate) fn plan(
        &mut self,
        view: View,
        reports: Reports,
    ) -> Result<Option<Command>, TaskError> {
        match &self.task {
            Some(task) => {
                task.send(Ask::Plan { view, reports }).map_err(|_| TaskError::Gone)?;
                self.plans += 1;
                Ok(None)
            }
            None => {
                let definition = Definition::default();
                Ok(Some(Command::Define { group: view.group, definition }))
            }
        }
    }

    /// Whether the task is at a plan.
    pub(crate) const fn is_planning(&self) -> bool {
        self.plans > 0
    }

    /// Begins under a definition.
    pub(crate) fn begin(
        &mut self,
        view: View,
        definition: Definition,
        shared: &Shared,
    ) -> Result<(), TaskError> {
        self.drain = None;
        self.has_stopped = false;
        if view.is_coordinator() {
            let lead = match &self.leadership {
                Some(leadership) => leadership.in_group(view.clone()),
                None => {
                    let (leadership, lead) = Leadership::begin(view.clone());
                    self.leadership = Some(leadership);
                    lead
                }
            };
            shared.publish(Role::Leader(lead));
        } else {
            // The protocol has a leader yield first.
            self.leadership = None;
            shared.publish(Role::Member(view.clone()));
        }
        match &self.task {
            Some(task) => task.send(Ask::Start { view, definition }).map_err(|_| TaskError::Gone),
            None => Ok(()),
        }
    }

    fn drained(&mut self) -> Option<Command> {
        let drain = self.drain.as_mut()?;
        if drain.has_guards {
            return None;
        }
        // Taken, so that it is told once.
        let report = drain.report.take()?;
        self.drain = None;
        self.has_stopped = true;
        Some(Command::Stopped(report))
    }
}
