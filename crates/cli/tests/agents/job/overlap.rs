//! One job at any time, whatever is killed. A job that is started takes a lock which all its
//! processes hold: if it is taken already, two jobs ran at once.

use std::time::{Duration, Instant};

use rustix::process::{getpid, set_child_subreaper};
use serde_json::Value;

use super::home::{Home, Started, signal, until};

/// It needs a moment to end when it is asked to, as real ones do.
const JOB: &str = "exec 9>>lock; flock -n 9 || echo \"$TANIST_NODE $TANIST_EPOCH\" >> overlaps
    echo \"$TANIST_NODE $TANIST_EPOCH\" >> starts
    trap 'sleep 0.05; exit 0' TERM; sleep 1000 & wait; sleep 0.05";

/// Quick to merge for many kills, and patient: on a busy machine nobody is taken for dead by its
/// silence, since nobody here hangs.
const TIMING: &str =
    "[timing]\nheartbeat = \"100ms\"\nsuspect_after = \"5s\"\ncheck_every = \"500ms\"\n";

struct Fleet {
    home: Home,
    runs: Vec<Started>,
}

impl Fleet {
    fn start(nodes: usize, algorithm: &str) -> Self {
        let home = Home::new(nodes, &format!("algorithm = {algorithm:?}\n{TIMING}"));
        let mut fleet = Self { home, runs: Vec::new() };
        fleet.runs = (1..=nodes).map(|node| fleet.spawn(node)).collect();
        fleet
    }

    fn spawn(&self, node: usize) -> Started {
        Started::new(&mut self.home.run(node, &["--grace", "2s"], JOB))
    }

    /// How many jobs have started, and on which node the newest one did.
    fn newest(&self) -> Option<(usize, usize)> {
        let starts = self.home.read("starts");
        let node = starts.lines().last()?.strip_prefix('n')?.split(' ').next()?.parse().ok()?;
        Some((starts.lines().count(), node))
    }

    /// Waits until the newest job is as wanted.
    fn newest_when(&self, is_wanted: impl Fn(usize, usize) -> bool) -> (usize, usize) {
        let look = || self.newest().filter(|(count, node)| is_wanted(*count, *node));
        until("a job to start", look)
    }

    /// Kills where the newest job is, and brings that node back when another one runs the job.
    fn kill_leader(&mut self) -> usize {
        let (_, leader) = self.newest_when(|_, _| true);
        self.runs[leader - 1].signal("-KILL");
        self.runs[leader - 1].ends();
        self.newest_when(|_, node| node != leader);
        self.runs[leader - 1] = self.spawn(leader);
        leader
    }

    /// Waits until a node is in one group with all others.
    fn is_joined(&self, node: usize) {
        let socket = format!("n{node}.sock");
        until("the node to join", || {
            let asked = self.home.tanist(&["status", "-o", "json", "--socket", &socket]).output();
            let status: Value = serde_json::from_slice(&asked.unwrap().stdout).ok()?;
            let members = status["members"].as_array().map_or(0, Vec::len);
            (members == self.runs.len() && status["role"] != "suspended").then_some(())
        });
    }

    fn check(&self) {
        assert_eq!(self.home.read("overlaps"), "", "starts:\n{}", self.home.read("starts"));
    }
}

fn survives_kills(nodes: usize, algorithm: &str, kills: usize) {
    let mut fleet = Fleet::start(nodes, algorithm);
    for round in 0..kills {
        let killed = fleet.kill_leader();
        // Every other time the next one is killed while the last one is still coming back.
        if round % 2 == 0 {
            fleet.is_joined(killed);
        }
        fleet.check();
    }
    for run in &mut fleet.runs {
        run.signal("-TERM");
    }
    for run in &mut fleet.runs {
        run.ends();
    }
    fleet.check();
    fleet.home.is_deserted();
}

#[test]
fn leaders_by_invitation_are_killed_and_no_two_jobs_run_at_once() {
    survives_kills(3, "invitation", KILLS);
}

#[test]
fn leaders_by_bully_are_killed_and_no_two_jobs_run_at_once() {
    survives_kills(3, "bully", KILLS);
}

