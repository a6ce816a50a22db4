//! Opening a store: made, found whole, or refused.
//!
//! ```text
//!   look: no directory -> make it          foreign files, no identity -> refused
//!     |
//!   lock: held by another -> refused
//!     |
//!   identity? -- no --> [counter of 0, then identity]           -> a new store
//!     | yes
//!   whole, bound to us, same lock file, counter of this store   -> open
//! ```
//!
//! The identity is written last, so whatever lacks it was never used; unless something in it says
//! otherwise, a creation that was interrupted is begun again. Nothing is written before the lock is
//! held, and not even a lock file is made in a directory that is neither a store nor empty.

use std::path::Path;

use tanist_core::membership::NodeId;

use super::directory::Directory;
use super::error::OpenError;
use super::files::{COUNTER, IDENTITY, LOCK, Lock, temporary};
use super::record::{self, CounterRecord, DecodeError, IdentityRecord, LockMark, Record};
use super::versions::Versions;
use super::{Adopted, Opened, Store, access};

/// Opens or makes a store.
pub(super) fn open(
    mut directory: Directory,
    node: NodeId,
    group: &str,
    versions: Versions,
) -> Result<Opened, OpenError> {
    check_group(group)?;
    match directory.list()? {
        None => directory.make()?,
        Some(names) => {
            check(&mut directory, &names)?;
            if has(&names, IDENTITY) && !has(&names, LOCK) {
                return Err(copied(&directory, node, group));
            }
        }
    }
    let (mark, has_note) = lock(&mut directory)?;
    // Another process may have made the store between the look and the lock.
    let names = directory.list()?.unwrap_or_default();
    let is_new = !has(&names, IDENTITY);
    let (saved, version) = if is_new {
        check_names(&directory, &names)?;
        check_unused(&mut directory, has_note, versions)?;
        directory.remove_leftovers(&names)?;
        let saved = create(&mut directory, node, group, mark, versions.written)?;
        (saved, versions.written)
    } else {
        let (identity, counter) = load(&mut directory, node, group, versions)?;
        if !identity.record.lock.is_same_file(mark) {
            return Err(copied(&directory, node, group));
        }
        directory.remove_leftovers(&names)?;
        // A process that was killed may have renamed and not synced. What was read must stay.
        directory.sync()?;
        if identity.version < versions.written {
            // Nothing else would: a counter is replaced by its next save.
            let identity = Record::Identity(identity.record);
            directory.replace(IDENTITY, &identity.encode_as(versions.written))?;
        }
        (counter.record, versions.replacing(counter.version))
    };
    directory.note_holder()?;
    Ok(Opened { store: Store { directory, saved, version, is_poisoned: false }, is_new })
}

/// Whether a store could be opened, as far as that can be said without locking it or changing
/// anything.
pub(super) fn inspect(
    mut directory: Directory,
    node: NodeId,
    group: &str,
    versions: Versions,
) -> Result<(), OpenError> {
    check_group(group)?;
    let Some(names) = directory.list()? else {
        let parent = directory.path().parent().filter(|path| !path.as_os_str().is_empty());
        let can_be_made = parent.is_none_or(Path::is_dir);
        return if can_be_made { Ok(()) } else { Err(directory.without_parent().into()) };
    };
    check(&mut directory, &names)?;
    if !has(&names, IDENTITY) {
        // A holder is noted only in a store that is complete.
        let has_note = directory.read(LOCK)?.is_some_and(|note| !note.is_empty());
        return check_unused(&mut directory, has_note, versions);
    }
    let (identity, _) = load(&mut directory, node, group, versions)?;
    let mark = directory.lock_mark()?;
    if !mark.is_some_and(|mark| identity.record.lock.is_same_file(mark)) {
        return Err(copied(&directory, node, group));
    }
    Ok(())
}

/// Binds a copy to its own lock file. The store keeps its id, so one record is replaced and an
/// interruption leaves a copy or a store.
pub(super) fn adopt(
    mut directory: Directory,
    node: NodeId,
    group: &str,
    versions: Versions,
) -> Result<Adopted, OpenError> {
    check_group(group)?;
    let names = directory.list()?.unwrap_or_default();
    if names.is_empty() {
        return Err(OpenError::Nothing { directory: directory.path().to_owned() });
    }
    check(&mut directory, &names)?;
    if !has(&names, IDENTITY) {
        return Err(OpenError::Missing { path: directory.path_of(IDENTITY) });
    }
    let (mark, _) = lock(&mut directory)?;
    let (identity, counter) = load(&mut directory, node, group, versions)?;
    directory.remove_leftovers(&names)?;
    let was_copy = !identity.record.lock.is_same_file(mark);
    if was_copy {
        directory.keep()?;
        let version = versions.replacing(identity.version);
        let identity = Record::Identity(IdentityRecord { lock: mark, ..identity.record });
        directory.replace(IDENTITY, &identity.encode_as(version))?;
    }
    let CounterRecord { sequence: saves, .. } = counter.record;
    Ok(Adopted { counter: counter.record.handed_out(), saves, was_copy })
}

/// Refuses a directory that holds something else, or that others may write. In this order:
/// the permissions of a directory that is not a store should not be changed.
pub(super) fn check(directory: &mut Directory, names: &[String]) -> Result<(), OpenError> {
    check_names(directory, names)?;
    access::check(directory, names)
}

