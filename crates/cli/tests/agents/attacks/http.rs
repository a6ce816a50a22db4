//! HTTP clients that take every connection: long polls, slow readers, slow writers, huge heads.
//!
//! Attacks also come from the address of the health checker, so no rule about addresses protects
//! health. "Health is answered" means: each request on a connection of its own, at the first try,
//! while the attack continues.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::support::agent::Agent;
use crate::support::fleet::{Fleet, peers};
use crate::support::wait::LIMIT;

#[test]
fn long_polls_hold_no_place_of_health_and_one_too_many_is_told() {
    let victim = Victim::start();
    let index = victim.get("/v1/status").field("index");
    let poll = victim.request(&format!("/v1/status?wait=600s&index={index}"));
    // From four addresses: one address may not hold so many connections.
    let polls: Vec<TcpStream> = (0..CROWD).map(|client| victim.send_from(client, &poll)).collect();
    victim.health_is_answered();
    // Polls that were refused have an answer by now, with the reason.
    let codes = codes_of(&polls);
    assert!(codes.contains("too_many_watchers"), "{codes:?}");
    victim.health_is_answered();
}

#[test]
fn watchers_hold_no_place_of_health() {
    let victim = Victim::start();
    let watch = victim.request("/v1/watch");
    let _watchers: Vec<TcpStream> =
        (0..CROWD).map(|client| victim.send_from(client, &watch)).collect();
    victim.health_is_answered();
}

#[test]
fn connections_that_send_nothing_hold_no_place_of_health() {
    let victim = Victim::start();
    let _silent: Vec<TcpStream> = (0..CROWD).map(|_| connect(1, victim.http)).collect();
    victim.health_is_answered();
}

#[test]
fn writers_of_one_byte_a_second_hold_no_place_of_health() {
    let victim = Victim::start();
    let request = victim.request("/livez");
    let mut writers: Vec<TcpStream> = (0..CROWD).map(|_| connect(1, victim.http)).collect();
    for byte in request.as_bytes().iter().take(4) {
        let next = Instant::now() + Duration::from_secs(1);
        for writer in &mut writers {
            // A connection that was closed to make room fails here.
            let _ = writer.write(&[*byte]);
        }
        victim.health_is_answered();
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}

#[test]
fn readers_that_read_nothing_hold_no_place_of_health() {
    let victim = Victim::start();
    let page = victim.request("/v1/openapi.json").repeat(200);
    let readers: Vec<TcpStream> = (0..CROWD).map(|_| connect(1, victim.http)).collect();
    for reader in &readers {
        reader.set_nonblocking(true).unwrap();
        let mut reader = reader;
        // Writes as much as fits: the answers are larger than all buffers.
        let _ = reader.write(page.as_bytes());
    }
    victim.health_is_answered();
}

#[test]
fn heads_that_are_huge_and_never_end_hold_no_place_of_health() {
    let victim = Victim::start();
    let head = format!("GET /livez HTTP/1.1\r\nHost: n1\r\nX-Long: {}", "x".repeat(100_000));
    let _heads: Vec<TcpStream> = (0..CROWD)
        .map(|_| {
            let mut stream = connect(1, victim.http);
            stream.set_nonblocking(true).unwrap();
            let _ = stream.write(head.as_bytes());
            stream
        })
        .collect();
    victim.health_is_answered();
}

#[test]
fn requests_in_long_rows_hold_no_place_of_health() {
    let victim = Victim::start();
    let row = victim.request("/leader").repeat(500);
    let is_over = Arc::new(AtomicBool::new(false));
    let mut clients = Vec::new();
    for _ in 0..4 {
        let (row, is_over, to) = (row.clone(), Arc::clone(&is_over), victim.http);
        clients.push(thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                let stream = connect(1, to);
                // A closed connection fails both; then the next one follows.
                let _ = (&stream).write_all(row.as_bytes());
                let _ = (&stream).take(100_000).read_to_end(&mut Vec::new());
            }
        }));
    }
    victim.health_is_answered();
    is_over.store(true, Ordering::Relaxed);
    clients.into_iter().for_each(|client| client.join().unwrap());
}

#[test]
fn connections_that_come_without_end_hold_no_place_of_health() {
    let victim = Victim::start();
    let _silent: Vec<TcpStream> = (0..CROWD).map(|_| connect(1, victim.http)).collect();
    let is_over = Arc::new(AtomicBool::new(false));
    let (stop, to) = (Arc::clone(&is_over), victim.http);
    let flood = thread::spawn(move || {
        let mut held: Vec<TcpStream> = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            // Each is held until a hundred later ones exist.
            held.push(connect(1, to));
            if held.len() > 100 {
                held.remove(0);
            }
            thread::sleep(Duration::from_millis(1));
        }
    });
    victim.health_is_answered();
    is_over.store(true, Ordering::Relaxed);
    flood.join().unwrap();
}

#[test]
fn the_agent_check_answers_while_others_hold_its_connections() {
    let victim = Victim::start();
    let _silent: Vec<TcpStream> = (0..CROWD).map(|_| connect(1, victim.check)).collect();
    for _ in 0..20 {
        let mut asker = connect(1, victim.check);
        asker.write_all(b"leader\n").unwrap();
        let mut line = String::new();
        asker.read_to_string(&mut line).unwrap();
        assert_eq!(line, "up ready\n");
    }
}

#[test]
fn one_address_leaves_places_to_the_others_and_is_told_why_it_gets_none() {
    let victim = Victim::start();
    let watch = victim.request("/v1/watch");
    let watchers: Vec<TcpStream> =
        (0..CROWD).map(|_| send(connect(2, victim.http), &watch)).collect();
    assert_eq!(victim.get("/v1/status").status, 200);
    assert_eq!(victim.get("/v1/history").status, 200);
    let codes = codes_of(&watchers);
    assert!(codes.contains("too_many_connections"), "{codes:?}");
}

