//! The secrets of a node: the keys that its group shares, and the key pair that is its own.
//!
//! A process that holds a group key is a node of the group; the handshake of every link proves that
//! both sides do. A [`Keyring`] holds several, so that a running group can change its key. The text
//! form of a key is one line, `tanist-key-1:` and 64 hexadecimal digits, so that a key can be
//! recognised in a file and a later kind can be told apart. A node may have a key pair of its own
//! besides ([`NodeKey`]), so that another node's files do not let a process speak as this node.
//! Memory that held a secret is wiped.

mod identity;
mod keyring;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use zeroize::Zeroizing;

pub use self::identity::{
    Identities, IdentityError, NodeKey, ParseIdentityError, Proof, PublicKey,
};
pub use self::keyring::{KEYS_MAX, Keyring, KeyringError};
use crate::digest::{HexError, blake2s, hex, unhex};
use crate::error::is_temporary;
use crate::private_file::{self, PrivateFileError};

/// The group's key: 32 secret bytes.
///
/// ```
/// use tanist::GroupKey;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let scratch = tempfile::tempdir()?;
/// let path = scratch.path().join("group.key");
/// GroupKey::generate()?.write_new(&path)?; // once, then copied to every node
/// let key = GroupKey::read(&path)?;
/// assert_eq!(format!("{key:?}"), "GroupKey(hidden)");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct GroupKey(Zeroizing<[u8; LENGTH]>);

impl GroupKey {
    /// A fresh key from the system's own source of chance.
    pub fn generate() -> Result<Self, GenerateKeyError> {
        let mut bytes = Zeroizing::new([0; LENGTH]);
        getrandom::fill(bytes.as_mut_slice()).map_err(GenerateKeyError::Source)?;
        Ok(Self(bytes))
    }

    /// Takes the text form; white space around it is ignored.
    pub fn parse(text: &str) -> Result<Self, ParseKeyError> {
        let digits = text.trim().strip_prefix(PREFIX).ok_or(ParseKeyError::Prefix)?;
        let mut bytes = Zeroizing::new([0; LENGTH]);
        // The position of a wrong digit says nothing about the secret; the digit itself might.
        unhex(digits, bytes.as_mut_slice()).map_err(|error| match error {
            HexError::Digit { position } => ParseKeyError::Digit { position },
            HexError::Length { found } => ParseKeyError::Length { found },
        })?;
        Ok(Self(bytes))
    }

    /// The text form. There is no `Display`, so that no format string writes a key by accident.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        // Room for all of it at once: a string that grows leaves copies of the secret behind.
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + 2 * LENGTH));
        text.push_str(PREFIX);
        push_hex(&mut text, self.0.as_slice());
        text
    }

    /// Reads a key file, which only its owner may be able to read: the first of its keys.
    pub fn read(path: &Path) -> Result<Self, ReadKeyError> {
        Ok(Keyring::read(path)?.active().clone())
    }

    /// The name of the key, made from it in a way that does not lead back.
    #[must_use]
    pub fn id(&self) -> KeyId {
        let digest = blake2s(&[b"tanist key id", self.0.as_slice()]);
        KeyId([digest[0], digest[1], digest[2], digest[3]])
    }

    /// Writes the key to a file that did not exist and that only its owner may read.
    pub fn write_new(&self, path: &Path) -> Result<(), WriteKeyError> {
        write_new(path, self.to_text().as_bytes())
    }

    /// The secret itself, for the handshake.
    pub(crate) fn secret(&self) -> &[u8; LENGTH] {
        &self.0
    }
}

impl fmt::Debug for GroupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GroupKey(hidden)")
    }
}

/// The name of a group key, for people and for the greeting of a link: eight hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub [u8; 4]);

impl KeyId {
    /// Takes the text form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 4];
        unhex(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl Serialize for KeyId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Appends digits to a text that has room for them: one that grows leaves copies of a secret
/// behind.
fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        text.push_str(&Zeroizing::new(hex(&[*byte])));
    }
}

/// The text of a file with secrets, which only this user and root may be able to read and change.
fn read_private(path: &Path) -> Result<Zeroizing<String>, ReadKeyError> {
    read_open(private_file::open(path)?, path)
}

fn read_open(file: File, path: &Path) -> Result<Zeroizing<String>, ReadKeyError> {
    let failed = |source| ReadKeyError::Read { path: path.to_owned(), source };
    let mut bytes = Zeroizing::new(Vec::with_capacity(FILE_LENGTH_MAX + 1));
    file.take(FILE_LENGTH_MAX as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    match str::from_utf8(&bytes) {
        Ok(text) if bytes.len() <= FILE_LENGTH_MAX => Ok(Zeroizing::new(text.to_owned())),
        Ok(_) | Err(_) => Err(ReadKeyError::NotText { path: path.to_owned() }),
    }
}

/// Writes a line with a secret to a file that did not exist and that only its owner may read.
fn write_new(path: &Path, line: &[u8]) -> Result<(), WriteKeyError> {
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = written.map_err(|source| {
        if source.kind() == io::ErrorKind::AlreadyExists {
            WriteKeyError::Exists { path: path.to_owned() }
        } else {
            WriteKeyError::Write { path: path.to_owned(), source }
        }
    })?;
    file.write_all(line)
        .and_then(|()| file.write_all(b"\n"))
        .and_then(|()| file.sync_all())
        .map_err(|source| WriteKeyError::Write { path: path.to_owned(), source })
}

/// Why no key could be made.
#[derive(Debug, thiserror::Error)]
pub enum GenerateKeyError {
    /// The system has no randomness to give.
    #[error(
        "the system gave no random bytes ({0}), so no key was made; try again when the system is up"
    )]
    Source(getrandom::Error),
}

