//! The live view, in a terminal that `script` makes.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crate::support::dev::Dev;
use crate::support::fleet::tanist;
use crate::support::wait::LIMIT;

#[test]
fn without_a_terminal_it_refuses_and_points_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    let output = tanist(home.path()).arg("top").stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("tanist watch"));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_terminal_shows_the_group_and_is_given_back() {
    let is_there = Command::new("script").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !is_there {
        eprintln!("skipped: `script` is not installed");
        return;
    }
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    let home = dev.home();
    let mut child = Command::new("script")
        .args(["-qec", &format!("{} top", env!("CARGO_BIN_EXE_tanist")), "/dev/null"])
        .env("XDG_RUNTIME_DIR", home)
        .env_remove("TANIST_SOCKET")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keys = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let (sender, drawn) = mpsc::channel();
    thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(read @ 1..) = screen.read(&mut part) {
            let _ = sender.send(String::from_utf8_lossy(&part[..read]).into_owned());
        }
    });
    let mut all = String::new();
    let mut until = |words: &str| {
        let end = Instant::now() + LIMIT;
        while !all.contains(words) {
            let left = end.saturating_duration_since(Instant::now());
            match drawn.recv_timeout(left) {
                Ok(part) => all.push_str(&part),
                Err(error) => panic!("no `{words}` ({error}) in {all:?}"),
            }
        }
    };
    until("\u{1b}[?1049h");
    until("★ leader");
    keys.write_all(b"p").unwrap();
    until("VIEW PAUSED");
    keys.write_all(b"?").unwrap();
    until("this help");
    keys.write_all(b"q").unwrap();
    until("\u{1b}[?25h\u{1b}[?1049l");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
