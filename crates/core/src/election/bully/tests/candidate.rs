//! Listing 10.20: the election procedure, round by round.

use super::*;

#[test]
fn a_recovering_node_is_down_and_calls_an_election() {
    let bench = Bench::<Bully>::coming_up(group(3), 2, None);
    let began = ["called", "send n3 AreYouUp", "set answers 25ms", "set vet 25ms"];
    assert_eq!(bench.began, began);
    assert_eq!(bench.state(), "Down under none in none with {}");
}

#[test]
fn a_higher_answer_ends_the_attempt_without_changing_state() {
    let mut bench = member(2, 3);
    let before = bench.state();
    bench.tell(Command::Call);
    assert_eq!(
        bench.receive(3, Message::AyuAnswer { leads: false }),
        ["ended Yielded", "cancel answers"]
    );
    assert_eq!(bench.state(), before);
    assert_eq!(before, "Normal under n3 in 1.n3 with {n1 n3}");
}

#[test]
fn the_higher_node_is_waited_for_and_not_commanded() {
    let mut bench = Bench::<Bully>::coming_up(group(3), 2, None);
    let lines = bench.receive(3, Message::AyuAnswer { leads: false });
    assert_eq!(lines, ["ended Yielded", "set stall 515ms", "cancel answers"]);
    assert_eq!(bench.state(), "Down under none in none with {}");
}

#[test]
fn an_answer_of_a_node_that_was_not_asked_ends_nothing() {
    let mut bench = Bench::<Bully>::coming_up(group(3), 2, None);
    assert_eq!(bench.receive(1, Message::AyuAnswer { leads: false }), NOTHING);
    assert!(bench.is_running(Timer::Answers));
}

#[test]
fn when_nobody_higher_answers_everybody_lower_is_halted() {
    let mut bench = Bench::<Bully>::coming_up(group(4), 3, None);
    let lines = bench.ring(Timer::Answers);
    assert_eq!(
        lines,
        [
            "save 1",
            "cancel vet",
            "watch {}",
            "stop",
            "send n1 Enter_Election 1.n3",
            "send n2 Enter_Election 1.n3",
            "set answers 25ms",
        ]
    );
    assert_eq!(bench.state(), "Election under none in 1.n3 with {}");
    assert_eq!(bench.machine.halted.map(|halted| halted.group), Some(number(1, 3)));
}

#[test]
fn a_coordinator_that_elects_again_forgets_its_old_members() {
    let mut bench = Bench::<Bully>::established(group(3), 3, 3);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {n1 n2}");
    bench.tell(Command::Call);
    assert_eq!(bench.state(), "Election under none in 2.n3 with {}");
}

#[test]
fn the_highest_node_asks_nobody() {
    let bench = Bench::<Bully>::coming_up(group(3), 3, None);
    let sent = sent(bench.began);
    assert_eq!(sent, ["send n1 Enter_Election 1.n3", "send n2 Enter_Election 1.n3"]);
}

#[test]
fn all_four_rounds_lead_to_normal() {
    let mut bench = halting(group(3));
    assert_eq!(bench.receive(1, ee_answer(1, 3, true)), NOTHING);
    assert_eq!(bench.receive(2, ee_answer(1, 3, true)), APPOINTMENTS);
    assert_eq!(bench.state(), "Reorganization under n3 in 1.n3 with {n1 n2}");
    assert_eq!(bench.receive(1, sc_answer(1, 3, true)), NOTHING);
    let lines = bench.receive(2, sc_answer(1, 3, true));
    assert_eq!(lines, ["cancel answers", "form 1.n3 with {n1 n2}"]);
    assert_eq!(bench.state(), "Reorganization under n3 in 1.n3 with {n1 n2}");
    assert_eq!(bench.tell(settled([1, 2, 3])), ["ended Won", "set check 475ms"]);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {n1 n2}");
}

#[test]
fn only_nodes_that_answered_in_time_are_in_up() {
    let mut bench = halting(group(4));
    bench.receive(1, ee_answer(1, 4, true));
    bench.receive(3, ee_answer(1, 4, true));
    let lines = bench.ring(Timer::Answers);
    assert_eq!(sent(lines), ["send n1 Set_Coordinator 1.n4", "send n3 Set_Coordinator 1.n4"]);
    assert_eq!(bench.state(), "Reorganization under n4 in 1.n4 with {n1 n3}");
    assert_eq!(bench.receive(2, ee_answer(1, 4, true)), NOTHING);
    assert_eq!(bench.state(), "Reorganization under n4 in 1.n4 with {n1 n3}");
}

#[test]
fn nobody_is_appointed_before_the_own_application_has_stopped() {
    let mut bench = Bench::<Bully>::coming_up(group(2), 2, None);
    assert_eq!(bench.receive(1, ee_answer(1, 2, true)), NOTHING);
    assert_eq!(bench.state(), "Election under none in 1.n2 with {n1}");
    assert_eq!(bench.stopped("")[0], "send n1 Set_Coordinator 1.n2");
}

#[test]
fn a_node_without_company_coordinates_itself() {
    let mut bench = halting(group(1));
    assert_eq!(bench.state(), "Reorganization under n1 in 1.n1 with {}");
    assert_eq!(bench.tell(settled([1])), ["ended Won", "set check 475ms"]);
    assert_eq!(bench.state(), "Normal under n1 in 1.n1 with {}");
}

