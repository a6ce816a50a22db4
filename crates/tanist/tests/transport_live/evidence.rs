//! Evidence that a peer has crashed, and what must not count as evidence.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use tanist::transport::frame::{Frame, Record};
use tanist::transport::handshake::Hello;
use tanist::transport::{Limits, Ticket};
use tanist_core::membership::NodeId;

use super::node::{Plan, bind, until, unused_address};
use super::rogue::{Rogue, accept, hello};

#[test]
fn an_idle_peer_dies() {
    let mut nodes = Plan::new().start(2);
    nodes[0].send(&nodes[1], 1);
    nodes[1].send(&nodes[0], 1);
    nodes[1].expect_frames(&nodes[0], 1);
    nodes[0].expect_frames(&nodes[1], 1);
    nodes.remove(1).kill();
    nodes[0].expect_gone(NodeId(2), Ticket(1));
    assert!(!nodes[0].call(|transport| transport.peers())[0].is_connected);
}

#[test]
fn a_peer_dies_that_nothing_was_ever_sent_to() {
    let mut nodes = Plan::new().start(2);
    nodes[1].send(&nodes[0], 1);
    nodes[0].expect_frames(&nodes[1], 1);
    nodes.remove(1).kill();
    nodes[0].expect_gone(NodeId(2), Ticket::default());
}

#[test]
fn a_peer_dies_with_frames_on_the_way() {
    for round in 0..20 {
        let mut nodes = Plan::new().start(2);
        nodes[0].send(&nodes[1], 1);
        nodes[1].expect_frames(&nodes[0], 1);
        let dead = nodes.remove(1);
        let to = dead.id;
        nodes[0].post(move |transport| {
            for id in 0..200 {
                transport.send(to, id, vec![0; 1000]);
            }
        });
        dead.kill();
        // Evidence counts only if it covers the last frame, so it must come for that one.
        let last = nodes[0].send_bytes(to, 999, Vec::new());
        assert_eq!(last, Ticket(202), "round {round}");
        nodes[0].expect_gone(to, last);
    }
}

#[test]
fn each_frame_to_nobody_is_answered_by_evidence_of_its_own() {
    let plan = Plan::new();
    let node = plan.start_one(1, bind(), &[(NodeId(2), unused_address())]);
    for number in 1..=50 {
        let ticket = node.send_bytes(NodeId(2), 0, Vec::new());
        assert_eq!(ticket, Ticket(number));
        node.expect_gone(NodeId(2), ticket);
    }
    let counters = node.counters();
    assert_eq!(counters.frames_dropped, 50);
    // Each refusal is confirmed by a second dial.
    assert_eq!(counters.dials_refused * 2, counters.dials);
}

#[test]
fn a_dead_peer_is_not_polled() {
    let plan = Plan::new();
    let node =
        plan.start_one(1, bind(), &[(NodeId(2), unused_address()), (NodeId(3), unused_address())]);
    node.send_bytes(NodeId(2), 0, Vec::new());
    node.expect_gone(NodeId(2), Ticket(1));
    // Enough time for many dials, measured by those to another crashed peer.
    for number in 1..=20 {
        node.send_bytes(NodeId(3), 0, Vec::new());
        node.expect_gone(NodeId(3), Ticket(number));
    }
    assert_eq!(node.counters().dials, 2 * 21);
}

#[test]
fn a_link_that_closes_is_no_evidence_while_somebody_listens() {
    let plan = Plan::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let node = plan.start_one(1, bind(), &[(NodeId(2), address)]);
    node.send_bytes(NodeId(2), 0, Vec::new());
    for round in 0..10 {
        // Every other time the end is a reset, since something was left unread.
        let mut link = Rogue::accept(&listener, &plan.key, 2);
        if round % 2 == 0 {
            link.stream.shutdown(Shutdown::Write).unwrap();
            while link.read().is_some() {}
        }
    }
    let mut last = Rogue::accept(&listener, &plan.key, 2);
    node.send_bytes(NodeId(2), 1, b"still here".to_vec());
    while !last.read().unwrap().ends_with(b"still here") {}
    assert_eq!(node.gone_count(), 0);
    assert_eq!(node.counters().links_lost, 10);
}

#[test]
fn a_listener_that_closes_a_moment_after_its_links_is_a_death() {
    let plan = Plan::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let node = plan.start_one(1, bind(), &[(NodeId(2), address)]);
    let ticket = node.send_bytes(NodeId(2), 0, Vec::new());
    drop(Rogue::accept(&listener, &plan.key, 2));
    // The verifying dial reaches the listener, and is closed in the handshake.
    drop(accept(&listener));
    drop(accept(&listener));
    drop(listener);
    node.expect_gone(NodeId(2), ticket);
}

