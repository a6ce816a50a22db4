//! Nodes that must not lead: refused by the pre_leader check, or unhealthy.

use super::configure;
use crate::support::fleet::{Fleet, set_mode};

#[test]
fn a_node_that_its_gate_refuses_never_acts_and_another_one_does() {
    let fleet = Fleet::with_hooks(2);
    fleet.script("refuses", "echo 'not today'; exit 1");
    fleet.script("leader", "touch @/led");
    configure(&fleet, 1, "");
    configure(&fleet, 2, "[hooks]\npre_leader = \"@/refuses\"\nleader = \"@/leader\"\n");
    let mut low = fleet.start("n1");
    let mut high = fleet.start("n2");
    high.logs("not today");
    high.logs("the pre_leader hook has refused");
    // It has stepped down, and is no candidate for a while.
    low.tells("of {n1} under n1");
    let status = low.when("status", |status| status["active"] == true);
    assert_eq!(status["role"], "leader");
    assert_eq!(high.ask("status")["active"], false);
    assert!(!fleet.file("led").exists(), "the leader hook ran although the gate refused");
}

#[test]
fn a_gate_that_lets_the_node_through_is_asked_before_it_acts() {
    let fleet = Fleet::with_hooks(1);
    fleet.script("gate", "echo gate >> @/log");
    fleet.script("leader", "echo leader >> @/log");
    configure(&fleet, 1, "[hooks]\npre_leader = \"@/gate\"\nleader = \"@/leader\"\n");
    let mut agent = fleet.start("n1");
    agent.when("status", |status| status["active"] == true);
    agent.logs("hook=\"leader\" event=\"leader\"");
    assert_eq!(fleet.lines("log"), ["gate", "leader"]);
}

#[test]
fn a_gate_that_hangs_counts_as_a_refusal() {
    let fleet = Fleet::with_hooks(1);
    fleet.script("hangs", "exec sleep 1000");
    configure(&fleet, 1, "[hooks]\npre_leader = \"@/hangs\"\ntimeout = \"100ms\"\n");
    let mut agent = fleet.start("n1");
    agent.logs("took too long");
    agent.logs("the pre_leader hook has refused");
    assert_eq!(agent.ask("status")["active"], false);
}

#[test]
fn a_node_that_is_not_fit_steps_aside_until_it_is_fit_again() {
    let fleet = Fleet::with_hooks(2);
    fleet.script("check", "test ! -e @/sick");
    configure(&fleet, 1, "");
    configure(
        &fleet,
        2,
        "[health]\ncommand = [\"@/check\"]\nevery = \"50ms\"\nfail_after = 2\ntimeout = \"5s\"\n",
    );
    let (low, high) = (fleet.start("n1"), fleet.start("n2"));
    let leads = |status: &serde_json::Value| status["active"] == true;
    high.when("status", |status| {
        leads(status) && status["members"].as_array().is_some_and(|all| all.len() == 2)
    });
    assert_eq!(high.ask("status")["healthy"], true);
    std::fs::write(fleet.file("sick"), "").unwrap();
    low.when("status", leads);
    let status = high.ask("status");
    assert_eq!((&status["healthy"], &status["active"]), (&false.into(), &false.into()));
    std::fs::remove_file(fleet.file("sick")).unwrap();
    high.when("status", |status| leads(status) && status["healthy"] == true);
}

#[test]
fn a_hook_that_others_can_write_to_is_refused_loudly_and_the_election_goes_on() {
    let fleet = Fleet::with_hooks(1);
    let hook = fleet.script("leader", "touch @/ran");
    set_mode(&hook, 0o777);
    configure(&fleet, 1, "[hooks]\nleader = \"@/leader\"\n");
    let mut agent = fleet.start("n1");
    let line = agent.logs("is not run");
    assert!(line.contains("ERROR") && line.contains("chmod go-w"), "{line}");
    agent.when("status", |status| status["active"] == true);
    assert!(!fleet.file("ran").exists());
}
