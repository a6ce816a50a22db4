//! How a node ended, and the error of what can no longer be asked of it.

use std::fmt;
use std::sync::Arc;

use crate::error::Failure;

/// How a node ended.
///
/// ```
/// use tanist::{Ended, NodeStopped};
///
/// fn should_restart(stopped: &NodeStopped) -> bool {
///     match &stopped.ended {
///         Ended::Shutdown => false,
///         Ended::Failed(failure) => {
///             eprintln!("{failure}");
///             true
///         }
///         _ => false, // more may come
///     }
/// }
/// # let _ = should_restart;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Ended {
    /// The user shut it down, or dropped its last handle.
    Shutdown,
    /// It could not continue. For the others it has crashed.
    Failed(Arc<Failure>),
}

impl Ended {
    pub(crate) fn of(outcome: Result<(), Failure>) -> Self {
        match outcome {
            Ok(()) => Self::Shutdown,
            Err(failure) => Self::Failed(Arc::new(failure)),
        }
    }

    /// Whether the node could not continue.
    #[must_use]
    pub const fn is_failure(&self) -> bool {
        match self {
            Self::Shutdown => false,
            Self::Failed(_) => true,
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shutdown => f.write_str("it was shut down"),
            Self::Failed(failure) => failure.fmt(f),
        }
    }
}

/// The node has stopped, so what was asked of it cannot be done.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{node} has stopped: {ended}")]
#[non_exhaustive]
pub struct NodeStopped {
    /// What the node is called.
    pub node: String,
    /// How it ended.
    pub ended: Ended,
}
