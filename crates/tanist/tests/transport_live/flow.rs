//! Overload: too many frames, a peer that reads nothing, and silence.

use tanist::transport::{Incoming, Limits};
use tanist_core::membership::NodeId;

use super::node::{Node, Plan, bind};

#[test]
fn a_peer_that_reads_too_slowly_loses_its_link_and_nobody_else_does() {
    let limits = Limits { queue_frames_max: 50, ..Plan::new().limits };
    let nodes = Plan { limits, ..Plan::new() }.start(3);
    for slow in [&nodes[1], &nodes[2]] {
        nodes[0].send(slow, 0);
        slow.expect_frames(&nodes[0], 1);
    }
    nodes[1].drain(false);
    let payload = vec![0; 100_000];
    nodes[0].until_counted("an overflow", |counters| {
        nodes[0].send_bytes(nodes[1].id, 1, payload.clone());
        counters.queue_overflows >= 1
    });
    assert!(nodes[0].counters().frames_dropped >= 51);
    assert!(nodes[0].is_connected(&nodes[2]));
    nodes[0].send(&nodes[2], 2);
    assert_eq!(nodes[2].expect_frames(&nodes[0], 2), [0, 2]);
    // When it reads again, a new link is made and carries what is sent from then on, after what the
    // old one still held.
    nodes[1].drain(true);
    nodes[0].send(&nodes[1], 3);
    nodes[1].until("the last frame", |seen| {
        let is_last = |event: &Incoming| matches!(event, Incoming::Frame { id: 3, .. });
        seen.last().filter(|event| is_last(event)).map(|_| ())
    });
    assert_eq!(nodes[0].gone_count() + nodes[1].gone_count(), 0);
}

/// Answers to probes are queued like frames, and overflow like them.
#[test]
fn a_peer_that_asks_too_much_loses_its_link_and_no_frame_overtakes_another() {
    let plan = Plan::new();
    let (asker, asked) = (bind(), bind());
    let peers = [(NodeId(1), asker.address()), (NodeId(2), asked.address())];
    let peers = peers.map(|(id, address)| (id, address.to_string()));
    let asker = plan.start_one(1, asker, &peers);
    let limits = Limits { queue_frames_max: 8, ..plan.limits.clone() };
    let asked = Plan { limits, ..plan }.start_one(2, asked, &peers);
    asked.send(&asker, 0);
    asker.expect_frames(&asked, 1);
    asked.until_counted("an overflow", |counters| {
        asker.call(|transport| {
            for _ in 0..100 {
                transport.probe(NodeId(2));
            }
        });
        counters.queue_overflows >= 1
    });
    asked.until_counted("a new link", |counters| {
        asked.send(&asker, 1);
        counters.links_made >= 2
    });
    asked.send(&asker, 2);
    asker.until("the last frame", |seen| {
        let is_last = |event: &Incoming| matches!(event, Incoming::Frame { id: 2, .. });
        seen.last().filter(|event| is_last(event)).map(|_| ())
    });
    asker.until("frames in order", |seen| {
        let id = |event: &Incoming| match event {
            Incoming::Frame { id, .. } => Some(*id),
            Incoming::Datagram { .. }
            | Incoming::Gone { .. }
            | Incoming::Met { .. }
            | Incoming::Twin { .. } => None,
        };
        assert!(seen.iter().filter_map(id).is_sorted(), "{seen:?}");
        Some(())
    });
    assert_eq!(asker.gone_count() + asked.gone_count(), 0);
}

#[test]
fn frames_wait_at_the_sender_while_the_receiver_is_busy() {
    let nodes = Plan::new().start(2);
    nodes[0].send(&nodes[1], 0);
    nodes[1].expect_frames(&nodes[0], 1);
    nodes[1].drain(false);
    for id in 1..1000 {
        nodes[0].send(&nodes[1], id);
    }
    nodes[1].drain(true);
    assert_eq!(nodes[1].expect_frames(&nodes[0], 1000), Vec::from_iter(0..1000));
    assert_eq!(nodes[0].counters().queue_overflows, 0);
}

