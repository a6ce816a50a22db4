//! The soak itself, and its report.

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use super::attack::Attacks;
use super::health::Health;
use super::nodes::Nodes;
use super::recording;
use super::samples::{RESOURCES, Samples, Usage};
use super::watch::{Leadership, Watch};
use crate::support::agent::ask;
use crate::support::heavy;
use crate::support::wait::until;

#[test]
fn strangers_neither_move_a_leader_nor_make_a_node_grow() {
    let _turn = heavy::turn();
    let mut nodes = Nodes::new();
    let recordings = recording::record(&nodes);
    nodes.start();
    let (watches, before) = agree(&nodes);
    let told: Vec<usize> = watches.iter().map(Watch::count).collect();
    let health: Vec<Health> = nodes.all.iter().map(|node| Health::start(node.http)).collect();
    let attacks = Attacks::start(&nodes, &recordings);
    let mut findings = Vec::new();
    let samples = sample(&mut nodes, &watches, &before, &mut findings);
    let mut report = String::new();
    tell_rates(&attacks, &mut report, &mut findings);
    drop(attacks);
    for node in &nodes.all {
        tell_counts(&nodes, &node.name, &mut report, &mut findings);
    }
    for ((node, samples), health) in nodes.all.iter().zip(&samples).zip(health) {
        tell_health(&node.name, health, &mut report, &mut findings);
        tell_growth(&node.name, samples, &mut report, &mut findings);
    }
    for (watch, told) in watches.iter().zip(told) {
        let changes = watch.after(told);
        if !changes.is_empty() {
            findings.push(format!("a group changed: {changes:#?}"));
        }
    }
    let overlaps = nodes.fleet.read("overlaps");
    if !overlaps.is_empty() {
        findings.push(format!("two jobs ran at once: {overlaps}"));
    }
    println!("{report}");
    assert!(findings.is_empty(), "{report}\n{findings:#?}");
}

/// Waits until all are in one group and one job runs.
fn agree(nodes: &Nodes) -> (Vec<Watch>, Leadership) {
    let sockets = nodes.all.iter().map(|node| nodes.fleet.file(&format!("{}.sock", node.name)));
    let watches: Vec<Watch> = sockets
        .map(|socket| {
            until("a socket", || std::os::unix::net::UnixStream::connect(&socket).ok());
            Watch::start(&socket)
        })
        .collect();
    let leadership = until("one group and one job", || {
        let seen: Option<Vec<Leadership>> = watches.iter().map(Watch::leadership).collect();
        let seen = seen?;
        let is_one = seen.iter().all(|one| *one == seen[0] && one.members == nodes.all.len());
        (is_one && nodes.jobs() == 1).then(|| seen[0].clone())
    });
    (watches, leadership)
}

/// Samples once a second, until the time is over or a check fails.
fn sample(
    nodes: &mut Nodes,
    watches: &[Watch],
    before: &Leadership,
    findings: &mut Vec<String>,
) -> Vec<Samples> {
    let mut samples: Vec<Samples> = nodes.all.iter().map(|_| Samples::default()).collect();
    let began = Instant::now();
    let end = Duration::from_secs(seconds());
    while began.elapsed() < end && findings.is_empty() {
        thread::sleep(Duration::from_secs(1));
        let at = began.elapsed().as_secs_f64();
        for ((node, watch), samples) in nodes.all.iter_mut().zip(watches).zip(&mut samples) {
            node.is_running();
            samples.push(at, Usage::of(node.process()));
            let now = watch.leadership();
            if now.as_ref() != Some(before) {
                findings.push(format!("{} after {at:.1} s: {now:?}, not {before:?}", node.name));
            }
        }
        let jobs = nodes.jobs();
        if jobs != 1 {
            findings.push(format!("{jobs} jobs run after {at:.1} s"));
        }
    }
    samples
}

fn tell_rates(attacks: &Attacks, report: &mut String, findings: &mut Vec<String>) {
    writeln!(report, "{:36} {:>12} {:>10}", "attack, on all nodes", "made", "per second").unwrap();
    for rate in attacks.rates() {
        writeln!(report, "{:36} {:>12} {:>10.0}", rate.name, rate.made, rate.per_second).unwrap();
        if rate.made == 0 {
            findings.push(format!("no attack: {}", rate.name));
        }
    }
}

/// The counts of a node about attacks on its peer port. A count of zero means that the attack was
/// not made.
fn tell_counts(nodes: &Nodes, name: &str, report: &mut String, findings: &mut Vec<String>) {
    let socket = nodes.fleet.file(&format!("{name}.sock"));
    let metrics = until("an answer after the attack", || ask(&socket, "metrics"));
    write!(report, "{name}:").unwrap();
    for count in COUNTS {
        let value = metrics["transport"][count].as_u64().unwrap();
        write!(report, " {count} {value}").unwrap();
        if value == 0 {
            findings.push(format!("{name} has counted no {count}"));
        }
    }
    writeln!(report).unwrap();
}

fn tell_health(name: &str, health: Health, report: &mut String, findings: &mut Vec<String>) {
    let checks = health.checks();
    drop(health);
    let (count, longest) = (checks.took.len(), checks.took.iter().max());
    let (retried, error) = (checks.retried, checks.last_error);
    writeln!(
        report,
        "{name}: {count} checks of /livez answered, the slowest after {longest:?}, {retried} tries \
         made again {error:?}"
    )
    .unwrap();
    if let Some(failed) = checks.failed {
        findings.push(format!("{name}: /livez: {failed}"));
    }
    if count == 0 {
        findings.push(format!("{name}: /livez was never answered"));
    }
}

fn tell_growth(name: &str, samples: &Samples, report: &mut String, findings: &mut Vec<String>) {
    for resource in &RESOURCES {
        let growth = samples.growth(resource);
        let line = format!(
            "{name}: {:10} {:>8.0} to {:>8.0}, {:>+10.0} per hour, {:>+8.1} in all (at most {:.0})",
            resource.name,
            growth.least,
            growth.most,
            growth.per_hour,
            growth.in_all,
            resource.growth_max
        );
        writeln!(report, "{line}").unwrap();
        if growth.in_all > resource.growth_max {
            findings.push(format!("it grows: {line}"));
        }
    }
}

/// How long the soak takes.
fn seconds() -> u64 {
    std::env::var("TANIST_SOAK_SECONDS").map_or(SHORT, |seconds| seconds.parse().unwrap())
}

/// The counts that attacks on a peer port increase.
const COUNTS: [&str; 4] =
    ["accepted", "handshakes_failed", "connections_over_cap", "refused_unknown_session"];

/// Long enough to fill every limit several times.
const SHORT: u64 = 20;
