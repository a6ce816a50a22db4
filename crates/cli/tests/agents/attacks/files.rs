//! Files and directories that other users can change, and paths that are not what they should be.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::fleet::Fleet;
use crate::support::wait::until;

/// A user other than root and the user of the test.
const STRANGER: u32 = 65_533;

/// Whether this user may give files to another.
fn can_give_away(fleet: &Fleet) -> bool {
    let path = fleet.file("gift");
    fs::write(&path, "").unwrap();
    let is_able = chown(&path, Some(STRANGER), None).is_ok();
    if !is_able {
        eprintln!("skipped: only root gives files away");
    }
    is_able
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// The agent of n1 does not start, and its message has these words. Exit code 6 says that a person
/// must correct something.
fn is_refused(fleet: &Fleet, socket: &Path, words: &[&str]) {
    ends_with(fleet, socket, 6, words);
}

/// The agent of n1 exits with a code and these words, before it answers at its socket.
fn ends_with(fleet: &Fleet, socket: &Path, code: i32, words: &[&str]) {
    let mut agent = fleet.start("n1");
    let status = until("the end of the agent", || {
        let ended = agent.ended();
        assert!(ended.is_some() || !answers(socket), "it started: {words:?}");
        ended
    });
    let log = agent.log();
    assert_eq!(status.code(), Some(code), "{log}");
    assert!(words.iter().all(|word| log.contains(word)), "no {words:?} in {log}");
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// Whether an agent answers there.
fn answers(socket: &Path) -> bool {
    let ask = || {
        let mut stream = UnixStream::connect(socket).ok()?;
        stream.set_read_timeout(Some(Duration::from_millis(500))).ok()?;
        stream.write_all(b"{\"ask\":\"status\"}\n").ok()?;
        stream.read(&mut [0; 64]).ok().filter(|read| *read > 0)
    };
    ask().is_some()
}

#[test]
fn a_key_of_another_user_is_refused() {
    let fleet = Fleet::new(3);
    if !can_give_away(&fleet) {
        return;
    }
    let key = fleet.file("group.key");
    chown(&key, Some(STRANGER), None).unwrap();
    fleet.configure_as("n1", "n1", &[]);
    is_refused(&fleet, &fleet.file("n1.sock"), &["group.key", "65533", "chown"]);
}

#[test]
fn root_may_check_the_files_of_an_agent_that_runs_as_another_user() {
    let fleet = Fleet::new(3);
    if !can_give_away(&fleet) {
        return;
    }
    chown(fleet.file("group.key"), Some(STRANGER), None).unwrap();
    let file = fleet.configure_as("n1", "n1", &[]);
    let checked = fleet.run(&["config", "check", "-c", &file]);
    let stderr = String::from_utf8_lossy(&checked.stderr);
    assert_eq!(checked.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("warning") && stderr.contains("65533"), "{stderr}");
    let doctor = fleet.run(&["doctor", "-c", &file, "-o", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let key = findings.iter().find(|finding| finding["place"] == "key").unwrap();
    assert_eq!(key["severity"], "note", "{key}");
}

#[test]
fn a_token_of_another_user_is_refused() {
    let fleet = Fleet::new(3);
    if !can_give_away(&fleet) {
        return;
    }
    let token = fleet.file("token");
    fs::write(&token, "0123456789abcdef\n").unwrap();
    set_mode(&token, 0o600);
    chown(&token, Some(STRANGER), None).unwrap();
    let http = "{ listen = \"127.0.0.1:0\", token_file = \"token\" }".to_owned();
    fleet.configure_as("n1", "n1", &[("http", http)]);
    is_refused(&fleet, &fleet.file("n1.sock"), &["token", "65533", "chown"]);
}

#[test]
fn a_key_that_is_a_pipe_is_refused_and_not_waited_for() {
    let fleet = Fleet::new(3);
    fs::remove_file(fleet.file("group.key")).unwrap();
    let mut make = Command::new("mkfifo");
    make.args(["-m", "600", "group.key"]).current_dir(fleet.path());
    if !make.status().is_ok_and(|made| made.success()) {
        eprintln!("skipped: no mkfifo here");
        return;
    }
    fleet.configure_as("n1", "n1", &[]);
    is_refused(&fleet, &fleet.file("n1.sock"), &["group.key", "not a regular file"]);
}

/// Writes n1's configuration, with its socket in a directory.
fn put_socket_in(fleet: &Fleet, directory: &Path) -> PathBuf {
    let socket = directory.join("n1.sock");
    fleet.configure_as("n1", "n1", &[("socket", format!("{socket:?}"))]);
    socket
}

#[test]
fn a_socket_in_a_directory_that_others_can_write_is_refused() {
    let fleet = Fleet::new(3);
    let open = fleet.file("open");
    fs::create_dir(&open).unwrap();
    let socket = put_socket_in(&fleet, &open);
    for mode in [0o777, 0o770, 0o702] {
        set_mode(&open, mode);
        is_refused(&fleet, &socket, &["open", "chmod"]);
        assert!(!socket.exists());
    }
}

#[test]
fn a_socket_in_a_directory_of_another_user_is_refused() {
    let fleet = Fleet::new(3);
    if !can_give_away(&fleet) {
        return;
    }
    let other = fleet.file("other");
    fs::create_dir(&other).unwrap();
    chown(&other, Some(STRANGER), None).unwrap();
    let socket = put_socket_in(&fleet, &other);
    is_refused(&fleet, &socket, &["other", "65533", "chown"]);
}

#[test]
fn a_socket_in_a_sticky_directory_such_as_tmp_is_allowed() {
    let fleet = Fleet::new(3);
    let sticky = fleet.file("sticky");
    fs::create_dir(&sticky).unwrap();
    set_mode(&sticky, 0o1777);
    let socket = put_socket_in(&fleet, &sticky);
    let _agent = fleet.start("n1");
    until("the socket", || socket.exists().then_some(()));
    let mode = fs::metadata(&socket).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[test]
fn what_is_not_a_socket_is_never_removed() {
    let fleet = Fleet::new(3);
    let thesis = fleet.file("thesis.tex");
    fs::write(&thesis, "years of work").unwrap();
    let socket = fleet.file("n1.sock");
    let beside = fleet.file("n1.sock.http");
    fleet.configure_as("n1", "n1", &[]);
    // In place of the control socket, and of the HTTP socket beside it.
    for place in [&socket, &beside] {
        fs::copy(&thesis, place).unwrap();
        is_refused(&fleet, &socket, &[name(place), "regular file"]);
        assert_eq!(fs::read_to_string(place).unwrap(), "years of work");
        fs::remove_file(place).unwrap();
        symlink(&thesis, place).unwrap();
        is_refused(&fleet, &socket, &[name(place), "symbolic link"]);
        assert!(fs::symlink_metadata(place).unwrap().is_symlink());
        fs::remove_file(place).unwrap();
    }
}

#[test]
fn a_socket_on_which_another_process_answers_is_left_to_it() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let socket = fleet.file("n1.sock");
    for place in [socket.clone(), fleet.file("n1.sock.http")] {
        let other = UnixListener::bind(&place).unwrap();
        // That process may end, so another try may succeed.
        ends_with(&fleet, &socket, 7, &[name(&place)]);
        UnixStream::connect(&place).expect("it is still the other's");
        drop(other);
        fs::remove_file(&place).unwrap();
    }
}

#[test]
fn a_socket_of_another_user_is_not_removed() {
    let fleet = Fleet::new(3);
    if !can_give_away(&fleet) {
        return;
    }
    let socket = fleet.file("n1.sock");
    drop(UnixListener::bind(&socket).unwrap());
    chown(&socket, Some(STRANGER), None).unwrap();
    fleet.configure_as("n1", "n1", &[]);
    is_refused(&fleet, &socket, &["n1.sock", "65533"]);
    assert!(socket.exists());
}

#[test]
fn the_socket_of_an_agent_that_was_killed_is_replaced() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    for _ in 0..2 {
        let agent = fleet.start("n1");
        agent.members_are(&["n1"]);
        until("HTTP's socket", || fleet.file("n1.sock.http").exists().then_some(()));
        drop(agent);
        assert!(fleet.file("n1.sock").exists(), "it was killed");
    }
}

#[test]
fn a_file_that_took_the_place_of_the_socket_survives_the_end_of_the_agent() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let mut agent = fleet.start("n1");
    agent.members_are(&["n1"]);
    let places = ["n1.sock", "n1.sock.http"].map(|name| fleet.path().join(name));
    for place in &places {
        until("the socket", || place.exists().then_some(()));
        fs::remove_file(place).unwrap();
        fs::write(place, "years of work").unwrap();
    }
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0), "{}", agent.log());
    for place in &places {
        assert_eq!(fs::read_to_string(place).unwrap(), "years of work");
    }
}
