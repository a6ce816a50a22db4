//! How a command ended, and which exit code says so.

use rustix::process::WaitStatus;
use serde::{Deserialize, Serialize};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    /// With this code.
    Exited(u8),
    /// By this signal.
    Killed(u8),
}

impl Ending {
    /// What the system says of a process; none if it has only been stopped.
    pub(crate) fn of(status: WaitStatus) -> Option<Self> {
        let small = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
        let exited = status.exit_status().map(|code| Self::Exited(small(code)));
        exited.or_else(|| status.terminating_signal().map(|signal| Self::Killed(small(signal))))
    }

    /// The exit code that passes it on.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Killed(signal) => signal.saturating_add(128),
        }
    }
}

/// Leadership was lost, and the command was stopped for it: EX_TEMPFAIL.
pub(crate) const LOST: u8 = 75;
/// The time to wait ran out, as with `timeout`.
pub(crate) const WAITED_TOO_LONG: u8 = 124;
/// We failed, not the command.
pub(crate) const OUR_FAILURE: u8 = 125;
/// The command is there and cannot be executed.
pub(crate) const NOT_EXECUTABLE: u8 = 126;
/// The command is not there.
pub(crate) const NOT_FOUND: u8 = 127;
