//! All attacks of strangers at once, each as fast as the processor time allows that the nodes
//! leave: attackers have the lowest priority, since a machine without processor time is another
//! fault than those tested here.

use std::collections::VecDeque;
use std::io::Write;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_socket_linger;
use rustix::process::setpriority_process;

use super::nodes::{Node, Nodes};
use super::swarm::Swarm;
use crate::attacks::strangers::Strangers;

/// Attacks in progress. They stop when this is dropped.
pub(crate) struct Attacks {
    all: Vec<(&'static str, Made)>,
    began: Instant,
}

enum Made {
    Strangers(Strangers),
    Swarm(Swarm),
}

/// How often an attack was made, on all nodes together.
pub(crate) struct Rate {
    pub(crate) name: &'static str,
    pub(crate) made: u64,
    pub(crate) per_second: f64,
}

impl Attacks {
    /// Attacks every node in every way. `recordings` are handshakes that others made with it.
    pub(crate) fn start(nodes: &Nodes, recordings: &[Vec<Vec<u8>>]) -> Self {
        thread::scope(|scope| {
            // Threads inherit the priority of the one that starts them, on Linux.
            let starter = scope.spawn(|| {
                setpriority_process(None, LOWEST).unwrap();
                Self::start_all(nodes, recordings)
            });
            starter.join().unwrap()
        })
    }

    fn start_all(nodes: &Nodes, recordings: &[Vec<Vec<u8>>]) -> Self {
        let mut all = Vec::new();
        for (node, recorded) in nodes.all.iter().zip(recordings) {
            let socket = nodes.fleet.file(&format!("{}.sock", node.name));
            all.extend(peer_port(node, recorded));
            all.extend(http(node));
            all.extend(control_socket(&socket));
        }
        Self { all, began: Instant::now() }
    }

    /// How often each attack was made so far.
    pub(crate) fn rates(&self) -> Vec<Rate> {
        let seconds = self.began.elapsed().as_secs_f64();
        let mut rates: Vec<Rate> = Vec::new();
        for (name, made) in &self.all {
            let made = match made {
                Made::Strangers(strangers) => strangers.made(),
                Made::Swarm(swarm) => swarm.made(),
            };
            match rates.iter_mut().find(|rate| rate.name == *name) {
                Some(rate) => rate.made += made,
                None => rates.push(Rate { name, made, per_second: 0.0 }),
            }
        }
        for rate in &mut rates {
            rate.per_second = as_f64(rate.made) / seconds;
        }
        rates
    }
}

fn peer_port(node: &Node, recorded: &[Vec<u8>]) -> Vec<(&'static str, Made)> {
    let fast = |openings| Made::Strangers(Strangers::fast(node.peer, openings));
    let halves: Vec<Vec<u8>> = recorded.iter().map(|one| one[..one.len() / 2].to_vec()).collect();
    let mut dice = Dice::new(u64::from(node.peer.port()));
    let mut garbage: Vec<Vec<u8>> = (0..50).map(|turn| dice.bytes(1 << (turn % 14))).collect();
    // Garbage with a valid beginning is read further.
    garbage.extend(recorded.iter().map(|one| [&one[..8], &dice.bytes(4096)[..]].concat()));
    let to = node.peer;
    let udp = Swarm::start(1, || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut dice = Dice::new(7);
        move || {
            let length = usize::try_from(dice.next() % 1500).unwrap();
            let mut datagram = dice.bytes(length);
            // Half of them begin with a supported version.
            if let Some(first) = datagram.first_mut().filter(|first| **first < 128) {
                *first = 2;
            }
            socket.send_to(&datagram, to).is_ok()
        }
    });
    vec![
        ("replayed handshakes, fast", fast(recorded.to_vec())),
        (
            "replayed handshakes, held",
            Made::Strangers(Strangers::patient(node.peer, recorded.to_vec())),
        ),
        ("half handshakes", fast(halves)),
        ("silent connections", fast(vec![Vec::new()])),
        ("garbage over TCP", fast(garbage)),
        ("garbage over UDP", Made::Swarm(udp)),
    ]
}

