//! Five nodes with a job, each with files of its own.

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use crate::support::agent::{Process, ask, is_running};
use crate::support::fleet::Fleet;
use crate::support::job::JOB;
use crate::support::wait::until;

pub(super) const NODES: usize = 5;

/// On a busy machine no silent node is suspected, since none hangs here.
const TIMING: &str =
    "[timing]\nheartbeat = \"100ms\"\nsuspect_after = \"10s\"\ncheck_every = \"500ms\"\n";

pub(super) struct Group {
    pub(super) fleet: Fleet,
    runs: Vec<Process>,
    /// The configuration of each node before it has an identity.
    plain: Vec<String>,
}

/// What must not change while keys do.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Established {
    pub(super) leader: usize,
    number: String,
    starts: String,
    job: u32,
}

impl Established {
    /// The jobs that had started, one per line.
    pub(super) fn starts(&self) -> &str {
        &self.starts
    }
}

impl Group {
    pub(super) fn start() -> Self {
        let fleet = Fleet::configured(NODES, &format!("algorithm = \"bully\"\n{TIMING}"));
        let mut plain = Vec::new();
        for node in 1..=NODES {
            fs::copy(fleet.file("group.key"), fleet.file(&ring(node))).unwrap();
            let shared = fleet.file("group.key").display().to_string();
            let own = fleet.file(&ring(node)).display().to_string();
            let text = fleet.read(&format!("n{node}.toml")).replace(&shared, &own);
            fs::write(fleet.file(&format!("n{node}.toml")), &text).unwrap();
            plain.push(text);
        }
        let spawn = |node| Process::start(&mut fleet.job(node, &["--grace", "2s"], JOB));
        let runs = (1..=NODES).map(spawn).collect();
        Self { fleet, runs, plain }
    }

    /// Waits until all are in one group whose leader runs the job.
    pub(super) fn established(&self) -> Established {
        until("one group with a job", || {
            let all: Vec<Value> = (1..=NODES).map(|node| self.ask(node, "status")).collect();
            let number = all[0]["group_number"].as_str()?.to_owned();
            let is_whole = |status: &Value| {
                let members = status["members"].as_array().map_or(0, Vec::len);
                members == NODES && status["group_number"] == *number && !status["leader"].is_null()
            };
            let leader = all.iter().position(|status| status["active"] == true)? + 1;
            let starts = self.fleet.read("starts");
            let last: Vec<&str> = starts.lines().last()?.split(' ').collect();
            let is_here = last[0] == format!("n{leader}") && last[1] == number;
            let job = last[2].parse().ok()?;
            let is_so = all.iter().all(is_whole) && is_here;
            is_so.then(|| Established {
                leader,
                number: number.clone(),
                starts: starts.clone(),
                job,
            })
        })
    }

    /// Checks that nothing has changed since, and that the same job runs.
    pub(super) fn expect(&self, before: &Established, when: &str) {
        assert_eq!(self.established(), *before, "{when}");
        assert!(is_running(before.job), "{when}: the job has ended");
        self.fleet.no_overlap();
    }

    /// Runs a command that must succeed, and returns its stdout.
    pub(super) fn tanist(&self, arguments: &[&str]) -> String {
        let output = self.fleet.tanist(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Reloads the configuration of a node; the answer must contain this.
    pub(super) fn reload(&self, node: usize, expected: &str) {
        let told = self.tanist(&["reload", "--socket", &socket(node)]);
        assert!(told.contains(expected), "n{node}: {told} has no {expected}");
    }

    pub(super) fn reload_all(&self, expected: &str) {
        (1..=NODES).for_each(|node| self.reload(node, expected));
    }

    /// What an agent answers over its socket.
    pub(super) fn ask(&self, node: usize, what: &str) -> Value {
        ask(&self.fleet.file(&socket(node)), what).unwrap_or_default()
    }

    /// What all nodes report about their keys, as text.
    pub(super) fn key_status(&self) -> String {
        let status = |node| self.tanist(&["key", "status", "--socket", &socket(node)]);
        (1..=NODES).map(status).collect::<Vec<_>>().join("\n")
    }

    /// Waits until every open link of every node is as wanted, and the leader has a link with every
    /// node.
    pub(super) fn links_are(&self, what: &str, leader: usize, wanted: impl Fn(&Value) -> bool) {
        until(what, || {
            (1..=NODES)
                .all(|node| {
                    let report = self.ask(node, "keys");
                    let Some(peers) = report["peers"].as_array() else { return false };
                    let open: Vec<&Value> =
                        peers.iter().filter(|peer| peer["is_connected"] == true).collect();
                    let is_enough = node != leader || open.len() == NODES - 1;
                    is_enough && open.into_iter().all(&wanted)
                })
                .then_some(())
        });
    }

    /// Configures the own key of a node, and these public keys.
    pub(super) fn identify(&self, node: usize, lines: &[String], is_required: bool) {
        let text = format!(
            "{}\n[identity]\nkey_file = {:?}\nrequire = {is_required}\n[identity.peer_keys]\n{}",
            self.plain[node - 1],
            self.fleet.file(&format!("node{node}.key")),
            lines.concat(),
        );
        fs::write(self.fleet.file(&format!("n{node}.toml")), text).unwrap();
    }

    /// Clients that query all nodes, and strangers that connect to them, until the load is dropped.
    pub(super) fn load(&self) -> Load {
        let is_over = Arc::new(AtomicBool::new(false));
        let sockets: Vec<_> = (1..=NODES).map(|node| self.fleet.file(&socket(node))).collect();
        let addresses: Vec<_> = (1..=NODES).map(|node| self.fleet.peer(node)).collect();
        let over = Arc::clone(&is_over);
        let asking = thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                for socket in &sockets {
                    let _ = ask(socket, "events");
                }
            }
        });
        let over = Arc::clone(&is_over);
        let dialling = thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                for address in &addresses {
                    // The answer to a stranger does not matter here.
                    if let Ok(mut stream) = TcpStream::connect(address) {
                        let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n");
                    }
                }
                thread::sleep(Duration::from_millis(10));
            }
        });
        Load { is_over, threads: vec![asking, dialling] }
    }

    /// Whether all nodes still run.
    pub(super) fn all_run(&mut self) -> bool {
        self.runs.iter_mut().all(|run| run.ended().is_none())
    }
}

pub(super) struct Load {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Load {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

pub(super) fn ring(node: usize) -> String {
    format!("ring{node}.key")
}

pub(super) fn socket(node: usize) -> String {
    format!("n{node}.sock")
}
