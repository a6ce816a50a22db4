//! Directories that are not this node's store: refused with the cause and what to do, not changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tanist::store::{Adopted, OpenError, Opened, Store};
use tanist_core::group::Counter;
use tanist_core::membership::NodeId;

const NODE: NodeId = NodeId(3);
const GROUP: &str = "billing";

/// Opens a store. A check that was made before says the same.
fn open(directory: &Path) -> Result<Opened, OpenError> {
    let checked = check(directory);
    let opened = Store::open(directory, NODE, GROUP);
    match (&opened, checked) {
        (Ok(_), checked) => checked.expect("it can be opened"),
        (Err(error), Err(refused)) => assert_eq!(refused.to_string(), error.to_string()),
        // Whether it is locked or may be written is not looked at.
        (Err(OpenError::Locked { .. } | OpenError::Disk(_)), Ok(())) => {}
        (Err(error), Ok(())) => panic!("the check has missed it: {error}"),
    }
    opened
}

fn check(directory: &Path) -> Result<(), OpenError> {
    Store::check(directory, NODE, GROUP)
}

fn adopt(directory: &Path) -> Result<Adopted, OpenError> {
    Store::adopt(directory, NODE, GROUP)
}

/// A store that has saved `counter`.
fn store(directory: &Path, counter: u64) {
    let mut store = open(directory).expect("nothing is there").store;
    store.save(Counter(counter)).expect("a sound disk");
}

/// As `cp -a` does it: names and contents are the same, inodes are not.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("nothing is there");
    for entry in fs::read_dir(from).expect("it is there") {
        let entry = entry.expect("it can be read");
        fs::copy(entry.path(), to.join(entry.file_name())).expect("it can be copied");
    }
}

#[test]
fn a_lost_record_is_refused_by_name() {
    for name in ["counter", "identity"] {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path(), 5);
        let path = folder.path().join(name);
        fs::remove_file(&path).unwrap();
        for error in [open(folder.path()).unwrap_err(), adopt(folder.path()).unwrap_err()] {
            assert!(
                matches!(&error, OpenError::Missing { path: lost } if *lost == path),
                "{error}"
            );
        }
        assert!(!path.exists(), "{name} must not be made up");
    }
}

#[test]
fn a_store_that_lost_both_records_is_not_taken_for_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), 5);
    fs::remove_file(folder.path().join("counter")).unwrap();
    fs::remove_file(folder.path().join("identity")).unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::Missing { .. }), "{error}");
}

#[test]
fn a_used_counter_without_identity_is_refused_even_if_the_lock_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), 5);
    fs::remove_file(folder.path().join("identity")).unwrap();
    fs::write(folder.path().join("lock"), []).unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::Missing { .. }), "{error}");
}

#[test]
fn a_copy_is_refused_until_it_is_adopted() {
    let folder = tempfile::tempdir().unwrap();
    let (original, other) = (folder.path().join("n3"), folder.path().join("the copy"));
    store(&original, 5);
    copy(&original, &other);
    let error = open(&other).unwrap_err();
    assert!(matches!(error, OpenError::Copied { .. }), "{error}");
    let command = format!("tanist store adopt '{}' --node n3 --group billing", other.display());
    assert!(error.to_string().ends_with(&command), "{error}");

    let adopted = adopt(&other).unwrap();
    assert_eq!(adopted, Adopted { counter: Some(Counter(5)), saves: 1, was_copy: true });
    let Opened { mut store, is_new } = open(&other).unwrap();
    assert_eq!((store.counter(), is_new), (Some(Counter(5)), false));
    store.save(Counter(6)).unwrap();
    assert_eq!(open(&original).unwrap().store.counter(), Some(Counter(5)), "it is as it was");
}

#[test]
fn a_store_whose_lock_file_is_gone_counts_as_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), 5);
    let lock = folder.path().join("lock");
    fs::remove_file(&lock).unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::Copied { .. }), "{error}");
    assert!(!lock.exists(), "a refusal makes no lock file");
    assert!(adopt(folder.path()).unwrap().was_copy);
    assert_eq!(open(folder.path()).unwrap().store.counter(), Some(Counter(5)));
}

#[test]
fn a_lock_file_taken_away_from_a_running_node_lets_nobody_in() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap();
    fs::remove_file(folder.path().join("lock")).unwrap();
    assert!(matches!(open(folder.path()), Err(OpenError::Copied { .. })));
    fs::write(folder.path().join("lock"), []).unwrap();
    assert!(matches!(open(folder.path()), Err(OpenError::Copied { .. })));
    drop(first);
}

#[test]
fn adopting_what_is_no_copy_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), 5);
    let before = fs::read(folder.path().join("identity")).unwrap();
    assert!(!adopt(folder.path()).unwrap().was_copy);
    assert_eq!(fs::read(folder.path().join("identity")).unwrap(), before);
}

