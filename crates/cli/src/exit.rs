//! How a command ended that did what it was asked to do.

use std::process::ExitCode;

/// The answer of a command, as an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Well,
    /// Something that should hold does not; it was named on stderr.
    Violated,
    /// A bound was reached before the answer was known.
    Unknown,
    /// A file is not what it should be; what is wrong was named on stderr.
    BadFile,
    /// The user interrupted it.
    Interrupted,
    /// A job that was run has this to say.
    Job(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Well => Self::SUCCESS,
            Exit::Violated => Self::from(1),
            Exit::Unknown => Self::from(4),
            Exit::BadFile => Self::from(6),
            Exit::Interrupted => Self::from(INTERRUPTED),
            Exit::Job(code) => Self::from(code),
        }
    }
}

/// 128 + SIGINT, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;
