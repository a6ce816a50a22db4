//! Unix sockets at which the agent answers: how one is bound, who may command through it, and that
//! nothing else is ever removed to make room for it.
//!
//! A socket that a killed agent left behind is replaced. Everything else at the path stays: a file,
//! a link, another user's socket, and a socket on which a process answers. The directory must be
//! one in which no other user can replace the socket: it belongs to this user or root, and others
//! cannot write to it, or it is sticky, as /tmp is. Not checked: the directories above it.

use std::fs::{self, FileType, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, fchmod};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// A socket that listens. Removed when it is dropped, unless something else has taken its place.
#[derive(Debug)]
pub(crate) struct LocalSocket {
    /// Removes the path when it is dropped. Before the listener: while that is open, no other file
    /// gets the number of its file.
    pub(crate) place: SocketPath,
    /// It does not block.
    pub(crate) listener: UnixListener,
}

/// Where a socket of ours is.
#[derive(Debug)]
pub(crate) struct SocketPath {
    path: PathBuf,
    /// Device and number of the file, which no other file has while the socket exists.
    id: (u64, u64),
}

impl Drop for SocketPath {
    fn drop(&mut self) {
        let is_ours = fs::symlink_metadata(&self.path).is_ok_and(|seen| id(&seen) == self.id);
        if is_ours {
            // If it is gone already, there is nothing to do.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Why a socket cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LocalSocketError {
    /// The system refused.
    #[error(
        "cannot listen on {}: {cause}; check that its directory exists: ls -ld {}",
        path.display(), directory_of(path).display()
    )]
    System {
        /// Where.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Other users could put a socket of their own in its place.
    #[error(
        "cannot listen on {}: others can write to {} (mode {mode:04o}) and could put a socket of \
         their own there; run: chmod go-w {}, or make it sticky",
        path.display(), directory_of(path).display(), directory_of(path).display()
    )]
    OpenDirectory {
        /// Where.
        path: PathBuf,
        /// The mode of its directory.
        mode: u32,
    },
    /// The same, because it is theirs.
    #[error(
        "cannot listen on {}: {} belongs to user {owner}, who could put another socket there; it \
         must belong to user {user}, as whom this process runs, or to root; run: chown {user} {}",
        path.display(), directory_of(path).display(), directory_of(path).display()
    )]
    DirectoryOwner {
        /// Where.
        path: PathBuf,
        /// Whose directory it is.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// Something is there that is no socket.
    #[error(
        "cannot listen on {}: there is a {found}, which is left as it is; name another path, or \
         move it away",
        path.display()
    )]
    NotASocket {
        /// Where.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// A socket of another user's.
    #[error(
        "cannot listen on {}: there is a socket of user {owner}, which is left as it is; name \
         another path, or remove it: rm {}",
        path.display(), path.display()
    )]
    SocketOwner {
        /// Where.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// A process has it.
    #[error(
        "cannot listen on {}: another process answers there; stop it (ss -lxp shows it), or name \
         another path",
        path.display()
    )]
    InUse {
        /// Where.
        path: PathBuf,
    },
}

impl LocalSocketError {
    /// Whether another try may succeed without any change.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::System { cause, .. } => tanist::is_temporary(cause),
            Self::InUse { .. } => true,
            Self::OpenDirectory { .. }
            | Self::DirectoryOwner { .. }
            | Self::NotASocket { .. }
            | Self::SocketOwner { .. } => false,
        }
    }
}

/// Whether a user may tell this agent what to do: its own, and root, who may do anything.
pub(crate) fn is_trusted(user: u32) -> bool {
    user == ROOT || user == me()
}

/// Listens at a path. Only this user can connect until the mode is widened.
pub(crate) fn bind(path: &Path) -> Result<LocalSocket, LocalSocketError> {
    let failed = |cause: io::Error| LocalSocketError::System { path: path.to_owned(), cause };
    let directory = fs::metadata(directory_of(path)).map_err(failed)?;
    judge_directory(path, directory.uid(), directory.mode(), me())?;
    clear(path)?;
    let listen = || {
        let address = SocketAddrUnix::new(path)?;
        let socket = new_socket()?;
        // Linux gives the file the mode of the socket, so that it never has a wider one.
        fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        rustix::net::bind(&socket, &address)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(UnixListener::from(socket))
    };
    let listener = listen().map_err(|error: Errno| failed(error.into()))?;
    let seen = fs::symlink_metadata(path).map_err(failed)?;
    Ok(LocalSocket { place: SocketPath { path: path.to_owned(), id: id(&seen) }, listener })
}