#[test]
fn nothing_to_adopt_is_refused_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("n3");
    assert!(matches!(adopt(&absent), Err(OpenError::Nothing { .. })));
    assert!(!absent.exists());
    assert!(matches!(adopt(folder.path()), Err(OpenError::Nothing { .. })));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_store_of_another_node_or_group_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), 5);
    for (node, group) in [(NodeId(4), GROUP), (NODE, "shipping"), (NODE, "")] {
        for error in [
            Store::open(folder.path(), node, group).unwrap_err(),
            Store::adopt(folder.path(), node, group).unwrap_err(),
        ] {
            assert!(matches!(error, OpenError::Bound { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains("bound to n3 of group \"billing\""), "{text}");
            assert!(text.contains(&format!("not to {node} of group {group:?}")), "{text}");
        }
    }
    assert_eq!(open(folder.path()).unwrap().store.counter(), Some(Counter(5)));
}

#[test]
fn files_of_two_stores_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    store(&first, 5);
    store(&second, 2);
    fs::copy(second.join("counter"), first.join("counter")).unwrap();
    for error in [open(&first).unwrap_err(), adopt(&first).unwrap_err()] {
        assert!(matches!(error, OpenError::Mixed { .. }), "{error}");
    }
}

#[test]
fn a_directory_with_other_files_is_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), b"words").unwrap();
    for error in [open(folder.path()).unwrap_err(), adopt(folder.path()).unwrap_err()] {
        assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");
        assert!(error.to_string().contains("thesis.tex"), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_name_that_no_record_could_hold_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Store::open(folder.path(), NODE, &"x".repeat(256)).unwrap_err();
    assert!(matches!(error, OpenError::GroupName { length: 256 }), "{error}");
    Store::open(folder.path(), NODE, &"x".repeat(255)).unwrap();
    Store::open(folder.path(), NODE, &"x".repeat(255)).unwrap();
}

#[test]
fn what_the_file_system_refuses_is_told_with_path_and_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"").unwrap();
    let deep = folder.path().join("missing/n3");
    for (directory, hint) in [(&file, "name a directory"), (&deep, "make ")] {
        let error = open(directory).unwrap_err();
        assert!(matches!(error, OpenError::Disk(_)), "{error}");
        let text = error.to_string();
        assert!(text.contains(&directory.display().to_string()), "{text}");
        assert!(text.contains(hint), "{text}");
    }
}

#[test]
fn a_check_makes_nothing_and_finds_a_missing_parent() {
    let folder = tempfile::tempdir().unwrap();
    check(&folder.path().join("n3")).unwrap();
    let error = check(&folder.path().join("disk/n3")).unwrap_err();
    assert!(error.to_string().contains("disk/n3"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    store(&folder.path().join("n3"), 5);
    let held = open(&folder.path().join("n3")).unwrap();
    check(held.store.directory()).unwrap();
}

#[test]
fn a_directory_without_permission_is_refused_with_who_must_be_let_in() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("n3");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o500)).unwrap();
    // Root is never refused, so the test uses a device that takes no files.
    let is_root = fs::write(directory.join("probe"), b"").is_ok();
    let error = open(if is_root { Path::new("/dev/null/n3") } else { &directory }).unwrap_err();
    assert!(matches!(error, OpenError::Disk(_)), "{error}");
    let hint = if is_root { "name a directory" } else { "let the user that runs the node" };
    assert!(error.to_string().contains(hint), "{error}");
}

#[test]
fn a_directory_or_file_that_others_may_write_is_refused_with_the_command_that_mends_it() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("n3");
    store(&directory, 5);
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let cases = [("", 0o777, 0o700), ("", 0o720, 0o700), ("counter", 0o602, 0o600)];
    let more = [("lock", 0o620, 0o600), ("identity", 0o666, 0o600)];
    for (name, mode, wanted) in cases.into_iter().chain(more) {
        let path = if name.is_empty() { directory.clone() } else { directory.join(name) };
        set(&path, mode);
        let checked = check(&directory).unwrap_err();
        for error in [open(&directory).unwrap_err(), adopt(&directory).unwrap_err(), checked] {
            assert!(matches!(error, OpenError::Writable { .. }), "{error}");
            let command = format!("run: chmod {wanted:o} {}", path.display());
            assert!(error.to_string().ends_with(&command), "{error}");
        }
        set(&path, wanted);
    }
    check(&directory).unwrap();
    set(&directory, 0o755);
    assert_eq!(open(&directory).unwrap().store.counter(), Some(Counter(5)), "others may look");
}

#[test]
fn a_directory_with_other_files_is_no_store_whoever_may_write_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), b"words").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");
    assert!(matches!(check(folder.path()), Err(OpenError::NotAStore { .. })));
}

/// Only root can give a directory to another user; without root the test says so and passes.
#[test]
fn a_directory_of_another_user_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("n3");
    store(&directory, 5);
    if std::os::unix::fs::chown(&directory, Some(12345), None).is_err() {
        eprintln!("skipped: only root can give a directory away");
        return;
    }
    let error = open(&directory).unwrap_err();
    assert!(matches!(error, OpenError::Owner { owner: 12345, .. }), "{error}");
}
