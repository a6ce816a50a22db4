//! Disks that cannot be written. A file system of its own needs a mount namespace of its own, which
//! only root can make; without that these tests say so and pass.

use std::process::Command;
use std::time::Instant;

use crate::support::agent::Agent;
use crate::support::fleet::Fleet;
use crate::support::namespaces::can_mount;
use crate::support::wait::LIMIT;

/// An agent whose data directory is a file system of its own. The shell becomes the agent, so a
/// signal reaches it.
fn start_on_mount(fleet: &Fleet, name: &str, mount: &str) -> Agent {
    let data = fleet.file(&format!("data-{name}"));
    std::fs::create_dir_all(&data).unwrap();
    let program = env!("CARGO_BIN_EXE_tanist");
    let script = format!("{mount} && exec {program} agent -c {name}.toml");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script]).current_dir(fleet.path());
    fleet.spawn(name, &mut command)
}

#[test]
fn a_read_only_data_directory_is_refused_by_name() {
    if !can_mount() {
        return;
    }
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2"]);
    fleet.configure_as("n3", "n3", &[]);
    let mut third = start_on_mount(&fleet, "n3", "mount -t tmpfs -o ro,mode=700 tmpfs data-n3");
    assert_eq!(third.ends(), Some(7), "{}", third.log());
    assert!(third.log().contains("data-n3"), "{}", third.log());
    agents[0].members_are(&["n1", "n2"]);
}

#[test]
fn a_leader_whose_disk_is_full_ends_with_the_reason_and_another_leads() {
    if !can_mount() {
        return;
    }
    let fleet = Fleet::new(3);
    fleet.configure_as("n3", "n3", &[]);
    let mut third =
        start_on_mount(&fleet, "n3", "mount -t tmpfs -o size=64k,mode=700 tmpfs data-n3");
    third.members_are(&["n3"]);
    let mut agents = fleet.group_with(&["n1", "n2"], &["n1", "n2", "n3"]);
    assert_eq!(third.ask("status")["role"], "leader");
    // Other processes see this mount below /proc/PID/root.
    let root = format!("/proc/{}/root", third.id());
    let data = fleet.file("data-n3");
    let filler = format!("{root}{}/filler", data.display());
    assert!(std::fs::write(&filler, vec![0; 1 << 20]).is_err(), "64 kB are full before 1 MB");
    // Whenever n1 leaves or joins, n3 needs a new group number. Some numbers are reserved on its
    // disk.
    drop(agents.remove(0));
    let end = Instant::now() + 4 * LIMIT;
    while third.ended().is_none() {
        assert!(Instant::now() < end, "it does not end: {}", third.log());
        let first = fleet.start("n1");
        while third.ended().is_none() && !first.is_with("n3") {
            assert!(Instant::now() < end, "n1 does not join: {}", first.log());
        }
    }
    assert_eq!(third.ends(), Some(7), "{}", third.log());
    let log = third.log();
    assert!(log.contains("data-n3") && log.contains("No space left"), "{log}");
    agents[0].members_are(&["n2"]);
    assert_eq!(agents[0].ask("status")["role"], "leader");
}
