//! Nodes with the wrong identity: another key, or the id of another node.

use serde_json::Value;

use crate::support::agent::Agent;
use crate::support::fleet::Fleet;

fn number(agent: &Agent) -> Value {
    agent.ask("status")["group_number"].clone()
}

#[test]
fn an_agent_with_another_key_is_counted_and_changes_nothing() {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2"]);
    let before = number(&agents[1]);
    fleet.keygen("other.key");
    fleet.configure_as("stranger", "n3", &[("key_file", "\"other.key\"".to_owned())]);
    let stranger = fleet.start("stranger");
    stranger.members_are(&["n3"]);
    agents[1]
        .when("metrics", |metrics| metrics["transport"]["handshakes_failed"].as_u64() > Some(1));
    assert_eq!(number(&agents[1]), before);
    let told = fleet.problems("n2");
    assert!(told.contains("n3") && told.contains("another key"), "{told}");
    agents[1].when("status", |_| agents[1].log().contains("none of this node's group keys"));
}

#[test]
fn an_agent_with_the_id_of_another_at_the_place_of_a_third_ends_and_says_why() {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2"]);
    let before = number(&agents[1]);
    // The configuration was copied to the third machine, and `node` was not changed.
    fleet.configure_as("copy", "n1", &[("listen", format!("\"{}\"", fleet.peer(3)))]);
    let mut copy = fleet.start("copy");
    assert_eq!(copy.ends(), Some(7), "{}", copy.log());
    let log = copy.log();
    assert!(log.contains("another process with the id n1"), "{log}");
    // The two correct nodes stay in their group.
    agents[0].members_are(&["n1", "n2"]);
    agents[1].members_are(&["n1", "n2"]);
    assert_eq!(number(&agents[1]), before);
}

#[test]
fn a_second_agent_with_the_same_data_is_refused() {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2"]);
    let listen = ("listen", format!("\"{}\"", fleet.peer(4)));
    fleet.configure_as("twin", "n1", &[listen, ("data_dir", "\"data-n1\"".to_owned())]);
    let refused = fleet.run(&["agent", "-c", "twin.toml"]);
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(7), "{stderr}");
    assert!(stderr.contains("data-n1"), "{stderr}");
    agents[0].members_are(&["n1", "n2"]);
}
