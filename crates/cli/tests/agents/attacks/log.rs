//! A stderr or stdout that blocks or fails.

use std::fs::File;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::support::agent::{Agent, Process};
use crate::support::fleet::Fleet;
use crate::support::wait::{LIMIT, until};

#[test]
fn a_stderr_that_is_never_read_does_not_block_the_agent() {
    let fleet = Fleet::new(3);
    let lines = [
        ("log", "{ level = \"debug\" }".to_owned()),
        ("http", format!("{{ listen = \"{}\" }}", fleet.http(1))),
    ];
    fleet.configure_as("n1", "n1", &lines);
    let (reader, stderr) = full_pipe();
    let mut agent = start(&fleet, |command| command.stdout(Stdio::null()).stderr(stderr));
    agent.members_are(&["n1"]);
    // Garbage at the peer port makes the electing thread log.
    let end = Instant::now() + LIMIT;
    let dropped = || agent.ask("settings")["log_lines_dropped"].as_u64().unwrap_or_default();
    while dropped() == 0 {
        assert!(Instant::now() < end, "no line was ever dropped");
        for _ in 0..500 {
            let mut stranger = TcpStream::connect(fleet.peer(1)).unwrap();
            stranger.write_all(&[0; 64]).unwrap();
        }
        agent.signal("-USR1");
        assert_eq!(agent.ask("status")["role"], "leader");
    }
    assert!(metric(fleet.http(1), "tanist_log_lines_dropped_total") > 0);
    // As soon as the pipe is read, a line says how many are missing.
    let mut lines = BufReader::new(reader).lines().map(|line| line.unwrap_or_default());
    lines.find(|line| line.contains("log lines were dropped")).unwrap();
    // It also ends while the pipe is not read.
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0));
}

#[test]
fn an_agent_whose_stderr_is_full_ends_when_it_is_told_to() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[("log", "{ level = \"debug\" }".to_owned())]);
    let (_reader, stderr) = full_pipe();
    let mut agent = start(&fleet, |command| command.stdout(Stdio::null()).stderr(stderr));
    agent.members_are(&["n1"]);
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0));
}

#[test]
fn an_agent_that_fails_ends_although_nobody_reads_why() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let _taken = std::net::TcpListener::bind(fleet.peer(1)).unwrap();
    let (_reader, stderr) = full_pipe();
    let mut agent = start(&fleet, |command| command.stdout(Stdio::null()).stderr(stderr));
    assert_eq!(agent.ends(), Some(7));
}

#[test]
fn junk_at_the_agent_check_is_logged_once_in_a_while() {
    let fleet = Fleet::new(3);
    fleet.configure_as(
        "n1",
        "n1",
        &[("http", format!("{{ agent_check = \"{}\" }}", fleet.agent_check(1)))],
    );
    let agent = fleet.start("n1");
    agent.members_are(&["n1"]);
    for _ in 0..JUNK {
        let mut stranger = TcpStream::connect(fleet.agent_check(1)).unwrap();
        stranger.write_all(b"junk\n").unwrap();
        let mut answer = String::new();
        stranger.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "up maint\n");
    }
    let told = agent.log().lines().filter(|line| line.contains("junk")).count();
    assert!((1..JUNK / 10).contains(&told), "{told} lines for {JUNK} questions");
}

#[test]
fn a_stdout_on_a_full_disk_does_not_end_the_agent() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let log = File::create(fleet.file("n1.log")).unwrap();
    let mut agent = start(&fleet, |command| command.stdout(full).stderr(log));
    agent.members_are(&["n1"]);
    until("a warning", || agent.log().contains("stdout").then_some(()));
    assert_eq!(agent.ask("status")["role"], "leader");
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0));
}

#[test]
fn a_stdout_that_is_closed_does_not_end_the_agent() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let (reader, stdout) = std::io::pipe().unwrap();
    drop(reader);
    let log = File::create(fleet.file("n1.log")).unwrap();
    let mut agent = start(&fleet, |command| command.stdout(stdout).stderr(log));
    agent.members_are(&["n1"]);
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0));
}

#[test]
fn a_stdout_that_is_never_read_does_not_block_the_agent() {
    let fleet = Fleet::new(3);
    fleet.configure_as("n1", "n1", &[]);
    let (_reader, stdout) = full_pipe();
    let log = File::create(fleet.file("n1.log")).unwrap();
    let mut agent = start(&fleet, |command| command.stdout(stdout).stderr(log));
    agent.members_are(&["n1"]);
    agent.signal("-TERM");
    assert_eq!(agent.ends(), Some(0));
}

#[test]
fn a_job_runs_and_ends_although_nobody_reads_stderr() {
    let fleet = Fleet::configured(1, "[log]\nlevel = \"debug\"\n");
    let (_reader, stderr) = full_pipe();
    let mut command = fleet.job(1, &[], "echo runs > started; exec sleep 1000");
    let mut run = Process::start(command.stderr(stderr));
    fleet.read_when("started", |text| text == "runs\n");
    run.signal("-TERM");
    assert_eq!(run.code(), 128 + 15);
    fleet.no_process_runs();
}

/// The agent of n1.toml, with its output where the test wants it.
fn start(fleet: &Fleet, output: impl FnOnce(&mut Command) -> &mut Command) -> Agent {
    // The log file that `Agent` reads when a wait fails.
    File::options().create(true).append(true).open(fleet.file("n1.log")).unwrap();
    let mut command = fleet.tanist(&[]);
    command.args(["agent", "-c", "n1.toml"]);
    Agent::start(output(&mut command), fleet.path(), "n1")
}

/// A full pipe: a process that writes to it blocks.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'\n'; 4096]).is_ok() {}
    while writer.write(b"\n").is_ok() {}
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

/// The value of a metric without labels of its own.
fn metric(at: SocketAddr, name: &str) -> u64 {
    let mut stream = TcpStream::connect(at).unwrap();
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    let line = page.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.rsplit(' ').next().and_then(|value| value.parse().ok()).unwrap_or_default()
}

const JUNK: usize = 300;
