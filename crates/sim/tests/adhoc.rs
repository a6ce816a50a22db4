//! The ad-hoc algorithms on graphs of many shapes: one leader in each component, whatever happens
//! before the links stop changing.

use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_core::mutant::Mutant;
use tanist_core::trace::Link;
use tanist_core::{NodeId, Time};
use tanist_sim::Scenario;
use tanist_sim::studies::fuzz::judge;
use tanist_sim::world::dice::SeededDice;
use tanist_sim::world::faults::{Action, Fault, Moment};

const ALGORITHMS: [Algorithm; 2] = [Algorithm::AdhocExpandingRing, Algorithm::AdhocDiffusing];

/// Nodes 1 to n that reach each other only along these edges.
fn on(algorithm: Algorithm, nodes: u32, edges: &[(u32, u32)], rest: &str) -> Scenario {
    let text = format!(
        "name = \"adhoc\"\nalgorithm = \"{}\"\nnodes = {nodes}\nend = \"10s\"\n\
         [timing]\nmessage = \"2ms\"\ncheck = \"60ms\"\n\
         [network]\ndelay_min = \"1ms\"\ndelay_max = \"2ms\"\n{rest}",
        algorithm.name(),
    );
    let mut scenario = Scenario::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let cut = Fault { moment: Moment::At(Time::ZERO), action: Action::Cut(missing(nodes, edges)) };
    scenario.faults.insert(0, cut);
    scenario
}

/// Every direction of every link that is not an edge.
fn missing(nodes: u32, edges: &[(u32, u32)]) -> Vec<Link> {
    let pairs = (1..=nodes).flat_map(|from| (1..=nodes).map(move |to| (from, to)));
    pairs
        .filter(|(from, to)| from != to)
        .filter(|(from, to)| !edges.contains(&(*from, *to)) && !edges.contains(&(*to, *from)))
        .map(|(from, to)| Link { from: NodeId(from), to: NodeId(to) })
        .collect()
}

fn line(nodes: u32) -> Vec<(u32, u32)> {
    (1..nodes).map(|node| (node, node + 1)).collect()
}

fn assert_settles(scenario: &Scenario) {
    let outcome = judge(scenario);
    assert!(outcome.failure.is_none(), "{:?}\n{}", outcome.failure, scenario.to_text());
    assert!(outcome.elections > 0, "no node was elected\n{}", scenario.to_text());
}

#[test]
fn a_line_a_star_a_ring_and_a_clique_each_elect_their_best() {
    let star: Vec<_> = (2..=7).map(|node| (1, node)).collect();
    let mut ring = line(7);
    ring.push((7, 1));
    let clique: Vec<_> = (1..=7).flat_map(|a| (1..a).map(move |b| (a, b))).collect();
    for algorithm in ALGORITHMS {
        for edges in [line(7), star.clone(), ring.clone(), clique.clone(), Vec::new()] {
            assert_settles(&on(algorithm, 7, &edges, ""));
        }
    }
}

/// A random world: a graph, crashes, restarts, links that come and go, loss; then a calm phase.
pub(crate) fn storm(algorithm: Algorithm, seed: u64) -> Scenario {
    let mut dice = SeededDice::new(seed);
    let nodes = u32::try_from(2 + dice.below(7)).unwrap_or(2);
    let graph = |dice: &mut SeededDice| -> Vec<(u32, u32)> {
        let share = 1 + dice.below(4);
        let pairs = (1..=nodes).flat_map(|a| (1..a).map(move |b| (b, a)));
        pairs.filter(|(a, b)| b - a == 1 && share > 1 || dice.below(6) < share).collect()
    };
    let rest = match dice.below(3) {
        0 => "",
        1 => "loss = 0.2\nduplicate = 0.1\nfifo = false\n",
        _ => "spike = \"80ms\"\nspikes = 0.1\nrefusals = true\nfifo = false\n",
    };
    let first = graph(&mut dice);
    let mut scenario = on(algorithm, nodes, &first, rest);
    let mut now = Duration::ZERO;
    let mut then = |now, action| {
        scenario.faults.push(Fault { moment: Moment::At(Time::ZERO + now), action });
    };
    for _ in 0..dice.below(16) {
        now += match dice.below(3) {
            0 => dice.between(Duration::ZERO, Duration::from_millis(4)),
            1 => dice.between(Duration::ZERO, Duration::from_millis(40)),
            _ => dice.between(Duration::ZERO, Duration::from_millis(500)),
        };
        let node = NodeId(u32::try_from(1 + dice.below(u64::from(nodes))).unwrap_or(1));
        match dice.below(8) {
            0 => then(now, Action::Crash(node)),
            1 => then(now, Action::CrashAfterEffects(node, 3)),
            2 | 3 => then(now, Action::Restart { node, lost_writes: 0 }),
            4 => then(now, Action::Call(node)),
            5 => then(now, Action::Suspect(node)),
            _ => {
                let edges = graph(&mut dice);
                then(now, Action::Heal(Vec::new()));
                then(now, Action::Cut(missing(nodes, &edges)));
            }
        }
    }
    now += dice.between(Duration::ZERO, Duration::from_millis(300));
    then(now, Action::Calm);
    scenario.end = now + Duration::from_secs(10);
    scenario.seed = seed;
    scenario
}

#[test]
fn whatever_happens_before_the_links_stay_as_they_are() {
    let seeds: u64 = std::env::var("ADHOC_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1500);
    for algorithm in ALGORITHMS {
        let mut elections = 0;
        for seed in 1..=seeds {
            let scenario = storm(algorithm, seed);
            let outcome = judge(&scenario);
            let text = || scenario.to_text();
            assert!(outcome.failure.is_none(), "seed {seed}: {:?}\n{}", outcome.failure, text());
            elections += outcome.elections;
        }
        assert!(elections > seeds, "{}: only {elections} elections", algorithm.name());
    }
}

#[test]
fn every_rule_of_the_ad_hoc_algorithms_is_needed() {
    for (mutant, algorithm) in [
        (Mutant::KEEP_LEADERSHIP, Algorithm::AdhocExpandingRing),
        (Mutant::KEEP_LEADERSHIP, Algorithm::AdhocDiffusing),
        (Mutant::IGNORE_SILENCE, Algorithm::AdhocExpandingRing),
        (Mutant::IGNORE_SILENCE, Algorithm::AdhocDiffusing),
        (Mutant::NEVER_WIDEN, Algorithm::AdhocExpandingRing),
        (Mutant::ACK_BEFORE_CHILDREN, Algorithm::AdhocDiffusing),
        (Mutant::TWO_PARENTS, Algorithm::AdhocDiffusing),
    ] {
        let is_caught = (1..=200).any(|seed| {
            let mut scenario = storm(algorithm, seed);
            scenario.settings.mutant = Some(mutant);
            judge(&scenario).failure.is_some()
        });
        assert!(is_caught, "{} survives with {}", mutant.name(), algorithm.name());
    }
}
