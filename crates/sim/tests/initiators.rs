//! G-11: the result does not depend on which nodes called. Every set of live nodes, every set of
//! callers.

use tanist_core::{NodeId, Time};
use tanist_sim::world::faults::{Action, Fault, Moment};
use tanist_sim::{Scenario, run};

const RANKED: [&str; 8] = [
    "bully",
    "bully-lecture",
    "ring-chang-roberts",
    "ring-modified",
    "ring-list",
    "ring-active-list",
    "ring-peterson",
    "ring-hirschberg-sinclair",
];

#[test]
fn whoever_calls_the_best_live_node_wins() {
    for algorithm in RANKED {
        for nodes in 2..=4_u32 {
            for dead in 0..(1_u32 << nodes) - 1 {
                let live = ((1 << nodes) - 1) & !dead;
                for callers in (1..=live).filter(|callers| callers & !live == 0) {
                    check(algorithm, nodes, dead, callers);
                }
            }
        }
    }
}

/// All nodes follow the highest; some crash, some of the others call an election.
fn check(algorithm: &str, nodes: u32, dead: u32, callers: u32) {
    let members: Vec<String> = (1..nodes).map(|node| node.to_string()).collect();
    let text = format!(
        "name = \"callers\"\nalgorithm = \"{algorithm}\"\nnodes = {nodes}\nend = \"2s\"\n\
         [[group]]\ncoordinator = {nodes}\nmembers = [{}]\n",
        members.join(", ")
    );
    let mut scenario = Scenario::parse(&text).expect("the text above is a scenario");
    let is_in = |set: u32, node: u32| set & (1 << (node - 1)) != 0;
    let mut fault = |at, action| {
        scenario.faults.push(Fault { moment: Moment::At(Time::from_micros(at)), action });
    };
    for node in (1..=nodes).filter(|node| is_in(dead, *node)) {
        fault(1000, Action::Crash(NodeId(node)));
    }
    for node in (1..=nodes).filter(|node| is_in(callers, *node)) {
        fault(2000, Action::Call(NodeId(node)));
    }
    let report = run(&scenario, 1);
    let best = (1..=nodes).rev().find(|node| !is_in(dead, *node));
    let what = format!("{algorithm}, {nodes} nodes, dead {dead:b}, callers {callers:b}");
    for node in report.nodes.iter().filter(|node| node.status != "Crashed") {
        assert_eq!((node.status.as_str(), node.coordinator), ("Normal", best), "{what}: {node:?}");
    }
    assert_eq!(report.violated().count(), 0, "{what}");
}