#[test]
fn the_reports_of_halted_nodes_reach_the_formation() {
    let mut bench = Bench::<Bully>::coming_up(group(2), 2, None);
    bench.stopped("mine");
    let report = Report::from("theirs");
    bench.receive(1, Message::EeAnswer { group: number(1, 2), ok: true, report });
    let lines = bench.receive(1, sc_answer(1, 2, true));
    assert_eq!(lines[1], "form 1.n2 with {n1} n2:mine n1:theirs");
}

#[test]
fn an_answer_to_another_election_is_not_counted() {
    let mut bench = Bench::<Bully>::coming_up(group(2), 2, Some(Counter(5)));
    bench.stopped("");
    assert_eq!(bench.receive(1, ee_answer(5, 2, true)), NOTHING);
    assert_eq!(bench.state(), "Election under none in 6.n2 with {}");
    bench.receive(1, ee_answer(6, 2, true));
    assert_eq!(bench.receive(1, sc_answer(5, 2, true)), NOTHING);
    assert!(!bench.receive(1, sc_answer(6, 2, true)).is_empty());
}

#[test]
fn a_doubled_answer_counts_once() {
    let mut bench = halting(group(3));
    bench.receive(1, ee_answer(1, 3, true));
    assert_eq!(bench.receive(1, ee_answer(1, 3, true)), NOTHING);
    bench.receive(2, ee_answer(1, 3, true));
    bench.receive(2, sc_answer(1, 3, true));
    assert_eq!(bench.receive(2, sc_answer(1, 3, true)), NOTHING);
    assert_eq!(bench.state(), "Reorganization under n3 in 1.n3 with {n1 n2}");
    assert!(bench.is_running(Timer::Answers));
}

#[test]
fn a_member_that_does_not_answer_set_coordinator_starts_the_election_over() {
    let mut bench = appointing(group(3));
    bench.receive(1, sc_answer(1, 3, true));
    let lines = bench.ring(Timer::Answers);
    assert_eq!(lines[..3], ["ended Failed", "called", "save 2"]);
    assert_eq!(bench.state(), "Election under none in 2.n3 with {}");
    let sent = sent(lines);
    assert_eq!(sent, ["send n1 Enter_Election 2.n3", "send n2 Enter_Election 2.n3"]);
}

#[test]
fn a_refused_set_coordinator_starts_the_election_over() {
    let mut bench = appointing(group(3));
    bench.receive(1, sc_answer(1, 3, false));
    let lines = bench.receive(2, sc_answer(1, 3, true));
    assert_eq!(lines[..3], ["cancel answers", "ended Failed", "called"]);
}

#[test]
fn a_member_that_does_not_take_the_definition_starts_the_election_over() {
    let mut bench = appointing(group(3));
    bench.receive(1, sc_answer(1, 3, true));
    bench.receive(2, sc_answer(1, 3, true));
    let lines = bench.tell(Command::Unsettled { missing: nodes([2]) });
    assert_eq!(lines[..3], ["ended Failed", "called", "save 2"]);
}

#[test]
fn repeated_failures_back_off() {
    let mut bench = halting(group(2));
    for (counter, pause) in [(1, None), (2, Some("set retry 25ms")), (3, Some("set retry 50ms"))] {
        bench.stopped("");
        bench.receive(1, ee_answer(counter, 2, true));
        let lines = bench.ring(Timer::Answers);
        assert_eq!(lines[0], "ended Failed");
        match pause {
            None => assert_eq!(lines[1], "called"),
            Some(pause) => {
                assert_eq!(lines[1..], [pause]);
                assert_eq!(bench.ring(Timer::Retry)[0], "called");
            }
        }
    }
}

#[test]
fn a_call_while_an_own_election_runs_does_nothing() {
    let mut bench = Bench::<Bully>::coming_up(group(3), 2, None);
    assert_eq!(bench.tell(Command::Call), NOTHING);
    bench.ring(Timer::Answers);
    assert_eq!(bench.tell(Command::Call), NOTHING);
    bench.stopped("");
    bench.receive(1, ee_answer(1, 2, true));
    assert_eq!(bench.tell(Command::Call), NOTHING);
    bench.receive(1, sc_answer(1, 2, true));
    assert_eq!(bench.tell(Command::Call), NOTHING);
}

#[test]
fn anybody_may_call_an_election() {
    let mut bench = member(1, 3);
    let lines = bench.tell(Command::Call);
    assert_eq!(lines, ["called", "send n2 AreYouUp", "send n3 AreYouUp", "set answers 25ms"]);
}

#[test]
fn the_counter_is_on_disk_before_anybody_hears_of_it() {
    let mut bench = Bench::<Bully>::coming_up(group(3), 2, Some(Counter(7)));
    let lines = bench.ring(Timer::Answers);
    let save = lines.iter().position(|line| line == "save 8").unwrap();
    let first = lines.iter().position(|line| line.contains("8.n2")).unwrap();
    assert!(save < first, "{lines:?}");
}

#[test]
fn a_restarted_node_goes_on_counting_where_its_disk_left_off() {
    let bench = Bench::<Bully>::coming_up(group(2), 2, Some(Counter(41)));
    assert_eq!(bench.state(), "Election under none in 42.n2 with {}");
}

#[test]
fn a_higher_candidate_that_started_late_is_obeyed_when_nobody_else_answers() {
    let mut late = Bench::<Bully>::coming_up(sticky(3), 1, None);
    // n3 was asked before it could answer; n2 may be up, and lead.
    assert_eq!(late.receive(3, enter(1, 3)), NOTHING);
    late.ring(Timer::Answers);
    assert_eq!(late.state(), "Election under none in 1.n3 with {}");
}
