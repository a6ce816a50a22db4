//! A group in which every node runs a job while it leads.

use serde_json::Value;

use super::agent::Process;
use super::fleet::Fleet;
use super::job::JOB;
use super::wait::until;

/// A fleet in which every node is a `tanist run` with the job that detects overlaps.
pub(crate) struct Jobs {
    pub(crate) fleet: Fleet,
    pub(crate) runs: Vec<Process>,
}

impl Jobs {
    /// Starts all nodes, with the same lines in each configuration.
    pub(crate) fn start(nodes: usize, lines: &str) -> Self {
        let fleet = Fleet::configured(nodes, lines);
        let mut jobs = Self { fleet, runs: Vec::new() };
        jobs.runs = (1..=nodes).map(|node| jobs.spawn(node)).collect();
        jobs
    }

    pub(crate) fn spawn(&self, node: usize) -> Process {
        Process::start(&mut self.fleet.job(node, &["--grace", "2s"], JOB))
    }

    /// How many jobs have started, and on which node the newest one runs.
    pub(crate) fn newest(&self) -> Option<(usize, usize)> {
        let starts = self.fleet.read("starts");
        let node = starts.lines().last()?.strip_prefix('n')?.split(' ').next()?.parse().ok()?;
        Some((starts.lines().count(), node))
    }

    /// Waits until the newest job is as wanted.
    pub(crate) fn newest_when(&self, is_wanted: impl Fn(usize, usize) -> bool) -> (usize, usize) {
        let look = || self.newest().filter(|(count, node)| is_wanted(*count, *node));
        until("a job to start", look)
    }

    /// Kills the node of the newest job, and restarts it when another node runs the job.
    pub(crate) fn kill_leader(&mut self) -> usize {
        let (_, leader) = self.newest_when(|_, _| true);
        self.runs[leader - 1].signal("-KILL");
        self.runs[leader - 1].ends();
        self.newest_when(|_, node| node != leader);
        self.runs[leader - 1] = self.spawn(leader);
        leader
    }

    /// Waits until a node is in one group with all others.
    pub(crate) fn is_joined(&self, node: usize) {
        until("the node to join", || {
            let status = self.status(node)?;
            let members = status["members"].as_array().map_or(0, Vec::len);
            (members == self.runs.len() && status["role"] != "suspended").then_some(())
        });
    }

    /// What a node says of itself, if it answers.
    pub(crate) fn status(&self, node: usize) -> Option<Value> {
        let socket = format!("n{node}.sock");
        let asked = self.fleet.run(&["status", "-o", "json", "--socket", &socket]);
        serde_json::from_slice(&asked.stdout).ok()
    }

    pub(crate) fn check(&self) {
        self.fleet.no_overlap();
    }
}
