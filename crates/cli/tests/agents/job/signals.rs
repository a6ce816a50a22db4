//! Signals to `tanist run`.

use std::fs;
use std::process::Stdio;
use std::time::Instant;

use rustix::process::Signal;

use crate::support::agent::Process;
use crate::support::dev::Dev;
use crate::support::fleet::Fleet;
use crate::support::wait::{LIMIT, until};

/// A node that waits, since another one leads.
fn waiting(fleet: &Fleet, dev: &mut Dev) -> Process {
    dev.agree("all 2 nodes");
    let socket = dev.directory().join("n1.sock");
    let mut run = fleet.tanist(&["run", "--socket", socket.to_str().unwrap(), "--"]);
    let run = Process::start(run.args(["touch", "started"]));
    // It handles signals before it connects.
    until("the run to be attached", || is_attached(run.id()).then_some(()));
    run
}

/// Whether a process has more sockets than those of its runtime.
fn is_attached(process: u32) -> bool {
    let links = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let targets = links.filter_map(|link| fs::read_link(link.path()).ok());
    let sockets = targets.filter(|target| target.to_string_lossy().starts_with("socket:"));
    // Four are of its two runtimes, for signals.
    sockets.count() >= 5
}

// consul#4439: a stop while waiting hangs; consul#800: a child is started during the shutdown.
#[test]
fn asked_to_end_while_it_waits_it_ends_and_starts_nothing() {
    for name in ["-TERM", "-INT", "-QUIT", "-HUP"] {
        let fleet = Fleet::new(0);
        let mut dev = Dev::start(&["--nodes", "2", "--algorithm", "bully"]);
        let mut run = waiting(&fleet, &mut dev);
        run.signal(name);
        assert_eq!(run.code(), 0, "{name}");
        // n1 leads, and no command is started.
        dev.act(&["kill", "n2"]);
        dev.status_when("n1", |status| status["role"] == "leader");
        assert!(!fleet.file("started").exists());
    }
}

/// Seen: a signal in the moment between two of its listeners was heard by nobody.
#[test]
fn asked_to_end_in_its_first_moments_it_ends() {
    let fleet = Fleet::configured(1, "");
    for _ in 0..20 {
        let mut run = Process::start(&mut fleet.job(1, &[], "exec sleep 1000"));
        // Without a pause: the moment is short.
        let deadline = Instant::now() + LIMIT;
        while !catches_term(run.id()) {
            assert!(Instant::now() < deadline, "no handler for SIGTERM");
        }
        run.signal("-TERM");
        run.ends();
    }
}

/// Whether a process has its own handler for SIGTERM.
fn catches_term(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & (1 << (Signal::TERM.as_raw() - 1)) != 0)
}

#[test]
fn asked_to_end_it_exits_as_the_command_does() {
    let fleet = Fleet::configured(1, "");
    for (code, wanted) in [(0, 0), (3, 3)] {
        let script = format!("trap 'exit {code}' TERM; touch ready; while :; do sleep 0.01; done");
        for name in ["-TERM", "-INT"] {
            let mut run = Process::start(&mut fleet.job(1, &[], &script));
            until("the command", || fleet.file("ready").exists().then_some(()));
            run.signal(name);
            assert_eq!(run.code(), wanted, "{name}");
            fs::remove_file(fleet.file("ready")).unwrap();
            fleet.no_process_runs();
        }
    }
}

#[test]
fn a_command_that_ignores_the_end_is_killed_after_its_grace() {
    let fleet = Fleet::configured(1, "");
    let script = "trap '' TERM; touch ready; while :; do sleep 1000; done";
    let mut run = Process::start(&mut fleet.job(1, &["--grace", "100ms"], script));
    until("the command", || fleet.file("ready").exists().then_some(()));
    run.signal("-TERM");
    assert_eq!(run.code(), 137);
    fleet.no_process_runs();
}

#[test]
fn asked_twice_it_kills_at_once_and_says_so() {
    let fleet = Fleet::configured(1, "");
    let script = "trap 'touch asked' TERM; touch ready; while :; do sleep 0.01; done";
    let mut command = fleet.job(1, &["--grace", "1h"], script);
    let mut run = Process::start(command.stderr(Stdio::piped()));
    until("the command", || fleet.file("ready").exists().then_some(()));
    run.signal("-TERM");
    until("the first request", || fleet.file("asked").exists().then_some(()));
    run.signal("-TERM");
    assert_eq!(run.code(), 137);
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut run.child().stderr.take().unwrap(), &mut stderr).unwrap();
    assert!(stderr.contains("asked twice"), "{stderr}");
    fleet.no_process_runs();
}

#[test]
fn a_grace_that_is_longer_than_the_group_waits_is_told() {
    let fleet = Fleet::configured(1, "");
    let told = |grace| {
        let script = "trap 'exit 0' TERM; touch ready; while :; do sleep 0.01; done";
        let mut command = fleet.job(1, &["--grace", grace], script);
        let mut run = Process::start(command.stderr(Stdio::piped()));
        until("the command", || fleet.file("ready").exists().then_some(()));
        run.signal("-TERM");
        assert_eq!(run.code(), 0);
        fs::remove_file(fleet.file("ready")).unwrap();
        let mut stderr = String::new();
        std::io::Read::read_to_string(&mut run.child().stderr.take().unwrap(), &mut stderr)
            .unwrap();
        stderr.contains("does not fit into timing.stop_within (30s)")
    };
    assert!(told("26s"));
    assert!(!told("25s"));
}

// consul#1210: SIGQUIT ends the parent and leaves the child.
#[test]
fn other_signals_reach_the_command_and_strand_nobody() {
    let fleet = Fleet::configured(1, "");
    let script = "for s in HUP USR1 USR2; do trap \"echo $s >> heard\" $s; done
        trap 'echo QUIT >> heard; exit 4' QUIT; touch ready; while :; do sleep 0.01; done";
    let mut run = Process::start(&mut fleet.job(1, &[], script));
    until("the command", || fleet.file("ready").exists().then_some(()));
    for name in ["HUP", "USR1", "USR2", "QUIT"] {
        run.signal(&format!("-{name}"));
        fleet.read_when("heard", |text| text.lines().any(|line| line == name));
    }
    assert_eq!(run.code(), 4);
    fleet.no_process_runs();
}

#[test]
fn a_stopped_command_hears_that_it_must_end() {
    let fleet = Fleet::configured(1, "");
    let script = "trap 'exit 5' TERM; touch ready; kill -STOP $$; while :; do sleep 0.01; done";
    let mut run = Process::start(&mut fleet.job(1, &["--grace", "1h"], script));
    until("the command", || fleet.file("ready").exists().then_some(()));
    until("it to be stopped", || fleet.processes().into_iter().any(is_stopped).then_some(()));
    run.signal("-TERM");
    assert_eq!(run.code(), 5);
    fleet.no_process_runs();
}

fn is_stopped(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status"));
    status.is_ok_and(|status| status.contains("State:\tT"))
}
