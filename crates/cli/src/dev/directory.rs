//! The directory of a throw-away group, and the lock that keeps a second group of that name out.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use super::places;
use crate::problem::Problem;

/// Where the nodes of a throw-away group write. A temporary one is removed when this is dropped;
/// one that the user named stays.
#[derive(Debug)]
pub(crate) struct DevDirectory {
    pub(crate) path: PathBuf,
    /// Whether its files stay when the group ends.
    pub(crate) is_kept: bool,
    /// Where commands look for the group: the directory itself, or a link to it.
    known: PathBuf,
    _lock: File,
}

impl DevDirectory {
    /// Takes the directory of a name, unless another group has it; the files go to `kept`, if given.
    pub(crate) fn take(name: &str, kept: Option<&Path>) -> anyhow::Result<Self> {
        let known = places::dev(name)?;
        let lock = File::create(known.with_extension("lock"))?;
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            let what = format!(
                "a local group called `{name}` is running already; end it with Ctrl-C in its \
                 terminal, or give this one another name with --name"
            );
            return Err(Problem::Refused(what).into());
        }
        // The lock is free, so what is there was left behind.
        remove(&known)?;
        let path = match kept {
            None => {
                places::private(&known)?;
                known.clone()
            }
            Some(kept) => {
                let kept = claim(kept)?;
                symlink(&kept, &known)?;
                kept
            }
        };
        let directory = Self { path, is_kept: kept.is_some(), known, _lock: lock };
        directory.has_room_for_sockets()?;
        Ok(directory)
    }

    /// A socket that cannot be made would show only as a node that does not start.
    fn has_room_for_sockets(&self) -> Result<(), Problem> {
        let length = self.path.as_os_str().len();
        if length > PATH_MAX {
            let path = self.path.display();
            return Err(Problem::Usage(format!(
                "{path} has {length} bytes, too many for sockets in it; name a directory of at \
                 most {PATH_MAX} bytes with --dir"
            )));
        }
        Ok(())
    }
}

impl Drop for DevDirectory {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next group of this name.
        let _ = remove(&self.known);
    }
}

/// Makes the directory that the user named, which must have nothing in it.
fn claim(path: &Path) -> anyhow::Result<PathBuf> {
    places::private(path)?;
    let path = path.canonicalize()?;
    if fs::read_dir(&path)?.next().is_some() {
        let path = path.display();
        let what = format!("{path} is not empty; name a directory that is empty or does not exist");
        return Err(Problem::Usage(what).into());
    }
    Ok(path)
}

/// Removes a directory with all that is in it, or a link and nothing behind it.
fn remove(path: &Path) -> std::io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(seen) if seen.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

/// Linux has 107 bytes for the path of a socket; the longest name here is /n200.sock.
const PATH_MAX: usize = 107 - 10;
