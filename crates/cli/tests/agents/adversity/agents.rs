//! Three agents with files of their own, for one test.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::dev::{LIMIT, tanist};

/// A directory with a key, and an address for each of three nodes.
pub(crate) struct Home {
    directory: tempfile::TempDir,
    pub(crate) ports: Vec<u16>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = Self { directory, ports: free_ports(4) };
        home.keygen("group.key");
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn keygen(&self, name: &str) {
        let made = self.run(&["keygen", name]);
        assert!(made.status.success(), "{made:?}");
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = tanist(self.path());
        command.current_dir(self.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }

    /// Writes a file for a node under a name, with lines that may replace the usual ones.
    pub(crate) fn file(&self, name: &str, node: &str, lines: &[(&str, String)]) -> String {
        let peers = (1..=3).map(|node| format!("\"n{node}=127.0.0.1:{}\"", self.ports[node - 1]));
        let mut all = vec![
            ("group", "\"billing\"".to_owned()),
            ("node", format!("\"{node}\"")),
            ("peers", format!("[{}]", peers.collect::<Vec<_>>().join(", "))),
            ("data_dir", format!("\"data-{name}\"")),
            ("key_file", "\"group.key\"".to_owned()),
            ("socket", format!("\"{name}.sock\"")),
            ("algorithm", "\"bully\"".to_owned()),
            // A busy machine is not what these tests are about.
            ("timing", "{ suspect_after = \"5s\" }".to_owned()),
        ];
        for (key, value) in lines {
            all.retain(|(known, _)| known != key);
            all.push((key, value.clone()));
        }
        let text = all.iter().fold(String::new(), |mut text, (key, value)| {
            writeln!(text, "{key} = {value}").unwrap();
            text
        });
        let path = format!("{name}.toml");
        std::fs::write(self.path().join(&path), text).unwrap();
        path
    }

    /// Starts the agent of a file that [`Home::file`] has written.
    pub(crate) fn start(&self, name: &str) -> Agent {
        let log = std::fs::File::create(self.path().join(format!("{name}.log"))).unwrap();
        let mut command = self.command();
        command.args(["agent", "-c", &format!("{name}.toml")]);
        Agent::spawn(self, name, command.stdout(Stdio::null()).stderr(log))
    }

    /// The usual files and agents of some nodes, in one group.
    pub(crate) fn group(&self, nodes: &[&str]) -> Vec<Agent> {
        self.group_with(nodes, nodes)
    }

    /// The same, in one group with others that run already.
    pub(crate) fn group_with(&self, nodes: &[&str], all: &[&str]) -> Vec<Agent> {
        let start = |node: &&str| {
            self.file(node, node, &[]);
            self.start(node)
        };
        let agents: Vec<Agent> = nodes.iter().map(start).collect();
        agents.iter().for_each(|agent| agent.members_are(all));
        agents
    }
}

/// A running agent. Killed when it is dropped.
pub(crate) struct Agent {
    pub(crate) child: Child,
    socket: std::path::PathBuf,
    log: std::path::PathBuf,
}

impl Agent {
    pub(crate) fn spawn(home: &Home, name: &str, command: &mut Command) -> Self {
        let child = command.spawn().unwrap();
        let (socket, log) = (format!("{name}.sock"), format!("{name}.log"));
        Self { child, socket: home.path().join(socket), log: home.path().join(log) }
    }

    /// What it wrote on stderr.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Asks it over its socket; waits until it has one.
    pub(crate) fn ask(&self, ask: &str) -> Value {
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(value) = self.try_ask(ask) {
                return value;
            }
            assert!(Instant::now() < end, "no answer to {ask}: {}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Asks it once; nothing if it does not answer.
    pub(crate) fn try_ask(&self, ask: &str) -> Option<Value> {
        let mut stream = UnixStream::connect(&self.socket).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
        stream.write_all(format!("{{\"ask\":\"{ask}\"}}\n").as_bytes()).ok()?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).ok()?;
        let answer: Value = serde_json::from_str(&line).ok()?;
        Some(answer["ok"].clone())
    }

    /// One of the counts of its transport.
    pub(crate) fn count(&self, name: &str) -> u64 {
        let meter = self.ask("meter");
        meter["transport"][name].as_u64().unwrap_or_else(|| panic!("no {name} in {meter}"))
    }

    /// Waits until a value of its status or counts is as wanted.
    pub(crate) fn when(&self, ask: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + LIMIT;
        loop {
            let value = self.ask(ask);
            if wanted(&value) {
                return value;
            }
            assert!(Instant::now() < end, "it stays {value}: {}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until it is in a group of exactly these.
    pub(crate) fn members_are(&self, nodes: &[&str]) {
        let nodes = serde_json::json!(nodes);
        self.when("status", |status| status["role"] != "suspended" && status["members"] == nodes);
    }

    /// Whether it is in one group with another node at this moment.
    pub(crate) fn is_with(&self, node: &str) -> bool {
        let is_there = |status: Value| {
            let members = status["members"].as_array().cloned().unwrap_or_default();
            status["role"] != "suspended" && members.contains(&Value::from(node))
        };
        self.try_ask("status").is_some_and(is_there)
    }

    /// Waits for its end, and gives the exit code.
    pub(crate) fn ends(&mut self) -> Option<i32> {
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "it does not end: {}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ports that nobody uses, below those that the system gives to connections. Every process looks
/// from another place on, so that tests which run beside each other rarely meet.
pub(crate) fn free_ports(count: usize) -> Vec<u16> {
    static NEXT: std::sync::atomic::AtomicU16 = std::sync::atomic::AtomicU16::new(0);
    let base = 20_000 + u16::try_from(std::process::id() % 9).unwrap() * 1000;
    let next = || base + NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 1000;
    let is_free = |port: &u16| {
        let address = ("127.0.0.1", *port);
        TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok()
    };
    let ports: Vec<u16> =
        std::iter::repeat_with(next).take(1000).filter(is_free).take(count).collect();
    assert_eq!(ports.len(), count, "some of a thousand ports are free");
    ports
}
