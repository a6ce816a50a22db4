//! The options that change the course of an election.

use super::*;

#[test]
fn full_waits_last_for_t_although_all_have_answered() {
    let mut bench = halting(with(3, &[("waits", "full")]));
    bench.receive(1, ee_answer(1, 3, true));
    assert_eq!(bench.receive(2, ee_answer(1, 3, true)), NOTHING);
    assert_eq!(bench.ring(Timer::Answers), APPOINTMENTS);
    bench.receive(1, sc_answer(1, 3, true));
    assert_eq!(bench.receive(2, sc_answer(1, 3, true)), NOTHING);
    assert_eq!(bench.ring(Timer::Answers), ["form 1.n3 with {n1 n2}, in full"]);
}

#[test]
fn descending_halting_asks_the_next_lower_node_when_the_last_has_answered() {
    let mut bench = halting(with(4, &[("halting", "descending")]));
    assert_eq!(sent(bench.began.clone()), ["send n3 Enter_Election 1.n4"]);
    let lines = bench.receive(3, ee_answer(1, 4, true));
    assert_eq!(lines, ["send n2 Enter_Election 1.n4", "set answers 25ms"]);
    assert_eq!(sent(bench.ring(Timer::Answers)), ["send n1 Enter_Election 1.n4"]);
    let lines = bench.receive(1, ee_answer(1, 4, true));
    assert_eq!(sent(lines), ["send n1 Set_Coordinator 1.n4", "send n3 Set_Coordinator 1.n4"]);
}

#[test]
fn descending_halting_with_full_waits_takes_t_for_each_node() {
    let mut bench = halting(with(3, &[("halting", "descending"), ("waits", "full")]));
    assert_eq!(bench.receive(2, ee_answer(1, 3, true)), NOTHING);
    assert_eq!(sent(bench.ring(Timer::Answers)), ["send n1 Enter_Election 1.n3"]);
    assert_eq!(bench.receive(1, ee_answer(1, 3, true)), NOTHING);
    assert_eq!(bench.ring(Timer::Answers), APPOINTMENTS);
}

#[test]
fn halted_last_obeys_a_lower_candidate_as_printed() {
    let mut bench = Bench::<Bully>::established(with(3, &[("halted", "last")]), 1, 3);
    bench.receive(3, enter(2, 3));
    bench.stopped("");
    bench.receive(2, enter(1, 2));
    assert_eq!(bench.stopped(""), ["send n2 EE_answer 1.n2 yes"]);
    assert_eq!(bench.machine.halted.map(|halted| halted.group), Some(number(1, 2)));
    assert_eq!(bench.receive(3, set_coordinator(2, 3)), ["send n3 SC_answer 2.n3 no"]);
}

#[test]
fn lenient_recheck_forms_the_group_without_the_missing_member() {
    let mut bench = appointing(with(3, &[("recheck", "lenient")]));
    bench.receive(1, sc_answer(1, 3, true));
    assert_eq!(bench.ring(Timer::Answers), ["form 1.n3 with {n1}, leniently"]);
    let left_out = Command::Settled { missing: nodes([1]), members: nodes([3]) };
    assert_eq!(bench.tell(left_out), ["ended Won", "set check 475ms"]);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {}");
}

#[test]
fn lenient_recheck_drops_the_report_of_the_missing_member() {
    let mut bench = halting(with(3, &[("recheck", "lenient")]));
    for node in [1, 2] {
        let report = Report::from(if node == 1 { "one" } else { "two" });
        bench.receive(node, Message::EeAnswer { group: number(1, 3), ok: true, report });
    }
    bench.receive(1, sc_answer(1, 3, false));
    let lines = bench.receive(2, sc_answer(1, 3, true));
    assert_eq!(lines[1], "form 1.n3 with {n2} n2:two, leniently");
}

#[test]
fn literal_answers_do_not_tell_obeyed_from_ignored() {
    let mut bench = Bench::<Bully>::established(with(3, &[("answers", "literal")]), 1, 3);
    assert_eq!(bench.receive(2, set_coordinator(9, 2)), ["send n2 SC_answer 9.n2 yes"]);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {n2 n3}");
}

#[test]
fn merged_rounds_appoint_with_enter_election() {
    let mut candidate = halting(with(2, &[("rounds", "merged")]));
    assert_eq!(sent(candidate.began.clone()), ["send n1 Enter_Election 1.n2 appoints"]);
    let lines = candidate.receive(1, ee_answer(1, 2, true));
    assert_eq!(lines, ["cancel answers", "form 1.n2 with {n1}"]);

    let mut halted = Bench::<Bully>::established(with(3, &[("rounds", "merged")]), 1, 3);
    halted.receive(3, Message::EnterElection { group: number(2, 3), appoints: true, leads: false });
    let lines = halted.stopped("");
    assert_eq!(lines.last().unwrap(), "send n3 EE_answer 2.n3 yes");
    assert_eq!(halted.state(), "Reorganization under n3 in 2.n3 with {}");
}