#[test]
fn a_connection_that_nobody_answers_is_no_evidence() {
    let short = Duration::from_millis(50);
    let limits = Limits { dial: short, handshake: short, ..Plan::new().limits };
    let plan = Plan { limits, ..Plan::new() };
    // The first connections go into the backlog and get no answer; the later ones do not even
    // get that far.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let backlog = socket_with_full_backlog();
    let peers = [
        (NodeId(2), address.to_string()),
        (NodeId(3), backlog.0.local_addr().unwrap().to_string()),
    ];
    let node = plan.start_one(1, bind(), &peers);
    for count in 1..=3 {
        node.until_counted("failed dials", |counters| {
            node.send_bytes(NodeId(2), 0, Vec::new());
            node.send_bytes(NodeId(3), 0, Vec::new());
            counters.dials_failed >= 2 * count
        });
    }
    assert_eq!(node.gone_count(), 0);
    assert_eq!(node.counters().dials_refused, 0);
    assert!(node.counters().frames_dropped >= 6);
}

/// A listener that takes no further connection, and those that fill it.
fn socket_with_full_backlog() -> (TcpListener, Vec<TcpStream>) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    socket.listen(0).unwrap();
    let listener = TcpListener::from(socket);
    let address = listener.local_addr().unwrap();
    let mut fill = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(100)) {
        fill.push(stream);
    }
    assert!(!fill.is_empty());
    (listener, fill)
}

#[test]
fn a_name_that_does_not_exist_is_no_evidence() {
    let plan = Plan::new();
    let node = plan.start_one(1, bind(), &[(NodeId(2), "no-such-host.invalid:1".to_owned())]);
    node.send_bytes(NodeId(2), 0, Vec::new());
    node.until_counted("a failed dial", |counters| counters.dials_failed == 1);
    assert_eq!(node.gone_count(), 0);
}

#[test]
fn a_link_that_gives_way_to_another_is_no_evidence() {
    let plan = Plan::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let node =
        plan.start_one(2, bind(), &[(NodeId(1), listener.local_addr().unwrap().to_string())]);
    // Node 1 dials again and again without having lost the link: the later dial counts.
    let mut links = Vec::new();
    for dial in 1..=5 {
        let mut link = Rogue::dial(node.address, &plan.key, &Hello { dial, ..hello(1, 2) });
        let frame = Frame { group: "jobs", id: dial, payload: b"" }.encode(2);
        link.write(&Record::Last(&frame).encode());
        links.push(link);
    }
    node.until_counted("five links", |counters| counters.frames_in == 5);
    drop(listener);
    assert_eq!(node.counters().links_superseded, 4);
    for mut superseded in links.drain(..4) {
        // The node closes its half at once, and the rest when we close ours.
        while superseded.read().is_some() {}
    }
    assert_eq!((node.gone_count(), node.counters().dials), (0, 0));
}

#[test]
fn a_peer_is_not_gone_while_somebody_holds_its_port() {
    let mut nodes = Plan::new().start(2);
    let ticket = nodes[0].send(&nodes[1], 7);
    nodes[1].expect_frames(&nodes[0], 1);
    let held = nodes[1].call(|transport| transport.hold_port()).unwrap();
    let (peer, before) = (nodes[1].id, nodes[0].counters());
    drop(nodes.pop());
    // The link has ended, and the dial that follows is accepted by the kernel, not refused.
    nodes[0].until_counted("a dial after the end of the link", |now| {
        now.links_lost > before.links_lost && now.dials > before.dials
    });
    assert_eq!(nodes[0].gone_count(), 0);
    drop(held);
    nodes[0].expect_gone(peer, ticket);
}

#[test]
fn a_probe_tells_who_is_there_and_who_is_not() {
    let mut nodes = Plan::new().start(3);
    let (there, gone) = (nodes[1].id, nodes[2].id);
    drop(nodes.pop());
    nodes[0].post(move |transport| {
        transport.probe(there);
        transport.probe(gone);
    });
    let look = || nodes[0].call(|transport| transport.peers());
    until("an answer and a refusal", || {
        let views = look();
        let is_done = views[0].heard.is_some() && views[1].is_refused;
        if is_done { Ok(()) } else { Err(format!("{views:?}")) }
    });
    let seen = look();
    assert!(seen[0].round_trip.is_some() && !seen[0].is_refused);
    assert!(seen[1].heard.is_none());
    assert_eq!(nodes[1].frames_from(&nodes[0]), [0; 0], "an echo is no frame");
}
