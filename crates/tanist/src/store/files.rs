//! The few things that the store asks of a file system: a seam for tests.
//!
//! One `Files` stands for one directory and what is in it. Files are called by name, so that the
//! store stays with the directory that it locked even if another one takes over its path.

use std::fmt;
use std::io;

use super::access::Access;
use super::record::{LockMark, StoreId};

/// What can be done in the directory of a store. Nothing survives power loss until it is synced.
pub(super) trait Files: fmt::Debug + Send {
    /// The names in the directory, in order. None: there is no directory.
    fn list(&mut self) -> io::Result<Option<Vec<String>>>;

    /// Who may write the directory, or a file in it.
    fn access(&mut self, name: Option<&str>) -> io::Result<Access>;

    /// Makes the directory, for its owner alone. One that was made meanwhile will do.
    fn make_directory(&mut self) -> io::Result<()>;

    /// Makes the directory itself survive, as an entry of its parent.
    fn sync_parent(&mut self) -> io::Result<()>;

    /// Locks the lock file for as long as this value lives; makes it if it is missing.
    fn lock(&mut self) -> io::Result<Lock>;

    /// Which file the lock file is, without locking it. None: there is no lock file.
    fn lock_mark(&mut self) -> io::Result<Option<LockMark>>;

    /// Writes into the lock file who holds it. For people only, so it need not survive.
    fn note_holder(&mut self) -> io::Result<()>;

    /// The content of a file. None: there is no such file. A file that is longer than any record
    /// is cut off behind [`READ_MAX`] bytes, which no record is.
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Makes a file that was not there, for its owner alone, and writes all of it.
    fn create(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Makes the content of a file survive: the one that was created last, or the lock file.
    fn sync_file(&mut self, name: &str) -> io::Result<()>;

    /// Puts a file in the place of another one, at once.
    fn rename(&mut self, from: &str, to: &str) -> io::Result<()>;

    /// Makes creations, renames and removals survive.
    fn sync_directory(&mut self) -> io::Result<()>;

    /// Removes a file.
    fn remove(&mut self, name: &str) -> io::Result<()>;

    /// A name for a new store that no other store has. Here, so that tests can repeat it.
    fn draw_id(&mut self) -> io::Result<StoreId>;
}

/// What an attempt to lock gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lock {
    /// The lock is ours.
    Held {
        /// Which file it is.
        mark: LockMark,
        /// Whether a holder was ever noted in it: then a store was complete here.
        has_note: bool,
    },
    /// Another process holds it.
    Busy {
        /// The process that is noted in it.
        pid: Option<u32>,
    },
}

/// The file that is locked.
pub(super) const LOCK: &str = "lock";
/// The file of the identity.
pub(super) const IDENTITY: &str = "identity";
/// The file of the counter.
pub(super) const COUNTER: &str = "counter";

/// The name under which a record is written before it takes its place.
pub(super) fn temporary(name: &str) -> String {
    format!("{name}.new")
}

/// Longer than any record, short enough to be read whatever the file is.
pub(super) const READ_MAX: u64 = 4096;
