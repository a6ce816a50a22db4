//! Actions over HTTP: a leader steps down, takes part again, and leaves.

use serde_json::json;

use super::agents::{Agents, TOKEN};
use super::client::{Answer, get, head, raw, request};
use crate::support::wait::until;

fn act(agents: &Agents, node: usize, name: &str, body: &str) -> Answer {
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    request(agents.fleet.http(node), "POST", &format!("/v1/{name}"), &headers, body)
}

fn leads(agents: &Agents, node: usize) {
    let to = agents.fleet.http(node);
    until(&format!("n{node} is active"), || {
        raw(to, &head(to, "GET", "/leader", &[], "")).ok().filter(|answer| answer.status == 200)
    });
}

#[test]
fn a_leader_that_is_told_to_hands_over_comes_back_and_leaves() {
    let mut agents = Agents::start(3, "algorithm = \"bully\"");
    leads(&agents, 3);
    let status = until("all are in one group", || {
        let status = get(agents.fleet.http(3), "/v1/status").json();
        (status["members"].as_array().unwrap().len() == 3 && status["active"] == true)
            .then_some(status)
    });
    let number = &status["group_number"];
    let order = json!({"expect_group_number": number, "hold_ms": 600_000}).to_string();
    let done = act(&agents, 3, "step-down", &order);
    assert_eq!(done.status, 202, "{done:?}");
    assert!(!done.json()["done"].as_str().unwrap().is_empty(), "{done:?}");
    assert_eq!(done.json()["status"]["withdrawn"], true, "{done:?}");
    leads(&agents, 2);
    assert_eq!(get(agents.fleet.http(3), "/leader").status, 503);
    let metrics = get(agents.fleet.http(3), "/metrics").body;
    assert!(metrics.contains("\ntanist_is_withdrawn{group=\"billing\"} 1\n"), "{metrics}");

    let old = act(&agents, 3, "take-part", "");
    assert_eq!((old.status, old.code().as_str()), (404, "unknown_path"));
    assert!(old.body.contains("/v1/take-part is called /v1/rejoin"), "{old:?}");
    assert_eq!(act(&agents, 3, "rejoin", "").status, 202);
    leads(&agents, 3);
    // A request that was meant for the old group is not applied to the new one.
    let late = act(&agents, 3, "step-down", &order);
    assert_eq!((late.status, late.code().as_str()), (409, "group_changed"));
    assert_eq!(get(agents.fleet.http(3), "/v1/status").json()["withdrawn"], false);

    let done = act(&agents, 3, "leave", "");
    assert_eq!(done.status, 202, "{done:?}");
    assert_eq!(agents.ends(3), Some(0));
    leads(&agents, 2);
}