fn check_group(group: &str) -> Result<(), OpenError> {
    let length = group.len();
    if length <= GROUP_BYTES_MAX { Ok(()) } else { Err(OpenError::GroupName { length }) }
}

/// Without an identity, only what an interrupted creation leaves may be there.
fn check_names(directory: &Directory, names: &[String]) -> Result<(), OpenError> {
    let ours = [LOCK.to_owned(), COUNTER.to_owned(), temporary(COUNTER), temporary(IDENTITY)];
    if has(names, IDENTITY) || names.iter().all(|name| ours.contains(name)) {
        return Ok(());
    }
    let mut found = names.iter().take(NAMES_SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > NAMES_SHOWN_MAX {
        found.push_str(", ...");
    }
    Err(OpenError::NotAStore { directory: directory.path().to_owned(), found })
}

/// Whether a store without identity is an interrupted creation: a store that was used has a counter
/// above 0, and one that was ever open has a holder in its lock file.
fn check_unused(
    directory: &mut Directory,
    has_note: bool,
    versions: Versions,
) -> Result<(), OpenError> {
    let is_used = match directory.read(COUNTER)? {
        None => has_note,
        Some(bytes) => {
            let counter = decode_counter(directory, &bytes, versions)?.record;
            has_note || counter.handed_out().is_some()
        }
    };
    if is_used {
        return Err(OpenError::Missing { path: directory.path_of(IDENTITY) });
    }
    Ok(())
}

fn lock(directory: &mut Directory) -> Result<(LockMark, bool), OpenError> {
    match directory.lock()? {
        Lock::Held { mark, has_note } => Ok((mark, has_note)),
        Lock::Busy { pid } => {
            Err(OpenError::Locked { directory: directory.path().to_owned(), pid })
        }
    }
}

/// Makes a store that was never used. The counter comes first: an identity without one is a loss.
fn create(
    directory: &mut Directory,
    node: NodeId,
    group: &str,
    lock: LockMark,
    version: u16,
) -> Result<CounterRecord, OpenError> {
    let store = directory.draw_id()?;
    let counter = CounterRecord::unused(store);
    let identity = IdentityRecord { store, node: node.0, group: group.to_owned(), lock };
    directory.keep()?;
    directory.replace(COUNTER, &Record::Counter(counter).encode_as(version))?;
    directory.replace(IDENTITY, &Record::Identity(identity).encode_as(version))?;
    Ok(counter)
}

/// A record of one kind, and the version that it was found in.
struct Versioned<R> {
    record: R,
    version: u16,
}

/// Reads both records, and refuses what does not belong to this node or not together.
fn load(
    directory: &mut Directory,
    node: NodeId,
    group: &str,
    versions: Versions,
) -> Result<(Versioned<IdentityRecord>, Versioned<CounterRecord>), OpenError> {
    let bytes = read(directory, IDENTITY)?;
    let found = record::decode_as(&bytes, versions);
    let found = found.map_err(|why| damaged(directory, IDENTITY, why))?;
    let identity = match found.record {
        Record::Identity(identity) => identity,
        Record::Counter(_) => return Err(damaged(directory, IDENTITY, DecodeError::OtherKind)),
    };
    if identity.node != node.0 || identity.group != group {
        return Err(OpenError::Bound {
            directory: directory.path().to_owned(),
            node: NodeId(identity.node),
            group: identity.group,
            asked_node: node,
            asked_group: group.to_owned(),
        });
    }
    let bytes = read(directory, COUNTER)?;
    let counter = decode_counter(directory, &bytes, versions)?;
    if counter.record.store != identity.store {
        return Err(OpenError::Mixed { directory: directory.path().to_owned() });
    }
    Ok((Versioned { record: identity, version: found.version }, counter))
}

fn read(directory: &mut Directory, name: &str) -> Result<Vec<u8>, OpenError> {
    let bytes = directory.read(name)?;
    bytes.ok_or_else(|| OpenError::Missing { path: directory.path_of(name) })
}

fn decode_counter(
    directory: &Directory,
    bytes: &[u8],
    versions: Versions,
) -> Result<Versioned<CounterRecord>, OpenError> {
    let found = record::decode_as(bytes, versions);
    let found = found.map_err(|why| damaged(directory, COUNTER, why))?;
    match found.record {
        Record::Counter(record) => Ok(Versioned { record, version: found.version }),
        Record::Identity(_) => Err(damaged(directory, COUNTER, DecodeError::OtherKind)),
    }
}

fn damaged(directory: &Directory, name: &str, why: DecodeError) -> OpenError {
    let path = directory.path_of(name);
    match why {
        DecodeError::Newer { version } => OpenError::Newer { path, version },
        DecodeError::TooShort { .. }
        | DecodeError::Foreign
        | DecodeError::OtherKind
        | DecodeError::Length { .. }
        | DecodeError::Checksum
        | DecodeError::Malformed => OpenError::Damaged { path, why },
    }
}

fn copied(directory: &Directory, node: NodeId, group: &str) -> OpenError {
    OpenError::Copied { directory: directory.path().to_owned(), node, group: group.to_owned() }
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|other| other == name)
}

/// A record must be shorter than what is read of a file.
const GROUP_BYTES_MAX: usize = 255;
const NAMES_SHOWN_MAX: usize = 5;
