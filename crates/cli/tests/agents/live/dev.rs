//! `tanist dev` and the commands that query its nodes.

use serde_json::Value;

use crate::support::dev::{Dev, all_gone};
use crate::support::fleet::tanist;
use crate::support::wait::until;

#[test]
fn a_group_agrees_is_looked_at_and_leaves_nothing_behind() {
    let mut dev = Dev::start(&["--nodes", "3"]);
    let leader = dev.agree("all 3 nodes");
    let agents = dev.agents();
    assert_eq!(agents.len(), 3);

    let status = dev.json(&["status", "--node", "n1"]);
    assert_eq!((&status["node"], &status["group"]), (&"n1".into(), &"dev".into()));
    assert_eq!(status["leader"]["node"], leader.as_str());
    assert_eq!(status["members"], serde_json::json!(["n1", "n2", "n3"]));
    let members = dev.json(&["members", "--node", "n2"]);
    let leads = |member: &&Value| member["role"] == "leader";
    let leaders: Vec<&Value> =
        members["members"].as_array().unwrap().iter().filter(leads).collect();
    assert_eq!(leaders.len(), 1);
    assert_eq!(leaders[0]["node"], leader.as_str());
    assert_eq!(dev.json(&["leader"])["leader"], leader.as_str());
    assert_eq!(dev.run(&["leader"]).stdout, format!("{leader}\n").as_bytes());
    let table = String::from_utf8(dev.run(&["members"]).stdout).unwrap();
    assert!(table.contains("★ leader"), "{table}");
    assert!(!table.contains('\u{1b}'), "escape codes in a pipe: {table}");

    dev.signal("-INT");
    assert_eq!(dev.ends(), Some(130));
    all_gone(&agents);
    assert!(!dev.directory().exists());
}

#[test]
fn agents_die_with_the_process_that_started_them() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    assert_eq!(dev.agree("all 3 nodes"), "n3");
    let agents = dev.agents();
    dev.signal("-KILL");
    dev.ends();
    all_gone(&agents);
}

#[test]
fn a_killed_leader_is_replaced_and_comes_back_with_its_disk() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    assert_eq!(dev.agree("all 3 nodes"), "n3");
    let before = dev.json(&["status", "--node", "n3"]);
    dev.act(&["kill", "n3"]);
    assert_eq!(dev.agree("2 of 3 nodes"), "n2");
    let refused = dev.run(&["dev", "kill", "n3"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("tanist dev restart n3"));
    dev.act(&["restart", "n3"]);
    assert_eq!(dev.agree("all 3 nodes"), "n3");
    let after = dev.json(&["status", "--node", "n3"]);
    let counter = |status: &Value| {
        let number = status["group_number"].as_str().unwrap().to_owned();
        number.split('.').next().unwrap().parse::<u64>().unwrap()
    };
    assert!(counter(&after) > counter(&before), "{before} {after}");
}

#[test]
fn a_hung_leader_is_replaced_and_taken_in_again() {
    let mut dev = Dev::start(&["--nodes", "3"]);
    let leader = dev.agree("all 3 nodes");
    dev.act(&["pause", &leader]);
    assert_ne!(dev.agree("2 of 3 nodes"), leader);
    dev.act(&["resume", &leader]);
    dev.agree("all 3 nodes");
}

#[test]
fn two_halves_work_on_and_their_work_is_combined_when_they_meet() {
    let mut dev = Dev::start(&["--nodes", "5", "--work", "2500"]);
    dev.agree("all 5 nodes");
    let whole = dev.json(&["leader", "--node", "n5"]);
    dev.act(&["cut", "n1,n2"]);
    let members = |status: &Value| status["members"].as_array().map_or(0, Vec::len);
    let is_whole = |status: &Value, size| status["role"] != "suspended" && members(status) == size;
    let low = dev.status_when("n1", |status| is_whole(status, 2));
    let high = dev.status_when("n4", |status| is_whole(status, 3));
    assert_eq!(low["members"], serde_json::json!(["n1", "n2"]));
    assert_eq!(high["members"], serde_json::json!(["n3", "n4", "n5"]));
    assert_ne!(low["group_number"], high["group_number"]);
    assert_ne!(low["group_number"], whole["group_number"]);
    // Both halves go on with all remaining work, so some pieces are done on both sides.
    dev.tells("; ");
    dev.act(&["heal"]);
    let line = dev.tells("has done 2500 of 2500 pieces");
    assert!(line.contains("done twice and counted once"), "{line}");
    let (one, other) =
        (dev.json(&["leader", "--node", "n1"]), dev.json(&["leader", "--node", "n5"]));
    assert_eq!(one, other);
}

#[test]
fn a_recorded_run_of_real_nodes_passes_the_monitors_and_can_be_drawn() {
    let kept = tempfile::tempdir().unwrap();
    let path = kept.path().join("run");
    let path = path.to_str().unwrap();
    let often = ["--timing", "check_every=400ms"];
    let mut dev = Dev::start(&[&["--nodes", "3", "--traces", path], &often[..]].concat());
    let leader = dev.agree("all 3 nodes");
    dev.act(&["kill", &leader]);
    dev.agree("2 of 3 nodes");
    dev.act(&["restart", &leader]);
    dev.agree("all 3 nodes");
    // Liveness assertions get a verdict when enough of the end has been recorded.
    let traces = dev.directory().join("traces");
    let traces = traces.to_str().unwrap();
    let wanted = ["A-3.1", "A-3.2", "A-4", "B-37", "G-09", "I-02", "I-07", "I-50", "I-51"];
    until("all verdicts", || {
        let judged = judgement(&dev, &["trace", "check", traces, "-o", "json"]);
        wanted.iter().all(|id| verdict(&judged, id) == "holds").then_some(())
    });
    dev.signal("-INT");
    dev.ends();
    let svg = kept.path().join("run.svg");
    let picture = svg.to_str().unwrap();
    let around = ["trace", "check", path, "--around-crash", "1", "--svg", picture, "-o", "json"];
    let judged = judgement(&dev, &around);
    assert_eq!(verdict(&judged, "I-07"), "holds", "{judged:#}");
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg"));
}

fn judgement(dev: &Dev, arguments: &[&str]) -> Value {
    let output = dev.run(arguments);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn verdict(judged: &Value, id: &str) -> String {
    let assertions = judged["assertions"].as_array().unwrap();
    let found = assertions.iter().find(|assertion| assertion["id"] == id);
    found.map_or("", |found| found["verdict"].as_str().unwrap()).to_owned()
}

#[test]
fn without_a_group_the_commands_say_what_to_start() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [&["status"][..], &["members"], &["leader"], &["watch"], &["dev", "heal"]] {
        let output = tanist(home.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("tanist dev"), "{output:?}");
    }
}

#[test]
fn a_group_that_cannot_start_says_why_and_leaves_nothing_behind() {
    for (arguments, code, why) in [
        (["--option", "nonsense=1"], 2, "--option nonsense=1: "),
        (["--timing", "heartbeat=2s"], 2, "--timing heartbeat=2s: suspect_after = 1s"),
        (["--timing", "heartbeet=2s"], 2, "--timing heartbeet=2s: there is no key"),
        (["--algorithm", "bully-lecture"], 6, "hands no state"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let mut command = tanist(home.path());
        let output = command.args(["dev", "--work", "10"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(why), "{arguments:?}: {stderr}");
        assert!(!home.path().join("tanist/dev").exists(), "{arguments:?}");
    }
}
