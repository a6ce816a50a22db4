//! The directory of a store: its files, and errors that say what was done to which of them.
//!
//! Replacing a record is here, because it is the one thing that everything else relies on.

use std::io;
use std::path::{Path, PathBuf};

use super::access::Access;
use super::error::{DiskError, OpenError};
use super::files::{COUNTER, Files, IDENTITY, LOCK, Lock, temporary};
use super::record::{LockMark, StoreId};

/// A directory and what can be done in it.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    files: Box<dyn Files>,
}

impl Directory {
    pub(super) fn new(path: &Path, files: impl Files + 'static) -> Self {
        Self { path: path.to_owned(), files: Box::new(files) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file, for messages.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The names in it; None if there is no directory.
    pub(super) fn list(&mut self) -> Result<Option<Vec<String>>, DiskError> {
        let names = self.files.list();
        names.map_err(|error| self.error("list", error))
    }

    /// Who may write it, or a file in it.
    pub(super) fn access(&mut self, name: Option<&str>) -> Result<Access, DiskError> {
        let access = self.files.access(name);
        access.map_err(|error| match name {
            Some(name) => self.error_at("look at", name, error),
            None => self.error("look at", error),
        })
    }

    /// Makes the directory.
    pub(super) fn make(&mut self) -> Result<(), DiskError> {
        let made = self.files.make_directory();
        made.map_err(|error| self.error("make", error))
    }

    /// Makes the directory and its lock file survive.
    pub(super) fn keep(&mut self) -> Result<(), DiskError> {
        let kept = self.files.sync_parent();
        kept.map_err(|error| self.error("sync the parent of", error))?;
        let kept = self.files.sync_file(LOCK);
        kept.map_err(|error| self.error_at("sync", LOCK, error))
    }

    pub(super) fn lock(&mut self) -> Result<Lock, DiskError> {
        let lock = self.files.lock();
        lock.map_err(|error| self.error_at("lock", LOCK, error))
    }

    /// Which file the lock file is, without locking it.
    pub(super) fn lock_mark(&mut self) -> Result<Option<LockMark>, DiskError> {
        let mark = self.files.lock_mark();
        mark.map_err(|error| self.error_at("look at", LOCK, error))
    }

    pub(super) fn note_holder(&mut self) -> Result<(), DiskError> {
        let noted = self.files.note_holder();
        noted.map_err(|error| self.error_at("write", LOCK, error))
    }

    pub(super) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, DiskError> {
        let bytes = self.files.read(name);
        bytes.map_err(|error| self.error_at("read", name, error))
    }

    pub(super) fn draw_id(&mut self) -> Result<StoreId, DiskError> {
        let id = self.files.draw_id();
        id.map_err(|error| self.error("draw a random id for", error))
    }

    /// Puts a record in the place of the one of that name. When it returns, the new one would
    /// survive power loss; at any moment before, the old one or the new one is there, whole.
    pub(super) fn replace(&mut self, name: &str, bytes: &[u8]) -> Result<(), ReplaceError> {
        let temporary = temporary(name);
        if let Err(error) = self.files.create(&temporary, bytes) {
            // What was written of it would be in the way of the next attempt. If it cannot be
            // removed, that attempt fails and tries to remove it again.
            let _ = self.files.remove(&temporary);
            return Err(ReplaceError::Untouched(self.error_at("write", &temporary, error)));
        }
        // Before the rename: else the name could survive and the content not.
        let synced = self.files.sync_file(&temporary);
        synced.map_err(|error| self.error_at("sync", &temporary, error))?;
        let renamed = self.files.rename(&temporary, name);
        renamed.map_err(|error| self.error_at("replace", name, error))?;
        Ok(self.sync()?)
    }

    /// Removes what a crash left of a record that never took its place.
    pub(super) fn remove_leftovers(&mut self, names: &[String]) -> Result<(), DiskError> {
        for leftover in [temporary(IDENTITY), temporary(COUNTER)] {
            if names.contains(&leftover) {
                let removed = self.files.remove(&leftover);
                removed.map_err(|error| self.error_at("remove", &leftover, error))?;
            }
        }
        Ok(())
    }

    /// Makes everything that is seen in the directory survive.
    pub(super) fn sync(&mut self) -> Result<(), DiskError> {
        let synced = self.files.sync_directory();
        synced.map_err(|error| self.error("sync", error))
    }

    /// What making the directory would fail with, if its parent is missing.
    pub(super) fn without_parent(&self) -> DiskError {
        self.error("make", rustix::io::Errno::NOENT.into())
    }

    fn error(&self, action: &'static str, source: io::Error) -> DiskError {
        DiskError { action, path: self.path.clone(), source }
    }

    fn error_at(&self, action: &'static str, name: &str, source: io::Error) -> DiskError {
        DiskError { action, path: self.path_of(name), source }
    }
}

/// Why a record was not replaced.
#[derive(Debug)]
pub(super) enum ReplaceError {
    /// The new record was not even written, as on a full disk: the old one is there for certain.
    Untouched(DiskError),
    /// The old record or the new one is there.
    Unknown(DiskError),
}

impl From<DiskError> for ReplaceError {
    fn from(error: DiskError) -> Self {
        Self::Unknown(error)
    }
}

impl From<ReplaceError> for OpenError {
    fn from(error: ReplaceError) -> Self {
        match error {
            ReplaceError::Untouched(error) | ReplaceError::Unknown(error) => Self::Disk(error),
        }
    }
}
