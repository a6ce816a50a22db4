//! Neighbours on the loopback interface: real sockets, real time.
//!
//! Nothing here asserts how long something takes; every wait is for a condition, and ends in a
//! failure that says what did not come.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail as the test itself may")]

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use socket2::{Domain, InterfaceIndexOrAddress, SockAddr, Socket, Type};
use tanist::GroupKey;
use tanist::transport::radio::{Antennas, Cast, Interfaces, Radio, RadioConfig, Reach};
use tanist::transport::{Counters, Incoming, StartError};
use tanist_core::membership::NodeId;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

/// Long enough for a loaded machine; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

struct Node {
    radio: Radio,
    incoming: mpsc::Receiver<Incoming>,
}

/// A group with a key and a port of its own.
#[derive(Clone)]
struct Plan {
    key: GroupKey,
    group: &'static str,
    port: u16,
}

impl Plan {
    fn new() -> Self {
        let free = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        Self { key: GroupKey::generate().unwrap(), group: "rovers", port }
    }

    fn try_start(&self, id: u32, interfaces: Interfaces) -> Result<Node, StartError> {
        let (sender, incoming) = mpsc::channel(64);
        let cast = Cast::Multicast(GROUP.into());
        let antennas = Antennas::open(&Reach::new(interfaces, self.port).cast(cast))?;
        let config = RadioConfig {
            me: NodeId(id),
            group: self.group.into(),
            keyring: self.key.clone().into(),
            peers: (1..=3).map(NodeId).collect(),
            suspect_after: PATIENCE,
        };
        Ok(Node { radio: Radio::start(config, antennas, sender)?, incoming })
    }

    fn start(&self, id: u32) -> Node {
        self.try_start(id, Interfaces::Named(vec!["lo".to_owned()])).unwrap()
    }

    /// A socket that receives what the nodes receive, and can send it again.
    fn recorder(&self) -> Socket {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.bind(&SockAddr::from(SocketAddr::from((GROUP, self.port)))).unwrap();
        socket.join_multicast_v4_n(&GROUP, &InterfaceIndexOrAddress::Index(1)).unwrap();
        socket.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    }

    fn say(&self, bytes: &[u8]) {
        let group = SockAddr::from(SocketAddr::from((GROUP, self.port)));
        self.recorder().send_to(bytes, &group).unwrap();
    }
}

impl Node {
    /// The next frame; peers that are met first are skipped.
    async fn frame(&mut self) -> (u32, u64, Vec<u8>) {
        loop {
            let incoming = timeout(PATIENCE, self.incoming.recv()).await.expect("a frame comes");
            match incoming.expect("the radio is there") {
                Incoming::Frame { from, id, payload } => return (from.0, id, payload),
                Incoming::Met { .. } => {}
                Incoming::Datagram { .. } | Incoming::Gone { .. } | Incoming::Twin { .. } => {
                    panic!("not a frame")
                }
            }
        }
    }

    async fn meets(&mut self, id: u32) -> u64 {
        loop {
            let incoming = timeout(PATIENCE, self.incoming.recv()).await.expect("a peer comes");
            if let Incoming::Met { peer, incarnation } = incoming.expect("the radio is there")
                && peer == NodeId(id)
            {
                return incarnation;
            }
        }
    }

    async fn counts(&self, wanted: impl Fn(&Counters) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !wanted(&self.radio.counters()) {
            assert!(Instant::now() < end, "it stays {:?}", self.radio.counters());
            sleep(Duration::from_millis(5)).await;
        }
    }
}

fn recorded(recorder: &Socket) -> Vec<Vec<u8>> {
    let socket: UdpSocket = recorder.try_clone().unwrap().into();
    let mut buffer = [0; 2000];
    let next = || socket.recv(&mut buffer).ok().map(|length| buffer[..length].to_vec());
    std::iter::from_fn(next).collect()
}

#[tokio::test]
async fn everybody_in_reach_hears_a_broadcast_once_and_nobody_hears_himself() {
    let plan = Plan::new();
    let (mut one, mut two, mut three) = (plan.start(1), plan.start(2), plan.start(3));
    one.radio.broadcast(11, b"hello");
    one.radio.send(NodeId(3), 12, b"you");
    one.radio.broadcast(13, b"bye");
    assert_eq!(two.frame().await, (1, 11, b"hello".to_vec()));
    assert_eq!(two.frame().await, (1, 13, b"bye".to_vec()));
    assert_eq!(three.frame().await, (1, 11, b"hello".to_vec()));
    assert_eq!(three.frame().await, (1, 12, b"you".to_vec()));
    assert_eq!(three.frame().await, (1, 13, b"bye".to_vec()));
    two.radio.broadcast(21, b"over");
    assert_eq!(one.frame().await, (2, 21, b"over".to_vec()));
    let peers = one.radio.peers();
    assert!(peers.iter().all(|peer| peer.is_connected), "{peers:?}");
    assert!(peers[0].address.ends_with("on lo"), "{peers:?}");
    assert_eq!(one.radio.counters().refused_own_id, 0);
}

