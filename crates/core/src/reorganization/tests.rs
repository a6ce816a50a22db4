//! The hand-over layer on the test bench, state by state.

use super::*;
use crate::election::Algorithm;
use crate::testing::{Bench, NOTHING, group_of, nodes, number};

fn working() -> Bench<Reorganization> {
    working_with(&[])
}

fn working_with(options: &[(&str, &str)]) -> Bench<Reorganization> {
    let config = group_of(Algorithm::Bully, 3, options);
    Bench::begun(config, 1, |_, _| Reorganization::established(Definition::from("old"), false))
}

fn stopped(bench: &mut Bench<Reorganization>) {
    bench.tell(Command::Stop);
    bench.tell(Command::Stopped(Report::from("half")));
}

/// Stopped, and told to wait for the definition of 2.n3.
fn following(bench: &mut Bench<Reorganization>) {
    stopped(bench);
    let join = Command::Join { group: number(2, 3), coordinator: NodeId(3) };
    assert_eq!(bench.tell(join), NOTHING);
}

fn new_state(counter: u64, node: u32) -> Message {
    Message::NewState {
        group: number(counter, node),
        members: nodes([1, 2, 3]),
        definition: Definition::from("new"),
    }
}

fn answer(counter: u64, ok: bool) -> Message {
    Message::NewStateAnswer { group: number(counter, 1), ok }
}

fn formation() -> Formation {
    Formation {
        group: number(2, 1),
        members: nodes([2, 3]),
        reports: alloc::vec![(NodeId(2), Report::from("two"))],
        is_strict: true,
        waits_full: false,
    }
}

fn define(counter: u64) -> Command {
    Command::Define { group: number(counter, 1), definition: Definition::from("new") }
}

/// A coordinator whose definition is on its way to n2 and n3.
fn handing(formation: Formation) -> Bench<Reorganization> {
    let mut bench = working();
    stopped(&mut bench);
    bench.tell(Command::Form(formation));
    bench.tell(define(2));
    bench
}

#[test]
fn stop_closes_the_gate_before_the_application_has_drained() {
    let mut bench = working();
    assert!(bench.machine.is_accepting());
    assert_eq!(bench.tell(Command::Stop), ["stop"]);
    assert!(!bench.machine.is_accepting());
    assert_eq!(bench.tell(Command::Stop), NOTHING);
    let drained = Command::Stopped(Report::from("half"));
    assert_eq!(bench.tell(drained), ["stopped half"]);
    assert!(!bench.machine.is_accepting());
}

#[test]
fn an_application_that_has_not_run_since_is_not_stopped_again() {
    let mut bench = working();
    stopped(&mut bench);
    assert_eq!(bench.tell(Command::Stop), ["stopped half"]);
    let mut fresh = Bench::<Reorganization>::coming_up(group_of(Algorithm::Bully, 3, &[]), 1, None);
    assert_eq!(fresh.tell(Command::Stop), ["stopped"]);
}

#[test]
fn an_application_that_stops_unasked_is_not_heard() {
    let mut bench = working();
    assert_eq!(bench.tell(Command::Stopped(Report::from("why"))), NOTHING);
    assert!(bench.machine.is_accepting());
}

#[test]
fn the_coordinators_definition_is_taken_and_answered() {
    let mut bench = working();
    following(&mut bench);
    let lines = bench.receive(3, new_state(2, 3));
    assert_eq!(
        lines,
        [
            "begin 2.n3 under n3 of {n1 n2 n3}: new",
            "settled {n1 n2 n3}",
            "send n3 NS_answer 2.n3 yes",
        ]
    );
    assert!(bench.machine.is_accepting());
    assert_eq!(bench.machine.definition(), Some(&Definition::from("new")));
}

#[test]
fn a_definition_from_somebody_else_or_for_another_group_is_refused() {
    let mut bench = working();
    following(&mut bench);
    assert_eq!(bench.receive(2, new_state(2, 3)), ["send n2 NS_answer 2.n3 no"]);
    assert_eq!(bench.receive(3, new_state(1, 3)), ["send n3 NS_answer 1.n3 no"]);
    assert_eq!(bench.machine.definition(), Some(&Definition::from("old")));
    assert!(!bench.machine.is_accepting());
}

#[test]
fn a_definition_outside_reorganization_is_refused() {
    let mut normal = working();
    assert_eq!(normal.receive(3, new_state(2, 3)), ["send n3 NS_answer 2.n3 no"]);
    let mut halted_again = working();
    following(&mut halted_again);
    halted_again.tell(Command::Stop);
    assert_eq!(halted_again.receive(3, new_state(2, 3)), ["send n3 NS_answer 2.n3 no"]);
    assert_eq!(halted_again.machine.definition(), Some(&Definition::from("old")));
}

