//! While elections are paused: a leader that would not be replaced, and one that is gone.

use super::Three;
use crate::support::wait::until;

#[test]
fn a_leader_hands_over_during_a_pause_only_if_it_is_forced() {
    let three = Three::start("bully");
    let leader = three.leader();
    assert_eq!(three.run(leader, &["pause"]).0, 0);
    for command in ["step-down", "leave"] {
        let (code, text) = three.run(leader, &[command]);
        assert_eq!(code, 5, "{command}: {text}");
        let why = format!("elections are paused, and n{leader} leads");
        assert!(text.contains(&why) && text.contains("--force"), "{command}: {text}");
        assert_eq!(three.leader(), leader, "{command}: nothing was done");
    }
    // A member may: it is not missed.
    let member = (1..=3).find(|node| *node != leader).unwrap();
    assert_eq!(three.run(member, &["step-down", "--for", "1ms"]).0, 0);
    let (code, text) = three.run(leader, &["step-down", "--for", "10m", "--force"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("no node takes over until elections resume"), "{text}");
}

#[test]
fn a_paused_group_whose_leader_is_gone_says_so_everywhere_and_names_no_leader() {
    let mut three = Three::start("invitation");
    let leader = three.leader();
    let member = (1..=3).find(|node| *node != leader).unwrap();
    assert_eq!(three.run(leader, &["pause"]).0, 0);
    three.agent(member).when("status", |status| status["paused"] == true);
    assert_eq!(three.run(member, &["leader"]), (0, format!("n{leader}\n")));
    three.agents[leader - 1].kill();
    let lost = format!("n{leader}");
    let status = three.agent(member).when("status", |status| status["lost_leader"] == lost);
    assert!(status["leader"].is_null() && status["role"] == "member", "{status}");

    let alarm = format!("PAUSED and NO LEADER: {lost}, which led, is gone and is not replaced");
    let (code, text) = three.run(member, &["leader"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains(&alarm), "{text}");
    for command in ["status", "members", "why"] {
        let (_, text) = three.run(member, &[command]);
        assert!(text.contains(&alarm), "{command}: {text}");
    }
    let (code, text) = three.run(member, &["doctor"]);
    let first = text.lines().next().unwrap();
    assert!(code == 1 && first.contains("has no live leader, and elections are paused"), "{text}");

    // What was put off is done at once.
    assert_eq!(three.run(member, &["resume"]).0, 0);
    until("another leader", || {
        let status = three.agent(member).ask("status");
        (status["leader"].is_object() && status["leader"]["node"] != lost).then_some(())
    });
}