#[test]
fn a_driver_that_takes_nothing_can_still_send_to_everybody() {
    let count = 30;
    let nodes = Plan::new().start(count);
    // More peers to meet than the channel to the driver has room for.
    nodes[0].drain(false);
    for node in &nodes[1..] {
        nodes[0].send(node, 1);
    }
    for node in &nodes[1..] {
        assert_eq!(node.expect_frames(&nodes[0], 1), [1]);
    }
    nodes[0].drain(true);
    for node in &nodes[1..] {
        nodes[0].expect_met(node.id, 1);
    }
}

#[test]
fn a_blocked_peer_hears_nothing_and_says_nothing_until_it_is_unblocked() {
    let nodes = Plan::new().start(3);
    talk(&nodes[0], &nodes[1], 1);
    let blocked = nodes[1].id;
    nodes[0].call(move |transport| transport.block(&[blocked]));
    assert!(nodes[0].call(|transport| transport.peers())[0].is_blocked);
    nodes[0].send(&nodes[1], 2);
    nodes[1].send(&nodes[0], 2);
    nodes[0].call(move |transport| transport.send_datagram(blocked, b"beat"));
    let me = nodes[0].id;
    nodes[1].call(move |transport| transport.send_datagram(me, b"beat"));
    nodes[0].until_counted("four discarded", |counters| counters.discarded_blocked == 4);
    talk(&nodes[0], &nodes[2], 1);
    nodes[0].call(|transport| transport.unblock_all());
    talk(&nodes[0], &nodes[1], 3);
    assert_eq!(nodes[0].frames_from(&nodes[1]), [1, 3]);
    assert_eq!(nodes[1].frames_from(&nodes[0]), [1, 3]);
    assert_eq!(nodes[0].counters().datagrams_in + nodes[1].counters().datagrams_in, 0);
}

#[test]
fn the_death_of_a_blocked_peer_is_no_evidence_until_it_is_unblocked() {
    let mut nodes = Plan::new().start(3);
    talk(&nodes[0], &nodes[1], 1);
    let blocked = nodes[1].id;
    nodes[0].call(move |transport| transport.block(&[blocked]));
    nodes.remove(1).kill();
    nodes[0].until_counted("a lost link", |counters| counters.links_lost == 1);
    nodes[0].send_bytes(blocked, 2, Vec::new());
    talk(&nodes[0], &nodes[1], 1);
    assert_eq!((nodes[0].gone_count(), nodes[0].counters().dials_refused), (0, 0));
    nodes[0].call(|transport| transport.unblock_all());
    let ticket = nodes[0].send_bytes(blocked, 3, Vec::new());
    nodes[0].expect_gone(blocked, ticket);
}

#[test]
fn a_peer_that_dials_a_node_that_blocks_it_gets_no_answer_and_no_evidence() {
    let short = std::time::Duration::from_millis(100);
    let limits = Limits { handshake: short, ..Plan::new().limits };
    let nodes = Plan { limits, ..Plan::new() }.start(2);
    let blocked = nodes[1].id;
    nodes[0].call(move |transport| transport.block(&[blocked]));
    nodes[1].send(&nodes[0], 1);
    nodes[1].until_counted("a failed dial", |counters| counters.dials_failed == 1);
    let nothing = nodes[1].until("anything", |seen| Some(seen.is_empty()));
    assert!(nothing && nodes[0].until("anything", |seen| Some(seen.is_empty())));
    nodes[0].call(|transport| transport.unblock_all());
    nodes[0].until_counted("a frame", |counters| {
        nodes[1].send(&nodes[0], 2);
        counters.frames_in >= 1
    });
    assert_eq!(nodes[0].expect_met(NodeId(2), 1), nodes[1].call(|node| node.incarnation()));
}

/// One frame each way.
fn talk(a: &Node, b: &Node, id: u64) {
    let (to_b, to_a) = (b.frames_from(a).len(), a.frames_from(b).len());
    a.send(b, id);
    b.send(a, id);
    b.expect_frames(a, to_b + 1);
    a.expect_frames(b, to_a + 1);
}
