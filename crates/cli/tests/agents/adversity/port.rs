//! Garbage and idle connections at the peer port, and ports that differ from the configuration.

use std::io::Write;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::fleet::{Fleet, peers};

/// How long a flood lasts.
const FLOOD: Duration = Duration::from_secs(3);
/// The rate of a flood.
const PER_SECOND: u32 = 10_000;

/// Pseudo-random bytes.
fn garbage(seed: &mut u64, length: usize) -> Vec<u8> {
    let mut next = || {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u8::try_from(*seed >> 56).unwrap()
    };
    (0..length).map(|_| next()).collect()
}

/// Calls `send` at the wanted rate, and returns the rate that was reached.
fn flood(mut send: impl FnMut(u32)) -> u32 {
    let begun = Instant::now();
    let mut sent: u32 = 0;
    while begun.elapsed() < FLOOD {
        let due = begun.elapsed().as_secs_f64() * f64::from(PER_SECOND);
        while f64::from(sent) < due {
            send(sent);
            sent += 1;
        }
        thread::sleep(Duration::from_millis(1));
    }
    let rate = f64::from(sent) / begun.elapsed().as_secs_f64();
    format!("{rate:.0}").parse().unwrap()
}

fn number(status: &Value) -> (Value, Value) {
    (status["leader"]["node"].clone(), status["group_number"].clone())
}

#[test]
fn garbage_datagrams_at_a_high_rate_unseat_nobody_and_are_counted() {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2", "n3"]);
    let before = number(&agents[0].ask("status"));
    let refused = |metrics: &Value| {
        let names = ["refused_seal", "refused_unknown_session", "refused_version", "refused_kind"];
        let more = ["refused_malformed", "refused_too_long", "datagrams_dropped"];
        let count = |name: &&str| metrics["transport"][name].as_u64().unwrap_or(0);
        names.iter().chain(&more).map(count).sum::<u64>()
    };
    let counted = refused(&agents[2].ask("metrics"));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = fleet.peer(3);
    let mut seed = 7;
    let rate = flood(|index| {
        let length = usize::try_from(index % 200).unwrap() + 1;
        // With a full buffer, the kernel drops the datagram.
        let _ = socket.send_to(&garbage(&mut seed, length), to);
    });
    eprintln!("{rate} datagrams per second");
    let after = refused(&agents[2].ask("metrics"));
    assert!(after > counted + 1000, "{counted} before, {after} after");
    assert_eq!(number(&agents[0].ask("status")), before);
    assert_eq!(number(&agents[2].ask("status")), before);
}

#[test]
fn garbage_over_tcp_at_a_high_rate_unseats_nobody_and_is_counted() {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2", "n3"]);
    let before = number(&agents[0].ask("status"));
    let counted = agents[2].count("handshakes_failed");
    let to = fleet.peer(3);
    let mut streams: Vec<TcpStream> = Vec::new();
    let (mut seed, mut connections) = (11, 0_u32);
    let rate = flood(|index| {
        let place = usize::try_from(index).unwrap() % 32;
        if place >= streams.len() {
            streams.push(TcpStream::connect(to).unwrap());
            streams[place].set_nodelay(true).unwrap();
            connections += 1;
        }
        if streams[place].write_all(&garbage(&mut seed, 64)).is_err() {
            // The node has closed the connection; another one follows.
            streams[place] = TcpStream::connect(to).unwrap();
            connections += 1;
        }
    });
    eprintln!("{rate} writes per second over {connections} connections");
    agents[2].when("metrics", |metrics| {
        metrics["transport"]["handshakes_failed"].as_u64() > Some(counted + 32)
    });
    assert_eq!(number(&agents[0].ask("status")), before);
    assert_eq!(number(&agents[2].ask("status")), before);
}

#[test]
fn a_hundred_idle_connections_keep_no_node_out() {
    let fleet = Fleet::new(3);
    let mut agents = fleet.group(&["n1", "n2", "n3"]);
    let to = fleet.peer(3);
    let idle: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(to).unwrap()).collect();
    agents[2].when("metrics", |metrics| metrics["transport"]["accepted"].as_u64() >= Some(100));
    assert_eq!(agents[0].ask("status")["leader"]["node"], "n3");
    // A node that restarts still gets a connection.
    drop(agents.remove(0));
    agents[1].members_are(&["n2", "n3"]);
    let again = fleet.start("n1");
    again.members_are(&["n1", "n2", "n3"]);
    assert!(agents[1].count("connections_over_cap") > 0, "more than 64 shake no hands");
    agents[1]
        .when("metrics", |metrics| metrics["transport"]["handshakes_timed_out"].as_u64() > Some(0));
    drop(idle);
}

#[test]
fn a_wrong_port_leaves_the_node_alone_and_is_shown() {
    let fleet = Fleet::new(3);
    let agents = fleet.group(&["n1", "n2"]);
    let unused = fleet.peer(4);
    // n3 has wrong addresses for the others, and listens where they do not expect it.
    let elsewhere = fleet.peer(5);
    let wrong = peers([(1, unused), (2, unused), (3, elsewhere)]);
    let refused = fleet.run(&[
        "config",
        "check",
        "-c",
        &fleet.configure_as("same", "n3", &[("peers", wrong)]),
    ]);
    assert_eq!(refused.status.code(), Some(6), "two peers at one address: {refused:?}");
    let wrong = peers([(1, unused), (2, fleet.peer(6)), (3, elsewhere)]);
    fleet.configure_as("n3", "n3", &[("peers", wrong)]);
    let third = fleet.start("n3");
    third.members_are(&["n3"]);
    third.when("members", |seen| seen["members"][0]["is_refused"] == true);
    let output = fleet.run(&["doctor", "--socket", "n3.sock"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains(&format!("no process listens at {unused}")), "{told}");
    agents[0].members_are(&["n1", "n2"]);
}

#[test]
fn a_taken_port_is_refused_at_the_start_and_named_by_doctor() {
    let fleet = Fleet::new(3);
    let file = fleet.configure_as("n1", "n1", &[]);
    let _taken = TcpListener::bind(fleet.peer(1)).unwrap();
    let refused = fleet.run(&["agent", "-c", &file]);
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(7), "{stderr}");
    assert!(stderr.contains("cannot listen") && stderr.contains("ss -ltnp"), "{stderr}");
    let output = fleet.run(&["doctor", "-c", &file, "-o", "json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let is_port = |finding: &&Value| finding["place"] == "port";
    let port = report["findings"].as_array().unwrap().iter().find(is_port).unwrap();
    assert_eq!(port["severity"], "problem");
    assert!(port["what"].as_str().unwrap().contains("is in use"), "{port}");
}
