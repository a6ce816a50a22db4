//! A node that leaves while a job is attached.

use std::os::unix::net::UnixStream;

use crate::support::agent::Process;
use crate::support::fleet::Fleet;
use crate::support::wait::until;

const SCRIPT: &str =
    "trap 'echo end >> ends; exit 9' TERM; touch ready; while :; do sleep 0.01; done";

fn leave(fleet: &Fleet) {
    let left = fleet.tanist(&["leave", "--socket", "n1.sock"]).output().unwrap();
    assert!(left.status.success(), "{left:?}");
}

fn runs(fleet: &Fleet) {
    until("the command", || fleet.file("ready").exists().then_some(()));
}

/// The exit code of a run that is the node itself.
fn code_of_node(options: &[&str]) -> i32 {
    let fleet = Fleet::configured(1, "");
    let mut run = Process::start(&mut fleet.job(1, options, SCRIPT));
    runs(&fleet);
    leave(&fleet);
    let code = run.code();
    assert_eq!(fleet.read("ends"), "end\n");
    fleet.no_process_runs();
    code
}

#[test]
fn a_run_that_is_the_node_stops_its_command_and_exits_as_for_a_loss() {
    assert_eq!(code_of_node(&["--on-loss", "restart"]), 75);
    assert_eq!(code_of_node(&["--on-loss", "exit"]), 75);
    assert_eq!(code_of_node(&["--on-loss", "stop"]), 0);
}

#[test]
fn a_run_beside_an_agent_ends_with_it_and_not_as_if_the_agent_had_failed() {
    for (on_loss, code) in [("restart", 75), ("exit", 75), ("stop", 0)] {
        let fleet = Fleet::configured(1, "");
        let mut agent = Process::start(&mut fleet.tanist(&["agent", "-c", "n1.toml"]));
        // A socket file may exist before the agent listens.
        let is_up = || UnixStream::connect(fleet.file("n1.sock")).is_ok();
        until("the agent", || is_up().then_some(()));
        let mut run = fleet.tanist(&["run", "--socket", "n1.sock", "--on-loss", on_loss]);
        let mut run = Process::start(run.args(["--", "sh", "-c", SCRIPT]));
        runs(&fleet);
        leave(&fleet);
        assert_eq!(run.code(), code, "{on_loss}");
        assert_eq!(agent.code(), 0, "{on_loss}");
        assert_eq!(fleet.read("ends"), "end\n");
        fleet.no_process_runs();
    }
}
