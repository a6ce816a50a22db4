//! Listings 10.18 and 10.19: what makes a node call an election.

use super::*;
use crate::membership::NodeId;

/// The highest of three, Normal with both others.
fn coordinator(options: &[(&str, &str)]) -> Bench<Bully> {
    Bench::established(with(3, options), 3, 3)
}

/// Normal with n1 only; n2 is not in the group.
fn coordinator_without_n2(options: &[(&str, &str)]) -> Bench<Bully> {
    Bench::established_among(with(3, options), 3, 3, nodes([1, 3]))
}

const fn silent(node: u32) -> Command {
    Command::Silent(NodeId(node))
}

const fn failed(node: u32) -> Command {
    Command::Failed(NodeId(node))
}

fn is_normal_in(counter: u64, node: u32) -> Message {
    Message::AynAnswer { is_normal: true, group: Some(number(counter, node)) }
}

#[test]
fn a_member_watches_its_coordinator() {
    assert_eq!(member(1, 3).began, ["watch {n3}"]);
}

#[test]
fn a_silent_coordinator_is_probed_once_with_one_wait() {
    let mut bench = member(1, 3);
    assert_eq!(bench.tell(silent(3)), ["send n3 AreYouUp", "set answers 25ms"]);
    assert_eq!(bench.tell(silent(3)), NOTHING);
}

#[test]
fn a_coordinator_that_answers_the_probe_stays() {
    let mut bench = member(1, 3);
    bench.tell(silent(3));
    assert_eq!(bench.receive(3, Message::AyuAnswer { leads: false }), ["cancel answers"]);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {n2 n3}");
}

#[test]
fn an_unanswered_probe_calls_an_election() {
    let mut bench = member(1, 3);
    bench.tell(silent(3));
    let lines = bench.ring(Timer::Answers);
    assert_eq!(lines, ["called", "send n2 AreYouUp", "send n3 AreYouUp", "set answers 25ms"]);
}

#[test]
fn somebody_elses_answer_to_the_probe_does_not_count() {
    let mut bench = member(1, 3);
    bench.tell(silent(3));
    assert_eq!(bench.receive(2, Message::AyuAnswer { leads: false }), NOTHING);
    assert!(bench.is_running(Timer::Answers));
}

#[test]
fn a_coordinator_that_falls_silent_in_reorganization_is_probed() {
    let mut bench = member(1, 3);
    bench.receive(3, enter(2, 3));
    bench.stopped("");
    bench.receive(3, set_coordinator(2, 3));
    assert_eq!(bench.state(), "Reorganization under n3 in 2.n3 with {}");
    assert_eq!(bench.tell(silent(3)), ["send n3 AreYouUp", "set answers 25ms"]);
    assert_eq!(bench.ring(Timer::Answers)[0], "called");
}

#[test]
fn silence_of_somebody_else_means_nothing() {
    let mut bench = member(1, 3);
    assert_eq!(bench.tell(silent(2)), NOTHING);
}

#[test]
fn a_coordinators_own_timeout_does_nothing() {
    let mut bench = coordinator(&[]);
    assert_eq!(bench.tell(silent(3)), NOTHING);
}

#[test]
fn a_halted_node_whose_candidate_is_gone_calls_an_election() {
    let mut bench = member(1, 3);
    bench.receive(3, enter(2, 3));
    bench.stopped("");
    let lines = bench.ring(Timer::Stall);
    assert_eq!(
        lines,
        ["set stall 515ms", "called", "send n2 AreYouUp", "send n3 AreYouUp", "set answers 25ms"]
    );
}

#[test]
fn a_node_that_stays_down_calls_an_election() {
    let mut bench = Bench::<Bully>::coming_up(group(2), 1, None);
    bench.receive(2, Message::AyuAnswer { leads: false });
    assert_eq!(bench.state(), "Down under none in none with {}");
    assert_eq!(sent(bench.ring(Timer::Stall)), ["send n2 AreYouUp"]);
}

