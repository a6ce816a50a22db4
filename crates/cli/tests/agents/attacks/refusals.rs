//! A node that its peers refuse although it has the right key: every command and page names the
//! peers and the reason, and the other nodes stay ready.

use serde_json::Value;

use super::reports::{get, readyz};
use super::samples::are_whole;
use crate::support::agent::Agent;
use crate::support::fleet::Fleet;
use crate::support::wait::until;

const EQUAL: [&str; 2] = ["n1", "n2"];

fn timing(suspect_after: &str) -> (&'static str, String) {
    ("timing", format!("{{ suspect_after = \"{suspect_after}\" }}"))
}

/// What a command about n3 prints.
fn told(fleet: &Fleet, arguments: &[&str]) -> String {
    let output = fleet.run(&[arguments, &["--socket", "n3.sock"]].concat());
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_node_that_is_refused_says_so_everywhere_and_those_that_are_well_stay_ready() {
    let fleet = Fleet::new(3);
    let start = |(name, suspect_after): (&str, &str)| {
        fleet.configure_as(name, name, &[timing(suspect_after)]);
        fleet.start(name)
    };
    let agents: Vec<Agent> = EQUAL.map(|name| (name, "2s")).into_iter().map(start).collect();
    let two: Vec<&Agent> = agents.iter().collect();
    until("one group", || are_whole(&two, &EQUAL).then_some(()));
    let third = start(("n3", "7s"));
    let seen = third.when("members", |seen| {
        let rows = seen["members"].as_array().unwrap();
        let is_refused = |row: &Value| row["is_self"] == true || row["refusal"].is_string();
        rows.iter().all(is_refused) && seen["status"]["role"] == "leader"
    });
    let why = seen["members"][0]["refusal"].as_str().unwrap();
    assert!(why.contains("suspect_after") && why.contains("2s") && why.contains("7s"), "{why}");

    let (status, body) = readyz(&fleet, "n3");
    assert_eq!(status, 503, "{body}");
    let line = body.lines().find(|line| line.starts_with("[-]peers")).unwrap_or_default();
    assert!(EQUAL.iter().all(|name| line.contains(&format!("{name} refuses this node"))), "{body}");
    assert!(line.contains("suspect_after"), "{body}");
    for name in EQUAL {
        let (status, body) = readyz(&fleet, name);
        assert_eq!(status, 200, "{name} is well: {body}");
    }

    let (_, page) = get(&fleet, "n3", "/metrics");
    for name in EQUAL {
        let sample = format!("tanist_peer_refuses{{group=\"billing\",peer=\"{name}\"}} 1");
        assert!(page.contains(&sample), "no {sample} in {page}");
    }
    let (_, page) = get(&fleet, "n3", "/v1/members");
    let page: Value = serde_json::from_str(&page).unwrap();
    assert!(page["members"][0]["refusal"].as_str().unwrap().contains("suspect_after"), "{page}");

    let status = told(&fleet, &["status"]);
    assert!(status.starts_with("n1 REFUSES this node: "), "{status}");
    let members = told(&fleet, &["members", "-o", "wide"]);
    assert!(members.contains("refuses  ") && members.contains("not given"), "{members}");
    assert!(members.contains("refuses this node: its settings differ"), "{members}");
    let keys = told(&fleet, &["key", "status"]);
    assert!(keys.contains("refuses this node"), "{keys}");
    let election = told(&fleet, &["why"]);
    assert!(election.contains("n1 REFUSES this node: "), "{election}");
}
