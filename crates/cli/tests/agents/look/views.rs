//! Asking every node over the links, and showing where they disagree.

use serde_json::Value;

use crate::support::dev::Dev;
use crate::support::wait::until;

/// What `members --all` of a node says of each node, by position; and its exit code.
fn views(dev: &Dev, node: &str) -> (Vec<Value>, Option<i32>) {
    let output = dev.run(&["members", "--all", "--node", node, "-o", "ndjson"]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let views = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (views, output.status.code())
}

fn table(dev: &Dev, node: &str) -> String {
    String::from_utf8(dev.run(&["members", "--all", "--node", node]).stdout).unwrap()
}

#[test]
fn every_node_is_asked_and_the_sides_of_a_split_are_named() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    dev.status_when("n3", |status| status["active"] == true);
    let (agreed, code) = views(&dev, "n1");
    assert_eq!(code, Some(0), "{agreed:?}");
    let of = |views: &[Value], name: &str| -> Vec<Value> {
        views.iter().map(|view| view["status"][name].clone()).collect()
    };
    assert_eq!(of(&agreed, "role"), ["member", "member", "leader"]);
    assert_eq!(of(&agreed, "active"), [false, false, true]);
    let numbers = of(&agreed, "group_number");
    assert!(numbers[0].is_string() && numbers.iter().all(|number| *number == numbers[0]));
    // Whether the leader is active, only it knows: it is asked.
    let seen = dev.json(&["members", "--node", "n1"]);
    assert_eq!(seen["members"][2]["active"], true, "{seen}");

    // A cut, and a pause that keeps the two sides from merging when it is healed.
    dev.act(&["cut", "n3"]);
    dev.status_when("n1", |status| status["leader"]["node"] == "n2");
    dev.status_when("n3", |status| status["members"] == serde_json::json!(["n3"]));
    let (cut, code) = views(&dev, "n1");
    assert_eq!(code, Some(0), "the two that answer agree: {cut:?}");
    let problem = cut[2]["problem"].as_str().unwrap();
    assert!(cut[2]["status"].is_null() && problem.contains("no answer"), "{cut:?}");
    for node in ["n1", "n3"] {
        assert!(dev.run(&["pause", "--node", node]).status.success());
    }
    dev.act(&["heal"]);
    let split = until("an answer of n3", || {
        Some(views(&dev, "n1")).filter(|(views, _)| views[2]["status"].is_object())
    });
    assert_eq!(split.1, Some(1), "{split:?}");
    let text = table(&dev, "n1");
    assert!(
        text.contains("DISAGREE on the leader: n1 n2 say n2 leads; n3 says n3 leads"),
        "{text}"
    );
}

#[test]
fn a_dead_node_is_shown_as_one_that_does_not_answer() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    dev.act(&["kill", "n3"]);
    dev.agree("2 of 3 nodes");
    let text = table(&dev, "n1");
    let row = text.lines().find(|line| line.starts_with("n3")).unwrap();
    assert!(row.contains("no answer within"), "{text}");
    assert!(!text.contains("DISAGREE"), "{text}");
}
