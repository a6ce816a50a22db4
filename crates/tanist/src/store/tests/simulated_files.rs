//! [`Files`] on a simulated disk: every operation is kept, may fail, and may be broken on purpose.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::access::Access;
use super::super::files::{Files, LOCK, Lock};
use super::super::record::{LockMark, StoreId};
use super::simulated_disk::Disk;

/// A machine with one disk. Clones are the same machine.
#[derive(Clone, Debug)]
pub(super) struct SimulatedFiles {
    machine: Arc<Mutex<Machine>>,
}

#[derive(Debug)]
struct Machine {
    disk: Disk,
    /// The disk before each operation.
    history: Vec<Disk>,
    breakage: Breakage,
    failure: Option<Failure>,
    /// Whether something was renamed since the directory was synced.
    has_renamed: bool,
}

/// A rule of the store, broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breakage {
    /// Nothing is broken.
    Nothing,
    /// A record takes its place before its content is safe.
    SkipFileSync,
    /// A save returns before its rename is safe.
    SkipDirectorySync,
    /// A new directory is filled, and its parent never told.
    SkipParentSync,
    /// What a killed process left unsynced is believed.
    SkipSyncOnOpen,
    /// A record is overwritten where it is.
    WriteInPlace,
}

/// One operation that fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    /// Which one, counted from 0.
    pub(super) at: usize,
    /// What the system says.
    pub(super) kind: io::ErrorKind,
    /// Whether it was done all the same.
    pub(super) is_done: bool,
}

impl SimulatedFiles {
    pub(super) fn new(disk: Disk, breakage: Breakage) -> Self {
        let machine =
            Machine { disk, history: Vec::new(), breakage, failure: None, has_renamed: false };
        Self { machine: Arc::new(Mutex::new(machine)) }
    }

    /// Lets one operation fail, counted from the next one.
    pub(super) fn fail(&self, failure: Failure) {
        let mut machine = self.machine();
        let at = machine.history.len() + failure.at;
        machine.failure = Some(Failure { at, ..failure });
    }

    pub(super) fn disk(&self) -> Disk {
        self.machine().disk.clone()
    }

    /// The disk before each operation since the last call.
    pub(super) fn take_history(&self) -> Vec<Disk> {
        std::mem::take(&mut self.machine().history)
    }

    fn machine(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One operation: kept, done, and perhaps failed. `part` is what a failure does that leaves
    /// neither nothing nor all.
    fn operate<T>(
        &self,
        part: impl FnOnce(&mut Disk),
        whole: impl FnOnce(&mut Machine) -> T,
    ) -> io::Result<T> {
        let mut machine = self.machine();
        let at = machine.history.len();
        let before = machine.disk.clone();
        machine.history.push(before);
        match machine.failure {
            Some(failure) if failure.at == at => {
                if failure.is_done {
                    whole(&mut machine);
                } else {
                    part(&mut machine.disk);
                }
                Err(failure.kind.into())
            }
            Some(_) | None => Ok(whole(&mut machine)),
        }
    }
}

impl Files for SimulatedFiles {
    fn list(&mut self) -> io::Result<Option<Vec<String>>> {
        self.operate(nothing, |machine| machine.disk.has_directory.then(|| machine.disk.names()))
    }

    fn access(&mut self, _: Option<&str>) -> io::Result<Access> {
        self.operate(nothing, |_| Access { owner: 7, mode: 0o700, user: 7 })
    }

    fn make_directory(&mut self) -> io::Result<()> {
        self.operate(nothing, |machine| machine.disk.has_directory = true)
    }

    fn sync_parent(&mut self) -> io::Result<()> {
        self.operate(nothing, |machine| {
            machine.disk.has_directory_synced |= machine.breakage != Breakage::SkipParentSync;
        })
    }

    fn lock(&mut self) -> io::Result<Lock> {
        self.operate(nothing, |machine| {
            machine.disk.write(LOCK, &[]);
            let inode = machine.disk.inode(LOCK).expect("it was made") as u64;
            let has_note = machine.disk.read(LOCK).is_some_and(|note| !note.is_empty());
            Lock::Held { mark: LockMark { inode, born: None }, has_note }
        })
    }

    fn lock_mark(&mut self) -> io::Result<Option<LockMark>> {
        self.operate(nothing, |machine| {
            let inode = machine.disk.inode(LOCK)? as u64;
            Some(LockMark { inode, born: None })
        })
    }

    fn note_holder(&mut self) -> io::Result<()> {
        self.operate(nothing, |machine| machine.disk.write(LOCK, b"7\n"))
    }

    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.operate(nothing, |machine| machine.disk.read(name))
    }

    fn create(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let half = |disk: &mut Disk| disk.write(name, &bytes[..bytes.len() / 2]);
        self.operate(half, |machine| {
            let place = machine.place(name).to_owned();
            let is_new = machine.disk.inode(&place).is_none();
            assert!(is_new || machine.breakage == Breakage::WriteInPlace, "{name} was there");
            machine.disk.write(&place, bytes);
        })
    }

    fn sync_file(&mut self, name: &str) -> io::Result<()> {
        self.operate(
            |disk| disk.forget(name),
            |machine| {
                let place = machine.place(name).to_owned();
                if machine.breakage != Breakage::SkipFileSync {
                    machine.disk.sync_file(&place);
                }
            },
        )
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.operate(nothing, |machine| {
            if machine.breakage != Breakage::WriteInPlace {
                machine.disk.rename(from, to);
            }
            machine.has_renamed = true;
        })
    }

    fn sync_directory(&mut self) -> io::Result<()> {
        self.operate(nothing, |machine| {
            let is_skipped = match machine.breakage {
                Breakage::SkipDirectorySync => true,
                Breakage::SkipSyncOnOpen => !machine.has_renamed,
                Breakage::Nothing
                | Breakage::SkipFileSync
                | Breakage::SkipParentSync
                | Breakage::WriteInPlace => false,
            };
            if !is_skipped {
                machine.disk.sync_directory();
            }
            machine.has_renamed = false;
        })
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.operate(nothing, |machine| machine.disk.remove(name))
    }

    fn draw_id(&mut self) -> io::Result<StoreId> {
        // Another one whenever a file was made since.
        self.operate(nothing, |machine| StoreId([0x40 + machine.disk.inodes() as u8; 16]))
    }
}

impl Machine {
    /// Where a temporary file is written.
    fn place<'a>(&self, name: &'a str) -> &'a str {
        if self.breakage == Breakage::WriteInPlace {
            name.strip_suffix(".new").unwrap_or(name)
        } else {
            name
        }
    }
}

fn nothing(_: &mut Disk) {}
