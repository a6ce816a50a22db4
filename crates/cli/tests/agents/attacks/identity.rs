//! Two processes with one id, and peers that refuse this node.

use std::net::SocketAddr;

use super::proxy::Proxy;
use super::reports::{has_error, readyz};
use super::samples::{active, are_whole, at_most_one_is_active, group_number, watch};
use crate::support::agent::Agent;
use crate::support::fleet::{Fleet, peers};
use crate::support::wait::until;

const NODES: [&str; 3] = ["n1", "n2", "n3"];

/// Waits until an agent has ended, and checks that it names the other process with its id.
fn ends_as_a_twin(agent: &mut Agent, node: &str) {
    let code = agent.ends();
    let log = agent.log();
    assert!(code.is_some_and(|code| code != 0 && code != 6), "{code:?}: {log}");
    let is_named = |line: &str| line.contains(node) && line.contains("process");
    assert!(log.lines().any(is_named), "no line names {node} and the other process: {log}");
}

/// Starts a second process with the id of a node that is in an established group.
fn a_twin_ends_and_changes_nothing(node: &str) {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&NODES);
    let established: Vec<&Agent> = agents.iter().collect();
    until("one group", || are_whole(&established, &NODES).then_some(()));
    let number = group_number(established[0]);
    let lines = [("listen", format!("\"{}\"", fleet.peer(4)))];
    fleet.configure_as("twin", node, &lines);
    let mut twin = fleet.start("twin");
    until("the end of the twin", || {
        let all: Vec<&Agent> = established.iter().copied().chain([&twin]).collect();
        at_most_one_is_active(&all);
        for agent in &established {
            let replaced = agent.count("links_replaced");
            assert!(replaced <= 2, "links were replaced {replaced} times");
            assert_eq!(group_number(agent), number, "{}", agent.log());
        }
        twin.ended()
    });
    ends_as_a_twin(&mut twin, node);
    watch(&established, 100, || are_whole(&established, &NODES));
    for agent in &established {
        assert_eq!(group_number(agent), number, "{}", agent.log());
        assert!(agent.count("links_replaced") <= 2, "{}", agent.ask("metrics"));
    }
}

#[test]
fn a_twin_of_a_member_ends_and_changes_nothing() {
    a_twin_ends_and_changes_nothing("n1");
}

#[test]
fn a_twin_of_the_leader_ends_and_changes_nothing() {
    a_twin_ends_and_changes_nothing("n3");
}

/// A stopped process answers no message, so another one with its id can take its place, at its
/// address. When the first one continues, it must end.
#[test]
fn a_process_that_was_replaced_while_it_was_stopped_ends_when_it_goes_on() {
    let fleet = Fleet::new(3);
    let front = Proxy::start(fleet.spare(1), fleet.peer(3));
    let peers = peers([(1, fleet.peer(1)), (2, fleet.peer(2)), (3, front.address())]);
    let start = |name: &str, node: &str, address: SocketAddr| {
        let listen = ("listen", format!("\"{address}\""));
        fleet.configure_as(name, node, &[("peers", peers.clone()), listen]);
        fleet.start(name)
    };
    let others = [start("n1", "n1", fleet.peer(1)), start("n2", "n2", fleet.peer(2))];
    let mut old = start("old", "n3", fleet.peer(3));
    let before: Vec<&Agent> = others.iter().chain([&old]).collect();
    until("one group", || are_whole(&before, &NODES).then_some(()));
    old.signal("-STOP");
    others.iter().for_each(|agent| agent.members_are(&["n1", "n2"]));
    front.point_at(fleet.peer(4));
    let new = start("new", "n3", fleet.peer(4));
    let now: Vec<&Agent> = others.iter().chain([&new]).collect();
    watch(&now, 1, || are_whole(&now, &NODES));
    old.signal("-CONT");
    ends_as_a_twin(&mut old, "n3");
    watch(&now, 100, || are_whole(&now, &NODES));
    let led_by_the_new = active(&now);
    assert_eq!(led_by_the_new[0]["node"], "n3", "{led_by_the_new:?}");
}

/// The others run and refuse this node: that they are not in its group does not mean that they have
/// crashed.
#[test]
fn a_node_that_is_not_in_the_lists_of_the_others_does_not_act() {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&NODES);
    let known: Vec<&Agent> = agents.iter().collect();
    let four = peers((1..=4).map(|node| (node, fleet.peer(node))));
    fleet.configure_as("n4", "n4", &[("peers", four)]);
    let unknown = fleet.start("n4");
    let all: Vec<&Agent> = known.iter().copied().chain([&unknown]).collect();
    watch(&all, 500, || {
        assert_ne!(unknown.ask("status")["active"], true, "{}", unknown.log());
        has_error(&unknown, &NODES, &[])
    });
    let (status, body) = readyz(&fleet, "n4");
    assert_ne!(status, 200, "{body}");
    assert!(NODES.iter().any(|node| body.contains(node)), "{body}");
    let told = fleet.problems("n4");
    assert!(NODES.iter().any(|node| told.contains(node)), "{told}");
    assert!(are_whole(&known, &NODES));
}
