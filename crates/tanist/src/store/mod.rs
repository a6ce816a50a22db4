//! What survives a crash: the counter from which a node's group numbers come.
//!
//! A group number must never be used twice, so the store never silently goes back. A record is
//! replaced as a whole, and a save returns only when it would survive power loss. Because of that a
//! crash leaves the old record or the new one and nothing between, so *any* damage comes from
//! elsewhere and is refused, never guessed.
//!
//! ```text
//! DIR/lock       made once, never replaced; locked for the life of a Store
//! DIR/identity   what the store is bound to: node, group, this very lock file
//! DIR/counter    the highest counter that may have been used; replaced by every save
//! ```
//!
//! Assumes a local file system whose rename is atomic and whose fsync tells the truth.
//!
//! Leaves out what no store can see alone: an image of the whole disk, or a snapshot of the file
//! system, that is rolled back. Every file in it is right, and all are old. Peers remember the
//! numbers that they have seen; asking them is not done here.

mod access;
mod directory;
mod error;
mod files;
mod opening;
mod real_files;
#[doc(hidden)]
pub mod record;
#[cfg(test)]
mod tests;
mod versions;

use std::path::Path;

use tanist_core::group::Counter;
use tanist_core::{NodeId, NodeRecord};

pub use self::error::{DiskError, OpenError, SaveError};
#[doc(hidden)]
pub use self::versions::Versions;

use self::directory::{Directory, ReplaceError};
use self::files::COUNTER;
use self::real_files::RealFiles;
use self::record::{CounterRecord, Record};

/// A store that is open and locked: no other process can open it until this is dropped.
#[derive(Debug)]
pub struct Store {
    directory: Directory,
    /// What the disk holds. A counter of 0 stands for: no number was ever handed out.
    saved: CounterRecord,
    /// The version in which it is replaced.
    version: u16,
    /// Set when a save failed. The kernel may drop what it could not write and then report
    /// success, so a failed save is never tried again.
    is_poisoned: bool,
}

/// What opening gives.
#[derive(Debug)]
pub struct Opened {
    /// The store.
    pub store: Store,
    /// Whether it was made just now, so that it can know nothing about earlier numbers.
    pub is_new: bool,
}

/// What a store holds after it was adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adopted {
    /// The counter of the copy; the original may have gone further after the copy was made.
    pub counter: Option<Counter>,
    /// How many saves led to it.
    pub saves: u64,
    /// Whether it was a copy. If not, nothing was changed.
    pub was_copy: bool,
}

impl Store {
    /// Opens the store of `node` in the group of that name, or makes one where there is none.
    ///
    /// The directory is made if it is missing; its parent is not, because a missing parent is more
    /// often a disk that is not mounted than a wish.
    pub fn open(directory: &Path, node: NodeId, group: &str) -> Result<Opened, OpenError> {
        let files = RealFiles::new(directory);
        opening::open(Directory::new(directory, files), node, group, Versions::current())
    }

    /// The same as another release would do it.
    #[cfg(feature = "test-versions")]
    #[doc(hidden)]
    pub fn open_as(
        directory: &Path,
        node: NodeId,
        group: &str,
        versions: Versions,
    ) -> Result<Opened, OpenError> {
        opening::open(Directory::new(directory, RealFiles::new(directory)), node, group, versions)
    }

    /// Whether [`Store::open`] would find a store there that is whole and this node's own, or could
    /// make one. Changes nothing, and does not ask whether another process has it open.
    pub fn check(directory: &Path, node: NodeId, group: &str) -> Result<(), OpenError> {
        let files = RealFiles::new(directory);
        opening::inspect(Directory::new(directory, files), node, group, Versions::current())
    }

    /// Makes a copied or restored store this node's own again.
    ///
    /// To be called when the operator has said that the original is gone. What is damaged, mixed
    /// or another node's is refused as by [`Store::open`].
    pub fn adopt(directory: &Path, node: NodeId, group: &str) -> Result<Adopted, OpenError> {
        let files = RealFiles::new(directory);
        opening::adopt(Directory::new(directory, files), node, group, Versions::current())
    }

    /// The highest counter that this node may have used. None: no number was ever handed out.
    #[must_use]
    pub const fn counter(&self) -> Option<Counter> {
        self.saved.handed_out()
    }

    /// What this node has saved; the default if it never saved anything.
    #[must_use]
    pub const fn record(&self) -> NodeRecord {
        self.saved.record()
    }

    /// Keeps a record. Returns only when it would survive power loss.
    ///
    /// After [`SaveError::Unwritten`] the old counter is there, and a later save may succeed. After
    /// [`SaveError::Disk`] the old counter or this one may be there, and every later save fails:
    /// the caller must drop the store and open it again.
    pub fn save(&mut self, record: impl Into<NodeRecord>) -> Result<(), SaveError> {
        let record = record.into();
        let counter = record.counter;
        if self.is_poisoned {
            return Err(SaveError::Poisoned { directory: self.directory().to_owned() });
        }
        if counter == Counter(u64::MAX) {
            return Err(SaveError::Exhausted);
        }
        if counter.0 < self.saved.counter {
            return Err(SaveError::Backwards { held: self.saved.counter, asked: counter.0 });
        }
        if record == self.saved.record() {
            return Ok(());
        }
        let next = self.saved.followed_by(&record);
        let bytes = Record::Counter(next).encode_as(self.version);
        match self.directory.replace(COUNTER, &bytes) {
            Ok(()) => {
                self.saved = next;
                Ok(())
            }
            Err(ReplaceError::Untouched(error)) => Err(SaveError::Unwritten(error)),
            Err(ReplaceError::Unknown(error)) => {
                self.is_poisoned = true;
                Err(SaveError::Disk(error))
            }
        }
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }
}
