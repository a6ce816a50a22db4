//! The file system of the machine.
//!
//! Every call goes through a handle of the directory, which is opened once. Assumes Linux, or a
//! system that has `flock` and `openat`, and a local file system.

use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::{self, AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::access::Access;
use super::files::{Files, LOCK, Lock, READ_MAX};
use super::record::{LockMark, StoreId};

/// A directory of the machine.
#[derive(Debug)]
pub(super) struct RealFiles {
    path: PathBuf,
    directory: Option<OwnedFd>,
    lock: Option<File>,
    /// The file that was created last. It stays open until it is synced, because an error of a
    /// write is told only to a handle that was open when it happened.
    created: Option<(String, File)>,
}

impl Drop for RealFiles {
    /// Unlocks by itself: a process that was forked just now holds the lock file, too, until it runs
    /// another program.
    fn drop(&mut self) {
        if let Some(file) = &self.lock {
            // Closing the file unlocks it as well, only later.
            let _ = fs::flock(file, FlockOperation::Unlock);
        }
    }
}

impl RealFiles {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), directory: None, lock: None, created: None }
    }

    /// Opens the directory unless it is open.
    fn directory(&mut self) -> io::Result<&OwnedFd> {
        if self.directory.is_none() {
            self.directory = Some(fs::open(&self.path, DIRECTORY_FLAGS, Mode::empty())?);
        }
        self.directory.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn open(&mut self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(File::from(fs::openat(self.directory()?, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    fn held_lock(&self) -> io::Result<&File> {
        self.lock.as_ref().ok_or_else(|| io::Error::other("the lock file is not open"))
    }
}

impl Files for RealFiles {
    fn list(&mut self) -> io::Result<Option<Vec<String>>> {
        let directory = match self.directory() {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in Dir::read_from(directory)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort();
        Ok(Some(names))
    }

    fn access(&mut self, name: Option<&str>) -> io::Result<Access> {
        let directory = self.directory()?;
        let found = match name {
            Some(name) => fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?,
            None => fs::fstat(directory)?,
        };
        let user = rustix::process::geteuid().as_raw();
        Ok(Access { owner: found.st_uid, mode: found.st_mode, user })
    }

    fn make_directory(&mut self) -> io::Result<()> {
        match fs::mkdir(&self.path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => self.directory().map(|_| ()),
            Err(error) => Err(error.into()),
        }
    }

    fn sync_parent(&mut self) -> io::Result<()> {
        let directory = self.directory()?;
        match fs::openat(directory, "..", DIRECTORY_FLAGS, Mode::empty()) {
            Ok(parent) => Ok(fs::fsync(parent)?),
            // A user who may not read the parent can still sync all of the file system.
            Err(Errno::ACCESS) => sync_file_system(directory),
            Err(error) => Err(error.into()),
        }
    }

    fn lock(&mut self) -> io::Result<Lock> {
        let file = self.open(LOCK, OFlags::RDWR | OFlags::CREATE)?;
        match fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(Lock::Busy { pid: noted_pid(&file) }),
            Err(error) => return Err(error.into()),
        }
        let metadata = file.metadata()?;
        self.lock = Some(file);
        Ok(Lock::Held { mark: mark(&metadata), has_note: metadata.len() > 0 })
    }

    fn lock_mark(&mut self) -> io::Result<Option<LockMark>> {
        match self.open(LOCK, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(file) => Ok(Some(mark(&file.metadata()?))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn note_holder(&mut self) -> io::Result<()> {
        let file = self.held_lock()?;
        let note = format!("{}\n", std::process::id());
        file.write_all_at(note.as_bytes(), 0)?;
        file.set_len(note.len() as u64)
    }

    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        // Without NONBLOCK, opening a pipe of that name would wait for its writer.
        let file = match self.open(name, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(READ_MAX).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn create(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.open(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
        file.write_all(bytes)?;
        self.created = Some((name.to_owned(), file));
        Ok(())
    }

    fn sync_file(&mut self, name: &str) -> io::Result<()> {
        if name == LOCK {
            return self.held_lock()?.sync_all();
        }
        match self.created.take() {
            Some((created, file)) if created == name => file.sync_all(),
            Some(_) | None => Err(io::Error::other("the file was not created by this process")),
        }
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let directory = self.directory()?;
        Ok(fs::renameat(directory, from, directory, to)?)
    }

    fn sync_directory(&mut self) -> io::Result<()> {
        Ok(fs::fsync(self.directory()?)?)
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        Ok(fs::unlinkat(self.directory()?, name, AtFlags::empty())?)
    }

    fn draw_id(&mut self) -> io::Result<StoreId> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(StoreId(id))
    }
}

fn mark(metadata: &Metadata) -> LockMark {
    let born = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let born = born.and_then(|age| u64::try_from(age.as_nanos()).ok());
    LockMark { inode: metadata.ino(), born }
}

/// The process that is noted in a lock file, if a number can be read there.
fn noted_pid(file: &File) -> Option<u32> {
    let mut bytes = [0; 16];
    let length = file.read_at(&mut bytes, 0).ok()?;
    str::from_utf8(&bytes[..length]).ok()?.trim().parse().ok()
}

#[cfg(target_os = "linux")]
fn sync_file_system(directory: &OwnedFd) -> io::Result<()> {
    Ok(fs::syncfs(directory.as_fd())?)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(directory: &OwnedFd) -> io::Result<()> {
    Ok(fs::fsync(directory.as_fd())?)
}

const DIRECTORY_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
