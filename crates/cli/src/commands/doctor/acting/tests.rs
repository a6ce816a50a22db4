//! Which states of a node mean that its group does not act.

use super::super::group::tests::{seen, settings};
use super::*;
use crate::agent::report::LeaderReport;

/// A node that was elected and does not act.
fn elected() -> MembersReport {
    let mut seen = seen();
    seen.status.leader = Some(LeaderReport { node: "n1".to_owned(), address: String::new() });
    seen
}

fn waiting(nodes: &[&str]) -> SettingsReport {
    let nodes = nodes.iter().map(|node| (*node).to_owned()).collect();
    SettingsReport { waits_for: Some(nodes), ..settings() }
}

#[test]
fn a_group_that_acts_or_is_led_elsewhere_is_not_idle() {
    assert_eq!(judge(&seen(), &settings()), None);
    let mut acts = elected();
    acts.status.active = true;
    assert_eq!(judge(&acts, &settings()), None);
}

#[test]
fn an_elected_leader_names_the_nodes_that_it_waits_for() {
    let mut seen = elected();
    let idle = judge(&seen, &waiting(&["n2"])).unwrap();
    assert!(idle.why.contains("n2 is connected and not in this group"), "{idle:?}");
    seen.members[1].refusal = Some("its settings differ".to_owned());
    let idle = judge(&seen, &waiting(&["n2"])).unwrap();
    assert!(idle.why.contains("n2 is running and gives no link"), "{idle:?}");
    let idle = judge(&seen, &waiting(&[])).unwrap();
    assert!(idle.may_pass && idle.why.contains("pre_leader"), "{idle:?}");
}

#[test]
fn a_node_without_a_leader_says_why() {
    let mut seen = seen();
    seen.status.leader = None;
    assert!(judge(&seen, &settings()).unwrap().may_pass);
    seen.status.paused = true;
    assert!(judge(&seen, &settings()).unwrap().why.contains("paused"));
    seen.status.withdrawn = true;
    assert!(judge(&seen, &settings()).unwrap().is_wanted);
    seen.status.healthy = false;
    assert!(judge(&seen, &settings()).unwrap().why.contains("health check fails"));
}

#[test]
fn a_paused_group_whose_leader_is_gone_does_not_act() {
    let mut seen = seen();
    seen.status.paused = true;
    assert_eq!(judge(&seen, &settings()), None);
    seen.members[1].is_connected = false;
    let idle = judge(&seen, &settings()).unwrap();
    assert_eq!(idle.why, "n1 has no live leader, and elections are paused");
}
