//! Reaps orphans that this process adopts, and leaves its own children to those that wait for them.
//!
//! ```text
//!   hook --forks--> a process in the background      the hook ends: its orphan becomes ours,
//!   (awaited)       (an orphan from then on)         and a zombie when it ends, until it is reaped
//! ```
//!
//! A process adopts orphans if it is a child subreaper (`tanist run`) or the first process of a
//! container. Waiting for any child would take the exit status of a hook from the task that waits
//! for it, so every child is registered by [`start`], and only others are reaped. Assumes /proc.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, waitpid};
use tokio::signal::unix::{SignalKind, signal};

use crate::job::descendants;

/// A child that its starter waits for. It may be reaped elsewhere when this is dropped.
#[derive(Debug)]
pub(crate) struct Awaited(Option<Pid>);

impl Drop for Awaited {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            awaited().remove(&id.as_raw_pid());
        }
    }
}

/// Starts a child process that the caller waits for.
pub(crate) fn start<T>(
    spawn: impl FnOnce() -> io::Result<T>,
    id: impl FnOnce(&T) -> Option<u32>,
) -> io::Result<(T, Awaited)> {
    // Nothing is reaped before the child is registered: it may have ended already. Starts do not
    // wait for each other, since each may wait for a file system that hangs.
    let _starting = STARTS.read().unwrap_or_else(PoisonError::into_inner);
    let child = spawn()?;
    let id = id(&child).and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    awaited().extend(id.map(Pid::as_raw_pid));
    Ok((child, Awaited(id)))
}

/// Reaps orphans until the task is dropped, if this process adopts any.
pub(crate) async fn reap_orphans() {
    let mut ends = match signal(SignalKind::child()) {
        Ok(ends) => ends,
        Err(error) => {
            tracing::warn!(%error, "orphans of hooks stay zombies until this process ends");
            return;
        }
    };
    // An error of the stream does not exist; none means that the runtime ends.
    while ends.recv().await.is_some() {
        while !reap_once() {
            tokio::time::sleep(PERIOD).await;
        }
        // Many may end at once, and one look finds them all.
        tokio::time::sleep(PERIOD).await;
    }
}

/// Reaps every dead child that is not awaited. False if a child is being started: look again.
fn reap_once() -> bool {
    let Ok(_no_start) = STARTS.try_write() else { return false };
    for child in descendants::dead_children() {
        if !awaited().contains(&child.as_raw_pid()) {
            // It is dead and a child of ours, so there is nothing to wait for and no error.
            let _ = waitpid(Some(child), WaitOptions::NOHANG);
        }
    }
    true
}

fn awaited() -> MutexGuard<'static, BTreeSet<i32>> {
    // No holder can panic: numbers are only put in and taken out.
    AWAITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Children are the process's, so this is one for the process, too.
static AWAITED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
/// Held for reading while a child is started.
static STARTS: RwLock<()> = RwLock::new(());
/// The least time between two looks at /proc.
const PERIOD: Duration = Duration::from_millis(200);
