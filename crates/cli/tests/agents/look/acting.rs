//! Actions on a node from the command line.

use serde_json::Value;

use crate::support::dev::Dev;
use crate::support::wait::until;

#[test]
fn a_leader_that_steps_down_is_aside_when_the_command_returns() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    assert_eq!(dev.agree("all 3 nodes"), "n3");
    dev.status_when("n3", |status| status["active"] == true);
    assert_eq!(dev.run(&["is-leader", "-q", "--node", "n3"]).status.code(), Some(0));
    let no = dev.run(&["is-leader", "--node", "n1"]);
    assert_eq!((no.status.code(), &no.stdout[..]), (Some(1), &b"no: n3 leads\n"[..]));

    let done = dev.run(&["step-down", "--node", "n3", "--for", "10m"]);
    assert!(done.status.success(), "{done:?}");
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.starts_with("n3 is withdrawn for 10 min"), "{text}");
    let status = dev.json(&["status", "--node", "n3"]);
    assert_eq!((&status["withdrawn"], &status["active"]), (&true.into(), &false.into()));
    for command in ["status", "members"] {
        let table = String::from_utf8(dev.run(&[command, "--node", "n3"]).stdout).unwrap();
        assert!(table.contains("n3 is WITHDRAWN"), "{table}");
    }
    dev.status_when("n1", |status| status["leader"]["node"] == "n2");
    let history = dev.json(&["history", "--node", "n1", "-n", "1"]);
    assert_eq!(history[0]["reason"], "step-down", "{history}");

    let back = dev.run(&["rejoin", "--node", "n3"]);
    assert!(back.status.success(), "{back:?}");
    dev.status_when("n1", |status| status["leader"]["node"] == "n3");
    let again = String::from_utf8(dev.run(&["rejoin", "--node", "n3"]).stdout).unwrap();
    assert!(again.contains("already"), "{again}");
}

#[test]
fn an_agent_that_leaves_answers_hands_over_and_ends() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    assert_eq!(dev.agree("all 3 nodes"), "n3");
    let left = dev.run(&["leave", "--node", "n3"]);
    assert!(left.status.success(), "{left:?}");
    assert!(String::from_utf8(left.stdout).unwrap().contains("n3 has handed over"));
    dev.status_when("n1", |status| status["leader"]["node"] == "n2");
    let is_gone = || dev.run(&["status", "--node", "n3"]).status.code() == Some(3);
    until("the end of n3", || is_gone().then_some(()));
}

#[test]
fn what_cannot_be_done_exits_with_5_and_changes_nothing() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    let before: Value = dev.json(&["status", "--node", "n2"]);
    let refused = dev.run(&["priority", "9", "--node", "n2"]);
    assert_eq!(refused.status.code(), Some(5), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("nothing was done"));
    assert_eq!(dev.json(&["status", "--node", "n2"]), before);
}

#[test]
fn a_node_whose_priority_was_raised_is_elected_when_the_leader_dies() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "invitation"]);
    let leader = dev.agree("all 3 nodes");
    // The lower of the two that are left.
    let raised = if leader == "n1" { "n2" } else { "n1" };
    let done = dev.run(&["priority", "50", "--node", raised]);
    assert!(done.status.success(), "{done:?}");
    let text = String::from_utf8(done.stdout).unwrap();
    let expected = format!("{raised} has priority 50 now; it counts at the next election");
    assert!(text.contains(&expected), "{text}");
    dev.act(&["kill", &leader]);
    dev.status_when(raised, |status| status["leader"]["node"] == raised);
}

#[test]
fn in_a_paused_group_a_dead_leader_is_replaced_only_after_the_pause() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    assert_eq!(dev.agree("all 3 nodes"), "n3");
    let done = dev.run(&["pause", "--node", "n1"]);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(dev.json(&["status", "--node", "n1"])["paused"], true);
    dev.status_when("n2", |status| status["paused"] == true);
    for command in ["status", "members", "doctor"] {
        let table = String::from_utf8(dev.run(&[command, "--node", "n2"]).stdout).unwrap();
        assert!(table.contains("PAUSED"), "{table}");
    }
    dev.act(&["kill", "n3"]);
    until("n2 to lose its link with n3", || {
        let members = &dev.json(&["members", "--node", "n2"])["members"];
        (members[2]["is_connected"] != true).then_some(())
    });
    // It is replaced by no node, and named as lost, not as the leader.
    let lost = dev.run(&["leader", "--node", "n2", "-o", "json"]);
    assert_eq!(lost.status.code(), Some(1), "{lost:?}");
    let lost: Value = serde_json::from_slice(&lost.stdout).unwrap();
    assert_eq!((&lost["leader"], &lost["lost_leader"]), (&Value::Null, &"n3".into()), "{lost}");
    let done = dev.run(&["resume", "--node", "n2"]);
    assert!(done.status.success(), "{done:?}");
    dev.status_when("n1", |status| status["leader"]["node"] == "n2");
    let again = String::from_utf8(dev.run(&["resume", "--node", "n2"]).stdout).unwrap();
    assert!(again.contains("not paused"), "{again}");
}
