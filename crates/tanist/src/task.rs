//! Work that a group shares: stop, report, plan, start again.
//!
//! Whenever a group re-forms, every member's task is stopped and hands up a report; the
//! coordinator's task makes a plan from the reports of all; all members continue under that plan.
//! So work survives the loss of a coordinator, and what two halves of a cut network did apart is
//! combined when they meet again.

use std::collections::BTreeMap;
use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tanist_core::election::Reports as CoreReports;
use tanist_core::{Definition, GroupNumber, NodeId, Report};
use tokio::sync::mpsc;

use crate::role::View;

/// Work that a group shares. Reports and plans travel as JSON.
///
/// The calls come one at a time: `start`, then `stop`, and so on; `stop` only after a `start`.
/// `plan` is called on the coordinator alone, between its `stop` and its `start`. A node
/// that takes longer than the others wait is left out of the group and joins a later one. With the
/// default algorithm and timing they wait for a `stop` of 150 ms: if yours may always take longer,
/// give a larger [`Timing::processing_max`](crate::Timing::processing_max), or the node stays alone.
///
/// ```
/// use std::collections::BTreeSet;
/// use tanist::{GroupTask, Reports, View};
///
/// /// Counts to a hundred together; no number is counted twice.
/// #[derive(Default)]
/// struct Count { mine: Vec<u32>, done: BTreeSet<u32> }
///
/// impl GroupTask for Count {
///     type Report = BTreeSet<u32>;
///     type Plan = Vec<(tanist::NodeId, Vec<u32>)>;
///
///     async fn stop(&mut self, _: &View) -> Self::Report {
///         self.mine.clear();
///         self.done.clone()
///     }
///
///     async fn plan(&mut self, view: &View, reports: Reports<Self::Report>) -> Self::Plan {
///         let done: BTreeSet<u32> = reports.into_values().flatten().collect();
///         let left: Vec<u32> = (1..=100).filter(|number| !done.contains(number)).collect();
///         let share = left.len().div_ceil(view.members().len()).max(1);
///         view.members().iter().zip(left.chunks(share).map(<[u32]>::to_vec)).collect()
///     }
///
///     async fn start(&mut self, view: &View, plan: Self::Plan) {
///         let mine = plan.into_iter().filter(|(node, _)| *node == view.me());
///         self.mine = mine.flat_map(|(_, numbers)| numbers).collect();
///     }
/// }
/// ```
pub trait GroupTask: Send + 'static {
    /// What a member hands up when it stops: its partial results.
    type Report: Serialize + DeserializeOwned + Send;
    /// What the coordinator hands out: the state of the task, and who does what.
    type Plan: Serialize + DeserializeOwned + Send;

    /// Stops working, and says what came of it. The view is the group that is being left.
    fn stop(&mut self, left: &View) -> impl Future<Output = Self::Report> + Send;

    /// Makes a plan for the new group from what its members handed up.
    fn plan(
        &mut self,
        view: &View,
        reports: Reports<Self::Report>,
    ) -> impl Future<Output = Self::Plan> + Send;

    /// Begins to work under a plan. Returns soon: the work itself goes on elsewhere.
    fn start(&mut self, view: &View, plan: Self::Plan) -> impl Future<Output = ()> + Send;
}

/// What the members of a new group handed up, by node.
///
/// A member that was in no group before has nothing to report and is missing here.
pub type Reports<R> = BTreeMap<NodeId, R>;

/// A task that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// A report or plan that was made by another program, or another version of this one.
    #[error(
        "the {what} of {from} cannot be read: {cause}. All members must run the same version of \
         the task, or one that reads the older form"
    )]
    Unreadable {
        /// A report or a plan.
        what: &'static str,
        /// Whose.
        from: NodeId,
        /// What the decoder said.
        cause: String,
    },
    /// A report or plan that cannot be written as JSON.
    #[error("the {what} of this node cannot be written as JSON: {cause}")]
    Unwritable {
        /// A report or a plan.
        what: &'static str,
        /// What the encoder said.
        cause: String,
    },
    /// It panicked, or its runtime was shut down under it.
    #[error("the task ended without being told to: it panicked, or its runtime was shut down")]
    Gone,
}

