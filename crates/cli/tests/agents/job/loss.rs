//! Losing leadership: a higher node restarts.

use crate::support::agent::Process;
use crate::support::dev::Dev;
use crate::support::fleet::Fleet;
use crate::support::wait::until;

/// A job at n2, which leads only while n3 is down.
struct Second {
    fleet: Fleet,
    dev: Dev,
    run: Process,
}

impl Second {
    fn start(options: &[&str], script: &str) -> Self {
        let fleet = Fleet::new(0);
        let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
        dev.agree("all 3 nodes");
        dev.act(&["kill", "n3"]);
        let socket = dev.directory().join("n2.sock");
        let mut run = fleet.tanist(&["run", "--socket", socket.to_str().unwrap()]);
        let run = Process::start(run.args(options).args(["--", "sh", "-c", script]));
        let starts = fleet.read_when("starts", |text| !text.is_empty());
        assert_eq!(starts.lines().next(), Some("n2"));
        Self { fleet, dev, run }
    }

    fn lose(&self) {
        self.dev.act(&["restart", "n3"]);
    }
}

const SIMPLE: &str = "echo $TANIST_NODE >> starts; trap 'echo end >> ends; exit 9' TERM
    while :; do sleep 0.01; done";

#[test]
fn with_restart_the_command_starts_again_when_the_node_leads_again() {
    let mut second = Second::start(&[], SIMPLE);
    second.lose();
    second.fleet.read_when("ends", |text| text == "end\n");
    second.dev.status_when("n3", |status| status["role"] == "leader");
    assert_eq!(second.fleet.read("starts"), "n2\n");
    second.dev.act(&["kill", "n3"]);
    second.fleet.read_when("starts", |text| text == "n2\nn2\n");
    second.run.signal("-TERM");
    assert_eq!(second.run.code(), 9);
    second.fleet.no_process_runs();
}

#[test]
fn with_exit_it_exits_with_75() {
    let mut second = Second::start(&["--on-loss", "exit"], SIMPLE);
    second.lose();
    assert_eq!(second.run.code(), 75);
    assert_eq!(second.fleet.read("ends"), "end\n");
    second.fleet.no_process_runs();
}

#[test]
fn with_stop_it_exits_with_0() {
    let mut second = Second::start(&["--on-loss", "stop"], SIMPLE);
    second.lose();
    assert_eq!(second.run.code(), 0);
    assert_eq!(second.fleet.read("ends"), "end\n");
    second.fleet.no_process_runs();
}

// consul#2022: TERM goes to the shell, and the job continues.
#[test]
fn the_grandchildren_of_a_shell_are_asked_then_killed() {
    let script = "echo $TANIST_NODE >> starts
        sh -c 'trap \"echo asked >> asked\" TERM; touch deaf; while :; do sleep 0.01; done' & wait";
    let mut second = Second::start(&["--on-loss", "exit", "--grace", "300ms"], script);
    until("the grandchild", || second.fleet.file("deaf").exists().then_some(()));
    second.lose();
    assert_eq!(second.run.code(), 75);
    assert_eq!(second.fleet.read("asked"), "asked\n");
    second.fleet.no_process_runs_now();
}

// The new leader waits while the guard is held, so a hanging `tanist run` must not hold it forever.
#[test]
fn a_run_that_hangs_is_given_up_and_its_command_killed() {
    let mut second = Second::start(&["--grace", "100ms"], SIMPLE);
    second.run.signal("-STOP");
    second.lose();
    let run = second.run.id();
    until("the job to be gone", || (second.fleet.processes() == [run]).then_some(()));
    second.dev.status_when("n3", |status| status["role"] == "leader");
    second.run.signal("-CONT");
    assert_eq!(second.run.code(), 125);
}
