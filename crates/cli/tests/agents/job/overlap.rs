//! At most one job at any time, whatever is killed. Every job takes a lock that all its processes
//! hold: if it is taken already, two jobs ran at once.

use std::time::{Duration, Instant};

use rustix::process::{getpid, set_child_subreaper};

use crate::support::agent::{Process, signal};
use crate::support::fleet::Fleet;
use crate::support::job::JOB;
use crate::support::jobs::Jobs;
use crate::support::wait::until;

/// Groups merge quickly, for many kills. On a busy machine no silent node is suspected, since none
/// hangs here.
const TIMING: &str =
    "[timing]\nheartbeat = \"100ms\"\nsuspect_after = \"5s\"\ncheck_every = \"500ms\"\n";

fn lines(algorithm: &str) -> String {
    format!("algorithm = {algorithm:?}\n{TIMING}")
}

fn survives_kills(nodes: usize, algorithm: &str, kills: usize) {
    let mut jobs = Jobs::start(nodes, &lines(algorithm));
    for round in 0..kills {
        let killed = jobs.kill_leader();
        // Every other time the next one is killed while the last one is still joining.
        if round % 2 == 0 {
            jobs.is_joined(killed);
        }
        jobs.check();
    }
    for run in &mut jobs.runs {
        run.signal("-TERM");
    }
    for run in &mut jobs.runs {
        run.ends();
    }
    jobs.check();
    jobs.fleet.no_process_runs();
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
    let jobs = Jobs::start(3, &lines("bully"));
    jobs.newest_when(|_, node| node == 3);
    jobs.is_joined(3);
    let told = jobs.fleet.tanist(&["step-down", "--socket", "n3.sock"]).output().unwrap();
    assert!(told.status.success(), "{told:?}");
    jobs.newest_when(|_, node| node == 2);
    jobs.check();
}

/// Agents and attached runs are killed in turn.
#[test]
fn agents_and_runs_are_killed_and_no_two_jobs_run_at_once() {
    let fleet = Fleet::configured(3, &lines("invitation"));
    let mut jobs = Jobs { fleet, runs: Vec::new() };
    let agent = |fleet: &Fleet, node: usize| {
        let file = format!("n{node}.toml");
        let mut command = fleet.tanist(&["agent", "-c", &file]);
        Process::start(command.stdout(std::process::Stdio::null()))
    };
    // A run needs an agent that answers; without one it is refused.
    let run = |fleet: &Fleet, node: usize| {
        let socket = format!("n{node}.sock");
        until("the socket", || std::os::unix::net::UnixStream::connect(fleet.file(&socket)).ok());
        let mut command = fleet.tanist(&["run", "--grace", "2s", "--socket", &socket]);
        Process::start(command.args(["--", "sh", "-c", JOB]))
    };
    let mut agents: Vec<Process> = (1..=3).map(|node| agent(&jobs.fleet, node)).collect();
    jobs.runs = (1..=3).map(|node| run(&jobs.fleet, node)).collect();
    for round in 0..ATTACHED_KILLS {
        let (before, leader) = jobs.newest_when(|_, _| true);
        if round % 2 == 0 {
            signal(agents[leader - 1].id(), "-KILL");
            agents[leader - 1].ends();
            assert_eq!(jobs.runs[leader - 1].code(), 125);
            jobs.newest_when(|_, node| node != leader);
            agents[leader - 1] = agent(&jobs.fleet, leader);
            jobs.runs[leader - 1] = run(&jobs.fleet, leader);
            jobs.is_joined(leader);
        } else {
            jobs.runs[leader - 1].signal("-KILL");
            jobs.runs[leader - 1].ends();
            jobs.runs[leader - 1] = run(&jobs.fleet, leader);
            jobs.newest_when(|count, _| count > before);
        }
        jobs.check();
    }
}

/// While the keeper holds the node's port, no peer takes the killed node for crashed: its job may
/// still run.
#[test]
fn nobody_starts_while_the_keeper_of_a_killed_node_has_not_ended_the_job() {
    let patient = TIMING.replace("\"5s\"", "\"30s\"");
    let mut jobs = Jobs::start(3, &format!("algorithm = \"bully\"\n{patient}"));
    jobs.newest_when(|_, node| node == 3);
    jobs.is_joined(3);
    let (before, _) = jobs.newest_when(|_, node| node == 3);
    // The kernel wakes up a process group that loses its last parent in the session; as subreaper,
    // this process becomes its parent.
    set_child_subreaper(Some(getpid())).unwrap();
    let keeper = keeper_of(jobs.runs[2].id());
    signal(keeper, "-STOP");
    jobs.runs[2].signal("-KILL");
    jobs.runs[2].ends();
    let watched = Instant::now() + Duration::from_secs(3);
    while Instant::now() < watched {
        let newest = jobs.newest();
        assert_eq!(newest, Some((before, 3)), "a job started beside the one that runs");
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(keeper, "-CONT");
    jobs.newest_when(|_, node| node == 2);
    jobs.check();
    // Orphans of other tests must not become children of this process.
    set_child_subreaper(None).unwrap();
}

/// The keeper of a run's job: its child process.
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
