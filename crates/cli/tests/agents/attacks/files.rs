//! Files and directories that other users can change, and paths that are not what they should be.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::agents::Home;
use crate::home::until;

/// Somebody who is neither root nor the user of the test.
const STRANGER: u32 = 65_533;

/// Whether files can be given away here.
fn can_give_away(home: &Home) -> bool {
    let path = home.path().join("gift");
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

/// The agent of n1's file does not start, for the reason that these words name. Exit code 6 says
/// that a person must put it right.
fn is_refused(home: &Home, socket: &Path, words: &[&str]) {
    ends_with(home, socket, 6, words);
}

/// The agent of n1's file ends with a code and these words, before it answers at its socket.
fn ends_with(home: &Home, socket: &Path, code: i32, words: &[&str]) {
    let mut agent = home.start("n1");
    let status = until("the end of the agent", || {
        let ended = agent.child.try_wait().unwrap();
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
    let home = Home::new();
    if !can_give_away(&home) {
        return;
    }
    let key = home.path().join("group.key");
    chown(&key, Some(STRANGER), None).unwrap();
    home.file("n1", "n1", &[]);
    is_refused(&home, &home.path().join("n1.sock"), &["group.key", "65533", "chown"]);
}

#[test]
fn root_may_check_the_files_of_an_agent_that_runs_as_another_user() {
    let home = Home::new();
    if !can_give_away(&home) {
        return;
    }
    chown(home.path().join("group.key"), Some(STRANGER), None).unwrap();
    let file = home.file("n1", "n1", &[]);
    let checked = home.run(&["config", "check", "-c", &file]);
    let stderr = String::from_utf8_lossy(&checked.stderr);
    assert_eq!(checked.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("warning") && stderr.contains("65533"), "{stderr}");
    let doctor = home.run(&["doctor", "-c", &file, "-o", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let key = findings.iter().find(|finding| finding["place"] == "key").unwrap();
    assert_eq!(key["severity"], "note", "{key}");
}

#[test]
fn a_token_of_another_user_is_refused() {
    let home = Home::new();
    if !can_give_away(&home) {
        return;
    }
    let token = home.path().join("token");
    fs::write(&token, "0123456789abcdef\n").unwrap();
    set_mode(&token, 0o600);
    chown(&token, Some(STRANGER), None).unwrap();
    let http = "{ listen = \"127.0.0.1:0\", token_file = \"token\" }".to_owned();
    home.file("n1", "n1", &[("http", http)]);
    is_refused(&home, &home.path().join("n1.sock"), &["token", "65533", "chown"]);
}

#[test]
fn a_key_that_is_a_pipe_is_refused_and_not_waited_for() {
    let home = Home::new();
    fs::remove_file(home.path().join("group.key")).unwrap();
    let mut make = Command::new("mkfifo");
    make.args(["-m", "600", "group.key"]).current_dir(home.path());
    if !make.status().is_ok_and(|made| made.success()) {
        eprintln!("skipped: no mkfifo here");
        return;
    }
    home.file("n1", "n1", &[]);
    is_refused(&home, &home.path().join("n1.sock"), &["group.key", "not a regular file"]);
}

/// Writes n1's file with a socket in a directory.
fn put_socket_in(home: &Home, directory: &Path) -> PathBuf {
    let socket = directory.join("n1.sock");
    home.file("n1", "n1", &[("socket", format!("{socket:?}"))]);
    socket
}

#[test]
fn a_socket_in_a_directory_that_others_can_write_is_refused() {
    let home = Home::new();
    let open = home.path().join("open");
    fs::create_dir(&open).unwrap();
    let socket = put_socket_in(&home, &open);
    for mode in [0o777, 0o770, 0o702] {
        set_mode(&open, mode);
        is_refused(&home, &socket, &["open", "chmod"]);
        assert!(!socket.exists());
    }
}

#[test]
fn a_socket_in_a_directory_of_another_user_is_refused() {
    let home = Home::new();
    if !can_give_away(&home) {
        return;
    }
    let other = home.path().join("other");
    fs::create_dir(&other).unwrap();
    chown(&other, Some(STRANGER), None).unwrap();
    let socket = put_socket_in(&home, &other);
    is_refused(&home, &socket, &["other", "65533", "chown"]);
}

#[test]
fn a_socket_in_a_sticky_directory_such_as_tmp_is_allowed() {
    let home = Home::new();
    let sticky = home.path().join("sticky");
    fs::create_dir(&sticky).unwrap();
    set_mode(&sticky, 0o1777);
    let socket = put_socket_in(&home, &sticky);
    let _agent = home.start("n1");
    until("the socket", || socket.exists().then_some(()));
    let mode = fs::metadata(&socket).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[test]
fn what_is_not_a_socket_is_never_removed() {
    let home = Home::new();
    let thesis = home.path().join("thesis.tex");
    fs::write(&thesis, "years of work").unwrap();
    let socket = home.path().join("n1.sock");
    let beside = home.path().join("n1.sock.http");
    home.file("n1", "n1", &[]);
    // As the control socket, and as the one for HTTP beside it.
    for place in [&socket, &beside] {
        fs::copy(&thesis, place).unwrap();
        is_refused(&home, &socket, &[name(place), "regular file"]);
        assert_eq!(fs::read_to_string(place).unwrap(), "years of work");
        fs::remove_file(place).unwrap();
        symlink(&thesis, place).unwrap();
        is_refused(&home, &socket, &[name(place), "symbolic link"]);
        assert!(fs::symlink_metadata(place).unwrap().is_symlink());
        fs::remove_file(place).unwrap();
    }
}

#[test]
fn a_socket_on_which_another_process_answers_is_left_to_it() {
    let home = Home::new();
    home.file("n1", "n1", &[]);
    let socket = home.path().join("n1.sock");
    for place in [socket.clone(), home.path().join("n1.sock.http")] {
        let other = UnixListener::bind(&place).unwrap();
        // That process may end, so another try may succeed.
        ends_with(&home, &socket, 7, &[name(&place)]);
        UnixStream::connect(&place).expect("it is still the other's");
        drop(other);
        fs::remove_file(&place).unwrap();
    }
}

#[test]
fn a_socket_of_another_user_is_not_removed() {
    let home = Home::new();
    if !can_give_away(&home) {
        return;
    }
    let socket = home.path().join("n1.sock");
    drop(UnixListener::bind(&socket).unwrap());
    chown(&socket, Some(STRANGER), None).unwrap();
    home.file("n1", "n1", &[]);
    is_refused(&home, &socket, &["n1.sock", "65533"]);
    assert!(socket.exists());
}

#[test]
fn the_socket_of_an_agent_that_was_killed_is_replaced() {
    let home = Home::new();
    home.file("n1", "n1", &[]);
    for _ in 0..2 {
        let agent = home.start("n1");
        agent.members_are(&["n1"]);
        until("HTTP's socket", || home.path().join("n1.sock.http").exists().then_some(()));
        drop(agent);
        assert!(home.path().join("n1.sock").exists(), "it was killed");
    }
}

#[test]
fn a_file_that_took_the_place_of_the_socket_survives_the_end_of_the_agent() {
    let home = Home::new();
    home.file("n1", "n1", &[]);
    let mut agent = home.start("n1");
    agent.members_are(&["n1"]);
    let places = ["n1.sock", "n1.sock.http"].map(|name| home.path().join(name));
    for place in &places {
        until("the socket", || place.exists().then_some(()));
        fs::remove_file(place).unwrap();
        fs::write(place, "years of work").unwrap();
    }
    crate::home::signal(agent.child.id(), "-TERM");
    assert_eq!(agent.ends(), Some(0), "{}", agent.log());
    for place in &places {
        assert_eq!(fs::read_to_string(place).unwrap(), "years of work");
    }
}
