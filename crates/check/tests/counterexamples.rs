//! Every counterexample of the theory that needs no clock is found with the literal options, at its
//! exact length; its scenario file replays it; and the defaults hold within the same bounds.
//!
//! CE-I2, CE-I3 and CE-I6 are about periods, phases and links, which an exploration does not have.
//! They are kept as scenarios that a clock drives.

use tanist_check::{Assumption, Beginning, Bounds, CheckReport, CheckSpec, Order, Shows, Verdict};
use tanist_core::election::Algorithm;
use tanist_sim::{Scenario, run};

/// Checks a spec with options as in `a=b c=d`.
fn check(spec: &CheckSpec, options: &str) -> CheckReport {
    let mut spec = spec.clone();
    spec.options = options
        .split_whitespace()
        .map(|pair| pair.split_once('=').expect("an option is NAME=VALUE"))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    spec.run(&mut |_| {}).expect("the spec is valid")
}

/// The literal options violate this assertion after so many steps; the defaults violate nothing.
fn is_found(spec: &CheckSpec, literal: &str, id: &str, steps: usize) {
    let report = check(spec, literal);
    let name = format!("{} {literal} {}", spec.algorithm.name(), spec.assumption.name());
    assert_eq!(lengths(&report, id), Some(steps), "{name}: {:?}", report.properties);
    replays(&report, id, &name);
    let default = check(spec, "");
    assert!(!default.has(Verdict::Violated), "{name}, default: {:?}", default.properties);
}

fn lengths(report: &CheckReport, id: &str) -> Option<usize> {
    report.property(id).and_then(|property| property.trace_length)
}

/// The scenario file of the counterexample violates the same assertion.
fn replays(report: &CheckReport, id: &str, name: &str) {
    let example = report.counterexample.as_ref().expect("what is violated has an example");
    let text = example.scenario.to_text();
    let read = Scenario::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    assert_eq!(read, example.scenario, "{name}: the file reads back as it was written");
    assert_eq!(read.steps.len(), example.run.len(), "{name}");
    let replayed = run(&read, read.seed);
    assert_eq!(replayed.surprises, [] as [String; 0], "{name}\n{text}");
    let mut violated = replayed.violated().map(|judged| judged.assertion);
    assert!(violated.any(|assertion| assertion == id), "{name}: {id} is not violated\n{text}");
}

fn spec(algorithm: Algorithm, nodes: u32, assumption: Assumption) -> CheckSpec {
    let bounds = Bounds { early_timers: 0, counter: 2, ..Bounds::USUAL };
    CheckSpec { nodes, assumption, bounds, ..CheckSpec::new(algorithm) }
}

#[test]
fn ce_b1_a_probed_coordinator_dies_and_its_asker_stays_down() {
    let mut pair = spec(Algorithm::Bully, 2, Assumption::As1);
    pair.bounds = Bounds { crashes: 2, ..Bounds::USUAL };
    is_found(&pair, "timeout=literal", "A-2", 3);
}

#[test]
fn ce_b2_a_dead_node_makes_an_election_every_period() {
    let mut three = spec(Algorithm::Bully, 3, Assumption::As0);
    three.bounds = Bounds { counter: 3, require_within_counter: true, ..three.bounds };
    is_found(&three, "check=literal", "A-2", 26);
    // Not even twice as many numbers are enough.
    three.bounds.counter = 6;
    assert!(check(&three, "check=literal").has(Verdict::Violated));
}

#[test]
fn ce_b3_two_coordinators_when_waits_run_out_early() {
    let mut pair = spec(Algorithm::Bully, 2, Assumption::As2);
    pair.bounds = Bounds { crashes: 0, counter: 2, ..Bounds::USUAL };
    let report = check(&pair, "");
    assert_eq!(lengths(&report, "A-1.1"), Some(3));
    replays(&report, "A-1.1", "CE-B3");
    // The cause is the assumption, not an option.
    pair.assumption = Assumption::As1r;
    assert!(!check(&pair, "").has(Verdict::Violated));
}

#[test]
fn ce_b4_halting_and_appointing_in_one_round() {
    let mut three = spec(Algorithm::Bully, 3, Assumption::As1);
    three.bounds.depth = 9;
    is_found(&three, "rounds=merged", "A-1.1", 9);
}

#[test]
fn ce_b5_the_last_candidate_is_obeyed_after_a_recovery() {
    let three = spec(Algorithm::Bully, 3, Assumption::As1);
    is_found(&three, "halted=last", "A-1.1", 14);
}

#[test]
fn ce_b6_a_member_is_counted_that_sits_in_election() {
    let three = spec(Algorithm::Bully, 3, Assumption::As1);
    is_found(&three, "halted=last answers=literal", "I-51", 14);
}

