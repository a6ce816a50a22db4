//! A group in which nothing fails: no node suspects another, and the messages are those of the
//! algorithm.

use tanist_core::election::Algorithm;
use tanist_core::trace::{Event, TimerName};
use tanist_sim::scenario::Scenario;
use tanist_sim::studies::run::{Report, run};

fn healthy(algorithm: Algorithm, nodes: u32, end: &str) -> Report {
    let text = format!(
        "name = \"healthy\"\nalgorithm = {:?}\nnodes = {nodes}\nend = {end:?}\n",
        algorithm.name()
    );
    let scenario = Scenario::parse(&text).expect("a scenario without faults");
    run(&scenario, 1)
}

fn suspicions(report: &Report) -> Vec<String> {
    let silent = |event: &Event| matches!(event, Event::Timer { timer: TimerName::Silence, .. });
    let entries = report.recording.entries.iter().filter(|entry| silent(&entry.event));
    entries.map(|entry| format!("{} {:?}", entry.at, entry.event)).collect()
}

#[test]
fn no_node_of_a_healthy_group_suspects_another() {
    for algorithm in Algorithm::ALL.iter().copied() {
        for nodes in [2, 3, 5, 8] {
            let report = healthy(algorithm, nodes, "1s");
            let found = suspicions(&report);
            assert!(found.is_empty(), "{} with {nodes} nodes: {found:?}", algorithm.name());
        }
    }
}

/// All nodes start at once: each asks the higher ones, the highest halts, appoints and hands over;
/// then it checks on the others every 40 ms, counted from the definition that it handed over.
#[test]
fn a_healthy_bully_group_sends_only_its_election_and_its_checks() {
    for n in 2..=9_u64 {
        let asked = n * (n - 1) / 2;
        let election = 2 * asked + 6 * (n - 1);
        let check = 2 * (n - 1);
        let nodes = u32::try_from(n).expect("few nodes");
        for (end, checks) in [("30ms", 0), ("60ms", 1), ("100ms", 2), ("140ms", 3)] {
            let report = healthy(Algorithm::Bully, nodes, end);
            let expected = election + checks * check;
            assert_eq!(report.counts.sent, expected, "{n} nodes until {end}");
        }
    }
}
