//! Every process that this one started, directly or not: found, signalled and reaped.
//!
//! This process must be a child subreaper. Then a process that loses its parent becomes its child,
//! and "no child" means that none is left at all. /proc is read without a lock, so a process that
//! is just being forked may be missed; a caller that wants an end asks again until there is no
//! child.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, pidfd_open, pidfd_send_signal,
    set_child_subreaper, wait,
};

/// Makes this process the one that orphans come to.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Sends a signal to every descendant. Says whether one of them may not be signalled: it has rights
/// that we do not have.
pub(crate) fn signal_all(signal: Signal) -> bool {
    let mut has_refused = false;
    for process in all() {
        has_refused |= process.signal(signal) == Err(Errno::PERM);
    }
    has_refused
}

/// Reaps children that have ended and shows the status of each. Says whether a child is left.
pub(crate) fn reap(mut show: impl FnMut(Pid, WaitStatus)) -> bool {
    loop {
        match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
            Ok(Some((process, status))) => show(process, status),
            Ok(None) => return true,
            Err(Errno::INTR) => {}
            // ECHILD, which is the only other answer.
            Err(_) => return false,
        }
    }
}

/// Kills all descendants, and those that they start meanwhile, until none is left.
pub(crate) async fn end_all() {
    loop {
        signal_all(Signal::KILL);
        if !reap(|_, _| {}) {
            return;
        }
        tokio::time::sleep(AGAIN_AFTER).await;
    }
}

/// How long to wait before killing again those that came meanwhile.
pub(crate) const AGAIN_AFTER: Duration = Duration::from_millis(5);

/// The children of this process that have ended and were not waited for.
pub(crate) fn dead_children() -> Vec<Pid> {
    let me = getpid().as_raw_pid();
    let is_dead_child =
        |id: &Pid| Stat::read(*id).is_some_and(|stat| stat.is_dead && stat.process.parent == me);
    every_process().filter(is_dead_child).collect()
}

/// A process, told from a later one with the same number by when it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    id: Pid,
    parent: i32,
    started: u64,
}

impl Process {
    /// One that has not ended.
    fn read(id: Pid) -> Option<Self> {
        Stat::read(id).filter(|stat| !stat.is_dead).map(|stat| stat.process)
    }

    fn signal(self, signal: Signal) -> Result<(), Errno> {
        let handle = pidfd_open(self.id, PidfdFlags::empty())?;
        // The number may have gone to another process before the handle was ours.
        let is_same = Self::read(self.id).is_some_and(|now| now.started == self.started);
        if is_same { pidfd_send_signal(handle, signal) } else { Err(Errno::SRCH) }
    }
}

/// What the system says of a process.
struct Stat {
    process: Process,
    is_dead: bool,
}

impl Stat {
    fn read(id: Pid) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{}/stat", id.as_raw_pid())).ok()?;
        // The name may hold blanks and brackets; what follows the last bracket does not.
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(STARTED - 2)?.parse().ok()?;
        Some(Self { process: Process { id, parent, started }, is_dead: state == "Z" })
    }
}

fn every_process() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(Pid::from_raw)
}

/// All descendants that have not ended.
fn all() -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in every_process().filter_map(Process::read) {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut parents = vec![getpid().as_raw_pid()];
    while let Some(parent) = parents.pop() {
        let sons = children.remove(&parent).unwrap_or_default();
        parents.extend(sons.iter().map(|son| son.id.as_raw_pid()));
        found.extend(sons);
    }
    found
}

/// Where the time of the start stands in /proc/PID/stat, counted from the state.
const STARTED: usize = 19;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_with_its_parent() {
        let me = Process::read(getpid()).unwrap();
        let parent = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
        assert_eq!((me.id, me.parent), (getpid(), parent));
        assert!(me.started > 0);
        assert_eq!(Process::read(getpid()), Some(me));
    }

    #[test]
    fn a_number_that_went_to_another_process_is_not_signalled() {
        let me = Process::read(getpid()).unwrap();
        let earlier = Process { started: me.started - 1, ..me };
        // It would end this test.
        assert_eq!(earlier.signal(Signal::KILL), Err(Errno::SRCH));
    }
}
