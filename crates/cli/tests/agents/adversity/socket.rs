//! Clients of the control socket that send garbage, or nothing, or may not act.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::fleet::Fleet;

fn connect(fleet: &Fleet) -> UnixStream {
    let stream = UnixStream::connect(fleet.file("n1.sock")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

#[test]
fn garbage_on_the_socket_is_answered_and_the_next_question_too() {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2"]);
    let stream = connect(&fleet);
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    let mut ask = |bytes: &[u8]| {
        (&stream).write_all(bytes).unwrap();
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    for garbage in [&b"hello\n"[..], b"{}\n", b"\n", b"{\"ask\":\"fly\"}\n", b"[[[[[[\n"] {
        let answer = ask(garbage);
        assert!(answer["error"].as_str().unwrap().starts_with("not understood"), "{answer}");
    }
    assert_eq!(ask(b"{\"ask\":\"status\"}\n")["ok"]["node"], "n1");
    agents[1].members_are(&["n1", "n2"]);
}

#[test]
fn bytes_that_are_no_text_end_that_connection_only() {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2"]);
    let mut stream = connect(&fleet);
    stream.write_all(&[0xff, 0xfe, 0x00, b'\n']).unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(agents[0].ask("status")["node"], "n1");
}

#[test]
fn a_line_of_ten_megabytes_is_not_read_to_its_end() {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2"]);
    let mut stream = connect(&fleet);
    let written = stream.write_all(&vec![b'x'; 10 << 20]);
    assert!(written.is_err(), "the agent took ten megabytes");
    let mut line = String::new();
    // The answer may be lost with the connection.
    if BufReader::new(stream).read_line(&mut line).is_ok_and(|read| read > 0) {
        assert!(line.contains("at most 64 kilobytes"), "{line}");
    }
    agents[0].members_are(&["n1", "n2"]);
}

#[test]
fn clients_that_say_nothing_keep_nobody_waiting() {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2"]);
    let silent: Vec<UnixStream> = (0..200).map(|_| connect(&fleet)).collect();
    let half = connect(&fleet);
    (&half).write_all(b"{\"ask\":").unwrap();
    assert_eq!(agents[0].ask("status")["node"], "n1");
    (&half).write_all(b"\"status\"}\n").unwrap();
    let mut line = String::new();
    BufReader::new(&half).read_line(&mut line).unwrap();
    assert!(line.contains("\"node\":\"n1\""), "{line}");
    drop(silent);
}

#[test]
fn another_user_may_look_if_the_mode_allows_it_but_not_act() {
    let is_able = Command::new("setpriv")
        .args(["--reuid", "65534", "--clear-groups", "true"])
        .stderr(Stdio::null())
        .status();
    if !is_able.is_ok_and(|status| status.success()) {
        eprintln!("skipped: becoming another user needs root and setpriv");
        return;
    }
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2"]);
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(fleet.path(), 0o755);
    open(&fleet.file("n1.sock"), 0o666);
    // That user may have no access to the directory of the program.
    let program = fleet.file("tanist");
    std::fs::copy(env!("CARGO_BIN_EXE_tanist"), &program).unwrap();
    let run = |arguments: &[&str]| {
        Command::new("setpriv")
            .args(["--reuid", "65534", "--clear-groups"])
            .arg(&program)
            .args(arguments)
            .args(["--socket", fleet.file("n1.sock").to_str().unwrap()])
            .output()
            .unwrap()
    };
    assert!(run(&["status"]).status.success());
    for action in [&["step-down"][..], &["leave"], &["pause"], &["priority", "7"]] {
        let refused = run(action);
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(5), "{action:?}: {stderr}");
        assert!(stderr.contains("only the user"), "{action:?}: {stderr}");
    }
    agents[0].members_are(&["n1", "n2"]);
}
