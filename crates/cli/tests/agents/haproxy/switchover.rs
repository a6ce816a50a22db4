//! Switchovers under load: the client sees a gap and nothing else, and never do two jobs run.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Load, Proxy, Service, find};
use crate::http::agents::Agents;
use crate::http::client::get;
use crate::support::agent::Process;
use crate::support::job::JOB;
use crate::support::wait::until;

/// How many switchovers; `TANIST_SWITCHOVERS` says otherwise.
const SWITCHOVERS: usize = 10;

#[test]
fn requests_fail_only_in_the_gap_of_a_switchover_and_never_do_two_jobs_run() {
    let Some(program) = find("haproxy") else {
        eprintln!("skipped: there is no haproxy; install Debian's package of that name");
        return;
    };
    let agents = Agents::start(3, "algorithm = \"bully\"\npreempt = \"never\"");
    let mut leader = leader(&agents);
    let _jobs: Vec<Process> = (1..=3).map(|node| attach(&agents, node)).collect();
    let services =
        [1, 2, 3].map(|node| Service::start(agents.fleet.spare(node), format!("n{node}")));
    let places = [0, 1, 2].map(|at: usize| services[at].address);
    let proxy = Proxy::start(&program, &agents, places, leader);
    let load = proxy.load();
    until("the leader answers", || load.has(&format!("n{leader}")).then_some(()));
    until("the first job", || (agents.fleet.lines("starts").len() == 1).then_some(()));

    let count = std::env::var("TANIST_SWITCHOVERS").ok().and_then(|count| count.parse().ok());
    let mut windows = Vec::new();
    let mut gaps = Vec::new();
    for turn in 0..count.unwrap_or(SWITCHOVERS) {
        // Up and down the ranks in turn, so that most go to a node that no election would choose.
        let to = (leader + turn % 2) % 3 + 1;
        let begun = Instant::now();
        gaps.push(switch(&agents, leader, to));
        answers_from(&load, to);
        windows.push((begun, Instant::now()));
        let jobs = turn + 2;
        until("the next job", || (agents.fleet.lines("starts").len() == jobs).then_some(()));
        rejoined(&agents);
        leader = to;
    }
    agents.fleet.no_overlap();
    let failures = load.failures.lock().unwrap().clone();
    load.stop();
    let is_in_gap =
        |failed: &Instant| windows.iter().any(|(from, to)| (from..=to).contains(&failed));
    let outside = failures.iter().filter(|failed| !is_in_gap(failed)).count();
    print(&windows, &failures, gaps);
    assert_eq!(outside, 0, "{outside} of {} requests failed outside of a gap", failures.len());
}

/// The node that all follow, once it acts.
fn leader(agents: &Agents) -> usize {
    until("one group and a leader that acts", || {
        let status = get(agents.fleet.http(1), "/v1/status").json();
        let name = status["leader"]["node"].as_str()?.to_owned();
        let leader = name.trim_start_matches('n').parse().ok()?;
        let own = get(agents.fleet.http(leader), "/v1/status").json();
        (own["members"].as_array()?.len() == 3 && own["active"] == true).then_some(leader)
    })
}

fn attach(agents: &Agents, node: usize) -> Process {
    let socket = format!("n{node}.sock");
    let arguments = ["run", "--socket", &socket, "--grace", "2s", "--", "sh", "-c", JOB];
    Process::start(&mut agents.fleet.tanist(&arguments))
}

/// Hands over, and returns the gap in milliseconds.
fn switch(agents: &Agents, from: usize, to: usize) -> f64 {
    let (socket, name) = (format!("n{from}.sock"), format!("n{to}"));
    let arguments = ["switchover", "--to", &name, "--socket", &socket, "-o", "json"];
    let output = agents.fleet.run(&arguments);
    assert!(output.status.success(), "n{from} to {name}: {output:?}");
    let done: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(done["handover"]["to"], name, "{done}");
    done["handover"]["gap_ms"].as_f64().unwrap()
}

/// Waits until the new leader answers, and nothing but it: HAProxy has noticed.
fn answers_from(load: &Load, node: usize) {
    let name = format!("n{node}");
    let before = load.count(&name);
    until("the new leader answers", || (load.count(&name) > before).then_some(()));
    until("only the new leader answers", || {
        let all = load.answers.lock().unwrap();
        (all.len() > 50 && all[all.len() - 50..].iter().all(|answer| *answer == name)).then_some(())
    });
}

fn rejoined(agents: &Agents) {
    until("all are in one group", || {
        [1, 2, 3]
            .iter()
            .all(|node| {
                let status = get(agents.fleet.http(*node), "/v1/status").json();
                status["members"].as_array().is_some_and(|members| members.len() == 3)
                    && status["state"] == "normal"
            })
            .then_some(())
    });
}

/// The figures, for people.
fn print(windows: &[(Instant, Instant)], failures: &[Instant], mut gaps: Vec<f64>) {
    gaps.sort_by(f64::total_cmp);
    let failing = windows.iter().map(|(from, to)| {
        let inside = || failures.iter().filter(|failed| (from..=to).contains(failed));
        let span = inside().next_back().zip(inside().next());
        span.map_or(Duration::ZERO, |(last, first)| *last - *first)
    });
    eprintln!(
        "{} switchovers: gap {:.1} / {:.1} / {:.1} ms (least, median, most); {} requests failed, \
         for {:?} at most",
        gaps.len(),
        gaps[0],
        gaps[gaps.len() / 2],
        gaps[gaps.len() - 1],
        failures.len(),
        failing.max().unwrap_or_default(),
    );
}
