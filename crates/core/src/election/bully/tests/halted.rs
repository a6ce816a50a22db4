//! Listing 10.21: the monitor, which answers requests whatever task the node has.

use super::*;

/// Normal under n3 of three, then halted by n3's second election and stopped.
fn halted_by_n3() -> Bench<Bully> {
    let mut bench = member(1, 3);
    bench.receive(3, enter(2, 3));
    bench.stopped("");
    assert_eq!(bench.state(), "Election under none in 2.n3 with {}");
    bench
}

#[test]
fn enter_election_stops_before_it_answers() {
    let mut bench = member(1, 3);
    assert_eq!(bench.receive(3, enter(2, 3)), ["set stall 515ms", "watch {}", "yield"]);
    assert_eq!(bench.state(), "Election under none in 2.n3 with {}");
    assert_eq!(bench.machine.halted.map(|halted| halted.group), Some(number(2, 3)));
    assert_eq!(bench.stopped("half"), ["send n3 EE_answer 2.n3 yes half"]);
    assert_eq!(bench.state(), "Election under none in 2.n3 with {}");
}

#[test]
fn enter_election_draws_a_node_out_of_down() {
    let mut bench = Bench::<Bully>::coming_up(group(3), 1, None);
    bench.receive(3, Message::AyuAnswer { leads: false });
    bench.receive(3, enter(1, 3));
    assert_eq!(bench.state(), "Election under none in 1.n3 with {}");
}

#[test]
fn enter_election_aborts_an_own_election() {
    let mut bench = Bench::<Bully>::coming_up(group(3), 2, None);
    bench.ring(Timer::Answers);
    bench.stopped("");
    let lines = bench.receive(3, enter(1, 3));
    assert_eq!(lines, ["ended Yielded", "cancel answers", "set stall 515ms", "watch {}", "yield"]);
    assert_eq!(bench.receive(1, ee_answer(1, 2, true)), NOTHING);
    assert_eq!(bench.stopped(""), ["send n3 EE_answer 1.n3 yes"]);
    assert_eq!(bench.state(), "Election under none in 1.n3 with {}");
}

#[test]
fn enter_election_unseats_a_coordinator_that_is_being_made() {
    let mut bench = Bench::<Bully>::coming_up(group(3), 2, None);
    bench.ring(Timer::Answers);
    bench.stopped("");
    bench.receive(1, ee_answer(1, 2, true));
    assert_eq!(bench.state(), "Reorganization under n2 in 1.n2 with {n1}");
    assert_eq!(bench.receive(3, enter(1, 3))[0], "ended Yielded");
    assert_eq!(bench.state(), "Election under none in 1.n3 with {}");
    assert_eq!(bench.receive(1, sc_answer(1, 2, true)), NOTHING);
}

#[test]
fn enter_election_of_a_lower_node_is_ignored() {
    let mut bench = member(2, 3);
    assert_eq!(bench.receive(1, enter(9, 1)), NOTHING);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {n1 n3}");
}

#[test]
fn enter_election_that_was_overtaken_by_a_newer_one_is_ignored() {
    let mut bench = halted_by_n3();
    assert_eq!(bench.receive(3, enter(1, 3)), NOTHING);
    assert_eq!(bench.state(), "Election under none in 2.n3 with {}");
}

#[test]
fn the_last_of_two_candidates_that_halt_a_node_while_it_stops_gets_the_answer() {
    let mut bench = member(1, 3);
    bench.receive(2, enter(1, 2));
    bench.receive(3, enter(2, 3));
    assert_eq!(bench.stopped(""), ["send n3 EE_answer 2.n3 yes"]);
}

#[test]
fn set_coordinator_of_the_halting_candidate_is_obeyed() {
    let mut bench = halted_by_n3();
    let lines = bench.receive(3, set_coordinator(2, 3));
    assert_eq!(
        lines,
        ["cancel stall", "join 2.n3 under n3", "watch {n3}", "send n3 SC_answer 2.n3 yes"]
    );
    assert_eq!(bench.state(), "Reorganization under n3 in 2.n3 with {}");
    assert_eq!(bench.tell(settled([1, 3])), NOTHING);
    assert_eq!(bench.state(), "Normal under n3 in 2.n3 with {n3}");
}

#[test]
fn set_coordinator_from_another_candidate_is_refused() {
    let mut bench = halted_by_n3();
    assert_eq!(bench.receive(2, set_coordinator(1, 2)), ["send n2 SC_answer 1.n2 no"]);
    assert_eq!(bench.state(), "Election under none in 2.n3 with {}");
}

#[test]
fn set_coordinator_on_behalf_of_another_is_refused() {
    let mut bench = halted_by_n3();
    assert_eq!(bench.receive(2, set_coordinator(2, 3)), ["send n2 SC_answer 2.n3 no"]);
    assert_eq!(bench.state(), "Election under none in 2.n3 with {}");
}

#[test]
fn set_coordinator_of_an_older_election_is_refused() {
    let mut bench = halted_by_n3();
    assert_eq!(bench.receive(3, set_coordinator(1, 3)), ["send n3 SC_answer 1.n3 no"]);
}

#[test]
fn set_coordinator_outside_an_election_is_refused() {
    let mut bench = member(1, 3);
    assert_eq!(bench.receive(3, set_coordinator(1, 3)), ["send n3 SC_answer 1.n3 no"]);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {n2 n3}");
}

