//! Several group keys at once, so that a running group can change its key.
//!
//! ```text
//! # comments and empty lines are skipped
//! tanist-key-1:…     the first key: used for every link that this node dials
//! tanist-key-1:…     accepted from peers that dial with it
//! ```
//!
//! A rotation without an outage: add the new key on every node, then use it on every node, then
//! remove the old one on every node. At each moment any two nodes have a key in common.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use zeroize::Zeroizing;

use super::{GroupKey, KeyId, ParseKeyError, ReadKeyError, WriteKeyError, read_open, read_private};
use crate::private_file;

/// The keys of a group: the first is used, all are accepted.
///
/// ```
/// use tanist::GroupKey;
/// use tanist::key::Keyring;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (old, new) = (GroupKey::generate()?, GroupKey::generate()?);
/// let mut ring = Keyring::of(old.clone());
/// ring.add(new.clone())?; // on every node, then
/// ring.activate(new.id())?; // on every node, then
/// ring.remove(old.id())?; // on every node
/// assert_eq!(ring.active().id(), new.id());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Keyring {
    /// At least one, no two with the same id.
    keys: Vec<GroupKey>,
}

impl Keyring {
    /// A ring with one key.
    #[must_use]
    pub fn of(key: GroupKey) -> Self {
        Self { keys: vec![key] }
    }

    /// Takes the text of a key file.
    pub fn parse(text: &str) -> Result<Self, KeyringError> {
        let mut keys: Vec<GroupKey> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let key = GroupKey::parse(line)
                .map_err(|source| KeyringError::Line { line: number + 1, source })?;
            insert(&mut keys, key)?;
        }
        if keys.is_empty() { Err(KeyringError::Empty) } else { Ok(Self { keys }) }
    }

    /// Reads a key file, which only its owner may be able to read.
    pub fn read(path: &Path) -> Result<Self, ReadKeyError> {
        let text = read_private(path)?;
        Self::parse(&text).map_err(|source| ReadKeyError::Parse { path: path.to_owned(), source })
    }

    /// Reads a key file in order to change it. Root may do that for the user of an agent, so it may
    /// be another user's file.
    pub fn read_to_edit(path: &Path) -> Result<Self, ReadKeyError> {
        let text = read_open(private_file::open_to_edit(path)?, path)?;
        Self::parse(&text).map_err(|source| ReadKeyError::Parse { path: path.to_owned(), source })
    }

    /// Puts the ring in the place of a key file, in one step: a crash leaves the old file or the
    /// new one, whole.
    pub fn write(&self, path: &Path) -> Result<(), WriteKeyError> {
        let failed = |source| WriteKeyError::Write { path: path.to_owned(), source };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let name = path.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(".new");
        let temporary = folder.join(hidden);
        // A leftover of a crash; nothing else has this name.
        match std::fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            Ok(()) | Err(_) => {}
        }
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary);
        let mut file = created.map_err(failed)?;
        keep_owner(path, &file);
        let written = file
            .write_all(self.to_text().as_bytes())
            .and_then(|()| file.sync_all())
            .and_then(|()| std::fs::rename(&temporary, path))
            .and_then(|()| std::fs::File::open(folder)?.sync_all());
        written.map_err(|source| {
            // The error says what went wrong first; a leftover is removed by the next write.
            let _ = std::fs::remove_file(&temporary);
            failed(source)
        })
    }

    /// The text of a key file.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        let room = HEADER.len() + self.keys.len() * 80;
        let mut text = Zeroizing::new(String::with_capacity(room));
        text.push_str(HEADER);
        for key in &self.keys {
            text.push_str(&key.to_text());
            text.push('\n');
        }
        text
    }

    /// The key that this node uses for the links that it dials.
    #[must_use]
    pub fn active(&self) -> &GroupKey {
        &self.keys[0]
    }

    /// All keys, the active one first.
    #[must_use]
    pub fn keys(&self) -> &[GroupKey] {
        &self.keys
    }

    /// The key of this name.
    #[must_use]
    pub fn find(&self, id: KeyId) -> Option<&GroupKey> {
        self.keys.iter().find(|key| key.id() == id)
    }

    /// Accepts one more key.
    pub fn add(&mut self, key: GroupKey) -> Result<(), KeyringError> {
        insert(&mut self.keys, key)
    }

    /// Uses this key from here on.
    pub fn activate(&mut self, id: KeyId) -> Result<(), KeyringError> {
        let at = self.position(id)?;
        self.keys[..=at].rotate_right(1);
        Ok(())
    }

    /// Accepts this key no more. The active one stays.
    pub fn remove(&mut self, id: KeyId) -> Result<(), KeyringError> {
        match self.position(id)? {
            0 => Err(KeyringError::InUse { id }),
            at => {
                self.keys.remove(at);
                Ok(())
            }
        }
    }

    fn position(&self, id: KeyId) -> Result<usize, KeyringError> {
        let at = self.keys.iter().position(|key| key.id() == id);
        at.ok_or(KeyringError::Unknown { id })
    }
}

