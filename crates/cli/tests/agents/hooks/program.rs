//! One hook at a time: its environment, its timeout and its output.

use serde_json::Value;

use super::{configure, is_running};
use crate::support::agent::signal;
use crate::support::fleet::{Fleet, set_mode};
use crate::support::wait::until;

/// Runs the hook for an event. Returns the exit code and the report.
fn tried(fleet: &Fleet, event: &str) -> (Option<i32>, Value) {
    let arguments = ["hook", "test", event, "-c", "n1.toml", "-o", "json"];
    let output = fleet.tanist(&arguments).env("SECRET", "of the agent").output().unwrap();
    let told = serde_json::from_slice(&output.stdout);
    (output.status.code(), told.unwrap_or_else(|_| panic!("{output:?}")))
}

#[test]
fn a_hook_gets_the_situation_and_nothing_else_of_the_agents() {
    let fleet = Fleet::with_hooks(3);
    fleet.script("leader", "env | sort; pwd; cat > @/input");
    configure(&fleet, 1, "[hooks]\nleader = \"@/leader\"\n");
    let (code, told) = tried(&fleet, "leader");
    assert_eq!(code, Some(0), "{told}");
    let hook = &told["hooks"][0];
    assert_eq!((&hook["hook"], &hook["code"]), (&"leader".into(), &0.into()));
    let lines: Vec<&str> =
        hook["output"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    for expected in [
        "TANIST_EVENT=leader",
        "TANIST_GROUP=billing",
        "TANIST_NODE=n1",
        "TANIST_ROLE=leader",
        "TANIST_GROUP_NUMBER=42.n1",
        "TANIST_GROUP_COUNTER=42",
        "TANIST_LEADER=n1",
        "TANIST_OLD_LEADER=n2",
        "TANIST_REASON=failure",
        "TANIST_MEMBERS=n1 n2 n3",
        "/",
    ] {
        assert!(lines.contains(&expected), "no {expected} in {lines:#?}");
    }
    assert!(!lines.iter().any(|line| line.contains("SECRET")), "{lines:#?}");
    let input: Value =
        serde_json::from_slice(&std::fs::read(fleet.file("input")).unwrap()).unwrap();
    assert_eq!(input["event"], "leader");
    assert_eq!(input["change"]["group_number"], "42.n1");
    assert_eq!(input["status"]["members"].as_array().unwrap().len(), 3);
}

#[test]
fn a_hook_inherits_no_socket_and_no_file_of_the_agents() {
    let fleet = Fleet::with_hooks(1);
    let hook = fleet.script("leader", "ls /proc/$$/fd > @/new$1; mv @/new$1 @/descriptors$1");
    configure(&fleet, 1, "[hooks]\nleader = \"@/leader\"\n");
    // Descriptors that this test inherited are inherited by its children, too.
    assert!(std::process::Command::new(hook).arg("-plain").status().unwrap().success());
    let plain = fleet.lines("descriptors-plain");
    let _agent = fleet.start("n1");
    let seen = until("the hook has run", || {
        Some(fleet.lines("descriptors")).filter(|lines| !lines.is_empty())
    });
    assert_eq!(seen, plain);
}

#[test]
fn a_hook_that_ignores_the_request_to_end_is_killed_with_its_children() {
    let fleet = Fleet::with_hooks(1);
    fleet.script("stop", "trap '' TERM\nsleep 1000 &\necho $$ $! > @/ids\nwait\nwait");
    configure(&fleet, 1, "[hooks]\nstop = \"@/stop\"\ntimeout = \"300ms\"\n");
    let (code, told) = tried(&fleet, "stop");
    assert_eq!((code, &told["hooks"][0]["timed_out"]), (Some(1), &true.into()), "{told}");
    let line = fleet.lines("ids").first().cloned().expect("the hook has started");
    until("the hook and its child are gone", || {
        line.split(' ').all(|process| !is_running(process)).then_some(())
    });
}

#[test]
fn a_hook_that_leaves_something_in_the_background_has_ended_when_it_ends() {
    let fleet = Fleet::with_hooks(1);
    fleet.script("leader", "echo started; sleep 1000 & echo $! > @/id");
    configure(&fleet, 1, "[hooks]\nleader = \"@/leader\"\ntimeout = \"60s\"\n");
    let (code, told) = tried(&fleet, "leader");
    let background = fleet.lines("id").first().cloned().unwrap();
    assert!(is_running(&background));
    signal(background.parse().unwrap(), "-KILL");
    assert_eq!((code, &told["hooks"][0]["output"][0]), (Some(0), &"started".into()), "{told}");
}

#[test]
fn a_hook_that_floods_the_log_or_reads_nothing_is_cut_short_and_not_stuck() {
    let fleet = Fleet::with_hooks(1);
    fleet.script("leader", "seq 1 100000; exit 3");
    configure(&fleet, 1, "[hooks]\nleader = \"@/leader\"\ntimeout = \"60s\"\n");
    let (code, told) = tried(&fleet, "leader");
    let hook = &told["hooks"][0];
    assert_eq!((code, &hook["code"]), (Some(1), &3.into()), "{told}");
    let lines = hook["output"].as_array().unwrap();
    assert!(lines.len() < 300 && lines.len() > 100, "{} lines", lines.len());
}

#[test]
fn hooks_that_others_could_change_or_that_are_not_there_are_not_run() {
    let fleet = Fleet::with_hooks(1);
    let hook = fleet.script("leader", "touch @/ran");
    configure(&fleet, 1, "[hooks]\nleader = \"@/leader\"\nmember = \"@/nothing\"\n");
    set_mode(&hook, 0o757);
    let (code, told) = tried(&fleet, "leader");
    let error = told["hooks"][0]["error"].as_str().unwrap();
    assert!(code == Some(1) && error.contains("chmod go-w"), "{told}");
    let (code, told) = tried(&fleet, "member");
    assert_eq!(code, Some(1), "{told}");
    assert!(!fleet.file("ran").exists());
    let nothing = fleet.tanist(&["hook", "test", "stop", "-c", "n1.toml"]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(2), "{nothing:?}");
}
