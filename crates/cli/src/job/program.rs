//! Whether a command can be started, checked before waiting for leadership.
//!
//! It only saves a long wait for a misspelt name: a command may still go away until it is started,
//! and then `become_command` in keeper.rs tells the same.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Why a command cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    /// Nothing has that name.
    #[error(
        "error: there is no command `{0}`, so there is nothing to run when this node leads. \
         Check the spelling and PATH"
    )]
    NotFound(String),
    /// It is a directory, or not executable.
    #[error(
        "error: {0} cannot be executed, so there is nothing to run when this node leads. \
         Check that it is a program and that you may execute it: ls -l {0}"
    )]
    NotExecutable(String),
}

/// Looks for a command as `exec` will.
pub(crate) fn check(command: &OsStr) -> Result<(), Unusable> {
    check_along(command, env::var_os("PATH").as_deref())
}

fn check_along(command: &OsStr, path: Option<&OsStr>) -> Result<(), Unusable> {
    let name = command.to_string_lossy().into_owned();
    let places: Vec<PathBuf> = if command.as_bytes().contains(&b'/') {
        vec![PathBuf::from(command)]
    } else {
        let path = path.unwrap_or_else(|| OsStr::new(PATH));
        env::split_paths(path).map(|directory| directory.join(command)).collect()
    };
    if !command.is_empty() && places.iter().any(|place| is_executable(place)) {
        return Ok(());
    }
    match places.iter().find(|place| !command.is_empty() && place.exists()) {
        Some(place) => Err(Unusable::NotExecutable(place.display().to_string())),
        None => Err(Unusable::NotFound(name)),
    }
}

fn is_executable(place: &Path) -> bool {
    place.is_file() && access(place, Access::EXEC_OK).is_ok()
}

/// Where `exec` looks without a PATH.
const PATH: &str = "/bin:/usr/bin";

#[cfg(test)]
mod tests {
    use super::*;

    fn look(command: &str, path: &str) -> Result<(), Unusable> {
        check_along(OsStr::new(command), Some(OsStr::new(path)))
    }

    #[test]
    fn a_command_is_found_along_the_path_or_where_it_is_named() {
        assert_eq!(look("sh", "/nowhere:/bin"), Ok(()));
        assert_eq!(look("/bin/sh", "/nowhere"), Ok(()));
        assert_eq!(look("sh", "/nowhere"), Err(Unusable::NotFound("sh".to_owned())));
        assert_eq!(look("", "/bin"), Err(Unusable::NotFound(String::new())));
    }

    #[test]
    fn a_directory_and_a_plain_file_cannot_be_executed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().display().to_string();
        assert_eq!(look(&path, ""), Err(Unusable::NotExecutable(path.clone())));
        std::fs::write(directory.path().join("plain"), "").unwrap();
        let plain = format!("{path}/plain");
        assert_eq!(look("plain", &path), Err(Unusable::NotExecutable(plain)));
    }
}
