//! The key of a group is rotated, then its nodes get identities, while a job runs.

use serde_json::Value;

use super::group::{Established, Group, NODES, ring, socket};
use crate::support::heavy;
use crate::support::wait::until;

/// All nodes, one after the other.
fn all() -> impl Iterator<Item = usize> {
    1..=NODES
}

/// Creates a key on one node, adds it on the others, uses it on all, and removes the old one on
/// all.
fn rotate(group: &Group, before: &Established) -> (String, String) {
    let old = group.tanist(&["key", "status", "--file", &ring(1), "-o", "name"]);
    let old = old.trim().to_owned();
    let new = group.tanist(&["key", "new", "-c", "n1.toml"]).trim().to_owned();
    for node in all().skip(1) {
        let file = format!("n{node}.toml");
        let added = group.tanist(&["key", "add", &ring(1), "-c", &file]);
        assert_eq!(added.trim(), new);
    }
    group.reload_all(&format!("keys: 2 (using {old})"));
    group.expect(before, "the new key is accepted");
    for node in all() {
        group.tanist(&["key", "use", &new, "--file", &ring(node)]);
    }
    group.reload_all(&format!("keys: 2 (using {new})"));
    group.expect(before, "the new key is used");
    group.links_are("all links on the new key", before.leader, |peer| peer["key"] == *new);
    for node in all() {
        group.tanist(&["key", "remove", &old, "--file", &ring(node)]);
    }
    group.reload_all(&format!("keys: 1 (using {new})"));
    group.expect(before, "the old key is removed");
    group.links_are("all links on the new key", before.leader, |peer| peer["key"] == *new);
    (old, new)
}

/// Creates a key pair for each node and lists it everywhere, first optional and then required.
/// Returns the entries.
fn identify(group: &Group, before: &Established) -> Vec<String> {
    let keygen = |node: usize| {
        let (name, file) = (format!("n{node}"), format!("node{node}.key"));
        group.tanist(&["keygen", "--node", &name, &file])
    };
    let lines: Vec<String> = all().map(keygen).collect();
    for is_required in [false, true] {
        for node in all() {
            group.identify(node, &lines, is_required);
            let checked = group.fleet.tanist(&["config", "check", "-c", &format!("n{node}.toml")]);
            assert!({ checked }.output().unwrap().status.success());
        }
        group.reload_all(if is_required {
            "identity.require: false -> true"
        } else {
            "identity: "
        });
        group.expect(before, "identities");
        group.links_are("proofs", before.leader, |peer| peer["proof"] == "identity");
    }
    lines
}

#[test]
fn a_group_with_a_job_rotates_its_key_and_moves_to_identities_without_an_election() {
    let _turn = heavy::turn();
    let mut group = Group::start();
    let before = group.established();
    let load = group.load();
    let first = group.key_status();
    println!("before:\n{first}");
    let (old, new) = rotate(&group, &before);
    assert!(first.contains(&old) && !first.contains(&new), "{first}");
    let lines = identify(&group, &before);
    drop(load);
    let last = group.key_status();
    println!("after:\n{last}");
    assert!(!last.contains(&old) && !last.contains("group key"), "{last}");
    let links: Vec<&str> = last.lines().filter(|line| line.contains("  open  ")).collect();
    assert!(links.len() >= 2 * (NODES - 1), "{last}");
    assert!(links.iter().all(|line| line.contains(&new) && line.contains("identity")), "{last}");
    group.expect(&before, "at the end");
    assert!(group.all_run());
    shut_out(&group, &before, &lines);
}

/// A node whose entry is removed from the configurations of the others is in no group with them, is
/// not active, and can say why.
fn shut_out(group: &Group, before: &Established, lines: &[String]) {
    let victim = all().find(|node| *node != before.leader).unwrap();
    let name = format!("n{victim}");
    let left: Vec<String> =
        lines.iter().filter(|line| !line.starts_with(&format!("{name} "))).cloned().collect();
    for node in all().filter(|node| *node != victim) {
        group.identify(node, &left, true);
        group.reload(node, &format!("identity.peer_keys.{name}: tanist-node-1:"));
    }
    until("the others to go on without it", || {
        let status = group.ask(before.leader, "status");
        let members = status["members"].as_array()?.clone();
        let is_out = members.len() == NODES - 1 && !members.contains(&Value::from(name.as_str()));
        (is_out && status["active"] == true).then_some(())
    });
    let told = until("the refusals", || {
        let told = group.fleet.tanist(&["doctor", "--socket", &socket(victim)]).output().unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        told.contains("refuses this node").then_some(told)
    });
    assert!(told.contains("identity"), "{told}");
    assert_ne!(group.ask(victim, "status")["active"], true);
    let status = group.tanist(&["status", "--socket", &socket(victim)]);
    assert!(status.contains("REFUSES this node"), "{status}");
    group.fleet.no_overlap();
    assert!(!group.fleet.read("starts").lines().any(|start| {
        let is_later = !before_has(before, start);
        is_later && start.starts_with(&format!("{name} "))
    }));
}

fn before_has(before: &Established, start: &str) -> bool {
    before.starts().lines().any(|line| line == start)
}