#[test]
fn literal_timeout_waits_for_ever_in_election_and_down() {
    let literal = [("timeout", "literal")];
    let mut halted = Bench::<Bully>::established(with(3, &literal), 1, 3);
    halted.receive(3, enter(2, 3));
    halted.stopped("");
    assert!(!halted.is_running(Timer::Stall));
    assert!(!halted.is_running(Timer::Answers));
    let mut down = Bench::<Bully>::coming_up(with(2, &literal), 1, None);
    assert_eq!(
        down.receive(2, Message::AyuAnswer { leads: false }),
        ["ended Yielded", "cancel answers"]
    );
    assert!(!down.is_running(Timer::Stall));
}

#[test]
fn check_asks_every_other_node_and_waits_once() {
    let mut bench = coordinator(&[]);
    assert_eq!(bench.began, ["set check 500ms"]);
    let lines = bench.ring(Timer::Check);
    assert_eq!(
        lines,
        ["set check 500ms", "send n1 AreYouNormal", "send n2 AreYouNormal", "set answers 25ms"]
    );
}

#[test]
fn check_acts_only_on_a_normal_coordinator() {
    assert_eq!(member(1, 3).tell(Command::Check), NOTHING);
    let mut electing = coordinator(&[]);
    electing.tell(Command::Call);
    assert_eq!(electing.tell(Command::Check), NOTHING);
    assert_eq!(sent(appointing(group(3)).tell(Command::Check)), NOTHING);
}

#[test]
fn a_check_that_finds_everybody_normal_changes_nothing() {
    let mut bench = coordinator(&[]);
    bench.ring(Timer::Check);
    bench.receive(1, is_normal_in(1, 3));
    bench.receive(2, is_normal_in(1, 3));
    assert_eq!(bench.ring(Timer::Answers), NOTHING);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {n1 n2}");
}

#[test]
fn a_member_that_does_not_answer_the_check_causes_an_election() {
    let mut bench = coordinator(&[]);
    bench.ring(Timer::Check);
    bench.receive(1, is_normal_in(1, 3));
    assert_eq!(bench.ring(Timer::Answers)[0], "called");
}

#[test]
fn a_member_that_is_not_normal_causes_an_election() {
    let mut bench = coordinator(&[]);
    bench.ring(Timer::Check);
    bench.receive(1, Message::AynAnswer { is_normal: false, group: Some(number(1, 3)) });
    bench.receive(2, is_normal_in(1, 3));
    assert_eq!(bench.ring(Timer::Answers)[0], "called");
}

#[test]
fn a_member_that_is_normal_in_another_group_causes_an_election() {
    let mut bench = coordinator(&[]);
    bench.ring(Timer::Check);
    bench.receive(1, is_normal_in(4, 2));
    bench.receive(2, is_normal_in(1, 3));
    assert_eq!(bench.ring(Timer::Answers)[0], "called");
}

#[test]
fn a_node_outside_the_group_that_is_alive_causes_an_election() {
    for is_normal in [true, false] {
        let mut bench = coordinator_without_n2(&[]);
        bench.ring(Timer::Check);
        bench.receive(1, is_normal_in(1, 3));
        bench.receive(2, Message::AynAnswer { is_normal, group: None });
        assert_eq!(bench.ring(Timer::Answers)[0], "called", "is_normal = {is_normal}");
    }
}

#[test]
fn a_dead_node_outside_the_group_causes_no_election() {
    let mut bench = coordinator_without_n2(&[]);
    bench.ring(Timer::Check);
    bench.receive(1, is_normal_in(1, 3));
    assert_eq!(bench.ring(Timer::Answers), NOTHING);
}

#[test]
fn literal_check_elects_for_a_dead_node_outside_the_group() {
    let mut bench = coordinator_without_n2(&[("check", "literal")]);
    bench.ring(Timer::Check);
    bench.receive(1, is_normal_in(1, 3));
    assert_eq!(bench.ring(Timer::Answers)[0], "called");
}

