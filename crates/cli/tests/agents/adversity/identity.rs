//! Nodes that are not who they should be: another key, somebody else's id.

use serde_json::Value;

use super::agents::{Agent, Home};

/// The findings of `tanist doctor` for an agent that are problems.
fn problems(home: &Home, name: &str) -> String {
    let socket = format!("{name}.sock");
    let output = home.run(&["doctor", "--socket", &socket, "-o", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let is_problem = |finding: &&Value| finding["severity"] == "problem";
    let all: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(is_problem)
        .map(|finding| format!("{}: {}", finding["place"], finding["what"]))
        .collect();
    assert_eq!(output.status.code(), Some(i32::from(!all.is_empty())), "{output:?}");
    all.join("\n")
}

fn number(agent: &Agent) -> Value {
    agent.ask("status")["epoch"]["text"].clone()
}

#[test]
fn an_agent_with_another_key_is_counted_and_changes_nothing() {
    let home = Home::new();
    let agents = home.group(&["n1", "n2"]);
    let before = number(&agents[1]);
    home.keygen("other.key");
    home.file("stranger", "n3", &[("key_file", "\"other.key\"".to_owned())]);
    let stranger = home.start("stranger");
    stranger.members_are(&["n3"]);
    agents[1].when("meter", |meter| meter["transport"]["handshakes_failed"].as_u64() > Some(1));
    assert_eq!(number(&agents[1]), before);
    let told = problems(&home, "n2");
    assert!(told.contains("n3") && told.contains("another key"), "{told}");
    agents[1].when("status", |_| agents[1].log().contains("none of this node's group keys"));
}

#[test]
fn an_agent_with_the_id_of_another_at_the_place_of_a_third_ends_and_says_why() {
    let home = Home::new();
    let agents = home.group(&["n1", "n2"]);
    let before = number(&agents[1]);
    // A file that was copied to the third machine, where `node` was forgotten.
    home.file("copy", "n1", &[("listen", format!("\"127.0.0.1:{}\"", home.ports[2]))]);
    let mut copy = home.start("copy");
    assert_eq!(copy.ends(), Some(7), "{}", copy.log());
    let log = copy.log();
    assert!(log.contains("another process with the id n1"), "{log}");
    // The two that are right go on.
    agents[0].members_are(&["n1", "n2"]);
    agents[1].members_are(&["n1", "n2"]);
    assert_eq!(number(&agents[1]), before);
}

#[test]
fn a_second_agent_with_the_same_data_is_refused() {
    let home = Home::new();
    let agents = home.group(&["n1", "n2"]);
    let listen = ("listen", format!("\"127.0.0.1:{}\"", home.ports[3]));
    home.file("twin", "n1", &[listen, ("data_dir", "\"data-n1\"".to_owned())]);
    let refused = home.run(&["agent", "-c", "twin.toml"]);
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(7), "{stderr}");
    assert!(stderr.contains("data-n1"), "{stderr}");
    agents[0].members_are(&["n1", "n2"]);
}
