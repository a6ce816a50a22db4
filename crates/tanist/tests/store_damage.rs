//! Record files that were cut, changed or lengthened: refused, never read as another value.

use std::fs;
use std::path::Path;

use tanist::store::{OpenError, Store};
use tanist_core::group::Counter;
use tanist_core::membership::NodeId;

const NODE: NodeId = NodeId(3);
const GROUP: &str = "billing";
const RECORDS: [&str; 2] = ["identity", "counter"];

/// A store that has saved 300.
fn store(directory: &Path) {
    let mut store = Store::open(directory, NODE, GROUP).expect("nothing is there").store;
    store.save(Counter(299)).expect("a sound disk");
    store.save(Counter(300)).expect("a sound disk");
}

/// Opens the store with other bytes in one file, and expects an error.
fn assert_damage_is_found(directory: &Path, name: &str, bytes: &[u8], what: &str) {
    let path = directory.join(name);
    let sound = fs::read(&path).expect("the record is there");
    fs::write(&path, bytes).expect("it can be overwritten");
    for result in [
        Store::open(directory, NODE, GROUP).map(|opened| opened.store.counter()),
        Store::adopt(directory, NODE, GROUP).map(|adopted| adopted.counter),
    ] {
        let error = result.expect_err(what);
        let is_found = matches!(&error, OpenError::Damaged { path: found, .. } if *found == path);
        assert!(is_found, "{what}: {error}");
    }
    let left = fs::read(&path).expect("the record is there");
    assert_eq!(left, bytes, "{what}: what is damaged is left as it is");
    fs::write(&path, sound).expect("it can be overwritten");
}

fn assert_is_sound(directory: &Path) {
    let opened = Store::open(directory, NODE, GROUP).expect("all is as it was");
    assert_eq!((opened.store.counter(), opened.is_new), (Some(Counter(300)), false));
}

#[test]
fn every_truncation_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    for name in RECORDS {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        for length in 0..bytes.len() {
            let what = format!("{name} cut to {length}");
            assert_damage_is_found(folder.path(), name, &bytes[..length], &what);
        }
    }
    assert_is_sound(folder.path());
}

#[test]
fn every_flipped_bit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    for name in RECORDS {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let what = format!("{name} with bit {bit} flipped");
            assert_damage_is_found(folder.path(), name, &flipped, &what);
        }
    }
    assert_is_sound(folder.path());
}

#[test]
fn every_added_byte_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    for name in RECORDS {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        for byte in 0..=u8::MAX {
            let what = format!("{name} with {byte} added");
            assert_damage_is_found(folder.path(), name, &[&bytes[..], &[byte]].concat(), &what);
        }
        let twice = [&bytes[..], &bytes].concat();
        assert_damage_is_found(folder.path(), name, &twice, "a record twice");
        let long = [&bytes[..], &vec![0; 1 << 20]].concat();
        assert_damage_is_found(folder.path(), name, &long, "a record and a megabyte");
    }
    assert_is_sound(folder.path());
}

#[test]
fn a_record_in_the_place_of_the_other_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    let [identity, counter] = RECORDS.map(|name| fs::read(folder.path().join(name)).unwrap());
    assert_damage_is_found(folder.path(), "identity", &counter, "a counter as identity");
    assert_damage_is_found(folder.path(), "counter", &identity, "an identity as counter");
    assert_is_sound(folder.path());
}

#[test]
fn a_newer_version_is_refused_by_name_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    for name in RECORDS {
        let path = folder.path().join(name);
        let sound = fs::read(&path).unwrap();
        let mut newer = sound[..sound.len() - 4].to_vec();
        newer[8..10].copy_from_slice(&2_u16.to_be_bytes());
        newer.extend(crc32fast::hash(&newer).to_be_bytes());
        fs::write(&path, &newer).unwrap();
        let error = Store::open(folder.path(), NODE, GROUP).unwrap_err();
        assert!(matches!(error, OpenError::Newer { version: 2, .. }), "{error}");
        assert!(error.to_string().contains("written by a newer tanist"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), newer);
        fs::write(&path, sound).unwrap();
    }
    assert_is_sound(folder.path());
}