/// Why a text is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseKeyError {
    /// It does not begin as a key does.
    #[error(
        "a group key begins with `tanist-key-1:`, and this text does not; copy the whole line of \
         the key file"
    )]
    Prefix,
    /// Something after the prefix is not a hexadecimal digit.
    #[error(
        "character {position} after `tanist-key-1:` is not a hexadecimal digit, so this is not a \
         group key; copy the key again"
    )]
    Digit {
        /// Counted from one, after the prefix.
        position: usize,
    },
    /// Too short or too long.
    #[error(
        "a group key has 64 hexadecimal digits after `tanist-key-1:`, this text has {found}; copy \
         the whole line of the key file"
    )]
    Length {
        /// How many digits there are.
        found: usize,
    },
}

/// Why a key file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadKeyError {
    /// The system refused.
    #[error(
        "cannot read the key file {path}: {source}; the node cannot join without it; check the \
         path and its owner", path = path.display()
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not a file that only this user and root can read and change.
    #[error("this key is not used: {0}")]
    Private(PrivateFileError),
    /// Binary, or far too long.
    #[error(
        "{path} does not hold a few lines of text, so it is not a key file; give the path of the \
         key file", path = path.display()
    )]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// Text, but not a key.
    #[error("{path} does not hold group keys: {source}", path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong with the text.
        source: KeyringError,
    },
    /// Text, but not a node's own key.
    #[error("{path} is not a node's key: {source}", path = path.display())]
    Identity {
        /// The file.
        path: PathBuf,
        /// What is wrong with the text.
        source: ParseIdentityError,
    },
}

impl ReadKeyError {
    /// Whether another try may succeed with the same file.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Read { source, .. } => is_temporary(source),
            Self::Private(error) => error.is_temporary(),
            Self::NotText { .. } | Self::Parse { .. } | Self::Identity { .. } => false,
        }
    }
}

impl From<PrivateFileError> for ReadKeyError {
    fn from(error: PrivateFileError) -> Self {
        match error {
            PrivateFileError::Open { path, source } => Self::Read { path, source },
            PrivateFileError::NotAFile { .. }
            | PrivateFileError::Owner { .. }
            | PrivateFileError::Exposed { .. } => Self::Private(error),
        }
    }
}

/// Why a key file was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteKeyError {
    /// Something is there already.
    #[error(
        "{path} exists already and is left as it is, since it may be the only copy of a key; \
         choose another name, or move it away", path = path.display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error(
        "cannot write the key file {path}: {source}; the file must not be used; check the \
         directory and its free space", path = path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

const LENGTH: usize = 32;
const PREFIX: &str = "tanist-key-1:";
/// A key is 77 bytes, and a ring has a few; what is longer than this is another file.
const FILE_LENGTH_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_key_survives_its_text_form() {
        let key = GroupKey::generate().unwrap();
        let again = GroupKey::parse(&key.to_text()).unwrap();
        assert_eq!(key.secret(), again.secret());
        assert_eq!(key.to_text().len(), 77);
        assert_ne!(key.secret(), GroupKey::generate().unwrap().secret());
    }

    #[test]
    fn debug_does_not_show_the_secret() {
        let key = GroupKey::parse(&format!("tanist-key-1:{}", "ab".repeat(32))).unwrap();
        assert_eq!(format!("{key:?}"), "GroupKey(hidden)");
    }

    #[test]
    fn garbage_is_refused_with_its_reason() {
        let digits = "0f".repeat(32);
        assert_eq!(GroupKey::parse(&digits).unwrap_err(), ParseKeyError::Prefix);
        assert_eq!(
            GroupKey::parse(&format!("tanist-key-1:{}", &digits[1..])).unwrap_err(),
            ParseKeyError::Length { found: 63 }
        );
        assert_eq!(
            GroupKey::parse(&format!("tanist-key-1:0x{}", &digits[2..])).unwrap_err(),
            ParseKeyError::Digit { position: 2 }
        );
        assert!(GroupKey::parse(&format!(" tanist-key-1:{}\n", digits.to_uppercase())).is_ok());
    }

    #[test]
    fn a_written_key_is_private_and_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("group.key");
        let key = GroupKey::generate().unwrap();
        key.write_new(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(GroupKey::read(&path).unwrap().secret(), key.secret());
        let again = GroupKey::generate().unwrap().write_new(&path);
        assert!(matches!(again, Err(WriteKeyError::Exists { .. })), "{again:?}");
        assert_eq!(GroupKey::read(&path).unwrap().secret(), key.secret());
    }

    #[test]
    fn a_key_that_others_can_read_is_refused_with_the_command_to_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("group.key");
        GroupKey::generate().unwrap().write_new(&path).unwrap();
        for mode in [0o640, 0o604, 0o620, 0o602] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let text = GroupKey::read(&path).unwrap_err().to_string();
            assert!(text.contains(&format!("chmod 600 {}", path.display())), "{text}");
        }
    }

    #[test]
    fn a_file_that_is_no_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("group.key");
        for garbage in [vec![0xff; 77], vec![b'a'; 100_000], b"hello\n".to_vec(), Vec::new()] {
            fs::write(&path, garbage).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            assert!(GroupKey::read(&path).is_err());
        }
        let missing = GroupKey::read(&folder.path().join("none"));
        assert!(matches!(missing, Err(ReadKeyError::Read { .. })), "{missing:?}");
    }
}
