//! Files with secrets: only the user of this process, and root, can have written or read them.
//!
//! What is checked is the file that is open, so that another one cannot take its place between the
//! check and the reading. Not checked: the directories on the way (a user who can replace the file
//! cannot make one that belongs to this user), and access control lists, which the mode's group
//! bits bound.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::error::is_temporary;

/// Opens a file that holds a secret, and checks it.
///
/// # Errors
/// If it cannot be opened, or [`check`] refuses it.
pub fn open(path: &Path) -> Result<File, PrivateFileError> {
    let file = open_without_waiting(path)?;
    check(&file, path)?;
    Ok(file)
}

/// Opens a file that holds a secret in order to change it. The owner is not checked if this is root,
/// who puts files in order for the users of agents.
///
/// # Errors
/// If it cannot be opened, or is not a private file of this user's.
pub fn open_to_edit(path: &Path) -> Result<File, PrivateFileError> {
    match open(path) {
        Err(PrivateFileError::Owner { path, owner, user: ROOT }) => {
            let file = open_without_waiting(&path)?;
            judge(&file, &path, owner)?;
            Ok(file)
        }
        opened => opened,
    }
}

/// Checks an open file: a regular one, of this user or root, with no rights for others. The path is
/// for the error alone.
///
/// # Errors
/// If it is not such a file.
pub fn check(file: &File, path: &Path) -> Result<(), PrivateFileError> {
    judge(file, path, rustix::process::geteuid().as_raw())
}

/// A FIFO would otherwise hold up the start until another process opens its other end.
fn open_without_waiting(path: &Path) -> Result<File, PrivateFileError> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    file.map_err(|source| PrivateFileError::Open { path: path.to_owned(), source })
}

fn judge(file: &File, path: &Path, user: u32) -> Result<(), PrivateFileError> {
    let seen = file.metadata();
    let seen = seen.map_err(|source| PrivateFileError::Open { path: path.to_owned(), source })?;
    let facts = Facts { is_regular: seen.is_file(), owner: seen.uid(), mode: seen.mode() };
    facts.judge(path, user)
}

/// What the rule depends on.
#[derive(Clone, Copy, Debug)]
struct Facts {
    is_regular: bool,
    owner: u32,
    mode: u32,
}

impl Facts {
    fn judge(self, path: &Path, user: u32) -> Result<(), PrivateFileError> {
        let path = path.to_owned();
        if !self.is_regular {
            return Err(PrivateFileError::NotAFile { path });
        }
        // The owner can change the mode at any time, so the mode alone proves nothing.
        if self.owner != ROOT && self.owner != user {
            return Err(PrivateFileError::Owner { path, owner: self.owner, user });
        }
        let mode = self.mode & 0o777;
        if mode & OF_OTHERS != 0 {
            return Err(PrivateFileError::Exposed { path, mode });
        }
        Ok(())
    }
}

/// Why a file with a secret is not used.
#[derive(Debug, thiserror::Error)]
pub enum PrivateFileError {
    /// The system refused.
    #[error(
        "cannot read {}: {source}; check the path and its owner: ls -l {}",
        path.display(), path.display()
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A directory, a FIFO, a device or so.
    #[error("{} is not a regular file, so no secret is read from it; name a file", path.display())]
    NotAFile {
        /// What is there.
        path: PathBuf,
    },
    /// Another user can read and change it.
    #[error(
        "{} belongs to user {owner}, who can read and change it, so it is not used; it must belong \
         to user {user}, as whom this process runs, or to root; run: chown {user} {}",
        path.display(), path.display()
    )]
    Owner {
        /// The file.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// Others can read or change it.
    #[error(
        "others can read or change {} (mode {mode:03o}), so it is not used; run: chmod 600 {}",
        path.display(), path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
}

impl PrivateFileError {
    /// Whether the file system gave no answer at this moment: another try may succeed with the same
    /// file.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Open { source, .. } => is_temporary(source),
            Self::NotAFile { .. } | Self::Owner { .. } | Self::Exposed { .. } => false,
        }
    }
}

const ROOT: u32 = 0;
const OF_OTHERS: u32 = 0o077;

#[cfg(test)]
mod tests {
    use super::*;

    const ME: u32 = 1000;
    const GOOD: Facts = Facts { is_regular: true, owner: ME, mode: 0o100_600 };

    fn judge(facts: Facts) -> Result<(), PrivateFileError> {
        facts.judge(Path::new("/etc/tanist/group.key"), ME)
    }

    #[test]
    fn a_file_of_this_user_or_root_without_rights_for_others_is_good() {
        assert!(judge(GOOD).is_ok());
        assert!(judge(Facts { owner: ROOT, ..GOOD }).is_ok());
        assert!(judge(Facts { mode: 0o100_400, ..GOOD }).is_ok());
    }

    #[test]
    fn every_other_file_is_refused_with_the_command_that_mends_it() {
        let text = judge(Facts { owner: 1001, ..GOOD }).unwrap_err().to_string();
        assert!(text.contains("user 1001") && text.contains("chown 1000 /etc/"), "{text}");
        for mode in [0o640, 0o604, 0o620, 0o602, 0o610] {
            let text = judge(Facts { mode, ..GOOD }).unwrap_err().to_string();
            assert!(text.ends_with("chmod 600 /etc/tanist/group.key"), "{text}");
        }
        let text = judge(Facts { is_regular: false, ..GOOD }).unwrap_err().to_string();
        assert!(text.contains("not a regular file"), "{text}");
    }

    #[test]
    fn what_is_open_is_checked_and_a_directory_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(open(folder.path()), Err(PrivateFileError::NotAFile { .. })));
        let missing = open(&folder.path().join("none")).unwrap_err();
        assert!(matches!(missing, PrivateFileError::Open { .. }) && !missing.is_temporary());
    }
}