/// What the driver asks of a task.
#[derive(Debug)]
pub(crate) enum Ask {
    /// Stop and report; `drain` comes back with the answer.
    Stop { drain: u64 },
    /// Plan for this view.
    Plan { view: View, reports: CoreReports },
    /// Work under this definition.
    Start { view: View, definition: Definition },
}

/// What a task answers.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It has stopped.
    Stopped { drain: u64, report: Report },
    /// It has planned.
    Planned { group: GroupNumber, definition: Definition },
    /// It cannot go on.
    Failed(TaskError),
}

/// A task, and the group it last started in.
pub(crate) struct Runner<T> {
    task: T,
    started_in: Option<View>,
}

impl<T: GroupTask> Runner<T> {
    pub(crate) const fn new(task: T) -> Self {
        Self { task, started_in: None }
    }

    /// The task, for a test that looks at a simulated node.
    #[cfg(feature = "sim")]
    pub(crate) const fn task(&self) -> &T {
        &self.task
    }

    /// The task, for a test that works in a simulated node.
    #[cfg(feature = "sim")]
    pub(crate) const fn task_mut(&mut self) -> &mut T {
        &mut self.task
    }

    /// Carries out one request. Nothing to answer after a start.
    pub(crate) async fn run(&mut self, ask: Ask) -> Option<Answer> {
        match self.carry_out(ask).await {
            Ok(answer) => answer,
            Err(error) => Some(Answer::Failed(error)),
        }
    }

    async fn carry_out(&mut self, ask: Ask) -> Result<Option<Answer>, TaskError> {
        match ask {
            Ask::Stop { drain } => {
                // Empty bytes: nothing to report, since nothing was ever started.
                let report = match self.started_in.take() {
                    Some(left) => Report::from(written("report", &self.task.stop(&left).await)?),
                    None => Report::default(),
                };
                Ok(Some(Answer::Stopped { drain, report }))
            }
            Ask::Plan { view, reports } => {
                let mut read = Reports::new();
                for (from, report) in reports {
                    if !report.as_bytes().is_empty() {
                        read.insert(from, readable("report", from, report.as_bytes())?);
                    }
                }
                let plan = self.task.plan(&view, read).await;
                let definition = Definition::from(written("plan", &plan)?);
                Ok(Some(Answer::Planned { group: view.group, definition }))
            }
            Ask::Start { view, definition } => {
                let plan = readable("plan", view.coordinator, definition.as_bytes())?;
                self.task.start(&view, plan).await;
                self.started_in = Some(view);
                Ok(None)
            }
        }
    }
}

/// Serves a task until the driver is gone.
pub(crate) async fn serve<T: GroupTask>(
    task: T,
    mut asked: mpsc::UnboundedReceiver<Ask>,
    answers: impl Fn(Answer) + Send,
) {
    let answers = LastWord(answers);
    let mut runner = Runner::new(task);
    while let Some(ask) = asked.recv().await {
        if let Some(answer) = runner.run(ask).await {
            (answers.0)(answer);
        }
    }
}

/// Says that the task is gone, for whatever reason, so that the driver does not wait for its
/// answers.
struct LastWord<F: Fn(Answer)>(F);

impl<F: Fn(Answer)> Drop for LastWord<F> {
    fn drop(&mut self) {
        (self.0)(Answer::Failed(TaskError::Gone));
    }
}

fn written(what: &'static str, value: &impl Serialize) -> Result<Vec<u8>, TaskError> {
    serde_json::to_vec(value)
        .map_err(|error| TaskError::Unwritable { what, cause: error.to_string() })
}

fn readable<R: DeserializeOwned>(
    what: &'static str,
    from: NodeId,
    bytes: &[u8],
) -> Result<R, TaskError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let cause = error.to_string();
        TaskError::Unreadable { what, from, cause }
    })
}
