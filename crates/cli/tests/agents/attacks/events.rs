//! Clients that read a lot, and must not slow an election.
//!
//! What is measured: the time from the moment when the old leader stopped until the next one leads,
//! by the clock that the drivers of all agents on one machine share, as they recorded it
//! themselves. Half of the elections are held while 200 clients read everything that an agent
//! has to tell, from all agents; the other half without any, in turns, so that a machine that is
//! busy with something else slows both alike. The traces are full before the first one, so that the
//! answers are as long as they get. Most of the clients read slowly and hold one answer open each,
//! as many as there can be; some read as fast as they can, and the agents themselves bound how much
//! work that makes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use crate::support::agent::Agent;
use crate::support::fleet::Fleet;
use crate::support::wait::{LIMIT, until, within};

#[test]
fn two_hundred_greedy_readers_do_not_slow_an_election() {
    let group = Trio::start();
    // A machine that is busy may spoil one attempt; clients that slow the driver spoil most.
    let attempts: Vec<Medians> = (0..ATTEMPTS).map(|_| Medians::measure(&group)).collect();
    println!("{attempts:?}");
    let is_alike = |medians: &&Medians| medians.greedy_us <= RATIO_MAX * medians.quiet_us;
    let alike = attempts.iter().filter(is_alike).count();
    assert!(2 * alike > ATTEMPTS, "more than {RATIO_MAX} times as long: {attempts:?}");
}

/// How long an election took, with and without clients.
#[derive(Debug)]
struct Medians {
    quiet_us: u64,
    greedy_us: u64,
}

impl Medians {
    fn measure(group: &Trio) -> Self {
        let (mut quiet, mut greedy) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            quiet.extend(group.hand_over_and_back());
            let readers = Readers::start(&group.http);
            greedy.extend(group.hand_over_and_back());
            readers.stop();
        }
        Self { quiet_us: median(quiet), greedy_us: median(greedy) }
    }
}

/// Three agents with full traces. n3 leads unless it is told not to.
struct Trio {
    fleet: Fleet,
    agents: Vec<Agent>,
    http: Vec<SocketAddr>,
}

impl Trio {
    fn start() -> Self {
        let fleet = Fleet::new(3);
        let http: Vec<SocketAddr> = (1..=3).map(|node| fleet.http(node)).collect();
        let start = |(number, http): (usize, &SocketAddr)| {
            let node = format!("n{number}");
            let lines = [
                ("http", format!("{{ listen = \"{http}\" }}")),
                // Every heartbeat's timer is in the trace, so that it fills.
                ("timing", "{ suspect_after = \"5s\", heartbeat = \"2ms\" }".to_owned()),
            ];
            fleet.configure_as(&node, &node, &lines);
            fleet.start(&node)
        };
        let agents: Vec<Agent> = (1..).zip(&http).map(start).collect();
        for agent in &agents {
            agent.members_are(&["n1", "n2", "n3"]);
        }
        for (agent, to) in agents.iter().zip(&http) {
            let is_full = || (forgotten(*to) > 0).then_some(());
            within(LIMIT, is_full, || format!("a full trace: {}", agent.log()));
        }
        Self { fleet, agents, http }
    }

    /// n3 hands over to n2, and takes over again: how long both took, in microseconds.
    fn hand_over_and_back(&self) -> [u64; 2] {
        let away = self.elect("/v1/step-down", "{\"hold_ms\":600000}", 1);
        let back = self.elect("/v1/rejoin", "", 2);
        [away, back]
    }

