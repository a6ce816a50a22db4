//! Mistakes that have an exit code of their own; every other error exits with 1.

use std::fmt;
use std::io;
use std::process::ExitCode;

use tanist::NodeStopped;

/// What the user can put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The command line asks for something that does not exist.
    Usage(String),
    /// A scenario file is not one.
    BadFile(String),
    /// No agent, or no group, is there to answer.
    Unreachable(String),
    /// What was asked is impossible or unsafe, so it was not done.
    Refused(String),
    /// The system does not give something at this moment: a port, room on the disk, a descriptor.
    /// Another try may succeed, so a service manager should make one.
    Unavailable(String),
}

impl Problem {
    /// Why an agent does not start, or does not go on: for the moment, or because a file or a store
    /// is wrong and stays so.
    pub(crate) const fn of_start(is_temporary: bool, what: String) -> Self {
        if is_temporary { Self::Unavailable(what) } else { Self::BadFile(what) }
    }

    /// The system gives no thread, descriptor or signal handler to a process that starts.
    pub(crate) fn of_system(error: &io::Error) -> Self {
        Self::Unavailable(format!(
            "the system does not give this process what it needs: {error}. See the limits of open \
             files and processes: ulimit -a"
        ))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what)
            | Self::Unreachable(what)
            | Self::Refused(what)
            | Self::Unavailable(what) => write!(f, "error: {what}"),
            // Without a prefix, so that an editor finds file and line.
            Self::BadFile(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Problem {}

impl From<NodeStopped> for Problem {
    /// A node fails with its disk, its clock or its thread: a start after that may succeed.
    fn from(error: NodeStopped) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// The exit code of an error.
pub(crate) fn exit_code(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<Problem>() {
        Some(Problem::Usage(_)) => ExitCode::from(2),
        Some(Problem::Unreachable(_)) => ExitCode::from(3),
        Some(Problem::Refused(_)) => ExitCode::from(5),
        Some(Problem::BadFile(_)) => ExitCode::from(6),
        Some(Problem::Unavailable(_)) => ExitCode::from(7),
        None => ExitCode::FAILURE,
    }
}