#[test]
fn set_coordinator_is_refused_while_the_application_still_works() {
    let mut bench = member(1, 3);
    bench.receive(3, enter(2, 3));
    assert_eq!(bench.receive(3, set_coordinator(2, 3)), ["send n3 SC_answer 2.n3 no"]);
    assert_eq!(bench.stopped(""), ["send n3 EE_answer 2.n3 yes"]);
}

#[test]
fn are_you_up_is_answered_in_every_state_and_changes_none() {
    let answers_as = |bench: &mut Bench<Bully>, status: &str| {
        let before = bench.machine.clone();
        assert_eq!(bench.receive(1, probe()), ["send n1 AYU_answer"]);
        assert_eq!(bench.machine, before);
        assert!(bench.state().starts_with(status), "{}", bench.state());
    };
    let mut candidate = Bench::<Bully>::coming_up(group(3), 2, None);
    answers_as(&mut candidate, "Down");
    candidate.ring(Timer::Answers);
    answers_as(&mut candidate, "Election");
    candidate.stopped("");
    candidate.receive(1, ee_answer(1, 2, true));
    answers_as(&mut candidate, "Reorganization");
    answers_as(&mut member(2, 3), "Normal");
}

#[test]
fn are_you_normal_is_answered_with_the_truth() {
    let mut bench = member(1, 3);
    let ask = || Message::AreYouNormal;
    assert_eq!(bench.receive(3, ask()), ["send n3 AYN_answer 1.n3 yes"]);
    bench.receive(3, enter(2, 3));
    assert_eq!(bench.receive(3, ask()), ["send n3 AYN_answer 2.n3 no"]);
    bench.stopped("");
    bench.receive(3, set_coordinator(2, 3));
    assert_eq!(bench.receive(3, ask()), ["send n3 AYN_answer 2.n3 no"]);
    bench.tell(settled([1, 2, 3]));
    assert_eq!(bench.receive(3, ask()), ["send n3 AYN_answer 2.n3 yes"]);
}

#[test]
fn queries_are_answered_while_the_election_waits() {
    let mut bench = halting(group(3));
    assert_eq!(bench.receive(1, probe()), ["send n1 AYU_answer"]);
    assert_eq!(bench.receive(2, Message::AreYouNormal), ["send n2 AYN_answer 1.n3 no"]);
    bench.receive(1, ee_answer(1, 3, true));
    assert_eq!(bench.receive(2, ee_answer(1, 3, true)), APPOINTMENTS);
}

#[test]
fn a_lower_candidate_is_refused_while_the_higher_one_is_not_suspected() {
    let mut bench = halted_by_n3();
    let lines = bench.receive(2, enter(1, 2));
    assert_eq!(lines, ["send n2 EE_answer 1.n2 no", "send n3 AreYouUp", "set answers 25ms"]);
    assert_eq!(bench.machine.halted.map(|halted| halted.group), Some(number(2, 3)));
    assert_eq!(bench.receive(3, Message::AyuAnswer { leads: false }), ["cancel answers"]);
    assert_eq!(bench.receive(2, enter(2, 2))[0], "send n2 EE_answer 2.n2 no");
}

#[test]
fn a_lower_candidate_is_obeyed_once_the_higher_one_is_suspected() {
    let mut bench = halted_by_n3();
    bench.receive(2, enter(1, 2));
    bench.ring(Timer::Answers);
    bench.receive(2, enter(2, 2));
    assert_eq!(bench.stopped(""), ["send n2 EE_answer 2.n2 yes"]);
    assert_eq!(bench.machine.halted.map(|halted| halted.group), Some(number(2, 2)));
}

#[test]
fn a_higher_candidate_replaces_a_lower_one() {
    let mut bench = member(1, 3);
    bench.receive(2, enter(1, 2));
    bench.stopped("");
    bench.receive(3, enter(2, 3));
    assert_eq!(bench.stopped(""), ["send n3 EE_answer 2.n3 yes"]);
    assert_eq!(bench.receive(2, set_coordinator(1, 2)), ["send n2 SC_answer 1.n2 no"]);
}

#[test]
fn a_refused_candidate_gives_up_and_tries_again_later() {
    let mut bench = Bench::<Bully>::coming_up(group(3), 2, None);
    bench.ring(Timer::Answers);
    bench.stopped("");
    let lines = bench.receive(1, ee_answer(1, 2, false));
    assert_eq!(lines[..2], ["ended Yielded", "cancel answers"]);
    assert!(bench.is_running(Timer::Retry));
    let lines = bench.ring(Timer::Retry);
    assert_eq!(sent(lines), ["send n3 AreYouUp"]);
}

#[test]
fn a_doubled_enter_election_does_not_unsettle_a_node_that_has_joined() {
    let mut bench = halted_by_n3();
    bench.receive(3, Message::SetCoordinator { group: number(2, 3) });
    assert_eq!(bench.receive(3, enter(2, 3)), NOTHING);
    bench.tell(settled([1, 2, 3]));
    assert_eq!(bench.receive(3, enter(2, 3)), NOTHING);
    assert_eq!(bench.state(), "Normal under n3 in 2.n3 with {n2 n3}");
}

#[test]
fn a_halted_node_that_is_told_to_suspect_calls_an_election() {
    let mut bench = halted_by_n3();
    let lines = bench.tell(Command::Suspect);
    assert_eq!(lines[0], "called");
}