    /// Tells n3 to do something: how long it took from what it did until another node leads, or
    /// it does itself.
    fn elect(&self, action: &str, body: &str, next: usize) -> u64 {
        let before: Vec<u64> = self.agents.iter().map(newest).collect();
        self.tell_n3(action, body);
        self.agents[next].when("status", |status| {
            status["active"] == true && status["members"].as_array().unwrap().len() == next + 1
        });
        let first = |agent: usize, is_it: &dyn Fn(&Value) -> bool| {
            let changes = self.agents[agent].ask("history");
            let changes = changes.as_array().unwrap().clone();
            let is_new = |change: &&Value| change["index"].as_u64().unwrap() > before[agent];
            let found = changes.iter().filter(is_new).find(|change| is_it(change));
            found.unwrap_or_else(|| panic!("{changes:?}"))["at_us"].as_u64().unwrap()
        };
        let stopped = first(2, &|_| true);
        let leads = first(next, &|change| change["role"] == "leader");
        leads - stopped
    }

    fn tell_n3(&self, action: &str, body: &str) {
        let mut stream = UnixStream::connect(self.fleet.file("n3.sock.http")).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let length = body.len();
        let request = format!(
            "POST {action} HTTP/1.1\r\nHost: n3\r\nContent-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 202"), "{action}: {answer}");
    }
}

fn newest(agent: &Agent) -> u64 {
    agent.ask("status")["index"].as_u64().unwrap()
}

/// How many entries of its trace an agent has discarded.
fn forgotten(to: SocketAddr) -> u64 {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let request = format!("HEAD /v1/events HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let line = answer.lines().find_map(|line| line.strip_prefix("tanist-events-forgotten: "));
    line.unwrap_or_else(|| panic!("{answer}")).parse().unwrap()
}

/// Clients that read from all agents until they are stopped.
struct Readers {
    is_over: Arc<AtomicBool>,
    bytes: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    fn start(http: &[SocketAddr]) -> Self {
        let (is_over, bytes) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let start = |number: usize| {
            let reader = Reader {
                to: http[number % http.len()],
                path: PATHS[number / http.len() % PATHS.len()],
                is_slow: !number.is_multiple_of(5),
                is_over: Arc::clone(&is_over),
                bytes: Arc::clone(&bytes),
            };
            thread::Builder::new().stack_size(128 << 10).spawn(move || reader.read()).unwrap()
        };
        let threads = (0..READERS).map(start).collect();
        let readers = Self { is_over, bytes, threads };
        // On average, each reader has received an answer before the measurement begins.
        until("answers", || (readers.bytes.load(Ordering::Relaxed) >= 200 * 4096).then_some(()));
        readers
    }

    fn stop(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

struct Reader {
    to: SocketAddr,
    path: &'static str,
    is_slow: bool,
    is_over: Arc<AtomicBool>,
    bytes: Arc<AtomicU64>,
}

impl Reader {
    /// Reads one answer after the other; an agent that refuses or closes is asked again.
    fn read(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            let Ok(mut stream) = TcpStream::connect(self.to) else { continue };
            stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
            let (path, to) = (self.path, self.to);
            let request = format!("GET {path} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n");
            if stream.write_all(request.as_bytes()).is_ok() {
                self.read_answer(&mut stream);
            }
        }
    }

    fn read_answer(&self, stream: &mut TcpStream) {
        let mut piece = vec![0; 16 << 10];
        let size = if self.is_slow { 2 << 10 } else { piece.len() };
        while !self.is_over.load(Ordering::Relaxed) {
            match stream.read(&mut piece[..size]) {
                Ok(0) => return,
                Ok(count) => {
                    self.bytes.fetch_add(count as u64, Ordering::Relaxed);
                }
                // A watch without events.
                Err(error) if is_timeout(&error) => {}
                Err(_) => return,
            }
            if self.is_slow {
                thread::sleep(Duration::from_millis(200));
            }
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    [TimedOut, WouldBlock].contains(&error.kind())
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

const PATHS: [&str; 4] = ["/v1/events", "/v1/watch", "/metrics", "/v1/history"];
const READERS: usize = 200;
const ROUNDS: usize = 5;
const ATTEMPTS: usize = 3;
/// Machines that run tests are busy; an election that waits for clients takes many times as long.
const RATIO_MAX: u64 = 4;
