//! The directory of the throw-away group, and the lock that keeps a second group out.

use std::fs::{self, File};
use std::path::PathBuf;

use anyhow::bail;
use rustix::fs::FlockOperation;

use super::places;

/// The one directory of a user's throw-away group. Removed when it is dropped.
#[derive(Debug)]
pub(crate) struct DevDirectory {
    pub(crate) path: PathBuf,
    _lock: File,
}

impl DevDirectory {
    /// Takes it, unless another group has it.
    pub(crate) fn take() -> anyhow::Result<Self> {
        let directory = places::dev()?;
        let lock = File::create(places::runtime()?.join("dev.lock"))?;
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            bail!("error: a local group is running already; end it with Ctrl-C in its terminal");
        }
        // The lock is free, so what is there was left behind.
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        places::private(&directory)?;
        Ok(Self { path: directory, _lock: lock })
    }
}

impl Drop for DevDirectory {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next group.
        let _ = fs::remove_dir_all(&self.path);
    }
}
