//! Nodes of one group with different settings.
//!
//! Two nodes with equal settings run and one of them is active; then a third one starts with
//! another setting. Both sides must refuse each other by name, and the two keep running.

use serde_json::Value;

use super::reports::{has_error, readyz};
use super::samples::{active, are_whole, watch};
use crate::support::agent::Agent;
use crate::support::fleet::{Fleet, peers};
use crate::support::wait::until;

type Lines<'a> = &'a [(&'a str, String)];

const EQUAL: [&str; 2] = ["n1", "n2"];

fn text(value: &str) -> String {
    format!("\"{value}\"")
}

fn timing(suspect_after: &str) -> (&'static str, String) {
    ("timing", format!("{{ suspect_after = \"{suspect_after}\" }}"))
}

/// The two equal nodes with these lines in their configurations, once one of them is active.
fn equal_ones(fleet: &Fleet, lines: Lines<'_>) -> Vec<Agent> {
    let start = |node: &&str| {
        fleet.configure_as(node, node, lines);
        fleet.start(node)
    };
    let agents: Vec<Agent> = EQUAL.iter().map(start).collect();
    let all: Vec<&Agent> = agents.iter().collect();
    until("one group", || are_whole(&all, &EQUAL).then_some(()));
    agents
}

/// A third node with other lines is refused by both sides, each with a line that has these words.
fn the_odd_one_is_refused(equal: Lines<'_>, odd: Lines<'_>, words: &[&str]) {
    the_odd_one_is_refused_in(&Fleet::new(3), equal, odd, words);
}

fn the_odd_one_is_refused_in(fleet: &Fleet, equal: Lines<'_>, odd: Lines<'_>, words: &[&str]) {
    let agents = equal_ones(fleet, equal);
    let two: Vec<&Agent> = agents.iter().collect();
    fleet.configure_as("n3", "n3", &[equal, odd].concat());
    let third = fleet.start("n3");
    let all: Vec<&Agent> = two.iter().copied().chain([&third]).collect();
    watch(&all, 300, || {
        two.iter().all(|agent| has_error(agent, &["n3"], words))
            && has_error(&third, &EQUAL, words)
            && are_whole(&two, &EQUAL)
    });
    let (status, body) = readyz(fleet, "n3");
    assert_ne!(status, 200, "{body}");
    let told = fleet.problems("n3");
    assert!(EQUAL.iter().any(|node| told.contains(node)), "{told}");
    for node in EQUAL {
        let told = fleet.problems(node);
        assert!(told.contains("n3"), "{told}");
    }
    drop(third);
    watch(&two, 100, || are_whole(&two, &EQUAL));
}

#[test]
fn a_node_with_another_algorithm_is_refused_by_name() {
    the_odd_one_is_refused(
        &[("algorithm", text("invitation")), timing("2s")],
        &[("algorithm", text("bully"))],
        &["invitation", "bully"],
    );
}

#[test]
fn a_node_with_the_default_algorithm_among_others_is_refused_by_name() {
    the_odd_one_is_refused(
        &[("algorithm", text("bully")), timing("2s")],
        &[("algorithm", text("invitation"))],
        &["invitation", "bully"],
    );
}

#[test]
fn a_node_with_other_timings_is_refused_by_name() {
    the_odd_one_is_refused(
        &[("algorithm", text("invitation")), timing("2s")],
        &[timing("7s")],
        &["suspect_after", "2s", "7s"],
    );
}

#[test]
fn a_node_with_other_options_is_refused_by_name() {
    the_odd_one_is_refused(
        &[("algorithm", text("bully")), timing("2s")],
        &[("options", "{ waits = \"full\" }".to_owned())],
        &["waits", "early", "full"],
    );
}

#[test]
fn a_node_with_other_priorities_is_refused_by_name() {
    the_odd_one_is_refused(
        &[("algorithm", text("invitation")), timing("2s")],
        &[("priorities", "{ n1 = 30 }".to_owned())],
        &["priorit", "n1", "30"],
    );
}

#[test]
fn a_node_with_another_list_of_peers_is_refused_by_name() {
    let fleet = Fleet::new(3);
    let four = peers((1..=4).map(|node| (node, fleet.peer(node))));
    the_odd_one_is_refused_in(
        &fleet,
        &[("algorithm", text("invitation")), timing("2s")],
        &[("peers", four)],
        &["peers", "n4"],
    );
}

#[test]
fn a_node_that_preempts_otherwise_is_refused_by_name() {
    the_odd_one_is_refused(
        &[("algorithm", text("invitation")), timing("2s")],
        &[("preempt", text("never"))],
        &["preempt", "always", "never"],
    );
}

/// Settings that may differ between nodes: how a node names addresses, where it listens, how much
/// it logs, and its own priority.
#[test]
fn settings_of_one_node_alone_are_not_compared() {
    // Only localhost has a name, and its ports are used by no other fleet, which a wildcard needs.
    let fleet = Fleet::on_localhost(3);
    let common = [("algorithm", text("invitation")), timing("5s")];
    let agents = equal_ones(&fleet, &common);
    let names: Vec<String> =
        (1..=3).map(|node| format!("\"n{node}=localhost:{}\"", fleet.peer(node).port())).collect();
    let own = [
        ("peers", format!("[{}]", names.join(", "))),
        ("listen", format!("\"0.0.0.0:{}\"", fleet.peer(3).port())),
        ("log", "{ level = \"debug\" }".to_owned()),
        ("priority", "7".to_owned()),
    ];
    fleet.configure_as("n3", "n3", &[&common[..], &own].concat());
    let third = fleet.start("n3");
    let all: Vec<&Agent> = agents.iter().chain([&third]).collect();
    watch(&all, 1, || are_whole(&all, &["n1", "n2", "n3"]));
    let leads: Vec<Value> = active(&all);
    assert_eq!(leads[0]["node"], "n3", "{leads:?}");
}
