//! Strangers that can reach the port and have no key.

use std::io::Write as _;
use std::time::Duration;

use tanist::key::NodeKey;
use tanist::transport::Limits;
use tanist::transport::greeting::Greeting;
use tanist::transport::handshake::{Dialler, Hello};

use super::node::{Node, Plan};
use super::rogue::{Rogue, connect, expect_closed, hello, read_message, write_message};

fn short_handshake() -> Plan {
    let limits = Limits { handshake: Duration::from_millis(300), ..Plan::new().limits };
    Plan { limits, ..Plan::new() }
}

fn assert_talk(nodes: &[Node]) {
    let (there, back) = (nodes[1].frames_from(&nodes[0]).len(), nodes[0].frames_from(&nodes[1]));
    nodes[0].send(&nodes[1], 7);
    nodes[1].expect_frames(&nodes[0], there + 1);
    nodes[1].send(&nodes[0], 8);
    nodes[0].expect_frames(&nodes[1], back.len() + 1);
}

#[test]
fn garbage_at_the_port_is_refused_and_peers_are_unaffected() {
    let nodes = Plan::new().start(2);
    let mut chance = 0x0bad_5eed_0bad_5eed_u64;
    for seed in 0..50 {
        let mut bytes: Vec<u8> = Vec::new();
        for _ in 0..600 {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            bytes.push((chance >> 24) as u8);
        }
        // Some with a plausible length, some with none.
        if seed % 2 == 0 {
            bytes[..2].copy_from_slice(&[1, seed]);
        } else {
            bytes[0] |= 0x80;
        }
        let mut stream = connect(nodes[0].address);
        // It may be closed before everything is written.
        let _ = stream.write_all(&bytes);
        expect_closed(&mut stream);
    }
    nodes[0].until_counted("fifty failures", |counters| counters.handshakes_failed == 50);
    assert_talk(&nodes);
}

#[test]
fn half_handshakes_end_at_their_deadline() {
    let plan = short_handshake();
    let nodes = plan.start(2);
    assert_talk(&nodes);
    let mut streams: Vec<_> = (0..3).map(|_| connect(nodes[0].address)).collect();
    streams[1].write_all(&[0]).unwrap();
    streams[2].write_all(&[0, 100, 1, 2, 3]).unwrap();
    // The whole first message, and then no confirmation.
    let incarnation = nodes[0].expect_met(nodes[1].id, 1);
    let again = Hello { incarnation, ..hello(2, 1) };
    streams.push(Rogue::ask(nodes[0].address, &plan.key, &again).stream);
    for stream in &mut streams {
        expect_closed(stream);
    }
    nodes[0].until_counted("four deadlines", |counters| counters.handshakes_timed_out == 4);
    assert_talk(&nodes);
    assert_eq!(nodes[0].counters().links_made, 1);
}

#[test]
fn two_hundred_idle_connections_do_not_keep_peers_out() {
    let nodes = Plan::new().start(3);
    assert_talk(&nodes[..2]);
    let idle: Vec<_> = (0..200).map(|_| connect(nodes[0].address)).collect();
    nodes[0].until_counted("the cap", |counters| counters.connections_over_cap == 200 - 64);
    // An existing link, and a new one.
    assert_talk(&nodes[..2]);
    nodes[2].send(&nodes[0], 1);
    nodes[0].expect_frames(&nodes[2], 1);
    assert_eq!(nodes[2].counters().dials_failed, 0);
    drop(idle);
}

#[test]
fn connections_over_the_cap_of_all_are_closed() {
    let limits = Limits { connections_max: 3, ..Plan::new().limits };
    let nodes = Plan { limits, ..Plan::new() }.start(2);
    nodes[1].send(&nodes[0], 1);
    nodes[0].expect_frames(&nodes[1], 1);
    let held: Vec<_> = (0..2).map(|_| connect(nodes[0].address)).collect();
    nodes[0].until_counted("three connections", |counters| counters.accepted == 3);
    expect_closed(&mut connect(nodes[0].address));
    nodes[0].until_counted("the cap", |counters| counters.connections_over_cap == 1);
    drop(held);
    assert_talk(&nodes);
}

/// The first message of a dial, as an eavesdropper has recorded it.
fn recording(plan: &Plan, node: &Node) -> Vec<u8> {
    let mut stream = connect(node.address);
    let greeting = Greeting::decode(&read_message(&mut stream).unwrap()).unwrap();
    let own = NodeKey::generate().unwrap();
    let hello = Hello { identity: own.public(), ..hello(2, 1) };
    let (_, message) = Dialler::begin(&plan.key, &own, &greeting, &hello).unwrap();
    message
}

#[test]
fn a_replayed_first_message_leads_nowhere() {
    let plan = short_handshake();
    let nodes = plan.start(2);
    assert_talk(&nodes);
    let met = nodes[0].expect_met(nodes[1].id, 1);
    let message = recording(&plan, &nodes[0]);
    let before = nodes[0].counters().handshakes_failed;
    let mut replay = connect(nodes[0].address);
    write_message(&mut replay, &message);
    assert!(read_message(&mut replay).is_some(), "a greeting, which is another one");
    expect_closed(&mut replay);
    nodes[0].until_counted("a failure", |counters| counters.handshakes_failed > before);
    assert_talk(&nodes);
    assert_eq!(nodes[0].counters().links_made, 1);
    assert_eq!(nodes[0].expect_met(nodes[1].id, 1), met);
    assert_eq!(nodes[0].gone_count(), 0);
}

#[test]
fn a_hundred_unconfirmed_handshakes_do_not_keep_a_peer_out() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let ask = |dial| Rogue::ask(nodes[0].address, &plan.key, &Hello { dial, ..hello(2, 1) });
    let _held: Vec<_> = (1..=100).map(ask).collect();
    nodes[0].until_counted("evictions", |counters| counters.handshakes_evicted >= 92);
    nodes[1].send(&nodes[0], 1);
    nodes[0].expect_frames(&nodes[1], 1);
    assert_eq!(nodes[1].counters().refused_too_busy, 0);
}
