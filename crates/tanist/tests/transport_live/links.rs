//! Frames, and the links that carry them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::sync::{Arc, Barrier};

use tanist::transport::frame::{Frame, Record};
use tanist::transport::handshake::Hello;
use tanist::transport::{Incoming, Sockets, Ticket};
use tanist_core::membership::NodeId;

use super::node::{Node, Plan, bind, until};
use super::rogue::{Rogue, expect_closed, hello};

#[test]
fn frames_go_both_ways_in_order() {
    let nodes = Plan::new().start(2);
    for id in 0..500 {
        assert_eq!(nodes[0].send(&nodes[1], id), Ticket(id + 1));
        nodes[1].send(&nodes[0], 1000 + id);
    }
    assert_eq!(nodes[1].expect_frames(&nodes[0], 500), Vec::from_iter(0..500));
    assert_eq!(nodes[0].expect_frames(&nodes[1], 500), Vec::from_iter(1000..1500));
    assert_eq!(nodes[0].gone_count() + nodes[1].gone_count(), 0);
    let counters = nodes[0].counters();
    assert_eq!((counters.frames_out, counters.frames_in), (500, 500));
    let views = nodes[0].call(|transport| transport.peers());
    assert_eq!(views.len(), 1);
    assert!(views[0].is_connected && views[0].round_trip.is_some(), "{views:?}");
    assert_eq!(views[0].bytes_out, counters.bytes_out);
}

#[test]
fn large_frames_arrive_whole_and_longer_ones_are_not_sent() {
    let nodes = Plan::new().start(2);
    let payload: Vec<u8> = (0..1 << 20).map(|i: u32| (i % 241) as u8).collect();
    for id in 0..5 {
        nodes[0].send_bytes(nodes[1].id, id, payload.clone());
    }
    nodes[0].send_bytes(nodes[1].id, 5, vec![0; (1 << 20) + 1]);
    nodes[0].send(&nodes[1], 6);
    assert_eq!(nodes[1].expect_frames(&nodes[0], 6), [0, 1, 2, 3, 4, 6]);
    let is_whole = |event: &Incoming| match event {
        Incoming::Frame { id, payload: found, .. } => *id == 6 || *found == payload,
        Incoming::Datagram { .. } | Incoming::Gone { .. } | Incoming::Twin { .. } => false,
        Incoming::Met { .. } => true,
    };
    assert!(nodes[1].until("all", |seen| Some(seen.iter().all(is_whole))));
    assert_eq!(nodes[0].counters().refused_too_long, 1);
}

#[test]
fn three_nodes_in_a_mesh() {
    let nodes = Plan::new().start(3);
    for id in 0..100 {
        for from in &nodes {
            for to in nodes.iter().filter(|to| to.id != from.id) {
                from.send(to, id);
            }
        }
    }
    for to in &nodes {
        for from in nodes.iter().filter(|from| from.id != to.id) {
            assert_eq!(to.expect_frames(from, 100), Vec::from_iter(0..100));
        }
        assert_eq!(to.gone_count(), 0);
    }
}

#[test]
fn dials_that_cross_end_in_one_link_and_lose_nothing() {
    let mut crossed = 0;
    for round in 0..40 {
        let nodes = Plan::new().start(2);
        let barrier = Arc::new(Barrier::new(2));
        for (from, to) in [(0, 1), (1, 0)] {
            let (barrier, to) = (Arc::clone(&barrier), nodes[to].id);
            // Not waited for here, or the second node would begin after the first.
            nodes[from].post(move |transport| {
                barrier.wait();
                for id in 0..100 {
                    transport.send(to, id, vec![7; 100]);
                }
            });
        }
        for (to, from) in [(0, 1), (1, 0)] {
            let frames = nodes[to].expect_frames(&nodes[from], 100);
            assert_eq!(frames, Vec::from_iter(0..100), "round {round}");
        }
        until("one link", || match established(&nodes) {
            1 => Ok(()),
            count => Err(format!("round {round}: {count} links")),
        });
        nodes[0].send(&nodes[1], 100);
        nodes[1].send(&nodes[0], 100);
        assert_eq!(nodes[0].expect_frames(&nodes[1], 101), Vec::from_iter(0..=100));
        assert_eq!(nodes[1].expect_frames(&nodes[0], 101), Vec::from_iter(0..=100));
        assert_eq!(nodes[0].gone_count() + nodes[1].gone_count(), 0, "round {round}");
        crossed += nodes[0].counters().links_superseded;
    }
    assert!(crossed > 0, "no two dials crossed, so nothing was tried");
}