#[test]
fn a_leader_that_steps_down_has_ended_its_job_before_the_next_one_starts() {
    let fleet = Fleet::start(3, "bully");
    fleet.newest_when(|_, node| node == 3);
    fleet.is_joined(3);
    let told = fleet.home.tanist(&["step-down", "--socket", "n3.sock"]).output().unwrap();
    assert!(told.status.success(), "{told:?}");
    fleet.newest_when(|_, node| node == 2);
    fleet.check();
}

/// Agents and attached runs are killed in turn.
#[test]
fn agents_and_runs_are_killed_and_no_two_jobs_run_at_once() {
    let home = Home::new(3, &format!("algorithm = \"invitation\"\n{TIMING}"));
    let mut fleet = Fleet { home, runs: Vec::new() };
    let agent = |home: &Home, node: usize| {
        let file = format!("n{node}.toml");
        let mut command = home.tanist(&["agent", "-c", &file]);
        Started::new(command.stdout(std::process::Stdio::null()))
    };
    // A run needs an agent that answers; until there is one it is refused and tries again.
    let run = |home: &Home, node: usize| {
        let socket = format!("n{node}.sock");
        until("the socket", || std::os::unix::net::UnixStream::connect(home.file(&socket)).ok());
        let mut command = home.tanist(&["run", "--grace", "2s", "--socket", &socket]);
        Started::new(command.args(["--", "sh", "-c", JOB]))
    };
    let mut agents: Vec<Started> = (1..=3).map(|node| agent(&fleet.home, node)).collect();
    fleet.runs = (1..=3).map(|node| run(&fleet.home, node)).collect();
    for round in 0..ATTACHED_KILLS {
        let (before, leader) = fleet.newest_when(|_, _| true);
        if round % 2 == 0 {
            signal(agents[leader - 1].id(), "-KILL");
            agents[leader - 1].ends();
            assert_eq!(fleet.runs[leader - 1].code(), 125);
            fleet.newest_when(|_, node| node != leader);
            agents[leader - 1] = agent(&fleet.home, leader);
            fleet.runs[leader - 1] = run(&fleet.home, leader);
            fleet.is_joined(leader);
        } else {
            fleet.runs[leader - 1].signal("-KILL");
            fleet.runs[leader - 1].ends();
            fleet.runs[leader - 1] = run(&fleet.home, leader);
            fleet.newest_when(|count, _| count > before);
        }
        fleet.check();
    }
}

/// While the keeper holds the node's port, nobody takes the killed node for dead: its job may run.
#[test]
fn nobody_starts_while_the_keeper_of_a_killed_node_has_not_ended_the_job() {
    let patient = TIMING.replace("\"5s\"", "\"30s\"");
    let home = Home::new(3, &format!("algorithm = \"bully\"\n{patient}"));
    let mut fleet = Fleet { home, runs: Vec::new() };
    fleet.runs = (1..=3).map(|node| fleet.spawn(node)).collect();
    fleet.newest_when(|_, node| node == 3);
    fleet.is_joined(3);
    let (before, _) = fleet.newest_when(|_, node| node == 3);
    // A group of processes that loses its last parent in the session is woken up: it gets another.
    set_child_subreaper(Some(getpid())).unwrap();
    let keeper = keeper_of(fleet.runs[2].id());
    signal(keeper, "-STOP");
    fleet.runs[2].signal("-KILL");
    fleet.runs[2].ends();
    let watched = Instant::now() + Duration::from_secs(3);
    while Instant::now() < watched {
        let newest = fleet.newest();
        assert_eq!(newest, Some((before, 3)), "a job started beside the one that runs");
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(keeper, "-CONT");
    fleet.newest_when(|_, node| node == 2);
    fleet.check();
}

/// The process that keeps the job of a run: a child of it.
fn keeper_of(run: u32) -> u32 {
    until("a keeper", || {
        let all = std::fs::read_dir(format!("/proc/{run}/task")).ok()?.flatten();
        let lists =
            all.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        let ids = lists.collect::<Vec<_>>().join(" ");
        ids.split_whitespace().find_map(|id| id.parse().ok())
    })
}

const KILLS: usize = 50;

const ATTACHED_KILLS: usize = 10;
