//! Two processes with one id, settings that differ, and versions.

use std::time::Duration;

use tanist::settings::Settings;
use tanist::transport::handshake::{Answer, Hello, Refusal};
use tanist::transport::version::Versions;
use tanist::transport::{Incoming, Limits};
use tanist_core::membership::NodeId;

use super::node::{Node, Plan, bind, until};
use super::rogue::{Rogue, hello};

#[test]
fn a_second_process_with_a_linked_id_is_refused_while_the_first_answers() {
    let plan = Plan::new();
    let sockets = [bind(), bind()];
    let peers: Vec<(NodeId, String)> =
        (1..).zip(&sockets).map(|(id, own)| (NodeId(id), own.address().to_string())).collect();
    let nodes: Vec<Node> =
        (1..).zip(sockets).map(|(id, own)| plan.start_one(id, own, &peers)).collect();
    nodes[0].send(&nodes[1], 1);
    nodes[1].expect_frames(&nodes[0], 1);
    let twin = plan.start_one(2, bind(), &peers[..1]);
    twin.send_bytes(NodeId(1), 7, Vec::new());
    let is_told =
        |event: &Incoming| matches!(event, Incoming::Twin { peer, .. } if *peer == NodeId(1));
    assert!(twin.until("told", |seen| seen.iter().any(is_told).then_some(true)));
    let counters = nodes[0].counters();
    assert_eq!((counters.refused_twin, counters.links_replaced), (1, 0));
    nodes[0].send(&nodes[1], 2);
    assert_eq!(nodes[1].expect_frames(&nodes[0], 2), [1, 2]);
}

#[test]
fn a_process_that_does_not_answer_gives_way_to_another_with_its_id() {
    let limits = Limits { handshake: Duration::from_millis(400), ..Plan::new().limits };
    let plan = Plan { limits, ..Plan::new() };
    let nodes = plan.start(2);
    // It reads nothing, like a stopped process.
    let _deaf = Rogue::dial(nodes[0].address, &plan.key, &hello(2, 1));
    nodes[0].until_counted("a link", |counters| counters.links_made == 1);
    nodes[1].send(&nodes[0], 1);
    nodes[0].expect_frames(&nodes[1], 1);
    assert_eq!(nodes[0].counters().links_replaced, 1);
}

#[test]
fn nodes_that_were_told_different_things_refuse_each_other_by_name() {
    let plan = Plan::new();
    let settings = Settings {
        digest: [2; 16],
        text: "algorithm=invitation\n".to_owned(),
        defaults: String::new(),
        names: Default::default(),
    };
    let other = Plan { settings, ..plan.clone() };
    let (own, theirs) = (bind(), bind());
    let to_second = [(NodeId(2), theirs.address().to_string())];
    let to_first = [(NodeId(1), own.address().to_string())];
    let first = plan.start_one(1, own, &to_second);
    let second = other.start_one(2, theirs, &to_first);
    for (node, peer, words) in [
        (&first, 2, "it runs invitation, this node runs bully"),
        (&second, 1, "it runs bully, this node runs invitation"),
    ] {
        node.send_bytes(NodeId(peer), 1, Vec::new());
        until("a refusal by name", || {
            let peers = node.call(|transport| transport.peers());
            let why = peers[0].refusal.clone().unwrap_or_default();
            if why.contains(words) { Ok(()) } else { Err(why) }
        });
        assert_eq!(node.gone_count(), 0);
    }
}

#[test]
fn a_refusal_is_forgotten_when_the_peer_is_gone() {
    let plan = Plan::new();
    let stranger = Plan { group: "mail", ..plan.clone() };
    let (own, theirs) = (bind(), bind());
    let to_second = [(NodeId(2), theirs.address().to_string())];
    let first = plan.start_one(1, own, &to_second);
    let second = stranger.start_one(2, theirs, &[]);
    let has_refusal = |node: &Node| {
        node.send_bytes(NodeId(2), 1, Vec::new());
        node.call(|transport| transport.peers())[0].refusal.is_some()
    };
    until("a refusal", || if has_refusal(&first) { Ok(()) } else { Err(String::new()) });
    drop(second);
    until("none", || if has_refusal(&first) { Err(String::new()) } else { Ok(()) });
}

#[test]
fn the_highest_common_version_is_spoken_and_none_that_is_not_common() {
    let range = |min, max| Versions { min, max };
    for (one, other, common) in [
        (range(2, 2), range(2, 3), Some(2)),
        (range(2, 3), range(2, 3), Some(3)),
        (range(2, 3), range(3, 3), Some(3)),
        (range(2, 2), range(3, 3), None),
    ] {
        let plan = Plan { versions: one, ..Plan::new() };
        let newer = Plan { versions: other, ..plan.clone() };
        let (own, theirs) = (bind(), bind());
        let to_second = [(NodeId(2), theirs.address().to_string())];
        let to_first = [(NodeId(1), own.address().to_string())];
        let first = plan.start_one(1, own, &to_second);
        let second = newer.start_one(2, theirs, &to_first);
        first.send(&second, 1);
        match common {
            Some(version) => {
                second.expect_frames(&first, 1);
                second.send(&first, 2);
                first.expect_frames(&second, 1);
                for node in [&first, &second] {
                    let peers = node.call(|transport| transport.peers());
                    assert_eq!(peers[0].version, Some(version), "{one} and {other}");
                }
            }
            None => {
                first.until_counted("refused", |counters| counters.refused_version >= 1);
                assert_eq!(first.gone_count(), 0);
            }
        }
    }
}

#[test]
fn a_hello_with_a_range_that_holds_ours_is_welcome() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let later = Hello { versions: Versions { min: 1, max: 200 }, ..hello(2, 1) };
    let asked = Rogue::ask(nodes[0].address, &plan.key, &later);
    assert!(matches!(asked.answer, Answer::Welcome { version: 2, .. }), "{:?}", asked.answer);
    let never = Hello { versions: Versions { min: 100, max: 200 }, ..hello(2, 1) };
    let asked = Rogue::ask(nodes[0].address, &plan.key, &never);
    let Answer::Refused(refused) = asked.answer else { panic!("{:?}", asked.answer) };
    assert_eq!((refused.reason, refused.detail.as_str()), (Refusal::Version, "2"));
}
