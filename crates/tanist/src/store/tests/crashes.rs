//! Every crash point, every way to lose what was not synced: the old counter or the new one.

use std::ops::ControlFlow;

use tanist_core::group::Counter;

use super::super::Opened;
use super::crash_check::{Breach, CrashCheck, Expected, open};
use super::simulated_disk::Disk;
use super::simulated_files::{Breakage, SimulatedFiles};

/// Crashes in a row: in the work, and while recovering from the one before.
const CRASHES: u32 = 2;
/// Counters of different lengths, so that records have different lengths too.
const COUNTERS: [u64; 4] = [1, 2, 300, 70_000];

/// Makes a store, saves, opens it again and saves; stops at every operation on the way.
fn run(breakage: Breakage) -> (CrashCheck, ControlFlow<Breach>) {
    let mut check = CrashCheck::new(breakage);
    let end = life(&mut check, breakage);
    (check, end)
}

fn life(check: &mut CrashCheck, breakage: Breakage) -> ControlFlow<Breach> {
    let files = SimulatedFiles::new(Disk::default(), breakage);
    let Opened { mut store, is_new } = open(&files).expect("an empty disk takes a store");
    assert!(is_new);
    stop_at_each(check, &files, &Expected::unused_or_none(), &Expected::one_of(&[0]))?;
    let mut held = 0;
    for counter in COUNTERS {
        store.save(Counter(counter)).expect("a disk that does not fail takes it");
        let during = Expected::one_of(&[held, counter]);
        stop_at_each(check, &files, &during, &Expected::one_of(&[counter]))?;
        held = counter;
    }
    drop(store);
    let Opened { mut store, .. } = open(&files).expect("nothing was damaged");
    let same = Expected::one_of(&[held]);
    stop_at_each(check, &files, &same, &same)?;
    store.save(Counter(held + 1)).expect("a disk that does not fail takes it");
    let during = Expected::one_of(&[held, held + 1]);
    stop_at_each(check, &files, &during, &Expected::one_of(&[held + 1]))
}

/// Stops before each operation since the last call, and after the last one.
fn stop_at_each(
    check: &mut CrashCheck,
    files: &SimulatedFiles,
    during: &Expected,
    after: &Expected,
) -> ControlFlow<Breach> {
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
    assert_eq!(check.disks(), 0);
}

#[test]
fn content_that_is_not_synced_before_the_rename_is_caught() {
    let (_, end) = run(Breakage::SkipFileSync);
    assert!(matches!(end, ControlFlow::Break(Breach::Refused(_))), "{end:?}");
}

#[test]
fn a_rename_that_is_not_synced_is_caught() {
    let (_, end) = run(Breakage::SkipDirectorySync);
    assert!(matches!(end, ControlFlow::Break(_)), "{end:?}");
}

#[test]
fn a_new_directory_that_is_not_synced_is_caught_as_a_lost_store() {
    let (_, end) = run(Breakage::SkipParentSync);
    assert!(matches!(end, ControlFlow::Break(Breach::Lost(_))), "{end:?}");
}

#[test]
fn believing_what_a_killed_process_left_unsynced_is_caught() {
    let (_, end) = run(Breakage::SkipSyncOnOpen);
    assert!(matches!(end, ControlFlow::Break(Breach::Lost(_))), "{end:?}");
}

#[test]
fn writing_in_place_is_caught() {
    let (_, end) = run(Breakage::WriteInPlace);
    assert!(matches!(end, ControlFlow::Break(Breach::Refused(_))), "{end:?}");
}
