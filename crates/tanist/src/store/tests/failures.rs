//! Every operation failing once, done or not done: an error, no second try, old counter or new one.

use std::io::ErrorKind;
use std::ops::ControlFlow;

use tanist_core::group::Counter;

use super::super::error::{OpenError, SaveError};
use super::crash_check::{CrashCheck, Expected, open};
use super::simulated_disk::Disk;
use super::simulated_files::{Breakage, Failure, SimulatedFiles};

/// Each operation failing in each way. Stands for EIO, ENOSPC and EROFS.
fn failures(operations: usize) -> impl Iterator<Item = Failure> {
    let kinds = [ErrorKind::Other, ErrorKind::StorageFull, ErrorKind::ReadOnlyFilesystem];
    let ways = kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]);
    let ways: Vec<_> = ways.collect();
    (0..operations).flat_map(move |at| {
        ways.clone().into_iter().map(move |(kind, is_done)| Failure { at, kind, is_done })
    })
}

/// A full disk: nothing took the place of anything, so the store may try again.
#[test]
fn a_record_that_could_not_even_be_written_is_tried_again() {
    let files = SimulatedFiles::new(Disk::default(), Breakage::Nothing);
    open(&files).unwrap().store.save(Counter(5)).unwrap();
    let disk = files.disk();
    let mut check = CrashCheck::new(Breakage::Nothing);
    for failure in failures(1) {
        let files = SimulatedFiles::new(disk.clone(), Breakage::Nothing);
        let mut store = open(&files).unwrap().store;
        files.fail(failure);
        let error = store.save(Counter(6)).expect_err("an operation fails");
        assert!(matches!(error, SaveError::Unwritten(_)), "{failure:?}: {error}");
        assert_eq!(store.counter(), Some(Counter(5)), "{failure:?}");
        let end = check.stop(&files.disk(), &Expected::one_of(&[5]), 1);
        assert_eq!(end, ControlFlow::Continue(()), "{failure:?}");
        store.save(Counter(7)).expect("the disk has room again");
        drop(store);
        let end = check.stop(&files.disk(), &Expected::one_of(&[7]), 1);
        assert_eq!(end, ControlFlow::Continue(()), "{failure:?}");
    }
}

#[test]
fn a_save_that_fails_later_poisons_the_store_and_leaves_old_or_new() {
    let files = SimulatedFiles::new(Disk::default(), Breakage::Nothing);
    let mut store = open(&files).unwrap().store;
    store.save(Counter(5)).unwrap();
    let disk = files.disk();
    files.take_history();
    store.save(Counter(6)).unwrap();
    let operations = files.take_history().len();
    assert_eq!(operations, 4, "create, sync, rename, sync");

    let mut check = CrashCheck::new(Breakage::Nothing);
    for failure in failures(operations).filter(|failure| failure.at > 0) {
        let files = SimulatedFiles::new(disk.clone(), Breakage::Nothing);
        let mut store = open(&files).unwrap().store;
        files.fail(failure);
        let error = store.save(Counter(6)).expect_err("an operation fails");
        assert!(matches!(error, SaveError::Disk(_)), "{failure:?}: {error}");
        assert_eq!(store.counter(), Some(Counter(5)), "{failure:?}");
        let error = store.save(Counter(7)).expect_err("a failed store saves nothing more");
        assert!(matches!(error, SaveError::Poisoned { .. }), "{failure:?}: {error}");
        drop(store);
        let end = check.stop(&files.disk(), &Expected::one_of(&[5, 6]), 1);
        assert_eq!(end, ControlFlow::Continue(()), "{failure:?}");
    }
}

#[test]
fn a_creation_that_fails_anywhere_can_be_tried_again() {
    let files = SimulatedFiles::new(Disk::default(), Breakage::Nothing);
    open(&files).unwrap();
    let operations = files.take_history().len();

    let mut check = CrashCheck::new(Breakage::Nothing);
    for failure in failures(operations) {
        let files = SimulatedFiles::new(Disk::default(), Breakage::Nothing);
        files.fail(failure);
        let error = open(&files).expect_err("an operation fails");
        assert!(matches!(error, OpenError::Disk(_)), "{failure:?}: {error}");
        let end = check.stop(&files.disk(), &Expected::unused_or_none(), 1);
        assert_eq!(end, ControlFlow::Continue(()), "{failure:?}");
    }
}

#[test]
fn opening_that_fails_anywhere_changes_nothing() {
    let files = SimulatedFiles::new(Disk::default(), Breakage::Nothing);
    open(&files).unwrap().store.save(Counter(5)).unwrap();
    let disk = files.disk();
    files.take_history();
    open(&files).unwrap();
    let operations = files.take_history().len();

    let mut check = CrashCheck::new(Breakage::Nothing);
    for failure in failures(operations) {
        let files = SimulatedFiles::new(disk.clone(), Breakage::Nothing);
        files.fail(failure);
        let error = open(&files).expect_err("an operation fails");
        assert!(matches!(error, OpenError::Disk(_)), "{failure:?}: {error}");
        let end = check.stop(&files.disk(), &Expected::one_of(&[5]), 1);
        assert_eq!(end, ControlFlow::Continue(()), "{failure:?}");
    }
}
