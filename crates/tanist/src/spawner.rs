//! Where the tasks behind a node's handle run.
//!
//! In a live program that is the caller's runtime. A simulated node has a process that can hang and
//! crash, and its tasks with it.

use std::future::Future;
#[cfg(feature = "sim")]
use std::sync::Weak;

use tokio::task::AbortHandle;

#[cfg(feature = "sim")]
use crate::sim::process::Process;

/// Where the tasks behind a node's handle run.
#[derive(Clone, Debug)]
pub(crate) enum Spawner {
    /// The runtime that the caller is in.
    Runtime,
    /// The process of a simulated node.
    #[cfg(feature = "sim")]
    Process(Weak<Process>),
}

impl Spawner {
    /// Runs a task until it ends or is aborted.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        match self {
            Self::Runtime => tokio::spawn(task).abort_handle(),
            #[cfg(feature = "sim")]
            Self::Process(process) => Process::spawn(process, task),
        }
    }
}