#[test]
fn a_peer_that_restarts_under_the_same_address_is_met_again() {
    let plan = Plan::new();
    let mut nodes = plan.start(2);
    nodes[0].send(&nodes[1], 1);
    nodes[1].expect_frames(&nodes[0], 1);
    let before = nodes[0].expect_met(NodeId(2), 1);
    let peers = [(NodeId(1), nodes[0].address.to_string())];
    let address = nodes.remove(1).kill();
    nodes[0].expect_gone(NodeId(2), Ticket(1));
    let again = Sockets::bind(&address.to_string()).unwrap();
    let again = plan.start_one(2, again, &peers);
    again.send(&nodes[0], 2);
    assert_eq!(nodes[0].expect_frames(&again, 1), [2]);
    let after = nodes[0].expect_met(NodeId(2), 2);
    assert_ne!(before, after);
    assert_eq!(again.call(|transport| transport.incarnation()), after);
    nodes[0].send(&again, 3);
    assert_eq!(again.expect_frames(&nodes[0], 1), [3]);
}

#[test]
fn met_comes_before_the_first_frame_and_once() {
    let nodes = Plan::new().start(2);
    for id in 0..10 {
        nodes[0].send(&nodes[1], id);
    }
    nodes[1].expect_frames(&nodes[0], 10);
    let is_first = |seen: &[Incoming]| Some(matches!(seen[0], Incoming::Met { .. }));
    assert!(nodes[1].until("something", is_first));
    let count = |seen: &[Incoming]| {
        Some(seen.iter().filter(|event| matches!(event, Incoming::Met { .. })).count())
    };
    assert_eq!(nodes[1].until("something", count), 1);
}

#[test]
fn a_dial_that_crossed_gives_way_and_one_after_a_loss_does_not() {
    let plan = Plan::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let node = plan.start_one(1, bind(), &[(NodeId(2), address)]);
    node.send_bytes(NodeId(2), 0, Vec::new());
    let mut dialled_by_lower = Rogue::accept(&listener, &plan.key, 2);
    node.until_counted("a link", |counters| counters.links_made == 1);
    let mut crossed = Rogue::dial(node.address, &plan.key, &hello(2, 1));
    // Nothing is written to it, not even the first record.
    assert_eq!(crossed.read(), None);
    node.send_bytes(NodeId(2), 1, b"on the first link".to_vec());
    while !dialled_by_lower.read().unwrap().ends_with(b"on the first link") {}
    let lost = Some(dialled_by_lower.session.id());
    let late = Hello { dial: 2, lost, ..hello(2, 1) };
    let mut late = Rogue::dial(node.address, &plan.key, &late);
    node.until_counted("another link", |counters| counters.links_made == 2);
    node.send_bytes(NodeId(2), 2, b"on the new link".to_vec());
    while !late.read().unwrap().ends_with(b"on the new link") {}
    assert_eq!(dialled_by_lower.read(), None);
    assert_eq!((node.gone_count(), node.counters().links_lost), (0, 0));
}

#[test]
fn frames_do_not_overtake_those_of_the_link_before() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let frame = |id| Record::Last(&Frame { group: "jobs", id, payload: b"" }.encode(2)).encode();
    let mut first = Rogue::dial(nodes[0].address, &plan.key, &hello(2, 1));
    first.write(&frame(1));
    nodes[0].until_counted("a link", |counters| counters.links_made == 1);
    let after = Some(first.session.id());
    let again = Hello { dial: 2, ..hello(2, 1) };
    let mut second = Rogue::dial_after(nodes[0].address, &plan.key, &again, after);
    second.write(&frame(3));
    nodes[0].until_counted("another link", |counters| counters.links_made == 2);
    first.write(&frame(2));
    drop(first);
    assert_eq!(nodes[0].expect_frames(&nodes[1], 3), [1, 2, 3]);
}

