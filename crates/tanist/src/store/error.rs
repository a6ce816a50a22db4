//! Why a store could not be opened or a counter not saved: the cause, what follows, what to do.
//!
//! The same list for operators is `docs/store.md`; a test keeps the two together.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tanist_core::membership::NodeId;
use thiserror::Error;

use super::record::DecodeError;

/// Why a store was not opened, or not adopted. A store that was there holds what it held.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The name of the group is too long for a record.
    #[error(
        "the name of the group has {length} bytes, and a store keeps 255 at most; nothing was \
         opened; give the group a shorter name"
    )]
    GroupName {
        /// How long the name is.
        length: usize,
    },
    /// Another process has it open.
    #[error(
        "{} is in use by {}; two processes with one store would use the same group numbers; stop \
         that process, or give this node a directory of its own",
        .directory.display(), holder(*.pid)
    )]
    Locked {
        /// The directory.
        directory: PathBuf,
        /// The process that holds the lock, if it could be read.
        pid: Option<u32>,
    },
    /// The directory holds something else.
    #[error(
        "{} is not a store: it has no identity, and there is {found} in it; nothing was changed; \
         name an empty directory, or one that does not exist yet",
        .directory.display()
    )]
    NotAStore {
        /// The directory.
        directory: PathBuf,
        /// What is in it.
        found: String,
    },
    /// There is nothing that could be adopted.
    #[error(
        "{} is empty or missing, so there is nothing to adopt; copy the store there first, or \
         start the node without adopting and it makes a new store",
        .directory.display()
    )]
    Nothing {
        /// The directory.
        directory: PathBuf,
    },
    /// A record of a store that was complete is gone.
    #[error(
        "{} is missing from a store that was complete, so which numbers were used is not known; \
         bring back the file if it was moved away, else give this node a new id and an empty \
         directory",
        .path.display()
    )]
    Missing {
        /// The file that should be there.
        path: PathBuf,
    },
    /// A record cannot be trusted.
    #[error(
        "{} is damaged: {why}; a crash does not do that, so no value is guessed from it; check the \
         disk, then give this node a new id and an empty directory",
        .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: DecodeError,
    },
    /// A record is whole and too new.
    #[error(
        "{} was written by a newer tanist, in format {version}; this program cannot read it and \
         leaves it as it is; start the node with the release that wrote it, the one before that, or a \
         later one",
        .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        version: u16,
    },
    /// It is the store of another node, or of another group.
    #[error(
        "{} is bound to {node} of group {group:?}, not to {asked_node} of group {asked_group:?}; \
         with another node's counter it could repeat its own numbers; correct the id, the group \
         or the directory of this node",
        .directory.display()
    )]
    Bound {
        /// The directory.
        directory: PathBuf,
        /// Whose store it is.
        node: NodeId,
        /// In which group.
        group: String,
        /// Who asked for it.
        asked_node: NodeId,
        /// In which group.
        asked_group: String,
    },
    /// The lock file is not the one that the store was made with.
    #[error(
        "{} is a copy of a store, or was restored from one; if the original still runs, both \
         would use the same group numbers; when the original is gone for good, run: tanist store \
         adopt {} --node {node} --group {}",
        .directory.display(), shell_word(&.directory.to_string_lossy()), shell_word(.group)
    )]
    Copied {
        /// The directory.
        directory: PathBuf,
        /// The node that the store is bound to.
        node: NodeId,
        /// And its group.
        group: String,
    },
    /// Other users may write it.
    #[error(
        "{} has mode {mode:04o}, so other users may write it, and with an older counter in it this \
         node would use group numbers twice; nothing was opened; see that it was not changed, \
         then run: chmod {wanted:o} {}",
        .path.display(), shell_word(&.path.to_string_lossy())
    )]
    Writable {
        /// The directory, or the file in it.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// What they should be.
        wanted: u32,
    },
    /// It belongs to another user.
    #[error(
        "{} belongs to user {owner}, and this program runs as user {user}; with an older counter in \
         it this node would use group numbers twice; nothing was opened; run this as user {owner}, \
         or run: chown {user} {}; chmod go-w {}",
        .path.display(), shell_word(&.path.to_string_lossy()), shell_word(&.path.to_string_lossy())
    )]
    Owner {
        /// The directory, or the file in it.
        path: PathBuf,
        /// The number of the user whose it is.
        owner: u32,
        /// The number of the user that asks.
        user: u32,
    },
    /// The records have different store ids.
    #[error(
        "{} has the identity of one store and the counter of another; neither can be trusted; put \
         back the files that belong together, else give this node a new id and an empty directory",
        .directory.display()
    )]
    Mixed {
        /// The directory.
        directory: PathBuf,
    },
    /// The file system refused.
    #[error("{}; the store was not opened; {}", .0, .0.next_step())]
    Disk(#[from] DiskError),
}