impl From<GroupKey> for Keyring {
    fn from(key: GroupKey) -> Self {
        Self::of(key)
    }
}

fn insert(keys: &mut Vec<GroupKey>, key: GroupKey) -> Result<(), KeyringError> {
    let id = key.id();
    if keys.iter().any(|known| known.id() == id) {
        return Err(KeyringError::Twice { id });
    }
    if keys.len() >= KEYS_MAX {
        return Err(KeyringError::TooMany);
    }
    keys.push(key);
    Ok(())
}

/// Root edits the file of the agent's user: the new file belongs to the same user as the old one.
fn keep_owner(path: &Path, file: &std::fs::File) {
    use std::os::unix::fs::MetadataExt as _;
    if let Ok(old) = std::fs::metadata(path) {
        // Only root may give a file away; for any other user it is their own already.
        let _ = std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()));
    }
}

/// Why a ring is not as wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// A line is not a key.
    #[error("line {line}: {source}")]
    Line {
        /// Which, counted from one.
        line: usize,
        /// What is wrong with it.
        source: ParseKeyError,
    },
    /// No key at all.
    #[error("it holds no key; make one with `tanist keygen FILE`")]
    Empty,
    /// The same key, or another one with the same name.
    #[error("key {id} is there already; each key may be listed once")]
    Twice {
        /// Which.
        id: KeyId,
    },
    /// More than [`KEYS_MAX`].
    #[error("a ring holds at most {KEYS_MAX} keys; remove those that no node uses")]
    TooMany,
    /// There is no such key.
    #[error("there is no key {id} in this file; `tanist key status` lists those that are")]
    Unknown {
        /// Which was meant.
        id: KeyId,
    },
    /// The key that is used cannot be removed.
    #[error("key {id} is the one in use; use another key first: tanist key use ID")]
    InUse {
        /// Which.
        id: KeyId,
    },
}

/// How many keys a ring may hold: old, new, and some room for a rotation that was interrupted.
pub const KEYS_MAX: usize = 8;
const HEADER: &str =
    "# Keys of one tanist group. The first is used, all are accepted. Keep it secret.\n";

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(count: usize) -> (Keyring, Vec<KeyId>) {
        let keys: Vec<GroupKey> = (0..count).map(|_| GroupKey::generate().unwrap()).collect();
        let ids = keys.iter().map(GroupKey::id).collect();
        (Keyring { keys }, ids)
    }

    fn ids(ring: &Keyring) -> Vec<KeyId> {
        ring.keys().iter().map(GroupKey::id).collect()
    }

    #[test]
    fn a_ring_survives_its_file_and_a_single_key_is_a_ring() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("group.key");
        let (of_three, names) = ring(3);
        of_three.write(&path).unwrap();
        assert_eq!(ids(&Keyring::read(&path).unwrap()), names);
        of_three.write(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let single = GroupKey::generate().unwrap();
        assert_eq!(ids(&Keyring::parse(&single.to_text()).unwrap()), [single.id()]);
    }

    #[test]
    fn root_may_edit_the_ring_of_another_user_and_no_agent_of_root_uses_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("group.key");
        ring(1).0.write(&path).unwrap();
        if std::os::unix::fs::chown(&path, Some(65_533), None).is_err() {
            eprintln!("skipped: only root gives files away");
            return;
        }
        assert!(Keyring::read_to_edit(&path).is_ok());
        let refused = Keyring::read(&path);
        assert!(matches!(refused, Err(ReadKeyError::Private(_))), "{refused:?}");
    }

    #[test]
    fn the_key_in_use_changes_and_stays_in_the_ring() {
        let (mut ring, names) = ring(3);
        ring.activate(names[2]).unwrap();
        assert_eq!(ids(&ring), [names[2], names[0], names[1]]);
        assert_eq!(ring.remove(names[2]), Err(KeyringError::InUse { id: names[2] }));
        ring.remove(names[0]).unwrap();
        assert_eq!(ring.activate(names[0]), Err(KeyringError::Unknown { id: names[0] }));
        assert_eq!(ids(&ring), [names[2], names[1]]);
    }

    #[test]
    fn a_ring_has_no_key_twice_and_not_too_many() {
        let (mut full, names) = ring(KEYS_MAX);
        let again = full.keys()[3].clone();
        assert_eq!(full.add(again), Err(KeyringError::Twice { id: names[3] }));
        assert_eq!(full.add(GroupKey::generate().unwrap()), Err(KeyringError::TooMany));
    }

    #[test]
    fn the_line_of_a_mistake_is_named() {
        let (ring, _) = ring(1);
        let text = format!("{}\n\nhello\n", *ring.to_text());
        let error = Keyring::parse(&text).unwrap_err();
        assert_eq!(error, KeyringError::Line { line: 5, source: ParseKeyError::Prefix });
        assert_eq!(Keyring::parse("# nothing\n").unwrap_err(), KeyringError::Empty);
    }
}
