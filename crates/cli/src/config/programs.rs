//! Whether the programs that a configuration names would be run: hooks and the health check.
//!
//! The rules are those that are applied before every run ([`permission`]), and that the file can be
//! executed. A file system that hangs must not hold up an agent that starts or reloads, so one
//! thread looks at all of them, and what it has not found out in time is a warning.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::Config;
use super::origin::Severity;
use crate::hooks::permission::{self, Refusal};

/// What is wrong with them: how bad it is, the key, and why.
pub(super) fn look(config: &Config) -> Vec<(Severity, &'static str, String)> {
    let all = named(config);
    let Some(((first, path), rest)) = all.split_first() else { return Vec::new() };
    let unanswered = || {
        let others = if rest.is_empty() { "" } else { " and the other programs" };
        let what = format!(
            "{}{others} could not be checked: the file system does not answer; see whether its \
             server or device does",
            path.display()
        );
        vec![(Severity::Warning, *first, what)]
    };
    if IS_LOOKING.swap(true, Ordering::Relaxed) {
        return unanswered();
    }
    let (found, result) = mpsc::channel();
    let programs = all.clone();
    let work = move || {
        let judged = programs
            .iter()
            .filter_map(|(key, path)| judge(path).map(|(severity, what)| (severity, *key, what)));
        // An error means that it took too long.
        let _ = found.send(judged.collect());
        IS_LOOKING.store(false, Ordering::Relaxed);
    };
    if thread::Builder::new().name("programs".to_owned()).spawn(work).is_err() {
        IS_LOOKING.store(false, Ordering::Relaxed);
        return unanswered();
    }
    result.recv_timeout(LOOK_MAX).unwrap_or_else(|_| unanswered())
}

fn named(config: &Config) -> Vec<(&'static str, PathBuf)> {
    let hooks = &config.hooks;
    let health = config.health.as_ref().and_then(|health| health.command.first());
    let health = health.map(PathBuf::from);
    let all = [
        ("hooks.pre_leader", &hooks.pre_leader),
        ("hooks.leader", &hooks.leader),
        ("hooks.member", &hooks.member),
        ("hooks.suspended", &hooks.suspended),
        ("hooks.members", &hooks.members),
        ("hooks.stop", &hooks.stop),
        ("hooks.any", &hooks.any),
        ("health.command", &health),
    ];
    all.into_iter().filter_map(|(key, path)| Some((key, path.clone()?))).collect()
}

/// Why a program would not be run.
fn judge(path: &Path) -> Option<(Severity, String)> {
    let user = rustix::process::geteuid().as_raw();
    if let Err(refusal) = permission::check(path, user) {
        let severity = match &refusal {
            // Root may look on behalf of the agent's user, to whom it may belong.
            Refusal::Owner { .. } if user == ROOT => Severity::Warning,
            Refusal::NotAbsolute(_)
            | Refusal::Unreadable { .. }
            | Refusal::NotAFile(_)
            | Refusal::Owner { .. }
            | Refusal::Writable { .. }
            | Refusal::Links(_) => Severity::Error,
        };
        let is_line = path.to_string_lossy().contains(' ');
        let hint = if is_line { "; it is a path, not a command line" } else { "" };
        return Some((severity, format!("{refusal}{hint}")));
    }
    let is_executable =
        fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0);
    let shown = path.display();
    let what = || format!("{shown} is not executable; run chmod +x {shown}");
    (!is_executable).then(|| (Severity::Error, what()))
}

/// Set while a thread looks, so that at most one hangs.
static IS_LOOKING: AtomicBool = AtomicBool::new(false);
/// A file system that is there answers within milliseconds.
const LOOK_MAX: Duration = Duration::from_secs(2);
const ROOT: u32 = 0;