#[test]
fn a_doubled_definition_is_taken_once() {
    let mut bench = working();
    following(&mut bench);
    bench.receive(3, new_state(2, 3));
    assert_eq!(bench.receive(3, new_state(2, 3)), ["send n3 NS_answer 2.n3 no"]);
}

#[test]
fn literal_answers_do_not_tell_obeyed_from_ignored() {
    let mut bench = working_with(&[("answers", "literal")]);
    assert_eq!(bench.receive(3, new_state(2, 3)), ["send n3 NS_answer 2.n3 yes"]);
    assert_eq!(bench.machine.definition(), Some(&Definition::from("old")));
}

#[test]
fn a_coordinator_plans_from_the_reports_and_hands_the_definition_out() {
    let mut bench = working();
    stopped(&mut bench);
    let lines = bench.tell(Command::Form(formation()));
    assert_eq!(lines, ["plan 2.n1 for {n1 n2 n3} n2:two"]);
    assert_eq!(
        bench.tell(define(2)),
        [
            "send n2 New_State 2.n1 of {n1 n2 n3}: new",
            "send n3 New_State 2.n1 of {n1 n2 n3}: new",
            "set handover 25ms",
        ]
    );
}

#[test]
fn a_group_has_its_definition_when_all_have_answered() {
    let mut bench = handing(formation());
    assert_eq!(bench.receive(2, answer(2, true)), NOTHING);
    assert_eq!(
        bench.receive(3, answer(2, true)),
        ["cancel handover", "begin 2.n1 under n1 of {n1 n2 n3}: new", "settled {n1 n2 n3}"]
    );
}

#[test]
fn an_answer_counts_once_per_sender_and_only_for_the_current_group() {
    let mut bench = handing(formation());
    bench.receive(2, answer(2, true));
    assert_eq!(bench.receive(2, answer(2, true)), NOTHING);
    assert_eq!(bench.receive(3, answer(1, true)), NOTHING);
    assert_eq!(bench.ring(Handover), ["unsettled, missing {n3}"]);
    assert!(!bench.machine.is_accepting());
}

#[test]
fn a_refusal_counts_as_missing() {
    let mut bench = handing(formation());
    bench.receive(2, answer(2, false));
    let lines = bench.receive(3, answer(2, true));
    assert_eq!(lines, ["cancel handover", "unsettled, missing {n2}"]);
}

#[test]
fn a_lenient_formation_goes_on_without_the_missing() {
    let mut bench = handing(Formation { is_strict: false, ..formation() });
    bench.receive(2, answer(2, true));
    assert_eq!(
        bench.ring(Handover),
        ["begin 2.n1 under n1 of {n1 n2}: new", "settled {n1 n2} without {n3}"]
    );
}

#[test]
fn a_full_wait_lasts_although_all_have_answered() {
    let mut bench = handing(Formation { waits_full: true, ..formation() });
    bench.receive(2, answer(2, true));
    assert_eq!(bench.receive(3, answer(2, true)), NOTHING);
    assert_eq!(bench.ring(Handover).last().unwrap(), "settled {n1 n2 n3}");
}

#[test]
fn a_plan_for_a_group_that_was_given_up_is_for_nobody() {
    let mut bench = working();
    stopped(&mut bench);
    bench.tell(Command::Form(formation()));
    assert_eq!(bench.tell(define(1)), NOTHING);
    bench.tell(Command::Stop);
    assert_eq!(bench.tell(define(2)), NOTHING);
}

#[test]
fn a_group_of_one_needs_no_round() {
    let mut bench = working();
    stopped(&mut bench);
    bench.tell(Command::Form(Formation { members: NodeSet::new(), ..formation() }));
    let lines = bench.tell(define(2));
    assert_eq!(lines, ["begin 2.n1 under n1 of {n1}: new", "settled {n1}"]);
}

#[test]
fn a_coordinator_without_state_opens_the_gate_with_an_empty_definition() {
    let mut bench = working();
    stopped(&mut bench);
    let follow = Command::Follow { group: number(4, 3), coordinator: NodeId(3) };
    assert_eq!(bench.tell(follow), ["begin 4.n3 under n3 of {n1 n3}: "]);
    assert!(bench.machine.is_accepting());
}

#[test]
fn a_coordinator_without_state_waits_until_the_application_has_drained() {
    let mut bench = working();
    bench.tell(Command::Stop);
    let follow = Command::Follow { group: number(4, 3), coordinator: NodeId(3) };
    assert_eq!(bench.tell(follow), NOTHING);
    assert!(!bench.machine.is_accepting());
    let lines = bench.tell(Command::Stopped(Report::default()));
    assert_eq!(lines.last().unwrap(), "begin 4.n3 under n3 of {n1 n3}: ");
}
