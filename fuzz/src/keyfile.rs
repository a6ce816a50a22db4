//! Key files: a key that is read is written and read back as the same, and an error tells nothing
//! of a secret.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use tanist::GroupKey;
use tanist::key::{KEYS_MAX, KeyId, Keyring, NodeKey, PublicKey, ReadKeyError};
use tempfile::TempDir;

/// Checks bytes as every kind of key, as a text and as a file.
pub fn check(bytes: &[u8]) {
    if let Ok(text) = str::from_utf8(bytes) {
        group_key(text);
        keyring(text);
        node_key(text);
        public_key(text);
        key_id(text);
    }
    file(bytes);
}

fn group_key(text: &str) {
    match GroupKey::parse(text) {
        Ok(key) => {
            assert_eq!(key.to_text().as_str(), text.trim().to_ascii_lowercase());
            let again = GroupKey::parse(&key.to_text()).expect("what was written");
            assert_eq!(again.id(), key.id());
            tells_nothing(&format!("{key:?}"));
        }
        Err(error) => tells_nothing(&error.to_string()),
    }
}

fn keyring(text: &str) {
    match Keyring::parse(text) {
        Ok(ring) => {
            assert!((1..=KEYS_MAX).contains(&ring.keys().len()));
            assert_eq!(texts(&ring)[0], ring.active().to_text().as_str());
            for key in ring.keys() {
                let named = ring.keys().iter().filter(|other| other.id() == key.id());
                assert_eq!(named.count(), 1, "two keys of one name");
            }
            let again = Keyring::parse(&ring.to_text()).expect("what was written");
            assert_eq!(texts(&again), texts(&ring));
            tells_nothing(&format!("{ring:?}"));
        }
        Err(error) => tells_nothing(&error.to_string()),
    }
}

fn node_key(text: &str) {
    match NodeKey::parse(text) {
        Ok(key) => {
            let again = NodeKey::parse(&text.to_ascii_lowercase()).expect("the same digits");
            assert_eq!(again.public(), key.public());
            public_key(&key.public().to_string());
            let folder = folder();
            let path = folder.path().join("node.key");
            key.write_new(&path).expect("room for a key");
            assert_eq!(NodeKey::read(&path).expect("what was written").public(), key.public());
        }
        Err(error) => tells_nothing(&error.to_string()),
    }
}

fn public_key(text: &str) {
    match PublicKey::parse(text) {
        Ok(key) => {
            assert_eq!(key.to_string(), text.trim().to_ascii_lowercase());
            assert_eq!(PublicKey::parse(&key.to_string()), Ok(key));
            assert!(NodeKey::parse(text).is_err(), "a public key was taken for a secret one");
        }
        Err(error) => tells_nothing(&error.to_string()),
    }
}

fn key_id(text: &str) {
    if let Some(id) = KeyId::parse(text) {
        assert_eq!(id.to_string(), text.to_ascii_lowercase());
    }
}

/// A file is read as the text that it holds, or refused as a whole.
fn file(bytes: &[u8]) {
    let folder = folder();
    let path = folder.path().join("group.key");
    write(&path, bytes);
    match (Keyring::read(&path), str::from_utf8(bytes)) {
        (Ok(ring), Ok(text)) => {
            assert_eq!(texts(&ring), texts(&Keyring::parse(text).expect("what the file holds")));
            ring.write(&path).expect("room for keys");
            let again = Keyring::read(&path).expect("what was written");
            assert_eq!(texts(&again), texts(&ring));
        }
        (Ok(_), Err(_)) => panic!("a key was read from what is not a text"),
        (Err(ReadKeyError::NotText { .. }), Ok(_)) => assert!(bytes.len() > FILE_LENGTH_MAX),
        (Err(ReadKeyError::NotText { .. }), Err(_)) => {}
        (Err(error), Ok(text)) => {
            assert!(Keyring::parse(text).is_err(), "{error}");
            tells_nothing(&error.to_string());
        }
        (Err(error), Err(_)) => panic!("what is not a text was refused with: {error}"),
    }
}

fn write(path: &Path, bytes: &[u8]) {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    opened.and_then(|mut file| file.write_all(bytes)).expect("room for a file");
}

fn texts(ring: &Keyring) -> Vec<String> {
    ring.keys().iter().map(|key| key.to_text().to_string()).collect()
}

/// No text for people holds sixteen digits in a row: that is more than the name of a key.
fn tells_nothing(text: &str) {
    let mut digits = 0;
    for byte in text.bytes() {
        digits = if byte.is_ascii_hexdigit() { digits + 1 } else { 0 };
        assert!(digits < 16, "part of a key is told: {text}");
    }
}

/// In memory where there is such a place: keys are written through to the disk.
fn folder() -> TempDir {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    folder.expect("a place for temporary files")
}

/// The longest key file.
const FILE_LENGTH_MAX: usize = 4096;
