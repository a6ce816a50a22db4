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
    /// Leaderships that are over and have guards left: no stop is over before they are dropped.
    guarded: u32,
    /// Plans that the task was asked for and has not made yet.
    plans: u64,
}

/// A stop in progress.
#[derive(Debug)]
struct Drain {
    number: u64,
    /// What the task handed up; none while it is still at it.
    report: Option<Report>,
}

impl Application {
    pub(crate) const fn new(
        task: Option<mpsc::UnboundedSender<Ask>>,
        inbox: mpsc::UnboundedSender<Request>,
    ) -> Self {
        Self {
            task,
            inbox,
            leadership: None,
            has_stopped: false,
            drain: None,
            drains: 0,
            guarded: 0,
            plans: 0,
        }
    }

    /// Stops the task: no operation is accepted from here on. A leader goes on leading. The answer
    /// may be there at once.
    pub(crate) fn stop(&mut self, shared: &Shared) -> Result<Option<Command>, TaskError> {
        self.begin_drain(shared)
    }

    /// The same, and ends the leadership, if there is one.
    pub(crate) fn yield_leadership(
        &mut self,
        shared: &Shared,
    ) -> Result<Option<Command>, TaskError> {
        if let Some(leadership) = self.leadership.take() {
            self.end(leadership);
        }
        self.begin_drain(shared)
    }

    /// One that is stopping already goes on with that, report included.
    fn begin_drain(&mut self, shared: &Shared) -> Result<Option<Command>, TaskError> {
        if self.drain.is_some() {
            return Ok(None);
        }
        self.drains += 1;
        let number = self.drains;
        if self.leadership.is_none() {
            suspend(shared);
        }
        let report = match &self.task {
            Some(task) if !self.has_stopped => {
                task.send(Ask::Stop { drain: number }).map_err(|_| TaskError::Gone)?;
                None
            }
            // The report of a task that stopped before was handed up then.
            Some(_) | None => Some(Report::default()),
        };
        self.drain = Some(Drain { number, report });
        Ok(self.drained())
    }

    /// Ends a leadership; its guards are waited for.
    fn end(&mut self, leadership: Leadership) {
        let mut guards = leadership.end();
        if guards.are_dropped() {
            return;
        }
        self.guarded += 1;
        let inbox = self.inbox.clone();
        tokio::spawn(async move {
            let _guard = Guard;
            guards.dropped().await;
            // A driver that is gone does not wait.
            let _ = inbox.send(Request::GuardsDropped);
        });
    }

    /// Ends the leadership while the task is still stopping or planning.
    pub(crate) fn end_leadership(&mut self, shared: &Shared) {
        let Some(leadership) = self.leadership.take() else { return };
        self.end(leadership);
        suspend(shared);
    }

    /// What has not stopped although it was told to: the task, or else the leader's job.
    pub(crate) fn running(&self) -> &'static str {
        match &self.drain {
            Some(drain) if drain.report.is_some() && self.plans == 0 => "job",
            Some(_) | None => "task",
        }
    }

    /// All guards of a leadership are gone.
    pub(crate) fn guards_dropped(&mut self) -> Option<Command> {
        self.guarded = self.guarded.saturating_sub(1);
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
        if self.guarded > 0 {
            return None;
        }
        let drain = self.drain.as_mut()?;
        // Taken, so that it is told once.
        let report = drain.report.take()?;
        self.drain = None;
        self.has_stopped = true;
        Some(Command::Stopped(report))
    }
}

/// Shows that the node is between groups.
fn suspend(shared: &Shared) {
    let left = shared.role().view().cloned();
    let why = if left.is_none() { Why::Starting } else { Why::Election };
    shared.publish(Role::Suspended(Suspension { why, left }));
}

#[cfg(test)]
mod tests {
    use tanist_core::{GroupNumber, NodeId, NodeSet};

    use super::*;
    use crate::clock::Clock;

    #[tokio::test]
    async fn a_guard_is_waited_for_although_its_leadership_ended_during_a_plan() {
        let me = NodeId(1);
        let group = GroupNumber { counter: 4, node: me };
        let view = View { me, group, coordinator: me, members: NodeSet::from(vec![me]) };
        let (task, _asks) = mpsc::unbounded_channel();
        let (inbox, mut requests) = mpsc::unbounded_channel();
        let mut application = Application::new(Some(task), inbox);
        let shared = Shared::new(Clock::Machine);
        application.begin(view.clone(), Definition::default(), &shared).unwrap();
        let guard = shared.role().lead().and_then(|lead| lead.guard()).unwrap();
        // The leader forms its group again, and its task hangs in the plan.
        assert!(application.stop(&shared).unwrap().is_none());
        let stopped = Answer::Stopped { drain: 1, report: Report::default() };
        assert!(application.answered(stopped).unwrap().is_some());
        assert!(application.plan(view, Reports::default()).unwrap().is_none());
        application.end_leadership(&shared);
        assert!(application.yield_leadership(&shared).unwrap().is_none(), "a guard is held");
        assert_eq!(application.running(), "task");
        let planned = Answer::Planned { group, definition: Definition::default() };
        application.answered(planned).unwrap();
        assert_eq!(application.running(), "job");
        drop(guard);
        assert!(matches!(requests.recv().await, Some(Request::GuardsDropped)));
        assert!(matches!(application.guards_dropped(), Some(Command::Stopped(_))));
    }
}
