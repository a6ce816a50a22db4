//! Agents of different releases, each with a job attached, and what they report.
//!
//! Every job takes a lock that all its processes hold: if it is taken already, two jobs ran at
//! once.

use std::fs::OpenOptions;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::release::Release;
use crate::support::agent::{Agent, Process};
use crate::support::fleet::Fleet;
use crate::support::job::JOB;
use crate::support::wait::until;

/// A group of agents, each of a release of its own.
pub(crate) struct Group {
    pub(crate) fleet: Fleet,
    pub(crate) nodes: Vec<Node>,
}

/// A place for an agent; it may be empty.
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) http: SocketAddr,
    pub(crate) socket: PathBuf,
    running: Option<Running>,
}

struct Running {
    release: Release,
    agent: Agent,
    job: Process,
}

impl Group {
    /// Configurations for so many agents. None is started.
    pub(crate) fn new(nodes: usize, more: &str) -> Self {
        let fleet = Fleet::configured(nodes, more);
        let node = |id| {
            let name = format!("n{id}");
            let socket = fleet.file(&format!("{name}.sock"));
            Node { name, http: fleet.http(id), socket, running: None }
        };
        let nodes = (1..=nodes).map(node).collect();
        Self { fleet, nodes }
    }

    /// Starts the agent of a node as a release, and attaches a job when it answers.
    pub(crate) fn start(&mut self, at: usize, release: Release) {
        let Node { name, http, socket, .. } = &self.nodes[at];
        let (file, listen) = (format!("{name}.toml"), format!("http.listen={http}"));
        let mut command = self.fleet.tanist(&["agent", "--dev", "-c", &file, "--set", &listen]);
        command.env("TANIST_DEV_WIRE_VERSIONS", release.wire);
        command.env("TANIST_TEST_STORE_VERSIONS", release.store);
        let agent = self.fleet.spawn(name, &mut command);
        until("the socket", || UnixStream::connect(socket).ok());
        let socket = socket.to_str().unwrap();
        let mut job = self.fleet.tanist(&["run", "--grace", "2s", "--socket", socket]);
        let log = OpenOptions::new().append(true).open(self.fleet.file(&format!("{name}.log")));
        let job = Process::start(job.args(["--", "sh", "-c", JOB]).stderr(log.unwrap()));
        self.nodes[at].running = Some(Running { release, agent, job });
    }

    /// Tells an agent to end, and waits for its end.
    pub(crate) fn stop(&mut self, at: usize) {
        let mut running = self.nodes[at].running.take().unwrap();
        running.agent.signal("-TERM");
        assert_eq!(running.agent.ends(), Some(0));
        running.job.ends();
    }

    /// The nodes with an agent.
    pub(crate) fn running(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.running.is_some())
    }

    /// Waits until all running agents are in one group with an active leader; returns its name.
    pub(crate) fn agree(&self) -> String {
        until("one group", || {
            let all: Option<Vec<Value>> =
                self.running().map(|node| node.agent().try_ask("status")).collect();
            self.agreed(&all?)
        })
    }

    fn agreed(&self, all: &[Value]) -> Option<String> {
        let names: Vec<&str> = self.running().map(|node| node.name.as_str()).collect();
        let is_one = all.iter().all(|status| {
            let is_same =
                ["group_number", "leader"].iter().all(|name| status[*name] == all[0][*name]);
            is_same && status["role"] != "suspended" && status["members"] == json!(names)
        });
        let is_active = all.iter().any(|status| status["active"] == true);
        (is_one && is_active).then(|| all[0]["leader"]["node"].as_str().unwrap().to_owned())
    }

    /// Fails if two jobs ever ran at once.
    pub(crate) fn no_overlap(&self) {
        self.fleet.no_overlap();
    }

    /// The version of a node's store, from its identity file.
    pub(crate) fn store_version(&self, at: usize) -> u16 {
        let path = self.fleet.file(&format!("data-{}/identity", self.nodes[at].name));
        let bytes = std::fs::read(path).unwrap();
        u16::from_be_bytes([bytes[8], bytes[9]])
    }

    /// What an agent and its job wrote on stderr.
    pub(crate) fn log(&self, at: usize) -> String {
        self.fleet.read(&format!("{}.log", self.nodes[at].name))
    }
}

impl Node {
    pub(crate) fn release(&self) -> Release {
        self.running.as_ref().unwrap().release
    }

    pub(crate) fn agent(&self) -> &Agent {
        &self.running.as_ref().unwrap().agent
    }

    /// What it reports about another node.
    pub(crate) fn about(&self, other: &str) -> Value {
        let seen = self.agent().ask("members");
        let members = seen["members"].as_array().unwrap();
        members.iter().find(|member| member["node"] == *other).unwrap().clone()
    }
}
