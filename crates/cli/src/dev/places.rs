//! Where agents and groups on this machine are found.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
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

/// Where a group that `tanist dev` runs under this name is found.
pub(crate) fn dev(name: &str) -> anyhow::Result<PathBuf> {
    let name = if name == DEV { DEV.to_owned() } else { format!("{DEV}-{name}") };
    Ok(runtime()?.join(name))
}

/// The directory of the local group that the user means: the one named, else the one of the usual
/// name, else the only one that runs.
pub(crate) fn local_group(given: Option<&str>) -> anyhow::Result<PathBuf> {
    if let Some(name) = given {
        return dev(name);
    }
    let running = running()?;
    match running.as_slice() {
        [only] => dev(only),
        names if names.is_empty() || names.iter().any(|name| name == DEV) => dev(DEV),
        names => {
            let names = names.join(", ");
            let what = format!(
                "several local groups run: {names}; name one, as in `tanist dev heal --name NAME` \
                 or `tanist members --node NAME/n1`"
            );
            Err(Problem::Usage(what).into())
        }
    }
}

/// The names of the local groups that take orders.
fn running() -> anyhow::Result<Vec<String>> {
    let mut names: Vec<String> = fs::read_dir(runtime()?)?
        .flatten()
        .filter(|entry| UnixStream::connect(entry.path().join(ORDERS)).is_ok())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter_map(|file| match file.strip_prefix(DEV)? {
            "" => Some(DEV.to_owned()),
            rest => rest.strip_prefix('-').map(str::to_owned),
        })
        .collect();
    names.sort();
    Ok(names)
}

/// The socket of a node in a directory of a group.
pub(crate) fn socket_of(directory: &Path, node: &str) -> PathBuf {
    directory.join(format!("{node}.sock"))
}

/// The name of a local group whose user gives it none.
pub(crate) const DEV: &str = "dev";

/// The socket in a group's directory that takes orders for the group.
pub(crate) const ORDERS: &str = "dev.sock";
