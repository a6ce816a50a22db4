//! Listings 10.24, 10.25 and the answers of 10.28: coordinators and members that have failed.

use super::*;

fn ayt_answer(counter: u64, node: u32, ok: bool) -> Message {
    Message::AytAnswer { group: number(counter, node), ok }
}

fn ask(counter: u64, node: u32) -> Message {
    Message::AreYouThere { group: number(counter, node) }
}

#[test]
fn a_node_that_comes_up_forms_a_group_of_one() {
    let mut bench = Bench::<Invitation>::coming_up(group(3), 2, Some(Counter(4)));
    assert_eq!(bench.began, ["called", "save 5", "watch {}", "stop"]);
    assert_eq!(bench.state(), "Election under n2 in 5.n2 with {}");
    assert_eq!(bench.stopped("mine"), ["form 5.n2 with {} n2:mine"]);
    assert_eq!(bench.state(), "Reorganization under n2 in 5.n2 with {}");
    assert_eq!(bench.tell(settled([2])), ["ended Won", "set check 0ns", "watch {}"]);
    assert_eq!(bench.state(), "Normal under n2 in 5.n2 with {}");
}

#[test]
fn a_lone_node_searches_for_company() {
    let mut bench = Bench::<Invitation>::coming_up(group(2), 2, None);
    bench.stopped("");
    bench.tell(settled([2]));
    assert_eq!(sent(bench.ring(Timer::Check)), ["send n1 AreYouCoordinator"]);
}

#[test]
fn a_counter_in_memory_is_never_saved_and_starts_again() {
    let config = with(2, &[("counter", "volatile")]);
    let first = Bench::<Invitation>::coming_up(config.clone(), 1, None);
    let second = Bench::<Invitation>::coming_up(config, 1, None);
    assert!(!first.began.iter().any(|line| line.starts_with("save")), "{:?}", first.began);
    assert_eq!(first.state(), second.state());
}

#[test]
fn a_member_asks_its_coordinator_from_time_to_time() {
    let mut bench = member(1, 3);
    assert!(bench.is_running(Timer::Timeout));
    let lines = bench.ring(Timer::Timeout);
    assert_eq!(lines, ["set timeout 250ms", "send n3 AreYouThere 1.n3", "set answers 25ms"]);
}

#[test]
fn a_coordinator_that_is_taken_for_silent_is_asked_at_once() {
    let mut bench = member(1, 3);
    let lines = bench.tell(Command::Silent(NodeId(3)));
    assert_eq!(lines, ["send n3 AreYouThere 1.n3", "set answers 25ms"]);
    assert_eq!(member(1, 3).tell(Command::Silent(NodeId(2))), NOTHING);
}

#[test]
fn a_coordinators_own_timeout_does_nothing() {
    let mut bench = leader(3, [1, 2, 3], group(3));
    assert!(!bench.is_running(Timer::Timeout));
    assert_eq!(bench.tell(Command::Silent(NodeId(3))), NOTHING);
}

#[test]
fn are_you_there_is_answered_yes_only_to_a_member_about_this_group() {
    let mut bench = leader(3, [1, 3], group(3));
    assert_eq!(bench.receive(1, ask(1, 3)), ["send n1 AYT_answer 1.n3 yes"]);
    assert_eq!(bench.receive(1, ask(9, 3)), ["send n1 AYT_answer 9.n3 no"]);
    assert_eq!(bench.receive(2, ask(1, 3)), ["send n2 AYT_answer 1.n3 no"]);
    assert_eq!(member(1, 3).receive(2, ask(1, 3)), ["send n2 AYT_answer 1.n3 no"]);
}

#[test]
fn a_coordinator_that_is_there_stays() {
    let mut bench = member(1, 3);
    bench.ring(Timer::Timeout);
    assert_eq!(bench.receive(3, ayt_answer(1, 3, true)), ["cancel answers"]);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {n2 n3}");
}

#[test]
fn a_coordinator_that_disowns_a_member_makes_it_recover() {
    let mut bench = member(1, 3);
    bench.ring(Timer::Timeout);
    let lines = bench.receive(3, ayt_answer(1, 3, false));
    assert_eq!(lines, ["cancel answers", "cancel timeout", "called", "save 1", "watch {}", "stop"]);
    assert_eq!(bench.state(), "Election under n1 in 1.n1 with {}");
}

#[test]
fn an_answer_about_another_group_or_from_another_node_is_not_taken() {
    let mut bench = member(1, 3);
    bench.ring(Timer::Timeout);
    assert_eq!(bench.receive(3, ayt_answer(9, 3, false)), NOTHING);
    assert_eq!(bench.receive(2, ayt_answer(1, 3, false)), NOTHING);
    assert!(bench.is_running(Timer::Answers));
}

#[test]
fn without_reinvitation_a_lost_coordinator_leads_to_a_group_of_one() {
    let config = with(3, &[("reinvite", "off")]);
    let mut bench = Bench::<Invitation>::established(config, 2, 3);
    bench.ring(Timer::Timeout);
    let lines = bench.ring(Timer::Answers);
    assert_eq!(sent(lines), NOTHING);
    assert_eq!(bench.state(), "Election under n2 in 1.n2 with {}");
}

#[test]
fn the_highest_member_invites_the_others_when_the_coordinator_is_gone() {
    let mut bench = member(2, 3);
    bench.ring(Timer::Timeout);
    let lines = bench.ring(Timer::Answers);
    assert_eq!(sent(lines), ["send n1 Invitation 1.n2"]);
    assert_eq!(bench.state(), "Election under n2 in 1.n2 with {}");
}

#[test]
fn lower_members_leave_the_reinvitation_to_higher_ones_for_a_while() {
    let mut bench = member(1, 4);
    bench.ring(Timer::Timeout);
    assert_eq!(bench.ring(Timer::Answers), ["set delay 90ms"]);
    let lines = bench.ring(Timer::Delay);
    assert_eq!(sent(lines), ["send n2 Invitation 1.n1", "send n3 Invitation 1.n1"]);
}

#[test]
fn a_reinvitation_that_comes_first_is_accepted() {
    let mut bench = member(1, 4);
    bench.ring(Timer::Timeout);
    bench.ring(Timer::Answers);
    bench.receive(3, invitation(1, 3));
    assert!(!bench.is_running(Timer::Delay));
    assert_eq!(bench.state(), "Election under n3 in 1.n3 with {}");
}

#[test]
fn evidence_that_the_coordinator_is_dead_is_as_good_as_no_answer() {
    let mut bench = member(2, 3);
    assert_eq!(sent(bench.tell(Command::Failed(NodeId(3)))), ["send n1 Invitation 1.n2"]);
}

#[test]
fn a_coordinator_watches_its_members_and_forms_the_group_again_without_a_silent_one() {
    let mut bench = leader(3, [1, 2, 3], group(3));
    assert_eq!(bench.began[0], "watch {n1 n2}");
    let lines = bench.tell(Command::Silent(NodeId(1)));
    assert_eq!(sent(lines), ["send n2 Invitation 2.n3"]);
    assert_eq!(bench.state(), "Election under n3 in 2.n3 with {}");
}

#[test]
fn literal_silence_watches_nobody() {
    let bench = leader(3, [1, 2, 3], with(3, &[("silence", "literal")]));
    assert_eq!(bench.began[0], "watch {}");
}

#[test]
fn a_story_does_not_call_a_routine_question_a_suspicion() {
    let text = crate::trace::TimerName::Timeout.info().text;
    assert_eq!(text, "asks its coordinator, as it does every period");
}
