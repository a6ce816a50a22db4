//! Where agents and groups on this machine are found.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::problem::Problem;

/// The directory of this user's own sockets and throw-away groups, made if it is not there.
pub(crate) fn runtime() -> anyhow::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let path = match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(base) if !base.is_empty() => PathBuf::from(base).join("tanist"),
        Some(_) | None => std::env::temp_dir().join(format!("tanist-{user}")),
    };
    private(&path)?;
    let owner = fs::symlink_metadata(&path)?.uid();
    if owner != user {
        let path = path.display();
        anyhow::bail!(
            "error: {path} belongs to another user; set XDG_RUNTIME_DIR to a directory of your own"
        );
    }
    Ok(path)
}

/// Makes a directory that no other user can look into.
pub(crate) fn private(path: &Path) -> anyhow::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("error: cannot make {}", path.display()))
}

/// The directory of the group that `tanist dev` runs.
pub(crate) fn dev() -> anyhow::Result<PathBuf> {
    Ok(runtime()?.join("dev"))
}

/// The socket of a node in a directory of a group.
pub(crate) fn socket_of(directory: &Path, node: &str) -> PathBuf {
    directory.join(format!("{node}.sock"))
}

/// The agent that the user means: the socket given, or a node of the group that `tanist dev` runs.
pub(crate) fn socket(given: Option<&Path>, node: Option<&str>) -> anyhow::Result<PathBuf> {
    if let Some(path) = given {
        return Ok(path.to_owned());
    }
    let directory = dev()?;
    if let Some(node) = node {
        return Ok(socket_of(&directory, node));
    }
    let mut sockets: Vec<PathBuf> = fs::read_dir(&directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "sock"))
        .filter(|path| path.file_name().is_some_and(|name| name != "dev.sock"))
        .collect();
    sockets.sort();
    let alive =
        sockets.into_iter().find(|path| std::os::unix::net::UnixStream::connect(path).is_ok());
    alive.ok_or_else(|| {
        let what = "no agent is running here. Start a local group with `tanist dev`, or name the \
                    socket of an agent with --socket";
        Problem::Unreachable(what.to_owned()).into()
    })
}
