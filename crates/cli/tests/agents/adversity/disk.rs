//! Disks that cannot be written. A file system of its own needs a mount namespace of its own, which
//! only root can make; without that these tests say so and pass.

use std::process::{Command, Stdio};
use std::time::Instant;

use super::agents::{Agent, Home};
use crate::support::dev::LIMIT;

/// Whether this user may mount in a namespace of its own.
fn can_mount() -> bool {
    let tried = Command::new("unshare")
        .args(["-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"])
        .stderr(Stdio::null())
        .status();
    let is_able = tried.is_ok_and(|status| status.success());
    if !is_able {
        eprintln!("skipped: mounts need root and unshare");
    }
    is_able
}

/// An agent whose data directory is a file system of its own. The shell becomes the agent, so a
/// signal reaches it.
fn start_on_mount(home: &Home, name: &str, mount: &str) -> Agent {
    let data = home.path().join(format!("data-{name}"));
    std::fs::create_dir_all(&data).unwrap();
    let program = env!("CARGO_BIN_EXE_tanist");
    let script = format!("{mount} && exec {program} agent -c {name}.toml");
    let log = std::fs::File::create(home.path().join(format!("{name}.log"))).unwrap();
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script]).current_dir(home.path());
    Agent::spawn(home, name, command.stdout(Stdio::null()).stderr(log))
}

#[test]
fn a_read_only_data_directory_is_refused_by_name() {
    if !can_mount() {
        return;
    }
    let home = Home::new();
    let agents = home.group(&["n1", "n2"]);
    home.file("n3", "n3", &[]);
    let mut third = start_on_mount(&home, "n3", "mount -t tmpfs -o ro,mode=700 tmpfs data-n3");
    assert_eq!(third.ends(), Some(7), "{}", third.log());
    assert!(third.log().contains("data-n3"), "{}", third.log());
    agents[0].members_are(&["n1", "n2"]);
}

#[test]
fn a_leader_whose_disk_is_full_ends_with_the_reason_and_another_leads() {
    if !can_mount() {
        return;
    }
    let home = Home::new();
    home.file("n3", "n3", &[]);
    let mut third =
        start_on_mount(&home, "n3", "mount -t tmpfs -o size=64k,mode=700 tmpfs data-n3");
    third.members_are(&["n3"]);
    let mut agents = home.group_with(&["n1", "n2"], &["n1", "n2", "n3"]);
    assert_eq!(third.ask("status")["role"], "leader");
    // Seen from outside, the file system of a process is below its root directory.
    let root = format!("/proc/{}/root", third.child.id());
    let data = home.path().join("data-n3");
    let filler = format!("{root}{}/filler", data.display());
    assert!(std::fs::write(&filler, vec![0; 1 << 20]).is_err(), "64 kB are full before 1 MB");
    // Whenever n1 goes or comes, n3 needs a new group and a number for it. Some are on its disk.
    drop(agents.remove(0));
    let end = Instant::now() + 4 * LIMIT;
    while third.child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "it does not end: {}", third.log());
        let first = home.start("n1");
        while third.child.try_wait().unwrap().is_none() && !first.is_with("n3") {
            assert!(Instant::now() < end, "n1 does not join: {}", first.log());
        }
    }
    assert_eq!(third.ends(), Some(7), "{}", third.log());
    let log = third.log();
    assert!(log.contains("data-n3") && log.contains("No space left"), "{log}");
    agents[0].members_are(&["n2"]);
    assert_eq!(agents[0].ask("status")["role"], "leader");
}
