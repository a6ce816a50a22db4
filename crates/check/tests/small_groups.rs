//! Small groups explored to the end, with exact counts: a silent change of a model fails here.

use tanist_check::{
    Assumption, Beginning, Bounds, CheckReport, CheckSpec, Exploration, Property, Verdict, explore,
    replay,
};
use tanist_core::election::Algorithm;
use tanist_core::trace::Event;
use tanist_sim::Scenario;

const BOUNDS: Bounds = Bounds::USUAL;

fn group(algorithm: &str, nodes: u32, options: &str) -> Scenario {
    let members: Vec<String> = (1..nodes).map(|node| node.to_string()).collect();
    let text = format!(
        "name = \"check\"\nalgorithm = \"{algorithm}\"\nnodes = {nodes}\nend = \"1s\"\n\
         [options]\n{options}\n[[group]]\ncoordinator = {nodes}\nmembers = [{}]\n",
        members.join(", ")
    );
    Scenario::parse(&text).expect("the text above is a scenario")
}

fn all_of(scenario: &Scenario, assumption: Assumption, bounds: &Bounds) -> Exploration {
    explore(scenario, assumption, bounds, &mut |_| {})
}

fn assert_holds(algorithm: &str, nodes: u32, assumption: Assumption, states: usize) {
    let result = all_of(&group(algorithm, nodes, ""), assumption, &BOUNDS);
    let what = format!("{algorithm}, {nodes} nodes, {}", assumption.name());
    assert!(result.found.is_empty(), "{what}: {:?}", result.found);
    assert!(result.is_complete, "{what}");
    assert!(result.stuck.is_none(), "{what}: {:?}", result.stuck);
    assert_eq!(
        result.unsure, 0,
        "{what}: a good state is reached within the bounds from every state"
    );
    assert!(result.has_elections, "{what}: no election was decided");
    assert_eq!(result.states, states, "{what}");
}

#[test]
fn bully_holds_its_assertions_in_small_groups() {
    assert_holds("bully", 2, Assumption::As0, 38);
    assert_holds("bully", 3, Assumption::As0, 862);
    assert_holds("bully", 2, Assumption::As1, 1599);
}

#[test]
fn lecture_bully_holds_its_assertions_in_small_groups() {
    assert_holds("bully-lecture", 2, Assumption::As0, 46);
    assert_holds("bully-lecture", 3, Assumption::As0, 3405);
    assert_holds("bully-lecture", 2, Assumption::As1, 184);
}

#[test]
fn invitation_holds_its_assertions_in_a_pair() {
    let bounds = Bounds { counter: 3, ..BOUNDS };
    let result = all_of(&group("invitation", 2, ""), Assumption::As0, &bounds);
    assert!(result.found.is_empty(), "{:?}", result.found);
    assert!(result.is_complete && result.stuck.is_none());
    assert_eq!(result.unsure, 0);
    assert_eq!(result.states, 4683);
}

#[test]
fn invitation_holds_its_assertions_among_three_that_can_rely_on_nothing() {
    let bounds = Bounds { crashes: 0, early_timers: 0, counter: 2, ..BOUNDS };
    let result = all_of(&group("invitation", 3, ""), Assumption::As2, &bounds);
    assert!(result.found.is_empty(), "{:?}", result.found);
    assert!(result.is_complete && result.stuck.is_none() && result.has_elections);
    assert_eq!((result.states, result.unsure), (132_732, 0));
}

#[test]
fn agreement_can_be_reached_from_everywhere_once_nothing_fails_any_more() {
    let faults = Bounds { losses: 1, early_timers: 0, counter: 2, ..BOUNDS };
    let mut pair = CheckSpec { bounds: faults, ..CheckSpec::new(Algorithm::Invitation) };
    (pair.assumption, pair.beginning) = (Assumption::As3, Beginning::Apart);
    let calm = Bounds { crashes: 0, ..faults };
    let three = CheckSpec { nodes: 3, bounds: calm, ..pair.clone() };
    for (spec, states) in [(pair, 2696), (three, 35_830)] {
        let report = spec.run(&mut |_| {}).expect("the spec is valid");
        let property = report.property("A-4").expect("it is checked");
        assert_eq!(property.verdict, Verdict::Holds, "{}", property.why);
        assert_eq!(report.exploration.states, states);
        assert!(
            report.exploration.at_bound > 0,
            "some good states are reached only beyond the bound"
        );
    }
}

/// No reachable node is suspected: then every run agrees before it needs a third number.
#[test]
fn a_ring_of_four_agrees_at_once_after_a_crash() {
    for (algorithm, states) in [
        (Algorithm::RingChangRoberts, 8316),
        (Algorithm::RingModified, 4995),
        (Algorithm::RingList, 4995),
        (Algorithm::RingActiveList, 78_864),
    ] {
        let bounds = Bounds { early_timers: 0, counter: 2, require_within_counter: true, ..BOUNDS };
        let spec = CheckSpec { nodes: 4, bounds, ..CheckSpec::new(algorithm) };
        assert_all_hold(&spec, states);
    }
}

