//! The engine against the plainest possible search, and against itself on more threads.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use tanist_check::{Assumption, Bounds, Exploration, KeepsTrace, Limit, Model, Order, explore_on};
use tanist_sim::Scenario;

const BOUNDS: Bounds = Bounds { counter: 2, ..Bounds::USUAL };

fn pair(algorithm: &str) -> Scenario {
    let text = format!(
        "name = \"check\"\nalgorithm = \"{algorithm}\"\nnodes = 2\nend = \"1s\"\n\
         [[group]]\ncoordinator = 2\nmembers = [1]\n"
    );
    Scenario::parse(&text).expect("the text above is a scenario")
}

fn on_threads(
    jobs: usize,
    scenario: &Scenario,
    assumption: Assumption,
    bounds: &Bounds,
) -> Exploration {
    let jobs = NonZeroUsize::new(jobs).expect("at least one thread");
    explore_on(jobs, scenario, assumption, bounds, &mut |_| {})
}

/// The numbers of states and steps, found with whole worlds and a set of fingerprints.
fn plainly(scenario: &Scenario, assumption: Assumption, bounds: &Bounds) -> (usize, usize) {
    let first = Model::new(scenario, assumption, bounds, KeepsTrace::No);
    let mut seen = BTreeSet::from([first.fingerprint()]);
    let mut steps = 0;
    let mut open = vec![first];
    while let Some(model) = open.pop() {
        for (_, next) in model.successors() {
            steps += 1;
            let ends = !next.violated(bounds).is_empty() || next.is_beyond(bounds.counter);
            if seen.insert(next.fingerprint()) && !ends {
                open.push(next);
            }
        }
    }
    (seen.len(), steps)
}

#[test]
fn a_plain_search_finds_the_same_situations_and_steps() {
    let lossy = Bounds { recoveries: 0, losses: 1, duplicates: 1, ..BOUNDS };
    let fifo = Bounds { order: Order::Fifo, counter: 3, ..BOUNDS };
    for (algorithm, assumption, bounds) in [
        ("bully", Assumption::As1, BOUNDS),
        ("bully", Assumption::As2, Bounds { crashes: 0, early_timers: 0, ..lossy }),
        ("bully-lecture", Assumption::As1, BOUNDS),
        ("bully-lecture", Assumption::As2, lossy),
        ("invitation", Assumption::As0, BOUNDS),
        ("ring-active-list", Assumption::As0, fifo),
    ] {
        let scenario = pair(algorithm);
        let result = on_threads(2, &scenario, assumption, &bounds);
        let what = format!("{algorithm} under {}", assumption.name());
        assert!(result.is_complete, "{what}");
        let plain = plainly(&scenario, assumption, &bounds);
        assert_eq!((result.states, result.transitions), plain, "{what}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let bounds = Bounds { crashes: 0, losses: 1, ..BOUNDS };
    let told = |result: &Exploration| {
        let found: Vec<_> = result
            .found
            .iter()
            .map(|found| (found.violated.assertion, found.run.clone()))
            .collect();
        let counts = (result.states, result.transitions, result.depth, result.at_bound);
        (counts, result.good, result.unsure, result.is_complete, found)
    };
    let scenario = pair("bully");
    let alone = told(&on_threads(1, &scenario, Assumption::As2, &bounds));
    assert!(alone.0.0 > 4096, "more than one batch is needed: {alone:?}");
    assert!(!alone.4.is_empty(), "nothing is violated: {alone:?}");
    for jobs in [2, 3, 8] {
        assert_eq!(told(&on_threads(jobs, &scenario, Assumption::As2, &bounds)), alone);
    }
}

#[test]
fn a_search_that_is_full_stops_at_the_same_situation_on_any_number_of_threads() {
    let bounds = Bounds { counter: 4, states: 9000, ..BOUNDS };
    let scenario = pair("invitation");
    let alone = on_threads(1, &scenario, Assumption::As2, &bounds);
    let together = on_threads(3, &scenario, Assumption::As2, &bounds);
    assert!(!alone.is_complete && alone.states > 9000);
    assert_eq!((alone.states, alone.transitions), (together.states, together.transitions));
}

#[test]
fn a_search_ends_at_its_limit_and_says_at_which() {
    let scenario = pair("invitation");
    let ended = |bounds| {
        let result = on_threads(1, &scenario, Assumption::As2, &bounds);
        assert!(!result.is_complete && result.depth_complete <= result.depth);
        (result.limit, result.depth_complete)
    };
    assert_eq!(ended(Bounds { depth: 5, ..BOUNDS }), (Some(Limit::Depth), 5));
    assert_eq!(ended(Bounds { states: 9000, ..BOUNDS }).0, Some(Limit::States));
    // One byte is less than any process occupies, so the search ends after its first batch.
    assert_eq!(ended(Bounds { memory: Some(1), ..BOUNDS }), (Some(Limit::Memory), 1));
}

#[test]
fn a_link_that_keeps_its_order_has_fewer_runs() {
    let scenario = pair("ring-active-list");
    let any = Bounds { counter: 2, ..BOUNDS };
    let fifo = Bounds { order: Order::Fifo, ..any };
    let states = |bounds| on_threads(2, &scenario, Assumption::As0, bounds).states;
    assert!(states(&fifo) < states(&any));
}

#[test]
fn a_doubled_message_is_a_fault_with_a_budget() {
    let once = Bounds { crashes: 0, ..BOUNDS };
    let twice = Bounds { duplicates: 1, ..once };
    let scenario = pair("bully-lecture");
    let states = |bounds| on_threads(2, &scenario, Assumption::As2, bounds).states;
    assert!(states(&twice) > states(&once));
    // Where links are reliable no message is duplicated.
    let reliable = |bounds| on_threads(2, &scenario, Assumption::As1, bounds).states;
    assert_eq!(reliable(&twice), reliable(&once));
}
