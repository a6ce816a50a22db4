//! Nodes that must not lead: refused by the pre_leader check, or unhealthy.

use serde_json::Value;

use super::configure;
use crate::support::fleet::{Fleet, set_mode};
use crate::support::wait::until;

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

fn number(status: &Value) -> String {
    status["group_number"].as_str().unwrap_or_default().to_owned()
}

// With bully the highest node takes over whenever it takes part.
#[test]
fn a_node_whose_gate_refuses_does_not_disturb_the_leader_when_it_starts_or_asks_again() {
    let fleet = Fleet::with_hooks(3);
    fleet.script("gate", "test -e @/open || exit 3");
    configure(&fleet, 1, "");
    configure(&fleet, 2, "");
    configure(&fleet, 3, "[hooks]\npre_leader = \"@/gate\"\n");
    let (low, middle) = (fleet.start("n1"), fleet.start("n2"));
    low.members_are(&["n1", "n2"]);
    let led = middle.when("status", |status| status["active"] == true);
    let mut high = fleet.start("n3");
    high.logs("the pre_leader hook has refused: this node stays withdrawn");
    let refused = high.when("status", |status| status["objections"][0]["retry_ms"].is_u64());
    assert_eq!(refused["withdrawn"], true);
    assert_eq!(refused["objections"][0]["by"], "pre_leader");
    assert_eq!(refused["objections"][0]["reason"], "it exited with 3");
    // Asked at an operator's word, it refuses again, and the back-off grows.
    let first = refused["objections"][0]["retry_ms"].as_u64().unwrap();
    let output = fleet.run(&["rejoin", "--socket", "n3.sock"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(said.contains("pre_leader") && said.contains("it exited with 3"), "{said}");
    let second = high.ask("status")["objections"][0]["retry_ms"].as_u64().unwrap();
    assert!(second > first, "{second} after {first}");
    // All of this was no reason for an election.
    let after = middle.ask("status");
    assert_eq!(number(&after), number(&led), "the leader was disturbed");
    assert_eq!(after["active"], true);
    for command in ["status", "why", "doctor"] {
        let output = fleet.run(&[command, "--socket", "n3.sock"]);
        let said = String::from_utf8_lossy(&output.stdout);
        // A table wraps what is long.
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let named = "its pre_leader hook does not permit it (it exited with 3)";
        assert!(said.contains(named), "{command}: {said}");
    }
    std::fs::write(fleet.file("open"), "").unwrap();
    let output = fleet.run(&["rejoin", "--socket", "n3.sock"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    high.when("status", |status| status["active"] == true);
    assert_eq!(high.ask("status")["objections"], serde_json::json!([]));
}

#[test]
fn a_leader_that_its_gate_refuses_is_asked_before_it_is_a_candidate_again() {
    let fleet = Fleet::with_hooks(2);
    // It permits candidates, and refuses the leader; then it permits nothing.
    fleet.script("gate", "echo $TANIST_ROLE >> @/asked; test $(wc -l < @/asked) = 1");
    configure(&fleet, 1, "");
    configure(&fleet, 2, "[hooks]\npre_leader = \"@/gate\"\n");
    let (low, mut high) = (fleet.start("n1"), fleet.start("n2"));
    high.logs("the pre_leader hook has refused: this node steps down");
    let led = low.when("status", |status| status["active"] == true);
    let output = fleet.run(&["rejoin", "--socket", "n2.sock"]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert_eq!(fleet.lines("asked"), ["suspended", "leader", "suspended"]);
    assert_eq!(number(&low.ask("status")), number(&led), "the leader was disturbed");
}

#[test]
fn a_node_that_starts_unhealthy_does_not_disturb_the_leader() {
    let fleet = Fleet::with_hooks(2);
    fleet.script("check", "test -e @/well");
    configure(&fleet, 1, "");
    configure(&fleet, 2, "[health]\ncommand = [\"@/check\"]\nevery = \"50ms\"\n");
    let low = fleet.start("n1");
    let led = low.when("status", |status| status["active"] == true);
    let high = fleet.start("n2");
    // More than are allowed for one that was healthy.
    let failures = |status: &Value| {
        let reason = status["objections"][0]["reason"].as_str().unwrap_or_default();
        reason.strip_suffix(" times in a row").and_then(|count| count.parse().ok()).unwrap_or(0)
    };
    high.when("status", |status| failures(status) > 9);
    assert_eq!(number(&low.ask("status")), number(&led), "the leader was disturbed");
    std::fs::write(fleet.file("well"), "").unwrap();
    high.when("status", |status| status["active"] == true);
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
    // Before it takes part, and once more when it leads: much may have changed in between.
    assert_eq!(fleet.lines("log"), ["gate", "gate", "leader"]);
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
    configure(&fleet, 1, "[hooks]\nleader = \"@/leader\"\n");
    let mut agent = fleet.start("n1");
    until("the hook", || fleet.file("ran").exists().then_some(()));
    // An agent does not start with such a hook, so others got hold of it later.
    set_mode(&hook, 0o777);
    std::fs::remove_file(fleet.file("ran")).unwrap();
    let done = fleet.run(&["step-down", "--socket", "n1.sock", "--for", "1ms"]);
    assert!(done.status.success(), "{done:?}");
    let line = agent.logs("is not run");
    assert!(line.contains("ERROR") && line.contains("chmod go-w"), "{line}");
    agent.when("status", |status| status["active"] == true);
    assert!(!fleet.file("ran").exists());
}
