//! `tanist switchover`, and what `tanist step-down` says of the successor.

use serde_json::json;

use super::{Three, number};
use crate::http::agents::{Agents, TOKEN};
use crate::http::client::{get, request};

#[test]
fn the_named_node_acts_and_leads_on_when_the_old_leader_has_rejoined() {
    for algorithm in [
        "invitation",
        "bully",
        "ring-chang-roberts",
        "ring-modified",
        "ring-list",
        "ring-active-list",
    ] {
        let three = Three::start(algorithm);
        let old = three.leader();
        // The lowest of the others, which no election would choose.
        let to = (1..=3).find(|node| *node != old).unwrap();
        let name = format!("n{to}");
        let would = three.json(old, &["switchover", "--to", &name, "--dry-run"]);
        assert_eq!(would["handover"]["to"], name, "{algorithm}");
        assert_eq!(three.leader(), old, "{algorithm}: nothing was done");

        let done = three.json(old, &["switchover", "--to", &name]);
        let handover = &done["handover"];
        assert_eq!(handover["from"], format!("n{old}"), "{algorithm}");
        assert_eq!(handover["to"], name, "{algorithm}");
        assert!(handover["gap_ms"].as_f64().unwrap() > 0.0, "{algorithm}: {done}");
        assert!(handover["group_number"].as_str().unwrap().ends_with(&name), "{algorithm}: {done}");
        assert_eq!(three.agent(to).ask("status")["active"], true, "{algorithm}");
        three.agents.iter().for_each(|agent| agent.members_are(&["n1", "n2", "n3"]));
        assert_eq!(three.leader(), to, "{algorithm}: after the old leader has rejoined");
    }
}

#[test]
fn asked_at_a_member_and_without_a_name_the_highest_member_takes_over() {
    let three = Three::start("bully");
    let old = three.leader();
    let best = (1..=3).rev().find(|node| *node != old).unwrap();
    // Asked at a member, which passes it on to the leader.
    let (code, text) = three.run(best, &["switchover"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with(&format!("n{best} leads and acts in group ")), "{text}");
    assert!(text.contains(" ms without an acting leader"), "{text}");
    assert_eq!(three.leader(), best);
}

#[test]
fn what_cannot_be_done_is_refused_with_the_reason() {
    let three = Three::start("bully");
    let leader = three.leader();
    let others: Vec<usize> = (1..=3).filter(|node| *node != leader).collect();
    let (own, first) = (format!("n{leader}"), format!("n{}", others[0]));
    let refused = |node, arguments: &[&str], why: &str| {
        let (code, text) = three.run(node, arguments);
        assert_eq!(code, 5, "{arguments:?}: {text}");
        assert!(text.contains(why), "{arguments:?}: {text}");
        assert!(text.contains("nothing was done"), "{arguments:?}: {text}");
    };
    refused(leader, &["switchover", "--to", "n9"], "n9 is not in the peer list");
    refused(leader, &["switchover", "--to", &own], &format!("{own} leads already"));
    assert_eq!(three.run(others[0], &["step-down", "--for", "10m"]).0, 0);
    three.agent(leader).when("status", |status| status["members"].as_array().unwrap().len() == 2);
    refused(leader, &["switchover", "--to", &first], "it is withdrawn; bring it back there");
    assert_eq!(three.run(others[0], &["rejoin"]).0, 0);
    three.agent(leader).members_are(&["n1", "n2", "n3"]);
    assert_eq!(three.run(leader, &["pause"]).0, 0);
    refused(leader, &["switchover", "--to", &first], "elections are paused");
    assert_eq!(three.run(leader, &["resume"]).0, 0);
    assert_eq!(three.leader(), leader, "nothing was done");
}

#[test]
fn a_node_that_is_dead_is_refused_as_not_reachable() {
    let mut three = Three::start("bully");
    let leader = three.leader();
    let dead = (1..=3).find(|node| *node != leader).unwrap();
    three.agents[dead - 1].kill();
    three.agent(leader).when("status", |status| status["members"].as_array().unwrap().len() == 2);
    let (code, text) = three.run(leader, &["switchover", "--to", &format!("n{dead}")]);
    assert_eq!(code, 5, "{text}");
    assert!(text.contains(&format!("n{dead} is not reachable from n{leader}")), "{text}");
}

#[test]
fn where_the_highest_takes_over_again_it_is_refused_with_the_next_step() {
    let three = Three::start_with("algorithm = \"bully\"\npreempt = \"always\"");
    three.agent(3).when("status", |status| status["active"] == true);
    let (code, text) = three.run(3, &["switchover", "--to", "n1"]);
    assert_eq!(code, 5, "{text}");
    assert!(text.contains("n3 outranks n1 and would take over again at once"), "{text}");
    assert!(text.contains("set `preempt` to `never`"), "{text}");
}

#[test]
fn a_leader_that_steps_down_names_its_successor() {
    let mut three = Three::start("bully");
    let old = three.leader();
    let best = (1..=3).rev().find(|node| *node != old).unwrap();
    let (code, text) = three.run(old, &["step-down", "--for", "10s"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains(&format!("n{best} took over and acts in group ")), "{text}");
    assert_eq!(three.leader(), best);
    three.agents[old - 1].logs("step-down requested, for 10s");
}

#[test]
fn over_http_the_same_action_needs_a_token_and_may_expect_a_group() {
    let agents = Agents::start(3, "algorithm = \"bully\"\npreempt = \"never\"");
    (1..=3).for_each(|node| agents.agent(node).members_are(&["n1", "n2", "n3"]));
    let status = agents.agent(1).when("status", |status| status["leader"].is_object());
    let leader = number(&status["leader"]["node"]);
    let at = agents.fleet.http(leader);
    agents.agent(leader).when("status", |status| status["active"] == true);
    let to = (1..=3).find(|node| *node != leader).unwrap();
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let ask = |body: &str| request(at, "POST", "/v1/switchover", &headers, body);
    assert_eq!(request(at, "POST", "/v1/switchover", &[], "").status, 401);
    let late = ask(&json!({"to": format!("n{to}"), "expect_group_number": "1.n9"}).to_string());
    assert_eq!((late.status, late.code().as_str()), (409, "group_changed"));
    let unknown = ask("{\"to\": \"n9\"}");
    assert_eq!((unknown.status, unknown.code().as_str()), (412, "refused"));
    let number = &get(at, "/v1/status").json()["group_number"];
    let order = json!({"to": format!("n{to}"), "expect_group_number": number}).to_string();
    let done = ask(&order);
    assert_eq!(done.status, 202, "{done:?}");
    assert_eq!(done.json()["handover"]["to"], format!("n{to}"), "{done:?}");
    assert_eq!(get(agents.fleet.http(to), "/leader").status, 200);
}
