//! Every example runs by itself, ends, and says what its documentation says that it shows.
//!
//! `cargo test` builds the examples beside the tests; with `--test examples` alone they are those of
//! the last build.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail as the test itself may")]

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// An example that has not ended after this hangs.
const DEADLINE: Duration = Duration::from_secs(90);

/// Runs an example to its end, and returns the lines that it printed.
fn run(example: &str) -> Vec<String> {
    let mut child = Running(
        Command::new(binary(example))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let (said, heard) = mpsc::channel();
    let stdout = BufReader::new(child.0.stdout.take().unwrap());
    thread::spawn(move || {
        stdout.lines().map_while(Result::ok).try_for_each(|line| said.send(line))
    });
    let mut stderr = child.0.stderr.take().unwrap();
    let complaints = thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    let (end, mut lines) = (Instant::now() + DEADLINE, Vec::new());
    loop {
        match heard.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => lines.push(line),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("{example} hangs after: {lines:#?}"),
        }
    }
    let status = child.0.wait().unwrap();
    let complaints = complaints.join().unwrap().unwrap();
    assert!(status.success(), "{example}: {status}\n{complaints}\n{lines:#?}");
    lines
}

/// A process that does not outlive the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Examples are built next to the directory of the test binaries.
fn binary(example: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().unwrap().parent().unwrap().join("examples").join(example);
    let is_built = path.exists();
    assert!(is_built, "{} is not built: run cargo build -p tanist --examples", path.display());
    path
}

fn position(lines: &[String], text: &str) -> usize {
    let found = lines.iter().position(|line| line.contains(text));
    found.unwrap_or_else(|| panic!("no line says `{text}`: {lines:#?}"))
}

#[test]
fn singleton_moves_the_job_when_the_leader_leaves() {
    let lines = run("singleton");
    let left = position(&lines, "leaves");
    let leader = lines[left].split(' ').next().unwrap();
    let begins = lines[left..].iter().position(|line| line.contains("runs the job")).unwrap();
    assert!(!lines[left + begins].starts_with(leader), "{lines:#?}");
    let mut before = lines[..left + begins].iter().rev();
    let last = before.find(|line| line.starts_with(leader)).unwrap();
    assert!(last.contains("has stopped the job"), "two jobs overlap: {lines:#?}");
    position(&lines, "is the last one, and still does the job");
}

#[test]
fn primary_sends_clients_to_whoever_leads() {
    let lines = run("primary");
    let taken = |text: &str| lines[position(&lines, text)].split(' ').nth(1).unwrap().to_owned();
    assert_ne!(taken("took \"first\""), taken("took \"second\""), "{lines:#?}");
}

#[test]
fn shared_work_survives_a_cut() {
    let lines = run("shared_work");
    let cut = position(&lines, "the network is cut");
    let mended = position(&lines, "the network is mended");
    let end = position(&lines, "1200 of 1200 pieces are done, each counted once");
    assert!(cut < mended && mended < end, "{lines:#?}");
    let worked = lines[position(&lines, "were worked on")].split(' ').next().unwrap();
    assert!(worked.parse::<u32>().unwrap() > 1200, "both sides worked: {lines:#?}");
}

#[test]
fn embed_axum_answers_for_the_leader_only() {
    let lines = run("embed_axum");
    let answers = |code: &str| {
        lines.iter().filter(|line| line.contains(&format!("/leader: {code} "))).count()
    };
    assert_eq!((answers("200"), answers("503")), (1, 2), "{lines:#?}");
    let status = &lines[position(&lines, "n1 /status: ")];
    assert!(status.contains("\"group\":\"web\""), "{status}");
}