/// Why a counter was not saved.
#[derive(Debug, Error)]
pub enum SaveError {
    /// A mistake of the caller. The store is as it was.
    #[error(
        "counter {asked} is lower than {held}, which is saved; numbers would be used twice, so it \
         was not saved; this is a mistake in the program, please report it"
    )]
    Backwards {
        /// What the store holds.
        held: u64,
        /// What it was given.
        asked: u64,
    },
    /// The disk took nothing. The old counter is there for certain, and the store goes on.
    #[error(
        "{}; the counter on the disk is the old one, so the node must end if it needs a new one; \
         {}, then start the node again if it has stopped",
        .0, .0.next_step()
    )]
    Unwritten(#[source] DiskError),
    /// The disk takes so long that the others take this node for dead.
    #[error(
        "the disk of {} did not save a group number within {waited:?}, which is half of \
         suspect_after; the node ends before the others take it for dead; look for what makes the \
         disk slow, name a quicker one, or make timing.suspect_after longer, then start the node \
         again",
        .directory.display()
    )]
    Slow {
        /// The directory.
        directory: PathBuf,
        /// How long the node waited.
        waited: Duration,
    },
    /// No number is left.
    #[error(
        "the last group number of this node is used up, so it cannot form another group; give this \
         node a new id and an empty directory"
    )]
    Exhausted,
    /// The disk failed. The old counter or the new one is there.
    #[error(
        "{}; whether the counter is on the disk is not known, so the node must end without using \
         it; {}, then start the node again",
        .0, .0.next_step()
    )]
    Disk(#[source] DiskError),
    /// The disk failed earlier.
    #[error(
        "an earlier save to {} failed, and a disk that failed to write may say later that it did; \
         nothing more is saved; end the process and start the node again",
        .directory.display()
    )]
    Poisoned {
        /// The directory.
        directory: PathBuf,
    },
}

/// What was done to which file, and what the system said.
#[derive(Debug, Error)]
#[error("could not {action} {}: {source}", .path.display())]
pub struct DiskError {
    /// What was done.
    pub action: &'static str,
    /// To what.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl DiskError {
    /// What the operator can do about it.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the list of kinds is the standard library's, long, and grows"
    )]
    fn next_step(&self) -> String {
        let path = self.path.display();
        match self.source.kind() {
            ErrorKind::PermissionDenied => {
                format!("let the user that runs the node read and write {path}")
            }
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                format!("free some space for {path}")
            }
            ErrorKind::ReadOnlyFilesystem => {
                format!("mount the file system of {path} for writing, or name another directory")
            }
            ErrorKind::NotFound => {
                let parent = self.path.parent().unwrap_or_else(|| Path::new("/")).display();
                format!("make {parent}, or mount the disk that it is on")
            }
            ErrorKind::NotADirectory => "name a directory".to_owned(),
            _ => format!("look for errors of the disk under {path} in the log of the system"),
        }
    }
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

/// A word as a shell takes it.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every message, as `docs/store.md` shows it.
    fn messages() -> Vec<String> {
        let directory = || PathBuf::from("/var/lib/tanist/n3");
        let path = || directory().join("counter");
        let group = || "billing".to_owned();
        let disk =
            |action, kind: ErrorKind| DiskError { action, path: path(), source: kind.into() };
        let open = [
            OpenError::Locked { directory: directory(), pid: Some(4711) },
            OpenError::Copied { directory: directory(), node: NodeId(3), group: group() },
            OpenError::Bound {
                directory: directory(),
                node: NodeId(3),
                group: group(),
                asked_node: NodeId(4),
                asked_group: group(),
            },
            OpenError::NotAStore { directory: directory(), found: "thesis.tex".to_owned() },
            OpenError::Missing { path: path() },
            OpenError::Damaged { path: path(), why: DecodeError::Checksum },
            OpenError::Mixed { directory: directory() },
            OpenError::Writable { path: directory(), mode: 0o777, wanted: 0o700 },
            OpenError::Owner { path: directory(), owner: 1000, user: 998 },
            OpenError::Newer { path: path(), version: 2 },
            OpenError::Nothing { directory: directory() },
            OpenError::GroupName { length: 300 },
            OpenError::Disk(disk("read", ErrorKind::PermissionDenied)),
        ];
        let save = [
            SaveError::Disk(disk("sync", ErrorKind::StorageFull)),
            SaveError::Unwritten(disk("write", ErrorKind::StorageFull)),
            SaveError::Slow { directory: directory(), waited: Duration::from_millis(500) },
            SaveError::Exhausted,
            SaveError::Poisoned { directory: directory() },
            SaveError::Backwards { held: 7, asked: 6 },
        ];
        let open = open.iter().map(ToString::to_string);
        open.chain(save.iter().map(ToString::to_string)).collect()
    }

    #[test]
    fn the_document_shows_every_message() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/store.md");
        let text = std::fs::read_to_string(path).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for message in messages() {
            assert!(text.contains(&message), "docs/store.md lacks: {message}");
        }
    }

    #[test]
    fn what_a_shell_would_split_is_quoted() {
        assert_eq!(shell_word("/var/lib/n3"), "/var/lib/n3");
        assert_eq!(shell_word("my group"), "'my group'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
