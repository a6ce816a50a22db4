//! Datagrams, valid and invalid.

use std::net::UdpSocket;

use tanist::transport::datagram::{DATAGRAM_MAX, PAYLOAD_MAX, encode};
use tanist::transport::frame::{Frame, Record};
use tanist::transport::{DatagramPath, Incoming, Report};
use tanist_core::membership::NodeId;

use super::node::{Node, Plan};
use super::rogue::{Rogue, hello};

fn datagrams(node: &Node) -> Vec<Vec<u8>> {
    let payload = |event: &Incoming| match event {
        Incoming::Datagram { payload, .. } => Some(payload.clone()),
        Incoming::Frame { .. }
        | Incoming::Gone { .. }
        | Incoming::Met { .. }
        | Incoming::Twin { .. } => None,
    };
    node.until("anything", |seen| Some(seen.iter().filter_map(payload).collect()))
}

/// Sends datagrams until one arrives: the other side may not yet count the link as made.
fn beat(from: &Node, to: &Node) {
    let before = to.counters().datagrams_in;
    let id = to.id;
    to.until_counted("a datagram", |counters| {
        from.call(move |transport| transport.send_datagram(id, b"beat"));
        counters.datagrams_in > before
    });
}

#[test]
fn datagrams_go_both_ways_over_a_link_whoever_dialled_it() {
    let nodes = Plan::new().start(2);
    nodes[0].send(&nodes[1], 1);
    nodes[1].expect_frames(&nodes[0], 1);
    beat(&nodes[0], &nodes[1]);
    beat(&nodes[1], &nodes[0]);
    assert_eq!(datagrams(&nodes[0])[0], b"beat");
    let longest = vec![9; PAYLOAD_MAX];
    let (to, payload) = (nodes[1].id, longest.clone());
    nodes[0].call(move |transport| {
        transport.send_datagram(to, &payload);
        transport.send_datagram(to, &[0; PAYLOAD_MAX + 1]);
    });
    nodes[1].until("the longest datagram", |seen| {
        let payload = longest.clone();
        seen.contains(&Incoming::Datagram { from: NodeId(1), payload }).then_some(())
    });
    assert_eq!(nodes[0].counters().refused_too_long, 1);
}

#[test]
fn without_a_link_a_datagram_is_dropped() {
    let nodes = Plan::new().start(2);
    let to = nodes[1].id;
    nodes[0].call(move |transport| transport.send_datagram(to, b"beat"));
    nodes[0].call(move |transport| transport.send_datagram(NodeId(9), b"beat"));
    let counters = nodes[0].counters();
    assert_eq!((counters.datagrams_dropped, counters.datagrams_out), (1, 0));
    assert_eq!((counters.refused_unknown_peer, counters.dials), (1, 0));
}

#[test]
fn replayed_damaged_and_foreign_datagrams_are_refused_and_reordered_ones_taken() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let rogue = Rogue::dial(nodes[0].address, &plan.key, &hello(2, 1));
    nodes[0].until_counted("a link", |counters| counters.links_made == 1);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = |bytes: &[u8]| assert!(socket.send_to(bytes, nodes[0].address).is_ok());
    let sealed: Vec<_> = (0..4).map(|number| encode(&rogue.session, &[number]).unwrap()).collect();
    for number in [2, 0, 3, 1] {
        send(&sealed[number]);
    }
    nodes[0].until_counted("four datagrams", |counters| counters.datagrams_in == 4);
    assert_eq!(datagrams(&nodes[0]), [[2], [0], [3], [1]]);
    for again in &sealed {
        send(again);
    }
    nodes[0].until_counted("four replays", |counters| counters.refused_replay == 4);
    let fresh = encode(&rogue.session, b"fresh").unwrap();
    for bit in 17 * 8..fresh.len() * 8 {
        let mut flipped = fresh.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        send(&flipped);
    }
    let flips = ((fresh.len() - 17) * 8) as u64;
    nodes[0].until_counted("flipped", |counters| counters.refused_seal == flips);
    for length in 17..fresh.len() {
        send(&fresh[..length]);
    }
    let cuts = flips + (fresh.len() - 17) as u64;
    nodes[0].until_counted("cut", |counters| counters.refused_seal == cuts);
    send(&[]);
    send(&fresh[..16]);
    // An unknown version, one that is not this link's, and a session that does not exist.
    send(&[&[1], &fresh[1..]].concat());
    send(&[&[3], &fresh[1..]].concat());
    send(&[&[2], &[0; 8][..], &fresh[9..]].concat());
    send(&[0; DATAGRAM_MAX + 1]);
    nodes[0].until_counted("all others", |counters| {
        let others = [
            counters.refused_malformed,
            counters.refused_version,
            counters.refused_unknown_session,
            counters.refused_too_long,
        ];
        others == [2, 2, 1, 1]
    });
    // After all that the valid datagram is still accepted.
    send(&fresh);
    nodes[0].until_counted("the fresh one", |counters| counters.datagrams_in == 5);
}

#[test]
fn datagrams_of_a_replaced_link_are_still_taken_for_a_moment() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let first = Rogue::dial(nodes[0].address, &plan.key, &hello(2, 1));
    nodes[0].until_counted("a link", |counters| counters.links_made == 1);
    let late = encode(&first.session, b"late").unwrap();
    let again = tanist::transport::handshake::Hello { dial: 2, ..hello(2, 1) };
    let second = Rogue::dial(nodes[0].address, &plan.key, &again);
    nodes[0].until_counted("another link", |counters| counters.links_made == 2);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(&late, nodes[0].address).unwrap();
    socket.send_to(&encode(&second.session, b"new").unwrap(), nodes[0].address).unwrap();
    nodes[0].until_counted("both", |counters| counters.datagrams_in == 2);
}