#[tokio::test]
async fn a_new_life_of_a_node_is_met_and_its_old_packets_are_not_taken_again() {
    let plan = Plan::new();
    let mut one = plan.start(1);
    let recorder = plan.recorder();
    let mut two = plan.start(2);
    let first = one.meets(2).await;
    two.radio.broadcast(21, b"once");
    assert_eq!(one.frame().await, (2, 21, b"once".to_vec()));
    let old = recorded(&recorder);
    assert!(old.len() >= 3, "a greeting, an answer, a frame: {}", old.len());

    // For a peer that knows this incarnation: all of it was seen.
    let before = one.radio.counters().refused_replay;
    old.iter().for_each(|bytes| plan.say(bytes));
    one.counts(|counts| counts.refused_replay > before).await;

    drop(two);
    let mut again = plan.start(2);
    assert_ne!(one.meets(2).await, first);
    // For a peer that knows a later incarnation, and for one that has just started.
    let mut three = plan.start(3);
    three.meets(2).await;
    old.iter().for_each(|bytes| plan.say(bytes));
    again.radio.broadcast(22, b"twice");
    assert_eq!(one.frame().await, (2, 22, b"twice".to_vec()));
    assert_eq!(three.frame().await, (2, 22, b"twice".to_vec()));
}

#[tokio::test]
async fn strangers_are_dropped_and_counted() {
    let plan = Plan::new();
    let mut one = plan.start(1);
    let mut other_key = Plan { key: GroupKey::generate().unwrap(), ..plan.clone() }.start(2);
    other_key.radio.broadcast(1, b"?");
    one.counts(|counts| counts.refused_seal >= 2).await;
    let mut other_group = Plan { group: "mail", ..plan.clone() }.start(2);
    other_group.radio.broadcast(1, b"?");
    one.counts(|counts| counts.refused_seal >= 4).await;
    let mut unknown = plan.start(9);
    unknown.radio.broadcast(1, b"?");
    one.counts(|counts| counts.refused_unknown_peer >= 2).await;
    let twin = plan.start(1);
    one.counts(|counts| counts.refused_own_id >= 1).await;
    plan.say(b"noise");
    one.counts(|counts| counts.refused_malformed >= 1).await;
    plan.say(&[1; 1201]);
    one.counts(|counts| counts.refused_too_long >= 1).await;
    drop(twin);
    let mut two = plan.start(2);
    two.radio.broadcast(21, b"me");
    assert_eq!(one.frame().await, (2, 21, b"me".to_vec()));
}

#[tokio::test]
async fn what_does_not_fit_into_one_packet_is_counted_and_not_sent() {
    let plan = Plan::new();
    let (mut one, mut two) = (plan.start(1), plan.start(2));
    one.radio.broadcast(1, &[7; 1300]);
    assert_eq!(one.radio.counters().refused_too_long, 1);
    one.radio.broadcast(2, &[7; 1100]);
    assert_eq!(two.frame().await, (1, 2, vec![7; 1100]));
}

#[tokio::test]
async fn a_blocked_neighbour_is_neither_heard_nor_addressed_until_it_is_unblocked() {
    let plan = Plan::new();
    let (mut one, mut two) = (plan.start(1), plan.start(2));
    two.meets(1).await;
    two.radio.block(&[NodeId(1)]);
    one.radio.broadcast(1, b"lost");
    two.counts(|counts| counts.discarded_blocked >= 1).await;
    two.radio.unblock_all();
    one.radio.broadcast(2, b"heard");
    assert_eq!(two.frame().await, (1, 2, b"heard".to_vec()));
}

#[tokio::test]
async fn a_probe_measures_the_way_there_and_back() {
    let plan = Plan::new();
    let (mut one, two) = (plan.start(1), plan.start(2));
    one.meets(2).await;
    let before = two.radio.counters().datagrams_out;
    one.radio.probe(NodeId(2));
    two.counts(|counts| counts.datagrams_out > before).await;
    assert!(one.radio.peers()[0].round_trip.is_some());
}

#[tokio::test]
async fn an_interface_that_is_not_there_keeps_the_node_from_starting() {
    let named = Interfaces::Named(vec!["no-such-if".to_owned()]);
    let refused = Plan::new().try_start(1, named).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("there is no interface `no-such-if`"), "{refused}");
}

const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 74, 17);
