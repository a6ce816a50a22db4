//! `tanist launch`: the process between the agent and a hook, which looks at the program and becomes
//! it.
//!
//! Looking at a path and executing it can hang, on a server that is gone say. The agent does neither
//! itself: it starts this process, which is its own program and therefore in memory, under the
//! timeout of the hook. A process that hangs can be killed, and one that was killed runs no hook
//! late; a thread could do neither.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::permission;
use crate::exit::Exit;
use crate::process::descriptors;
use crate::terminal::output;

/// Becomes a program, or says on stderr why not, after the mark by which the agent knows the line.
pub(crate) fn launch(mark: &str, files: Option<u64>, command: &[OsString]) -> Exit {
    let Some((path, arguments)) = command.split_first() else { return Exit::Job(NOT_LAUNCHED) };
    if let Err(refusal) = permission::check(Path::new(path), rustix::process::geteuid().as_raw()) {
        return fail(mark, &Failure::Refused(refusal.to_string()));
    }
    if let Some(files) = files {
        descriptors::restore(files);
    }
    let error = Command::new(path).args(arguments).exec();
    let name = path.to_string_lossy();
    fail(
        mark,
        &Failure::Start(format!(
            "{name} cannot be started: {error}. Check that it is executable and its first line"
        )),
    )
}

fn fail(mark: &str, failure: &Failure) -> Exit {
    output::complain(&failure.line(mark));
    Exit::Job(NOT_LAUNCHED)
}

/// Why a program was not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Others could have changed it, or it is not there.
    Refused(String),
    /// The system cannot start it.
    Start(String),
}

impl Failure {
    /// How the agent is told.
    fn line(&self, mark: &str) -> String {
        match self {
            Self::Refused(why) => format!("{mark} refused {why}"),
            Self::Start(why) => format!("{mark} start {why}"),
        }
    }

    /// What a line of stderr tells; nothing if it is the program's own.
    pub(super) fn read(mark: &str, line: &str) -> Option<Self> {
        let (kind, why) = line.strip_prefix(mark)?.strip_prefix(' ')?.split_once(' ')?;
        match kind {
            "refused" => Some(Self::Refused(why.to_owned())),
            "start" => Some(Self::Start(why.to_owned())),
            _ => None,
        }
    }
}

/// As shells have it for what cannot be executed. A hook may end with it, too; the line counts.
const NOT_LAUNCHED: u8 = 126;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_read_as_it_was_written_and_only_behind_its_mark() {
        for failure in [Failure::Refused("a b".to_owned()), Failure::Start("c d e".to_owned())] {
            let line = failure.line("mark-7");
            assert_eq!(Failure::read("mark-7", &line), Some(failure));
            assert_eq!(Failure::read("mark-8", &line), None);
        }
        assert_eq!(Failure::read("mark-7", "what a hook says"), None);
    }
}
