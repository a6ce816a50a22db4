//! Releases without a version in common, in one group: both sides name the reason, and at most one
//! leader is active.

use serde_json::Value;

use super::group::Group;
use super::release::{BRINGS, DROPS, FIRST};
use crate::support::fleet::Fleet;
use crate::support::wait::until;

/// Timeouts are short, so that a leader would soon become active beside one that it cannot reach.
const CONFIG: &str = "algorithm = \"invitation\"\n[timing]\nheartbeat = \"100ms\"\n\
    suspect_after = \"1s\"\ncheck_every = \"200ms\"\n";

#[test]
fn a_newcomer_without_a_common_version_is_refused_by_name_and_never_acts() {
    let mut group = Group::new(3, CONFIG);
    group.start(0, FIRST);
    group.start(1, FIRST);
    let leader = group.agree();
    let number = group.nodes[0].agent().ask("status")["group_number"].clone();
    group.start(2, DROPS);
    both_sides_refuse(&group, |acting| acting == [leader.as_str()]);
    assert_eq!(
        group.nodes[0].agent().ask("status")["group_number"],
        number,
        "the group has not changed"
    );
    assert_eq!(
        group.nodes[1].agent().ask("status")["group_number"],
        number,
        "the group has not changed"
    );
    // A release that knows both versions joins the group.
    group.stop(2);
    group.start(2, BRINGS);
    group.agree();
    group.no_overlap();
}

#[test]
fn a_leader_without_a_common_version_keeps_all_others_from_acting() {
    let mut group = Group::new(3, CONFIG);
    group.start(2, DROPS);
    assert_eq!(group.agree(), "n3");
    group.start(0, FIRST);
    group.start(1, FIRST);
    both_sides_refuse(&group, |acting| acting == ["n3"]);
    // When it has stopped, the others become active.
    group.stop(2);
    assert_ne!(group.agree(), "n3");
    group.no_overlap();
}

#[test]
fn an_agent_that_takes_no_experiments_speaks_what_its_release_speaks() {
    let fleet = Fleet::configured(1, CONFIG);
    let mut command = fleet.tanist(&["agent", "-c", "n1.toml"]);
    let mut agent = fleet.spawn("n1", command.env("TANIST_DEV_WIRE_VERSIONS", "9"));
    assert_eq!(agent.ask("status")["node"], "n1");
    agent.logs("TANIST_DEV_WIRE_VERSIONS: no key has this variable, so it is ignored");
}

/// Waits until n3 and the others have refused each other again and again, for longer than a leader
/// waits for a silent node, and checks all the time which leader is active.
fn both_sides_refuse(group: &Group, is_allowed: impl Fn(&[&str]) -> bool) {
    let (old, new) = (&group.nodes[..2], &group.nodes[2]);
    until("refusals on both sides", || {
        let acting = |all: Vec<Value>| -> Vec<String> {
            let acting = all.into_iter().filter(|status| status["active"] == true);
            acting.map(|status| status["node"].as_str().unwrap().to_owned()).collect()
        };
        let acting = acting(group.nodes.iter().map(|node| node.agent().ask("status")).collect());
        let acting: Vec<&str> = acting.iter().map(String::as_str).collect();
        assert!(is_allowed(&acting), "{acting:?} act");
        group.no_overlap();
        let has_refused = group.nodes.iter().any(|node| node.agent().count("refused_version") > 40);
        has_refused.then_some(())
    });
    let told = |about: &Value| about["refusal"].as_str().unwrap_or_default().to_owned();
    until("a reason on the side that speaks 2", || {
        let reasons = old.iter().map(|node| told(&node.about("n3")));
        reasons.into_iter().find(|told| told.contains("it speaks versions 3, this node 2"))
    });
    until("a reason on the side that speaks 3", || {
        let reasons = ["n1", "n2"].map(|old| told(&new.about(old)));
        reasons.into_iter().find(|told| told.contains("it speaks versions 2, this node 3"))
    });
    let logs = [0, 2].map(|at| group.log(at));
    assert!(
        logs[0].contains("n3") && logs[0].contains("upgrade one release at a time"),
        "{logs:?}"
    );
    assert!(logs[1].contains("upgrade one release at a time"), "{logs:?}");
}
