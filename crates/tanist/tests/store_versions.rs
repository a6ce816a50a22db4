//! Releases that know different versions of a record, one after the other on one store.
//!
//! Three releases are played: `FIRST` knows version 1, `BRINGS` brings version 2, `WRITES` writes it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

use std::fs;
use std::path::Path;

use tanist::store::{OpenError, Opened, Store, Versions};
use tanist_core::group::Counter;
use tanist_core::membership::NodeId;

const FIRST: Versions = Versions { read_max: 1, written: 1 };
const BRINGS: Versions = Versions { read_max: 2, written: 1 };
const WRITES: Versions = Versions { read_max: 2, written: 2 };

fn open(directory: &Path, release: Versions) -> Result<Opened, OpenError> {
    Store::open_as(directory, NodeId(3), "billing", release)
}

/// Starts a release, which must find the counter of the one before, and saves the next.
fn runs(directory: &Path, release: Versions) {
    let Opened { mut store, is_new } = open(directory, release).unwrap();
    let counter = store.counter().unwrap_or_default();
    assert_eq!(counter == Counter(0), is_new, "no counter is lost");
    store.save(counter.next()).unwrap();
}

/// The versions of the files.
fn versions(directory: &Path) -> [u16; 2] {
    ["identity", "counter"].map(|name| {
        let bytes = fs::read(directory.join(name)).unwrap();
        u16::from_be_bytes([bytes[8], bytes[9]])
    })
}

fn counter(directory: &Path, release: Versions) -> Option<Counter> {
    open(directory, release).unwrap().store.counter()
}

#[test]
fn this_release_is_the_first() {
    assert_eq!(Versions::RELEASE, FIRST);
}

#[test]
fn an_upgrade_step_by_step_and_back_again_keeps_the_counter() {
    let folder = tempfile::tempdir().unwrap();
    let releases = [FIRST, BRINGS, WRITES, BRINGS, WRITES];
    let written = [[1, 1], [1, 1], [2, 2], [2, 2], [2, 2]];
    for (count, (release, written)) in (1..).zip(releases.into_iter().zip(written)) {
        runs(folder.path(), release);
        assert_eq!(versions(folder.path()), written, "after start {count}");
        assert_eq!(counter(folder.path(), BRINGS), Some(Counter(count)));
    }
}

#[test]
fn a_release_that_brings_a_version_can_be_taken_back_after_any_save() {
    let folder = tempfile::tempdir().unwrap();
    for release in [BRINGS, FIRST, BRINGS, FIRST] {
        runs(folder.path(), release);
    }
    assert_eq!(counter(folder.path(), FIRST), Some(Counter(4)));
}

#[test]
fn an_upgrade_rewrites_the_counter_at_the_first_save_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path(), FIRST);
    let mut opened = open(folder.path(), WRITES).unwrap();
    assert_eq!(versions(folder.path()), [2, 1]);
    opened.store.save(Counter(2)).unwrap();
    assert_eq!(versions(folder.path()), [2, 2]);
}

#[test]
fn a_downgrade_by_two_releases_is_refused_by_name_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path(), WRITES);
    let files = || ["identity", "counter"].map(|name| fs::read(folder.path().join(name)).unwrap());
    let before = files();
    let error = open(folder.path(), FIRST).unwrap_err();
    assert!(matches!(error, OpenError::Newer { version: 2, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("newer tanist") && text.contains("the one before that"), "{text}");
    assert_eq!(files(), before);
    assert_eq!(counter(folder.path(), BRINGS), Some(Counter(1)), "nothing is lost");
}
