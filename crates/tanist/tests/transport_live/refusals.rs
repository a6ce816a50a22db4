//! Nodes with the wrong key, group or id, and links that send what the other side cannot decode.

use tanist::key::GroupKey;
use tanist::settings::Settings;
use tanist::transport::Limits;
use tanist::transport::frame::{Frame, PIECE_MAX, Record};
use tanist::transport::handshake::{Answer, Hello, Refusal};
use tanist::transport::version::Versions;
use tanist_core::membership::NodeId;

use super::node::{Node, PATIENCE, Plan, bind};
use super::rogue::{Rogue, expect_closed, hello};

/// Two nodes that know each other, the second one with a plan of its own.
fn pair(first: &Plan, second: &Plan, second_id: u32) -> [Node; 2] {
    let (own, other) = (bind(), bind());
    let to_second = [(NodeId(2), other.address().to_string())];
    let to_first = [(NodeId(1), own.address().to_string())];
    [first.start_one(1, own, &to_second), second.start_one(second_id, other, &to_first)]
}

#[test]
fn a_node_with_another_key_gets_no_link() {
    let plan = Plan::new();
    let stranger = Plan { key: GroupKey::generate().unwrap(), ..plan.clone() };
    let nodes = pair(&plan, &stranger, 2);
    nodes[0].send_bytes(NodeId(2), 1, Vec::new());
    nodes[0].until_counted("a failed dial", |counters| counters.dials_failed >= 1);
    nodes[1].until_counted("a failed handshake", |counters| counters.handshakes_failed >= 1);
    assert_no_link(&nodes);
}

#[test]
fn a_node_of_another_group_gets_no_link() {
    let plan = Plan::new();
    let nodes = pair(&plan, &Plan { group: "mail", ..plan.clone() }, 2);
    nodes[0].send_bytes(NodeId(2), 1, Vec::new());
    for node in &nodes {
        node.until_counted("wrong group", |counters| counters.refused_group >= 1);
    }
    assert_no_link(&nodes);
}

#[test]
fn another_node_at_the_address_gets_no_link() {
    let plan = Plan::new();
    let nodes = pair(&plan, &plan, 3);
    nodes[0].send_bytes(NodeId(2), 1, Vec::new());
    for node in &nodes {
        node.until_counted("wrong node", |counters| counters.refused_wrong_node >= 1);
    }
    assert_no_link(&nodes);
}

#[test]
fn a_node_with_our_own_id_gets_no_link() {
    let plan = Plan::new();
    let nodes = pair(&plan, &plan, 1);
    nodes[0].send_bytes(NodeId(2), 1, Vec::new());
    for node in &nodes {
        node.until_counted("own id", |counters| counters.refused_own_id >= 1);
    }
    assert_no_link(&nodes);
}

fn assert_no_link(nodes: &[Node]) {
    for node in nodes {
        let counters = node.counters();
        assert_eq!((counters.links_made, counters.frames_in), (0, 0));
        assert_eq!(node.gone_count(), 0);
        assert!(node.call(|transport| transport.peers()).iter().all(|peer| !peer.is_connected));
    }
}

#[test]
fn each_wrong_hello_is_told_why() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let fine = hello(2, 1);
    let other = Settings {
        digest: [2; 16],
        text: "algorithm=invitation\n".to_owned(),
        defaults: String::new(),
        names: Default::default(),
    };
    let wrong = [
        (Hello { versions: Versions { min: 9, max: 9 }, ..fine.clone() }, Refusal::Version),
        (Hello { group: "mail".to_owned(), ..fine.clone() }, Refusal::Group),
        (hello(1, 1), Refusal::OwnId),
        (hello(2, 3), Refusal::WrongNode),
        (hello(9, 1), Refusal::UnknownNode),
        (Hello { settings: other, ..fine.clone() }, Refusal::Settings),
    ];
    for (hello, refusal) in wrong {
        let mut asked = Rogue::ask(nodes[0].address, &plan.key, &hello);
        let Answer::Refused(refused) = asked.answer else { panic!("{:?}", asked.answer) };
        assert_eq!(refused.reason, refusal);
        expect_closed(&mut asked.stream);
    }
    let counters = nodes[0].counters();
    assert_eq!(counters.refused_version, 1);
    assert_eq!(counters.refused_unknown_peer, 1);
    assert_eq!(counters.links_made, 0);
}

#[test]
fn too_many_links_of_one_peer_are_told_so() {
    let limits = Limits { drain: PATIENCE, ..Plan::new().limits };
    let plan = Plan { limits, ..Plan::new() };
    let nodes = plan.start(2);
    // Replaced links are read until they are silent for a while, and count until then.
    let dial = |dial| Rogue::dial(nodes[0].address, &plan.key, &Hello { dial, ..hello(2, 1) });
    let held: Vec<_> = (1..=8).map(dial).collect();
    nodes[0].until_counted("eight links", |counters| counters.links_superseded == 7);
    let asked = Rogue::ask(nodes[0].address, &plan.key, &hello(2, 1));
    let Answer::Refused(refused) = asked.answer else { panic!("{:?}", asked.answer) };
    assert_eq!(refused.reason, Refusal::TooBusy);
    drop(held);
    // The real node 2 connects when connections are free.
    nodes[0].until_counted("a frame", |counters| {
        nodes[1].send(&nodes[0], 1);
        counters.frames_in >= 1
    });
}

#[test]
fn unknown_versions_kinds_and_groups_are_counted_and_the_link_stays() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let mut rogue = Rogue::dial(nodes[0].address, &plan.key, &hello(2, 1));
    let frame = |group, id| {
        let bytes = Frame { group, id, payload: b"" }.encode(2);
        Record::Last(&bytes).encode()
    };
    let mut newer = frame("jobs", 1);
    newer[1] = 3;
    rogue.write(&newer);
    rogue.write(&frame("mail", 2));
    rogue.write(&[200, 1, 2, 3]);
    rogue.write(&[]);
    rogue.write(&[0, 2, 0xff]);
    rogue.write(&frame("jobs", 3));
    assert_eq!(nodes[0].expect_frames(&nodes[1], 1), [3]);
    let counters = nodes[0].counters();
    assert_eq!(counters.refused_version, 1);
    assert_eq!(counters.refused_group, 1);
    assert_eq!(counters.refused_kind, 1);
    assert_eq!(counters.refused_malformed, 2);
    assert_eq!((counters.links_made, counters.links_lost), (1, 0));
}

#[test]
fn a_frame_without_end_closes_its_link() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let mut rogue = Rogue::dial(nodes[0].address, &plan.key, &hello(2, 1));
    let piece = Record::More(&vec![0; PIECE_MAX]).encode();
    for _ in 0..64 {
        rogue.write(&piece);
    }
    assert_eq!(nodes[0].counters().refused_too_long, 0);
    rogue.write(&piece);
    expect_closed(&mut rogue.stream);
    nodes[0].until_counted("too long", |counters| counters.refused_too_long == 1);
}

#[test]
fn a_damaged_record_closes_its_link() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let mut rogue = Rogue::dial(nodes[0].address, &plan.key, &hello(2, 1));
    super::rogue::write_message(&mut rogue.stream, &[0; 40]);
    expect_closed(&mut rogue.stream);
    nodes[0].until_counted("bad seal", |counters| counters.refused_seal == 1);
    // Node 2 is up, and the verifying dial finds its real process.
    nodes[0].expect_met(nodes[1].id, 2);
    assert_eq!(nodes[0].gone_count(), 0);
}
