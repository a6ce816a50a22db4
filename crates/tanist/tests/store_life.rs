//! A store as a node uses it: made, saved, opened again, held by one process at a time.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use tanist::store::{OpenError, Opened, SaveError, Store};
use tanist_core::group::Counter;
use tanist_core::membership::NodeId;

const NODE: NodeId = NodeId(3);
const GROUP: &str = "billing";
/// Tells the test program to be the other process, and where the store is.
const HOLD: &str = "TANIST_TEST_HOLD_STORE";

fn open(directory: &Path) -> Result<Opened, OpenError> {
    Store::open(directory, NODE, GROUP)
}

#[test]
fn a_new_store_is_for_its_owner_alone_and_holds_no_counter() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("n3");
    let Opened { store, is_new } = open(&directory).unwrap();
    assert!(is_new);
    assert_eq!(store.counter(), None);
    assert_eq!(store.directory(), directory);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    for name in ["lock", "identity", "counter"] {
        assert_eq!(mode(&directory.join(name)), 0o600, "{name}");
    }
}

#[test]
fn an_unused_store_is_still_unused_and_not_new_when_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let Opened { store, is_new } = open(folder.path()).unwrap();
    assert_eq!((store.counter(), is_new), (None, false));
}

#[test]
fn what_was_saved_is_there_when_the_store_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    for counter in [1, 2, 24, 256, 70_000, u64::MAX - 1] {
        let mut store = open(folder.path()).unwrap().store;
        store.save(Counter(counter)).unwrap();
        assert_eq!(store.counter(), Some(Counter(counter)));
        drop(store);
        let Opened { store, is_new } = open(folder.path()).unwrap();
        assert_eq!((store.counter(), is_new), (Some(Counter(counter)), false));
    }
}

#[test]
fn a_save_replaces_the_counter_and_leaves_lock_and_identity_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap().store;
    let inode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().ino();
    let before = ["lock", "identity", "counter"].map(inode);
    store.save(Counter(1)).unwrap();
    let after = ["lock", "identity", "counter"].map(inode);
    assert_eq!(before[..2], after[..2]);
    assert_ne!(before[2], after[2]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn a_lower_counter_is_refused_and_the_store_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap().store;
    store.save(Counter(7)).unwrap();
    let error = store.save(Counter(6)).unwrap_err();
    assert!(matches!(error, SaveError::Backwards { held: 7, asked: 6 }), "{error}");
    store.save(Counter(7)).unwrap();
    store.save(Counter(8)).unwrap();
    drop(store);
    assert_eq!(open(folder.path()).unwrap().store.counter(), Some(Counter(8)));
}

#[test]
fn the_last_counter_is_refused_since_no_number_would_follow_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap().store;
    store.save(Counter(u64::MAX - 1)).unwrap();
    let error = store.save(Counter(u64::MAX - 1).next()).unwrap_err();
    assert!(matches!(error, SaveError::Exhausted), "{error}");
    store.save(Counter(u64::MAX - 1)).unwrap();
}

#[test]
fn a_directory_that_is_taken_away_takes_no_save_and_another_in_its_place_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("n3");
    let mut store = open(&directory).unwrap().store;
    fs::remove_dir_all(&directory).unwrap();
    let other = open(&directory).unwrap();
    assert!(other.is_new);
    for counter in [1, 2] {
        let error = store.save(Counter(counter)).unwrap_err();
        assert!(matches!(error, SaveError::Unwritten(_)), "{error}");
    }
    drop((store, other));
    assert_eq!(open(&directory).unwrap().store.counter(), None);
}

#[test]
fn a_second_opener_in_the_same_process_is_refused_until_the_first_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap();
    for error in
        [open(folder.path()).unwrap_err(), Store::adopt(folder.path(), NODE, GROUP).unwrap_err()]
    {
        let ours = std::process::id();
        assert!(matches!(error, OpenError::Locked { pid: Some(pid), .. } if pid == ours));
    }
    drop(first);
    open(folder.path()).unwrap();
}

#[test]
fn another_process_holds_the_store_until_it_ends() {
    if let Some(directory) = std::env::var_os(HOLD) {
        return hold(Path::new(&directory));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "another_process_holds_the_store_until_it_ends", "--nocapture"])
        .env(HOLD, folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("holding")), "the child did not open it");
    let error = open(folder.path()).unwrap_err();
    let holder = child.id();
    assert!(matches!(error, OpenError::Locked { pid: Some(pid), .. } if pid == holder), "{error}");
    assert!(error.to_string().contains(&format!("process {holder}")), "{error}");
    // Killed without warning: the lock must be released with the process.
    child.kill().unwrap();
    child.wait().unwrap();
    let Opened { store, is_new } = open(folder.path()).unwrap();
    assert_eq!((store.counter(), is_new), (Some(Counter(9)), false));
}

/// What the other process does: opens the store, says so, and waits for its end.
fn hold(directory: &Path) {
    let mut opened = open(directory).expect("nothing is there");
    opened.store.save(Counter(9)).expect("a sound disk");
    let mut output = std::io::stdout();
    output.write_all(b"holding\n").expect("the other reads");
    output.flush().expect("the other reads");
    std::io::stdin().read_to_end(&mut Vec::new()).expect("the other keeps it open");
}

#[test]
fn what_a_crash_left_of_a_record_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).unwrap().store.save(Counter(4)).unwrap();
    for name in ["counter.new", "identity.new"] {
        fs::write(folder.path().join(name), b"half a rec").unwrap();
    }
    let mut store = open(folder.path()).unwrap().store;
    assert_eq!(store.counter(), Some(Counter(4)));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    store.save(Counter(5)).unwrap();
}

#[test]
fn a_creation_that_was_interrupted_is_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    drop(open(&whole).unwrap());
    let directory = folder.path().join("n3");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("lock"), []).unwrap();
    fs::copy(whole.join("counter"), directory.join("counter")).unwrap();
    fs::write(directory.join("identity.new"), b"half a rec").unwrap();
    let Opened { store, is_new } = open(&directory).unwrap();
    assert_eq!((store.counter(), is_new), (None, true));
    drop(store);
    assert!(!open(&directory).unwrap().is_new);
}