#[test]
fn ce_i1_an_accept_that_is_not_confirmed_leaves_its_sender_in_reorganization() {
    let mut pair = spec(Algorithm::Invitation, 2, Assumption::As2);
    pair.beginning = Beginning::Apart;
    pair.bounds = Bounds { crashes: 0, losses: 1, early_timers: 1, counter: 2, ..Bounds::USUAL };
    is_found(&pair, "recovery=literal", "A-4", 4);
}

#[test]
fn ce_i4_a_volatile_counter_names_two_groups_alike() {
    let mut pair = spec(Algorithm::Invitation, 2, Assumption::As1);
    pair.beginning = Beginning::Apart;
    pair.bounds.counter = 4;
    is_found(&pair, "counter=volatile", "I-07", 3);
    assert_eq!(lengths(&check(&pair, "counter=volatile"), "A-3.2"), Some(7));
}

#[test]
fn ce_i5_a_definition_that_overtakes_the_confirmation_dissolves_the_group() {
    let mut pair = spec(Algorithm::Invitation, 2, Assumption::As0);
    pair.beginning = Beginning::Apart;
    pair.bounds = Bounds { crashes: 0, require_within_counter: true, ..pair.bounds };
    is_found(&pair, "joining=literal", "A-4", 6);
    // It can happen every time, and not at all where links keep their order.
    pair.bounds.counter = 6;
    assert_eq!(lengths(&check(&pair, "joining=literal"), "A-4"), Some(28));
    pair.bounds.order = Order::Fifo;
    assert!(!check(&pair, "joining=literal").has(Verdict::Violated));
}

#[test]
fn ce_l1_the_lower_wins_when_the_answer_is_late() {
    let mut pair = spec(Algorithm::BullyLecture, 2, Assumption::As2);
    pair.bounds = Bounds { crashes: 0, ..Bounds::USUAL };
    let report = check(&pair, "");
    assert_eq!(lengths(&report, "G-14"), Some(2));
    replays(&report, "G-14", "CE-L1");
    pair.assumption = Assumption::As1r;
    assert!(!check(&pair, "").has(Verdict::Violated));
}

#[test]
fn ce_l2_the_announcement_of_a_replacement_comes_last() {
    let mut three = spec(Algorithm::BullyLecture, 3, Assumption::As1);
    three.bounds = Bounds::USUAL;
    is_found(&three, "numbers=off", "G-15", 8);
}

#[test]
fn ce_l3_a_node_that_cannot_hear_the_winner_never_knows() {
    let mut three = spec(Algorithm::BullyLecture, 3, Assumption::As0);
    three.bounds = Bounds { crashes: 0, ..Bounds::USUAL };
    three.cuts = vec![(1, 3)];
    let report = check(&three, "");
    assert_eq!(lengths(&report, "G-16"), Some(1));
    assert!(report.counterexample.as_ref().is_some_and(|example| example.shows == Shows::Trap));
    replays(&report, "G-16", "CE-L3");
    three.cuts.clear();
    assert!(!check(&three, "").has(Verdict::Violated));
}

#[test]
fn ce_r1_the_winner_dies_and_everybody_waits() {
    let pair = spec(Algorithm::RingChangRoberts, 2, Assumption::As0);
    is_found(&pair, "orphans=literal", "A-2", 6);
}

#[test]
fn ce_r2_equal_attributes_make_two_coordinators() {
    let mut three = spec(Algorithm::RingChangRoberts, 3, Assumption::As0);
    three.priorities = vec![7, 7, 9];
    three.bounds = Bounds { early_timers: 1, counter: 2, depth: 6, ..Bounds::USUAL };
    is_found(&three, "ties=attribute", "A-1.1", 3);
}

#[test]
fn ce_r3_two_lists_elect_two() {
    let mut three = spec(Algorithm::RingList, 3, Assumption::As0);
    three.bounds.depth = 8;
    is_found(&three, "concurrent=all confirmation=literal", "A-1.1", 7);
}

#[test]
fn ce_r4_a_list_whose_initiator_died() {
    let pair = spec(Algorithm::RingModified, 2, Assumption::As0);
    is_found(&pair, "orphans=literal", "A-2", 4);
}

#[test]
fn ce_r5_a_name_overtakes_another() {
    let mut three = spec(Algorithm::RingActiveList, 3, Assumption::As0);
    three.priorities = vec![1, 9, 2];
    three.bounds = Bounds { crashes: 0, depth: 9, ..three.bounds };
    is_found(&three, "order=literal", "A-1.1", 8);
}