/// Removes what a killed agent left behind.
fn clear(path: &Path) -> Result<(), LocalSocketError> {
    let seen = match fs::symlink_metadata(path) {
        Ok(seen) => seen,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(LocalSocketError::System { path: path.to_owned(), cause }),
    };
    if let Some(found) = what_else(seen.file_type()) {
        return Err(LocalSocketError::NotASocket { path: path.to_owned(), found });
    }
    if seen.uid() != me() {
        return Err(LocalSocketError::SocketOwner { path: path.to_owned(), owner: seen.uid() });
    }
    let failed = |cause: io::Error| LocalSocketError::System { path: path.to_owned(), cause };
    if has_listener(path).map_err(|error| failed(error.into()))? {
        return Err(LocalSocketError::InUse { path: path.to_owned() });
    }
    fs::remove_file(path).map_err(failed)
}

/// Whether a process listens there. One that is too busy to take a connection does, too.
fn has_listener(path: &Path) -> Result<bool, Errno> {
    let address = SocketAddrUnix::new(path)?;
    match rustix::net::connect(new_socket()?, &address) {
        Err(Errno::CONNREFUSED) => Ok(false),
        Ok(()) | Err(Errno::AGAIN | Errno::PROTOTYPE) => Ok(true),
        Err(error) => Err(error),
    }
}

fn new_socket() -> Result<rustix::fd::OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

fn judge_directory(path: &Path, owner: u32, mode: u32, user: u32) -> Result<(), LocalSocketError> {
    let path = path.to_owned();
    if owner != ROOT && owner != user {
        return Err(LocalSocketError::DirectoryOwner { path, owner, user });
    }
    // In a sticky directory only the owner, of it or of the socket, can move the socket away.
    if mode & WRITABLE_BY_OTHERS != 0 && mode & STICKY == 0 {
        return Err(LocalSocketError::OpenDirectory { path, mode: mode & 0o7777 });
    }
    Ok(())
}

fn what_else(kind: FileType) -> Option<&'static str> {
    let kinds = [
        (kind.is_socket(), None),
        (kind.is_file(), Some("regular file")),
        (kind.is_dir(), Some("directory")),
        (kind.is_symlink(), Some("symbolic link")),
        (kind.is_fifo(), Some("FIFO")),
    ];
    let known = kinds.into_iter().find(|(is_kind, _)| *is_kind);
    known.map_or(Some("device"), |(_, what)| what)
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn id(seen: &Metadata) -> (u64, u64) {
    (seen.dev(), seen.ino())
}

fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

const ROOT: u32 = 0;
const WRITABLE_BY_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;
/// So many connections may wait to be taken.
const BACKLOG: i32 = 1024;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_directory_in_which_others_could_replace_the_socket_is_refused() {
        let judge =
            |owner, mode| judge_directory(Path::new("/run/tanist/a.sock"), owner, mode, 1000);
        for (owner, mode) in [(1000, 0o700), (1000, 0o755), (ROOT, 0o755), (ROOT, 0o1777)] {
            assert!(judge(owner, mode).is_ok(), "{owner} {mode:o}");
        }
        for mode in [0o777, 0o770, 0o702, 0o2775] {
            let text = judge(1000, mode).unwrap_err().to_string();
            assert!(text.contains("chmod go-w /run/tanist"), "{text}");
        }
        let text = judge(1001, 0o1700).unwrap_err().to_string();
        assert!(text.contains("user 1001") && text.contains("chown 1000 /run/tanist"), "{text}");
    }

    #[test]
    fn a_socket_is_private_from_its_first_moment_and_removed_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sock");
        let socket = bind(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        UnixStream::connect(&path).unwrap();
        assert!(matches!(bind(&path), Err(LocalSocketError::InUse { .. })));
        drop(socket);
        assert!(!path.exists());
    }

    #[test]
    fn a_listener_that_takes_nobody_is_one_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sock");
        let socket = new_socket().unwrap();
        rustix::net::bind(&socket, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        rustix::net::listen(&socket, 0).unwrap();
        // With no room for more, a connection would have to wait.
        let _waiting = UnixStream::connect(&path).unwrap();
        assert!(matches!(bind(&path), Err(LocalSocketError::InUse { .. })));
    }

    #[test]
    fn a_dead_socket_is_replaced_and_only_the_present_one_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sock");
        drop(UnixListener::bind(&path).unwrap());
        let first = bind(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let second = bind(&path).unwrap();
        drop(first);
        assert!(path.exists(), "it is the second one's");
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn what_is_no_socket_is_named_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sock");
        fs::write(&path, "text").unwrap();
        let text = bind(&path).unwrap_err().to_string();
        assert!(text.contains("regular file"), "{text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let error = bind(&path).unwrap_err();
        assert!(error.to_string().contains("directory") && !error.is_temporary(), "{error}");
    }
}