#[test]
fn a_driver_that_takes_nothing_loses_datagrams_and_nothing_else() {
    let nodes = Plan::new().start(2);
    nodes[0].send(&nodes[1], 1);
    nodes[1].expect_frames(&nodes[0], 1);
    beat(&nodes[0], &nodes[1]);
    nodes[1].drain(false);
    let to = nodes[1].id;
    nodes[1].until_counted("dropped datagrams", |counters| {
        nodes[0].call(move |transport| transport.send_datagram(to, b"beat"));
        counters.datagrams_dropped >= 5
    });
    nodes[0].send(&nodes[1], 2);
    nodes[1].drain(true);
    assert_eq!(nodes[1].expect_frames(&nodes[0], 2), [1, 2]);
}

/// What a node knows about its datagrams to n2.
fn to_peer(node: &Node) -> Option<DatagramPath> {
    node.call(|transport| transport.peers()[0].datagrams_out)
}

#[test]
fn a_peer_that_misses_datagrams_gets_them_over_the_link_until_they_arrive() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let mut rogue = Rogue::dial(nodes[0].address, &plan.key, &hello(2, 1));
    nodes[0].until_counted("a link", |counters| counters.links_made == 1);
    let beat = || nodes[0].call(|transport| transport.send_datagram(NodeId(2), b"beat"));
    beat();
    assert_eq!(to_peer(&nodes[0]), Some(DatagramPath::Arriving));
    rogue.write(&Record::Datagrams(Report::Asked).encode());
    nodes[0].until_counted("a heartbeat for the link", |counters| {
        beat();
        counters.heartbeats_carried_out > 0
    });
    let carried = std::iter::from_fn(|| rogue.read()).any(|record| {
        let Ok(Record::Last(frame)) = Record::decode(&record) else { return false };
        Frame::decode(frame, "jobs", 2).is_ok_and(|frame| frame.payload == b"beat")
    });
    assert!(carried);
    rogue.write(&Record::Datagrams(Report::Missing).encode());
    nodes[0].until_counted("a missing one", |_| to_peer(&nodes[0]) == Some(DatagramPath::Missing));
    let before = nodes[0].counters();
    (0..40).for_each(|_| beat());
    assert_eq!(nodes[0].counters().datagrams_out - before.datagrams_out, 10, "a few are tried");
    rogue.write(&Record::Datagrams(Report::Arriving).encode());
    nodes[0].until_counted("the end", |_| to_peer(&nodes[0]) == Some(DatagramPath::Arriving));
    let before = nodes[0].counters();
    (0..40).for_each(|_| beat());
    let after = nodes[0].counters();
    assert_eq!(after.heartbeats_carried_out, before.heartbeats_carried_out);
    assert_eq!(after.datagrams_out - before.datagrams_out, 40);
}

#[test]
fn a_peer_that_sends_no_datagram_is_asked_once_and_need_not_understand_it() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let mut rogue = Rogue::dial(nodes[0].address, &plan.key, &hello(2, 1));
    nodes[0].until_counted("a link", |counters| counters.links_made == 1);
    for _ in 0..20 {
        nodes[0].call(|transport| transport.send_datagram(NodeId(2), b"beat"));
    }
    nodes[0].send(&nodes[1], 7);
    let mut records = Vec::new();
    while !matches!(
        records.last().map(|last: &Vec<u8>| Record::decode(last)),
        Some(Ok(Record::Last(_)))
    ) {
        records.push(rogue.read().expect("a frame"));
    }
    let asked = Record::Datagrams(Report::Asked).encode();
    assert_eq!(records.len(), 3, "an opening, a question, a frame: {records:?}");
    assert_eq!(records[1], asked);
    let view = nodes[0].call(|transport| transport.peers()[0].clone());
    assert_eq!((view.is_connected, view.datagrams_in), (true, None));
}

#[test]
fn datagrams_that_come_over_the_link_only_are_missing_until_some_arrive() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let mut rogue = Rogue::dial(nodes[0].address, &plan.key, &hello(2, 1));
    nodes[0].until_counted("a link", |counters| counters.links_made == 1);
    for _ in 0..3 {
        nodes[0].call(|transport| transport.send_datagram(NodeId(2), b"beat"));
    }
    let frame = Frame { group: "jobs", id: u64::MAX - 2, payload: b"carried" }.encode(2);
    for _ in 0..2 {
        rogue.write(&Record::Last(&frame).encode());
    }
    nodes[0].until_counted("two over the link", |counters| counters.heartbeats_carried_in == 2);
    assert_eq!(datagrams(&nodes[0]), [b"carried", b"carried"]);
    let from_peer = || nodes[0].call(|transport| transport.peers()[0].datagrams_in);
    assert_eq!(from_peer(), Some(DatagramPath::Missing));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..3 {
        socket.send_to(&encode(&rogue.session, b"by UDP").unwrap(), nodes[0].address).unwrap();
    }
    nodes[0].until_counted("three datagrams", |counters| counters.datagrams_in == 3);
    assert_eq!(from_peer(), Some(DatagramPath::Arriving));
    let reports: Vec<Report> = std::iter::from_fn(|| rogue.read())
        .filter_map(|record| match Record::decode(&record) {
            Ok(Record::Datagrams(report)) => Some(report),
            Ok(Record::Opening { .. } | Record::Last(_) | Record::More(_)) | Err(_) => None,
        })
        .take(3)
        .collect();
    assert_eq!(reports, [Report::Asked, Report::Missing, Report::Arriving]);
}
