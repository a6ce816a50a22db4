//! Every crash point, every way to lose what was not synced: the old counter or the new one.

use std::ops::ControlFlow;

use tanist_core::group::Counter;

use super::super::Opened;
use super::crash_check::{CrashCheck, Expected, Violation, open};
use super::simulated_disk::Disk;
use super::simulated_files::{Breakage, SimulatedFiles};

/// Crashes in a row: in the work, and while recovering from the one before.
const CRASHES: u32 = 1;
/// Counters of different lengths, so that records have different lengths too.
const COUNTERS: [u64; 4] = [1, 2, 300, 70_000];

/// Makes a store and works with it, and stops at every operation on the way.
fn run(breakage: Breakage) -> (CrashCheck, ControlFlow<Violation>) {
    let mut check = CrashCheck::new(breakage);
    let end = match make(&mut check, breakage) {
        ControlFlow::Continue(disk) => work(&mut check, disk, breakage),
        ControlFlow::Break(breach) => ControlFlow::Break(breach),
    };
    (check, end)
}

/// Works with a store that was made as it should be.
fn run_on_sound_store(breakage: Breakage) -> ControlFlow<Violation> {
    let files = SimulatedFiles::new(Disk::default(), Breakage::Nothing);
    open(&files).expect("an empty disk takes a store");
    work(&mut CrashCheck::new(breakage), files.disk(), breakage)
}

fn make(check: &mut CrashCheck, breakage: Breakage) -> ControlFlow<Violation, Disk> {
    let files = SimulatedFiles::new(Disk::default(), breakage);
    let opened = open(&files).expect("an empty disk takes a store");
    assert!(opened.is_new, "nothing was there");
    stop_at_each(check, &files, &Expected::unused_or_none(), &Expected::one_of(&[0]))?;
    ControlFlow::Continue(files.disk())
}

/// Opens a store and saves, twice.
fn work(check: &mut CrashCheck, disk: Disk, breakage: Breakage) -> ControlFlow<Violation> {
    let files = SimulatedFiles::new(disk, breakage);
    let mut held = 0;
    for counters in COUNTERS.chunks(2) {
        let Opened { mut store, is_new } = open(&files).expect("nothing was damaged");
        assert!(!is_new, "the store was there");
        let same = Expected::one_of(&[held]);
        stop_at_each(check, &files, &same, &same)?;
        for &counter in counters {
            store.save(Counter(counter)).expect("a disk that does not fail takes it");
            let during = Expected::one_of(&[held, counter]);
            stop_at_each(check, &files, &during, &Expected::one_of(&[counter]))?;
            held = counter;
        }
    }
    ControlFlow::Continue(())
}

/// Stops before each operation since the last call, and after the last one.
fn stop_at_each(
    check: &mut CrashCheck,
    files: &SimulatedFiles,
    during: &Expected,
    after: &Expected,
) -> ControlFlow<Violation> {
    for disk in files.take_history() {
        check.stop(&disk, during, CRASHES)?;
    }
    check.stop(&files.disk(), after, CRASHES)
}

#[test]
fn every_crash_leaves_the_old_counter_or_the_new_one() {
    let (check, end) = run(Breakage::Nothing);
    assert_eq!(end, ControlFlow::Continue(()));
    // A silent change of how much is looked at is a failure too.
    assert_eq!(check.disks(), 18_440);
}

#[test]
fn content_that_is_not_synced_before_the_rename_is_caught() {
    for end in [run(Breakage::SkipFileSync).1, run_on_sound_store(Breakage::SkipFileSync)] {
        assert!(matches!(end, ControlFlow::Break(Violation::Refused(_))), "{end:?}");
    }
}

#[test]
fn a_rename_that_is_not_synced_is_caught() {
    let (_, end) = run(Breakage::SkipDirectorySync);
    // The identity may come to be without its counter.
    assert!(matches!(end, ControlFlow::Break(Violation::Refused(_))), "{end:?}");
    let end = run_on_sound_store(Breakage::SkipDirectorySync);
    assert!(matches!(end, ControlFlow::Break(Violation::Lost(_))), "{end:?}");
}

#[test]
fn a_new_directory_that_is_not_synced_is_caught_as_a_lost_store() {
    let (_, end) = run(Breakage::SkipParentSync);
    assert!(matches!(end, ControlFlow::Break(Violation::Lost(_))), "{end:?}");
}

#[test]
fn believing_what_a_killed_process_left_unsynced_is_caught() {
    let (_, end) = run(Breakage::SkipSyncOnOpen);
    assert!(matches!(end, ControlFlow::Break(Violation::Lost(_))), "{end:?}");
}

#[test]
fn writing_in_place_is_caught() {
    for end in [run(Breakage::WriteInPlace).1, run_on_sound_store(Breakage::WriteInPlace)] {
        assert!(matches!(end, ControlFlow::Break(Violation::Refused(_))), "{end:?}");
    }
}