#[test]
fn a_ring_of_two_holds_its_assertions_with_a_recovery() {
    for (algorithm, states, within_counter) in [
        (Algorithm::RingChangRoberts, 127_738, 6720),
        (Algorithm::RingModified, 84_492, 5232),
        (Algorithm::RingList, 84_492, 5232),
        (Algorithm::RingActiveList, 62_276, 3173),
    ] {
        let bounds = Bounds { early_timers: 0, counter: 3, ..BOUNDS };
        let pair = CheckSpec { assumption: Assumption::As1, bounds, ..CheckSpec::new(algorithm) };
        assert_all_hold(&pair, states);
        let bounds = Bounds { early_timers: 0, require_within_counter: true, ..BOUNDS };
        assert_all_hold(&CheckSpec { bounds, ..pair }, within_counter);
    }
}

#[test]
fn two_groups_of_two_have_their_super_peers() {
    let bounds = Bounds { early_timers: 0, counter: 6, ..BOUNDS };
    let mut spec = CheckSpec { nodes: 4, bounds, ..CheckSpec::new(Algorithm::SuperPeer) };
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    spec.options = vec![option("max", "2"), option("min", "1")];
    let report = assert_all_hold(&spec, 21_559);
    assert_eq!(report.exploration.at_bound, 0, "no run needs a seventh number");
    spec.bounds.require_within_counter = true;
    assert_all_hold(&spec, 17_481);
}

fn assert_all_hold(spec: &CheckSpec, states: usize) -> CheckReport {
    let report = spec.run(&mut |_| {}).expect("the spec is valid");
    let is_well =
        |property: &&Property| [Verdict::Holds, Verdict::Reached].contains(&property.verdict);
    let unwell: Vec<&Property> =
        report.properties.iter().filter(|property| !is_well(property)).collect();
    assert!(unwell.is_empty(), "{spec:?}: {unwell:?}");
    assert_eq!(report.exploration.states, states, "{spec:?}");
    report
}

#[test]
fn the_printed_timeout_leaves_a_node_down_for_ever() {
    // CE-B1: node 1 recovers, node 2 answers its probe and crashes.
    let scenario = group("bully", 2, "timeout = \"literal\"");
    let bounds = Bounds { crashes: 2, ..BOUNDS };
    let result = all_of(&scenario, Assumption::As1, &bounds);
    let run = result.stuck.expect("a state that can reach no good state");
    assert_eq!(run.len(), 3);
    let trace = replay(&scenario, Assumption::As1, &bounds, &run).expect("the run is kept");
    let crashes = trace.entries.iter().filter(|entry| matches!(entry.event, Event::Crash { .. }));
    assert_eq!(crashes.count(), 2);
    let default = all_of(&group("bully", 2, ""), Assumption::As1, &bounds);
    assert!(default.stuck.is_none() && default.is_complete);
}

#[test]
fn obeying_the_last_candidate_is_unsafe_after_a_recovery() {
    // CE-B5: random runs rarely find it; a shortest run has fourteen steps.
    let scenario = group("bully", 3, "halted = \"last\"");
    let bounds = Bounds { counter: 2, depth: 14, ..BOUNDS };
    let result = all_of(&scenario, Assumption::As1, &bounds);
    let found: Vec<_> =
        result.found.iter().map(|found| (found.violated.assertion, found.run.len())).collect();
    assert_eq!(found, [("A-1.1", 14)]);
    let default = all_of(&group("bully", 3, ""), Assumption::As1, &bounds);
    assert!(default.found.is_empty(), "{:?}", default.found);
    assert!(!default.is_complete, "fourteen steps are not all there are");
}

#[test]
fn a_member_that_forgot_who_halted_it_vets_the_lower_candidate() {
    // Without vetting (decision 0017) the fifteenth step violates.
    let bounds =
        Bounds { crashes: 2, recoveries: 2, early_timers: 0, counter: 2, depth: 15, ..BOUNDS };
    let result = all_of(&group("bully", 3, ""), Assumption::As1, &bounds);
    assert!(result.found.is_empty(), "{:?}", result.found);
    assert!(!result.is_complete, "fifteen steps are not all there are");
}

#[test]
fn bully_has_two_coordinators_as_soon_as_a_wait_runs_out_early() {
    // CE-B3: suspicion, and two waits that time out although the answer is in flight.
    let bounds = Bounds { crashes: 0, counter: 2, ..BOUNDS };
    let result = all_of(&group("bully", 2, ""), Assumption::As2, &bounds);
    let found = result.found.iter().find(|found| found.violated.assertion == "A-1.1");
    assert_eq!(found.map(|found| found.run.len()), Some(3));
}