fn http(node: &Node) -> Vec<(&'static str, Made)> {
    let request = |path: &str, more: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{more}\r\n", node.http).into_bytes()
    };
    let waits = ["/v1/watch", "/v1/status?wait=60s&index=999999", "/v1/watch"];
    let waits: Vec<Vec<u8>> = waits.iter().map(|path| request(path, "")).collect();
    // Answers of many megabytes in all, none of which is read.
    let large = ["/v1/events", "/metrics", "/v1/openapi.json", "/v1/history"];
    let large: Vec<Vec<u8>> = large.iter().map(|path| request(path, "").repeat(100)).collect();
    let header = |length: usize| format!("X-Long: {}\r\n", "x".repeat(length));
    let huge = vec![
        request("/livez", &header(4 << 10)),
        request("/livez", &header(60 << 10)),
        request("/livez", &header(100).repeat(500)),
    ];
    let mut dice = Dice::new(u64::from(node.check.port()));
    let junk: Vec<Vec<u8>> = (0..20).map(|turn| dice.bytes(1 << (turn % 14))).collect();
    let fast = |to, openings| Made::Strangers(Strangers::fast(to, openings));
    let to = node.http;
    let slow = request("/livez", &header(100_000));
    vec![
        ("HTTP watches and long polls", fast(node.http, waits.clone())),
        ("HTTP watches, held", Made::Strangers(Strangers::patient(node.http, waits))),
        ("HTTP answers never read", fast(node.http, large)),
        ("HTTP huge headers", fast(node.http, huge)),
        ("HTTP bytes of slow writers", Made::Swarm(Swarm::start(1, || slow_writer(to, &slow)))),
        ("agent check junk", fast(node.check, junk)),
    ]
}

/// Writes a request byte by byte, on many connections.
fn slow_writer(to: SocketAddr, request: &[u8]) -> impl FnMut() -> bool + use<> {
    let request = request.to_vec();
    let mut writers: VecDeque<(TcpStream, usize)> = VecDeque::new();
    move || {
        if writers.len() < SLOW_WRITERS
            && let Ok(stream) = TcpStream::connect_timeout(&to, Duration::from_millis(200))
        {
            set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
            stream.set_nonblocking(true).unwrap();
            writers.push_back((stream, 0));
        }
        thread::sleep(Duration::from_millis(1));
        let Some((mut stream, at)) = writers.pop_front() else { return false };
        let is_written = stream.write_all(&request[at..=at]).is_ok();
        if is_written && at + 1 < request.len() {
            writers.push_back((stream, at + 1));
        }
        is_written
    }
}

fn control_socket(path: &Path) -> Vec<(&'static str, Made)> {
    let stepper = |openings: &'static [&'static str]| {
        let path = path.to_owned();
        let mut kept = VecDeque::new();
        let mut turn = 0;
        move || {
            // With a full listener queue this blocks.
            let Ok(mut stream) = UnixStream::connect(&path) else {
                thread::sleep(Duration::from_millis(1));
                return false;
            };
            stream.set_nonblocking(true).unwrap();
            turn += 1;
            // The agent may have closed it already.
            let _ = stream.write_all(openings[turn % openings.len()].as_bytes());
            kept.push_back(stream);
            if kept.len() > KEPT {
                kept.pop_front();
            }
            true
        }
    };
    let idle = Swarm::start(1, || stepper(&["", "{\"ask\":"]));
    let asks = Swarm::start(1, || {
        stepper(&["{\"ask\":\"events\"}\n", "{\"ask\":\"history\"}\n", "junk\n", "{\"ask\":7}\n"])
    });
    vec![
        ("control socket, idle", Made::Swarm(idle)),
        ("control socket, answers never read", Made::Swarm(asks)),
    ]
}

/// Pseudo-random bytes, the same in every run.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// Marsaglia's xorshift.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let words = std::iter::repeat_with(|| self.next().to_le_bytes());
        words.flatten().take(length).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs no more than 53 bits")]
const fn as_f64(count: u64) -> f64 {
    count as f64
}

/// The lowest priority of a process.
const LOWEST: i32 = 19;
/// How many connections of one thread at a control socket stay open.
const KEPT: usize = 200;
const SLOW_WRITERS: usize = 200;
