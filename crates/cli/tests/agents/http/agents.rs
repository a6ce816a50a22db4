//! Agents that serve HTTP.

use std::collections::BTreeMap;
use std::net::TcpStream;

use crate::support::agent::Agent;
use crate::support::fleet::{Fleet, set_mode};
use crate::support::wait::until;

/// The token that allows actions in these tests.
pub(crate) const TOKEN: &str = "correct-horse-battery-staple";

/// A fleet with a token, and those of its agents that run.
pub(crate) struct Agents {
    pub(crate) fleet: Fleet,
    running: BTreeMap<usize, Agent>,
    more: String,
}

impl Agents {
    /// So many agents, with these lines at the top of their configurations.
    pub(crate) fn start(count: usize, more: &str) -> Self {
        let mut agents = Self::describe(count, more);
        (1..=count).for_each(|node| agents.launch(node));
        agents
    }

    /// The same, before any of them runs.
    pub(crate) fn describe(count: usize, more: &str) -> Self {
        let fleet = Fleet::new(count);
        let token = fleet.file("token");
        std::fs::write(&token, format!("{TOKEN}\n")).unwrap();
        set_mode(&token, 0o600);
        Self { fleet, running: BTreeMap::new(), more: more.to_owned() }
    }

    /// Starts a node, and waits until it takes connections.
    pub(crate) fn launch(&mut self, node: usize) {
        self.configure(node, "token_file = \"token\"\n");
        self.running.insert(node, self.fleet.start(&format!("n{node}")));
        let at = self.fleet.http(node);
        until(&format!("n{node} listens"), || TcpStream::connect(at).ok().map(drop));
    }

    /// Writes the configuration of a node, with these lines in its table for HTTP.
    pub(crate) fn configure(&self, node: usize, lines: &str) -> String {
        let (listen, check) = (self.fleet.http(node), self.fleet.agent_check(node));
        let http = format!("[http]\nlisten = \"{listen}\"\nagent_check = \"{check}\"\n{lines}");
        self.fleet.configure(node, &format!("{}\n{http}", self.more))
    }

    pub(crate) fn agent(&self, node: usize) -> &Agent {
        &self.running[&node]
    }

    /// Kills a node.
    pub(crate) fn kill(&mut self, node: usize) {
        self.running.remove(&node).unwrap().kill();
    }

    /// Waits for the end of a node that was told to end; its exit code.
    pub(crate) fn ends(&mut self, node: usize) -> Option<i32> {
        self.running.remove(&node).unwrap().ends()
    }
}