#[test]
fn evidence_that_the_coordinator_is_dead_calls_an_election_at_once() {
    let mut bench = member(2, 3);
    assert_eq!(bench.tell(failed(3))[0], "called");
    let mut bench = member(2, 3);
    assert_eq!(bench.tell(failed(1)), NOTHING);
}

#[test]
fn evidence_ends_the_wait_for_a_dead_peer() {
    let mut asking = Bench::<Bully>::coming_up(group(3), 2, None);
    assert_eq!(asking.tell(failed(3))[0], "save 1");
    let mut halting = halting(group(3));
    halting.receive(1, ee_answer(1, 3, true));
    assert_eq!(sent(halting.tell(failed(2))), ["send n1 Set_Coordinator 1.n3"]);
    let mut appointing = appointing(group(3));
    appointing.receive(1, sc_answer(1, 3, true));
    assert_eq!(appointing.tell(failed(2))[..2], ["cancel answers", "ended Failed"]);
}

#[test]
fn evidence_shortens_no_wait_that_must_last_for_t() {
    let mut bench = Bench::<Bully>::established(with(3, &[("waits", "full")]), 2, 3);
    assert_eq!(bench.tell(failed(3)), NOTHING);
    let mut bench = halting(with(3, &[("waits", "full")]));
    assert_eq!(bench.tell(failed(2)), NOTHING);
    assert!(bench.is_running(Timer::Answers));
}

#[test]
fn a_nudge_makes_the_receiver_look_after_its_coordinator() {
    let mut member = member(2, 3);
    let lines = member.receive(1, Message::AreYouUp { nudge: true });
    assert_eq!(lines, ["send n1 AYU_answer", "send n3 AreYouUp", "set answers 25ms"]);
    let mut coordinator = coordinator(&[]);
    let lines = coordinator.receive(1, Message::AreYouUp { nudge: true });
    assert_eq!(lines[..2], ["send n1 AYU_answer", "send n1 AreYouNormal"]);
}

#[test]
fn a_candidate_nudges_only_if_it_is_told_to() {
    let quiet = Bench::<Bully>::coming_up(group(2), 1, None);
    assert_eq!(sent(quiet.began), ["send n2 AreYouUp"]);
    let nudging = Bench::<Bully>::coming_up(with(2, &[("nudge", "on")]), 1, None);
    assert_eq!(sent(nudging.began), ["send n2 AreYouUp nudge"]);
}

#[test]
fn a_coordinator_that_restarted_and_does_not_lead_any_more_is_replaced() {
    let mut bench = Bench::<Bully>::established(sticky(3), 1, 3);
    bench.tell(silent(3));
    let lines = sent(bench.receive(3, Message::AyuAnswer { leads: false }));
    assert_eq!(lines, ["send n2 AreYouUp", "send n3 AreYouUp"]);
}

#[test]
fn nodes_without_a_coordinator_do_not_nudge_each_other() {
    let mut bench = Bench::<Bully>::coming_up(sticky(3), 1, None);
    bench.receive(3, Message::AyuAnswer { leads: false });
    assert_eq!(sent(bench.receive(2, Message::AreYouUp { nudge: true })), ["send n2 AYU_answer"]);
}

#[test]
fn a_halted_node_forgets_the_election_of_a_leader_that_does_not_lead_any_more() {
    let mut bench = Bench::<Bully>::established(sticky(4), 1, 2);
    let by_leader = Message::EnterElection { group: number(3, 3), appoints: false, leads: true };
    bench.receive(3, by_leader);
    bench.stopped("");
    assert_eq!(sent(bench.receive(4, enter(2, 4)))[0], "send n4 EE_answer 2.n4 no");
    bench.receive(3, Message::AyuAnswer { leads: false });
    bench.receive(4, enter(3, 4));
    assert_eq!(bench.stopped(""), ["send n4 EE_answer 3.n4 yes"]);
}