#[test]
fn descriptors_are_left_however_many_connect() {
    let victim = Victim::start_with(|fleet| {
        let mut command = Command::new("sh");
        let program = fleet.tanist(&[]).get_program().to_owned();
        command.current_dir(fleet.path()).env("XDG_RUNTIME_DIR", fleet.path());
        command.args(["-c", "ulimit -n 256; exec \"$0\" agent -c n1.toml"]).arg(program);
        command
    });
    let watch = victim.request("/v1/watch");
    let _watchers: Vec<TcpStream> =
        (0..CROWD).map(|client| victim.send_from(client, &watch)).collect();
    let _checkers: Vec<TcpStream> = (0..CROWD / 4).map(|_| connect(1, victim.check)).collect();
    victim.health_is_answered();
    let process = victim.agent.id();
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().count();
    assert!(open < 200, "{open} of 256 descriptors are open");
    // The control socket has descriptors of its own.
    assert_eq!(victim.agent.ask("status")["role"], "leader");
}

/// One agent that leads, alone in its group.
struct Victim {
    agent: Agent,
    http: SocketAddr,
    check: SocketAddr,
    _home: Fleet,
}

impl Victim {
    fn start() -> Self {
        Self::start_with(|fleet| {
            let mut command = fleet.tanist(&[]);
            command.args(["agent", "-c", "n1.toml"]);
            command
        })
    }

    /// The same, started by any command.
    fn start_with(command: impl FnOnce(&Fleet) -> Command) -> Self {
        let fleet = Fleet::new(3);
        let (http, check) = (fleet.http(1), fleet.agent_check(1));
        let lines = [
            ("peers", peers([(1, fleet.peer(1))])),
            ("http", format!("{{ listen = \"{http}\", agent_check = \"{check}\" }}")),
        ];
        fleet.configure_as("n1", "n1", &lines);
        let agent = fleet.spawn("n1", &mut command(&fleet));
        agent.when("status", |status| status["active"] == true);
        Self { agent, http, check, _home: fleet }
    }

    fn request(&self, path: &str) -> String {
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.http)
    }

    /// A client that sends something, from one of four addresses.
    fn send_from(&self, client: usize, request: &str) -> TcpStream {
        let host = u8::try_from(client % 4 + 1).unwrap();
        send(connect(host, self.http), request)
    }

    fn get(&self, path: &str) -> Answer {
        let stream = send(connect(1, self.http), &self.request(path));
        Answer::read(&stream).unwrap_or_else(|| panic!("{path}: no answer: {}", self.agent.log()))
    }

    /// Every health path answers several times, each on a connection of its own.
    fn health_is_answered(&self) {
        for _ in 0..5 {
            for (path, status) in
                [("/livez", 200), ("/leader", 200), ("/readyz", 200), ("/member", 503)]
            {
                let answer = self.get(path);
                assert_eq!(answer.status, status, "{path}: {answer:?}");
                assert!(!answer.text.contains("\"error\""), "{path}: {answer:?}");
            }
        }
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    text: String,
}

impl Answer {
    /// The next answer on a connection; none if it was closed without one.
    fn read(mut stream: &TcpStream) -> Option<Self> {
        let mut text = Vec::new();
        let mut piece = [0; 4096];
        loop {
            let whole = String::from_utf8_lossy(&text).into_owned();
            if let Some(answer) = Self::whole(whole) {
                return Some(answer);
            }
            match stream.read(&mut piece) {
                Ok(count) if count > 0 => text.extend_from_slice(&piece[..count]),
                Ok(_) | Err(_) => return None,
            }
        }
    }

    fn whole(text: String) -> Option<Self> {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let is_whole = match length {
            Some(length) => body.len() >= length.parse().unwrap(),
            None => body.ends_with("0\r\n\r\n"),
        };
        let status = head.split(' ').nth(1)?.parse().ok()?;
        is_whole.then_some(Self { status, text })
    }

    /// A number in a body that is JSON.
    fn field(&self, name: &str) -> u64 {
        let (_, body) = self.text.split_once("\r\n\r\n").unwrap();
        let value: serde_json::Value = serde_json::from_str(body).unwrap();
        value[name].as_u64().unwrap()
    }
}

/// The error codes of connections that were refused, as far as their answers have arrived.
fn codes_of(streams: &[TcpStream]) -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for mut stream in streams {
        stream.set_nonblocking(true).unwrap();
        let mut text = vec![0; 4096];
        // A connection that waits or was closed has no answer.
        let Ok(count) = stream.read(&mut text) else { continue };
        let text = String::from_utf8_lossy(&text[..count]).into_owned();
        if let Some((_, rest)) = text.split_once("\"code\":\"") {
            codes.insert(rest.split('"').next().unwrap().to_owned());
        }
    }
    codes
}

/// A connection from 127.0.0.HOST.
fn connect(host: u8, to: SocketAddr) -> TcpStream {
    // Agents that other tests start at the same time must not inherit it.
    let (family, kind, flags) = (AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC);
    let socket = rustix::net::socket_with(family, kind, flags, None).unwrap();
    let from = SocketAddrV4::new(Ipv4Addr::new(127, 0, 0, host), 0);
    rustix::net::bind(&socket, &from).unwrap();
    rustix::net::connect(&socket, &to).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.set_write_timeout(Some(LIMIT)).unwrap();
    stream
}

fn send(mut stream: TcpStream, request: &str) -> TcpStream {
    // A closed connection is noticed when it is read.
    let _ = stream.write_all(request.as_bytes());
    stream
}

/// More connections than an agent allows.
const CROWD: usize = 700;
