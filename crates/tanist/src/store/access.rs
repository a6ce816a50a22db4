//! Who else may write the directory of a store.
//!
//! A user who can write there can set the counter back, and then a group number is used twice. So a
//! directory or a file that is writable for its group or for all, or that belongs to another user
//! than this process, is refused with the command that mends it. Root may own it: root can write
//! everywhere in any case.

use std::path::PathBuf;

use super::directory::Directory;
use super::error::OpenError;
use super::files::{COUNTER, IDENTITY, LOCK};

/// What the system says about a directory or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// The user that it belongs to.
    pub(super) owner: u32,
    /// Its permissions.
    pub(super) mode: u32,
    /// The user that asks.
    pub(super) user: u32,
}

/// Refuses a directory with these names in it if another user may write it, or one of its files.
pub(super) fn check(directory: &mut Directory, names: &[String]) -> Result<(), OpenError> {
    let access = directory.access(None)?;
    judge(access, directory.path().to_owned(), 0o700)?;
    for name in [LOCK, IDENTITY, COUNTER] {
        if names.iter().any(|found| found == name) {
            let access = directory.access(Some(name))?;
            judge(access, directory.path_of(name), 0o600)?;
        }
    }
    Ok(())
}

fn judge(access: Access, path: PathBuf, wanted: u32) -> Result<(), OpenError> {
    let Access { owner, mode, user } = access;
    if owner != user && owner != ROOT {
        return Err(OpenError::Owner { path, owner, user });
    }
    if mode & WRITABLE_BY_OTHERS != 0 {
        return Err(OpenError::Writable { path, mode: mode & 0o7777, wanted });
    }
    Ok(())
}

const ROOT: u32 = 0;
const WRITABLE_BY_OTHERS: u32 = 0o022;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_and_root_may_write() {
        let judged = |owner, mode, user| {
            judge(Access { owner, mode, user }, PathBuf::from("/data"), 0o700).is_ok()
        };
        assert!(judged(1000, 0o40700, 1000));
        assert!(judged(1000, 0o40755, 1000), "others may look");
        assert!(judged(0, 0o40755, 1000), "root may own it");
        assert!(!judged(1001, 0o40700, 1000));
        assert!(!judged(1000, 0o40700, 0), "also if root asks");
        assert!(!judged(1000, 0o40720, 1000));
        assert!(!judged(1000, 0o40702, 1000));
        assert!(!judged(0, 0o41777, 0), "a sticky bit does not keep others from making files");
    }
}
