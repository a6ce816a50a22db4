//! TCP passes between the machines and UDP does not, in one direction or in both.

use serde_json::Value;

use super::machines::{Led, Machines, NODES};
use crate::support::lan::{Direction, Lan};
use crate::support::wait::{LIMIT, within};

/// The group stays as it is for many heartbeats, and no node begins an election.
fn stays(machines: &Machines, led: &Led) {
    let elections = || -> Vec<Value> {
        let ask = |at| machines.agent(at).ask("metrics")["elections"].clone();
        (1..=NODES).map(ask).collect()
    };
    let before = elections();
    machines.beats(led.leader, 80);
    let now = machines.agreed();
    assert_eq!(now.number, led.number, "{}", machines.logs());
    assert_eq!(elections(), before, "{}", machines.logs());
}

/// What `doctor` calls a problem with UDP on a node's machine, with what helps. The exit code says
/// whether there is one.
fn problems(machines: &Machines, at: usize) -> Vec<String> {
    let output = machines.run(at, &["doctor", "-o", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = report["findings"].as_array().unwrap().iter();
    let bad: Vec<&Value> = all.filter(|finding| finding["severity"] == "problem").collect();
    assert_eq!(output.status.code(), Some(i32::from(!bad.is_empty())), "{output:?}");
    let text = |finding: &&Value| {
        format!("{} {}", finding["what"].as_str().unwrap(), finding["fix"].as_str().unwrap())
    };
    // On a busy machine the disk may be slow, which is a problem of its own.
    bad.iter().filter(|finding| finding["place"] == "udp").map(text).collect()
}

/// One node gets no UDP packet from another one: both say so, and both know what to allow.
fn told(machines: &Machines, from: usize, to: usize) {
    let missing = format!("No UDP packet from n{from} arrives here");
    let fix = format!("allow UDP port 7400 from {}", Lan::host(from));
    let found = problems(machines, to);
    assert!(found.iter().any(|all| all.contains(&missing) && all.contains(&fix)), "{found:?}");
    let missing = format!("No UDP packet from this node arrives at n{to}");
    let fix = format!("allow UDP port 7400 to {}", Lan::host(to));
    let found = problems(machines, from);
    assert!(found.iter().any(|all| all.contains(&missing) && all.contains(&fix)), "{found:?}");
    let log = machines.agent(to).log();
    let line = format!("no UDP packet from n{from} arrives here");
    assert_eq!(log.matches(&line).count(), 1, "{log}");
    let log = machines.agent(from).log();
    let line = format!("no UDP packet from this node arrives at n{to}");
    assert_eq!(log.matches(&line).count(), 1, "{log}");
}

/// All heartbeats pass by UDP again: the links carry none, and `doctor` has no complaint.
fn recovers(machines: &Machines, led: &Led) {
    let members = || (1..=NODES).filter(|at| *at != led.leader);
    for member in members() {
        machines.udp_becomes(led.leader, member, "ok");
        machines.udp_becomes(member, led.leader, "ok");
    }
    let carried = || -> Vec<u64> {
        (1..=NODES).map(|at| machines.agent(at).count("heartbeats_carried_out")).collect()
    };
    let before = carried();
    stays(machines, led);
    assert_eq!(carried(), before, "{}", machines.logs());
    // Two members that exchanged heartbeats when one of them led forget what they knew.
    let is_well = || (1..=NODES).all(|at| problems(machines, at).is_empty()).then_some(());
    within(LIMIT, is_well, || format!("no problem: {}", machines.logs()));
}

#[test]
fn heartbeats_that_do_not_come_in_on_one_machine_go_over_the_link() {
    let Some(mut machines) = Machines::new() else { return };
    let led = machines.start();
    machines.lan.drop_udp(led.leader, Direction::In);
    for member in (1..=NODES).filter(|at| *at != led.leader) {
        machines.udp_becomes(led.leader, member, "blocked-in");
        machines.udp_becomes(member, led.leader, "blocked-out");
        told(&machines, member, led.leader);
    }
    stays(&machines, &led);
    let seen = machines.run(led.leader, &["members", "-o", "wide"]);
    let table = String::from_utf8(seen.stdout).unwrap();
    assert_eq!(table.matches("blocked-in").count(), NODES - 1, "{table}");
    machines.lan.let_udp_pass(led.leader, Direction::In);
    recovers(&machines, &led);
}

#[test]
fn heartbeats_that_do_not_go_out_of_one_machine_go_over_the_link() {
    let Some(mut machines) = Machines::new() else { return };
    let led = machines.start();
    let member = led.leader % NODES + 1;
    machines.lan.drop_udp(member, Direction::Out);
    machines.udp_becomes(led.leader, member, "blocked-in");
    machines.udp_becomes(member, led.leader, "blocked-out");
    told(&machines, member, led.leader);
    let other = member % NODES + 1;
    let other = if other == led.leader { other % NODES + 1 } else { other };
    assert_eq!(machines.udp(led.leader, other), "ok", "the third node is not concerned");
    assert!(problems(&machines, other).is_empty());
    stays(&machines, &led);
    machines.lan.let_udp_pass(member, Direction::Out);
    recovers(&machines, &led);
}

#[test]
fn a_group_without_any_udp_stays_whole_and_notices_a_leader_that_hangs() {
    let Some(mut machines) = Machines::new() else { return };
    let all = || (1..=NODES).flat_map(|at| [(at, Direction::In), (at, Direction::Out)]);
    all().for_each(|(at, direction)| machines.lan.drop_udp(at, direction));
    let led = machines.start();
    for member in (1..=NODES).filter(|at| *at != led.leader) {
        machines.udp_becomes(led.leader, member, "blocked");
        machines.udp_becomes(member, led.leader, "blocked");
        told(&machines, member, led.leader);
        told(&machines, led.leader, member);
    }
    stays(&machines, &led);
    machines.agent(led.leader).signal("-STOP");
    let hung = format!("n{}", led.leader);
    for member in (1..=NODES).filter(|at| *at != led.leader) {
        machines.agent(member).when("status", |status| {
            status["role"] != "suspended" && status["leader"]["node"] != *hung
        });
    }
    machines.agent(led.leader).signal("-CONT");
    machines.agreed();
    all().for_each(|(at, direction)| machines.lan.let_udp_pass(at, direction));
    let led = machines.agreed();
    recovers(&machines, &led);
}
