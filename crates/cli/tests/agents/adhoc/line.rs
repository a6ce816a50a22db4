//! Six machines in a row: one leader; a leader on each side of a cut; one leader again.

use serde_json::Value;

use super::agents::Agents;
use crate::support::namespaces::Line;

/// The best node of each component leads it, whatever the links do.
fn elects_splits_and_merges(algorithm: &str, group: &str) {
    let Some(line) = Line::new(6) else { return };
    let agents = Agents::start(line, 6, algorithm, group);
    let whole = agents.follow(&[1, 2, 3, 4, 5, 6], 6);
    neighbours_are(&agents, 3, &["n2", "n4"]);
    neighbours_are(&agents, 1, &["n2"]);
    others_can_look(&agents);

    agents.line().link(3, "down");
    let left = agents.follow(&[1, 2, 3], 3);
    assert_ne!(left, whole);
    agents.follow(&[4, 5, 6], 6);
    neighbours_are(&agents, 3, &["n2"]);

    agents.line().link(3, "up");
    agents.follow(&[1, 2, 3, 4, 5, 6], 6);
    neighbours_are(&agents, 3, &["n2", "n4"]);
}

/// Waits until exactly these are in reach of a node.
fn neighbours_are(agents: &Agents, at: usize, wanted: &[&str]) {
    agents.when(at, &["members"], |seen| {
        let all = seen["members"].as_array().unwrap().iter();
        let near = all.filter(|member| member["is_connected"] == true);
        let near: Vec<&str> = near.map(|member| member["node"].as_str().unwrap()).collect();
        near == wanted
    });
}

/// Commands for people work although no node has an address.
fn others_can_look(agents: &Agents) {
    let table = agents.command(3, &["members"]).output().unwrap();
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("NEIGHBOUR") && table.contains("on left"), "{table}");
    let doctor = agents.json(3, &["doctor"]).unwrap();
    let of_peers = |finding: &&Value| finding["place"] == "peers";
    let findings = doctor["findings"].as_array().unwrap();
    let texts: String = findings.iter().filter(of_peers).map(ToString::to_string).collect();
    assert!(texts.contains("In reach: n2 n4."), "{doctor:#}");
    for command in ["why", "status", "leader", "history"] {
        let output = agents.command(3, &[command]).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    }
}

#[test]
fn six_in_a_row_elect_split_and_merge_by_diffusing_computations() {
    elects_splits_and_merges("adhoc-diffusing", "broadcast");
}

#[test]
fn six_in_a_row_elect_split_and_merge_by_expanding_rings() {
    elects_splits_and_merges("adhoc-expanding-ring", "ff02::7400");
}
