//! Whether a program may be run for a node: only the system's administrator and the agent's own
//! user can have put it there.
//!
//! Every directory on the way to it is looked at as well, and every link that is followed, since
//! a user who can write to one of them can put another program in its place. Checked before every
//! run: between two runs anything may have changed. Not looked at: the interpreter that a script
//! names, and what the program itself reads.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why a program is not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// A relative path means another program in every directory.
    #[error("{0} is not run: it is no absolute path. Write the whole path, from / on")]
    NotAbsolute(PathBuf),
    /// It is not there, or cannot be looked at.
    #[error("{path} is not run: {error}. Check the path, and that the agent's user may go there")]
    Unreadable {
        /// The part of the path that is missing.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It is a directory, a socket or so.
    #[error("{0} is not run: it is no file. Name a program")]
    NotAFile(PathBuf),
    /// Another user could change it.
    #[error(
        "{path} is not run: it belongs to user {owner}, who is neither root nor the agent's user \
         and could change what is run. Correct it: chown root {path}"
    )]
    Owner {
        /// The file, or a directory on the way to it.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// Any user could change it.
    #[error(
        "{path} is not run: others than its owner can write to it (mode {mode:o}) and could \
         change what is run. Correct it: chmod go-w {path}"
    )]
    Writable {
        /// The file, or a directory on the way to it.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A link leads to itself.
    #[error("{0} is not run: too many links lead to it. Name the file itself")]
    Links(PathBuf),
}

/// Whether a program may be run on behalf of this user.
pub(crate) fn check(path: &Path, user: u32) -> Result<(), Refusal> {
    if !path.is_absolute() {
        return Err(Refusal::NotAbsolute(path.to_owned()));
    }
    let mut way = path.to_owned();
    for _ in 0..LINKS_MAX {
        match follow(&way, user)? {
            Some(next) => way = next,
            None => return Ok(()),
        }
    }
    Err(Refusal::Links(path.to_owned()))
}

/// Looks at everything on the way to a file. At the first link it stops and says where that leads.
fn follow(path: &Path, user: u32) -> Result<Option<PathBuf>, Refusal> {
    let mut here = PathBuf::new();
    let mut parts = path.components();
    let mut is_file = false;
    while let Some(part) = parts.next() {
        let before = here.clone();
        here.push(part);
        let fail = |error| Refusal::Unreadable { path: here.clone(), error };
        let seen = fs::symlink_metadata(&here).map_err(fail)?;
        if seen.is_symlink() {
            let target = fs::read_link(&here).map_err(fail)?;
            return Ok(Some(before.join(target).join(parts.as_path())));
        }
        judge(&here, &seen, user)?;
        is_file = seen.is_file();
    }
    if is_file { Ok(None) } else { Err(Refusal::NotAFile(path.to_owned())) }
}

fn judge(path: &Path, seen: &Metadata, user: u32) -> Result<(), Refusal> {
    let path = path.to_owned();
    if seen.uid() != ROOT && seen.uid() != user {
        return Err(Refusal::Owner { path, owner: seen.uid() });
    }
    // A sticky directory such as /tmp keeps others from removing a file, and not from making one
    // where there was none.
    if seen.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err(Refusal::Writable { path, mode: seen.mode() & 0o7777 });
    }
    Ok(())
}

const ROOT: u32 = 0;
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// As many as the system itself follows.
const LINKS_MAX: usize = 40;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// Everything under /tmp is refused for /tmp's sake.
    fn scratch() -> tempfile::TempDir {
        tempfile::tempdir_in(std::env::var_os("HOME").unwrap()).unwrap()
    }

    fn script(directory: &Path, mode: u32) -> PathBuf {
        let path = directory.join("hook");
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn me() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn a_file_that_its_group_or_anybody_can_write_to_is_refused() {
        let home = scratch();
        assert!(check(&script(home.path(), 0o755), me()).is_ok());
        for mode in [0o775, 0o757, 0o777] {
            let refused = check(&script(home.path(), mode), me());
            assert!(matches!(refused, Err(Refusal::Writable { .. })), "{mode:o}: {refused:?}");
        }
    }

    #[test]
    fn a_file_in_a_directory_that_anybody_can_write_to_is_refused_even_if_it_is_sticky() {
        let home = scratch();
        let path = script(home.path(), 0o755);
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(matches!(check(&path, me()), Err(Refusal::Writable { .. })));
    }

    #[test]
    fn a_link_from_a_safe_place_into_an_open_one_is_refused() {
        let (safe, open) = (scratch(), scratch());
        let target = script(open.path(), 0o755);
        fs::set_permissions(open.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let link = safe.path().join("link");
        symlink(&target, &link).unwrap();
        let refused = check(&link, me()).unwrap_err();
        assert!(matches!(refused, Refusal::Writable { .. }), "{refused}");
    }

    #[test]
    fn a_file_of_somebody_else_is_refused() {
        let home = scratch();
        let path = script(home.path(), 0o755);
        let seen = fs::symlink_metadata(&path).unwrap();
        let stranger = me() + 1;
        // Root's files may be run by every user.
        let is_fine = judge(&path, &seen, stranger).is_ok();
        assert_eq!(is_fine, me() == ROOT);
    }

    #[test]
    fn what_is_not_there_or_no_file_or_relative_or_a_circle_is_refused() {
        let home = scratch();
        assert!(matches!(check(Path::new("hook"), me()), Err(Refusal::NotAbsolute(_))));
        let missing = check(&home.path().join("nothing"), me());
        assert!(missing.is_err());
        let circle = home.path().join("circle");
        symlink(&circle, &circle).unwrap();
        assert!(check(&circle, me()).is_err());
        assert!(matches!(follow(Path::new("/"), me()), Err(Refusal::NotAFile(_))));
    }
}