#[test]
fn an_old_process_is_not_heard_after_the_new_one() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    let frame = |id| Record::Last(&Frame { group: "jobs", id, payload: b"" }.encode(2)).encode();
    let mut old = Rogue::dial(nodes[0].address, &plan.key, &hello(2, 1));
    old.write(&frame(1));
    nodes[0].expect_frames(&nodes[1], 1);
    let restarted = Hello { incarnation: 667, ..hello(2, 1) };
    let mut new = Rogue::dial(nodes[0].address, &plan.key, &restarted);
    assert_eq!(nodes[0].expect_met(NodeId(2), 2), 667);
    expect_closed(&mut old.stream);
    new.write(&frame(2));
    assert_eq!(nodes[0].expect_frames(&nodes[1], 2), [1, 2]);
    assert_eq!(nodes[0].counters().links_replaced, 1);
}

#[test]
fn a_peer_is_found_by_name() {
    let plan = Plan::new();
    let (own, other) = (bind(), bind());
    let by_name = [(NodeId(2), format!("localhost:{}", other.address().port()))];
    let back = [(NodeId(1), own.address().to_string())];
    let first = plan.start_one(1, own, &by_name);
    let second = plan.start_one(2, other, &back);
    first.send(&second, 1);
    assert_eq!(second.expect_frames(&first, 1), [1]);
}

#[test]
fn sockets_are_closed_on_exec() {
    let nodes = Plan::new().start(2);
    nodes[0].send(&nodes[1], 1);
    nodes[1].expect_frames(&nodes[0], 1);
    let ports = [nodes[0].address.port(), nodes[1].address.port()];
    // Two listeners, two ends of a link, two sockets for datagrams. The kernel's list may miss
    // one while others come and go.
    let complete = RefCell::default();
    until("six sockets", || match sockets_at(&ports) {
        ours if ours.len() == 6 => {
            complete.replace(ours);
            Ok(())
        }
        ours => Err(format!("{ours:?}")),
    });
    let ours = complete.into_inner();
    let mut checked = 0;
    for entry in fs::read_dir("/proc/self/fd").unwrap() {
        let entry = entry.unwrap();
        let Ok(target) = fs::read_link(entry.path()) else { continue };
        if ours.iter().any(|inode| target.to_string_lossy() == format!("socket:[{inode}]")) {
            let number = entry.file_name();
            let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", number.display()));
            let info = info.unwrap();
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
            let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
            assert_ne!(flags & 0o2_000_000, 0, "{target:?} is inherited by child processes");
            checked += 1;
        }
    }
    // Two ports for links, each twice (one to be held), two for datagrams, both ends of the link.
    assert_eq!(checked, 8);
}

/// How many links exist between these nodes, as the kernel sees it: each has one end at a port
/// that a node listens on.
fn established(nodes: &[Node]) -> usize {
    let ports: Vec<u16> = nodes.iter().map(|node| node.address.port()).collect();
    let table = fs::read_to_string("/proc/self/net/tcp").unwrap();
    let is_link = |line: &&str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields[3] == "01" && ports.contains(&port_of(fields[1]))
    };
    table.lines().skip(1).filter(is_link).count()
}

/// The sockets of this machine that have one of these ports at either end, by inode.
fn sockets_at(ports: &[u16]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for table in ["/proc/self/net/tcp", "/proc/self/net/udp"] {
        for line in fs::read_to_string(table).unwrap().lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let is_ours = [fields[1], fields[2]].iter().any(|end| ports.contains(&port_of(end)));
            if is_ours && fields[9] != "0" {
                found.insert(fields[9].to_owned());
            }
        }
    }
    found
}

fn port_of(end: &str) -> u16 {
    u16::from_str_radix(end.rsplit_once(':').unwrap().1, 16).unwrap()
}
