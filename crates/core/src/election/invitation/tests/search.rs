//! Listing 10.23 and its policies: how a coordinator finds other groups.

use super::*;
use crate::dice::Fixed;

#[test]
fn check_asks_every_other_node_whether_it_coordinates() {
    let mut bench = leader(2, [2], group(3));
    let lines = bench.ring(Timer::Check);
    assert_eq!(
        lines,
        [
            "set check 500ms",
            "send n1 AreYouCoordinator",
            "send n3 AreYouCoordinator",
            "set answers 25ms"
        ]
    );
}

#[test]
fn check_acts_only_on_a_normal_coordinator() {
    let mut recovering = Bench::<Invitation>::coming_up(group(3), 2, None);
    assert_eq!(recovering.tell(Command::Check), NOTHING);
    assert_eq!(sent(merging(&[]).tell(Command::Check)), NOTHING);
    assert_eq!(sent(member(1, 3).tell(Command::Check)), ["send n3 AreYouThere 1.n3"]);
}

#[test]
fn only_a_normal_coordinator_says_that_it_is_one() {
    let mut coordinator = leader(2, [2], group(3));
    assert_eq!(coordinator.receive(1, query()), ["send n1 AYC_answer yes"]);
    assert_eq!(merging(&[]).receive(1, query()), ["send n1 AYC_answer no try n3"]);
    let mut recovering = Bench::<Invitation>::coming_up(group(3), 2, None);
    assert_eq!(recovering.receive(1, query()), ["send n1 AYC_answer no try n2"]);
}

#[test]
fn a_participant_names_its_coordinator() {
    let mut bench = member(1, 3);
    assert_eq!(bench.receive(2, query()), ["send n2 AYC_answer no try n3"]);
}

#[test]
fn a_check_that_finds_no_other_coordinator_ends() {
    let mut bench = leader(3, [3], group(3));
    bench.tell(Command::Check);
    bench.receive(1, no(2));
    assert_eq!(bench.receive(2, no(2)), ["cancel answers"]);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {}");
    assert!(!bench.is_running(Timer::Delay));
}

#[test]
fn a_node_that_does_not_answer_is_left_out_and_nothing_follows_from_it() {
    let mut bench = leader(3, [1, 3], group(3));
    bench.tell(Command::Check);
    assert_eq!(bench.ring(Timer::Answers), NOTHING);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {n1}");
}

#[test]
fn only_those_that_said_yes_are_merged() {
    let mut bench = leader(4, [4], group(4));
    bench.tell(Command::Check);
    bench.receive(1, yes(1));
    bench.receive(2, no(1));
    let lines = bench.ring(Timer::Answers);
    assert_eq!(sent(lines), ["send n1 Invitation 2.n4"]);
}

#[test]
fn a_late_answer_to_an_earlier_check_is_harmless() {
    let mut bench = leader(3, [3], group(3));
    bench.tell(Command::Check);
    bench.ring(Timer::Answers);
    assert_eq!(bench.receive(1, yes(1)), NOTHING);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {}");
}

#[test]
fn a_doubled_answer_does_not_end_the_check() {
    let mut bench = leader(3, [3], group(3));
    bench.tell(Command::Check);
    bench.receive(1, yes(1));
    assert_eq!(bench.receive(1, yes(1)), NOTHING);
    assert!(bench.is_running(Timer::Answers));
}

#[test]
fn the_highest_node_merges_without_delay() {
    let mut bench = leader(3, [3], group(3));
    bench.dice = Fixed(15);
    bench.tell(Command::Check);
    bench.receive(1, yes(1));
    let lines = bench.receive(2, yes(2));
    assert_eq!(sent(lines), ["send n1 Invitation 2.n3", "send n2 Invitation 2.n3"]);
}

#[test]
fn the_delay_grows_with_the_number_of_nodes_above_and_has_a_random_part() {
    for (me, face, delay) in [
        (3, 0, "set delay 45ms"),
        (2, 0, "set delay 90ms"),
        (1, 0, "set delay 135ms"),
        (3, 8, "set delay 75ms"),
    ] {
        let mut bench = leader(me, [me], group(4));
        bench.dice = Fixed(face);
        bench.tell(Command::Check);
        bench.receive(4, yes(4));
        assert_eq!(bench.ring(Timer::Answers), [delay], "n{me}, face {face}");
    }
}

#[test]
fn after_the_delay_the_groups_found_are_invited() {
    let mut bench = leader(2, [2], group(3));
    bench.tell(Command::Check);
    bench.receive(1, no(3));
    bench.receive(3, yes(3));
    assert_eq!(sent(bench.ring(Timer::Delay)), ["send n3 Invitation 2.n2"]);
}

#[test]
fn a_node_that_is_invited_during_its_delay_gives_up_its_merge() {
    let mut bench = leader(2, [2], group(3));
    bench.tell(Command::Check);
    bench.receive(1, no(3));
    bench.receive(3, yes(3));
    assert!(bench.is_running(Timer::Delay));
    bench.receive(3, invitation(4, 3));
    assert!(!bench.is_running(Timer::Delay));
    assert_eq!(bench.state(), "Election under n3 in 4.n3 with {}");
}

#[test]
fn policy_ignore_lower_leaves_the_query_of_a_lower_coordinator_unanswered() {
    let config = with(3, &[("policy", "ignore-lower")]);
    let mut bench = leader(2, [2], config.clone());
    assert_eq!(bench.receive(1, query()), NOTHING);
    assert_eq!(bench.receive(3, query()), ["send n3 AYC_answer yes"]);
    let mut member = Bench::<Invitation>::established(config, 2, 3);
    assert_eq!(member.receive(1, query()), ["send n1 AYC_answer no try n3"]);
}

#[test]
fn policy_prompted_merges_a_lower_coordinator_that_asks() {
    let mut highest = leader(3, [3], with(3, &[("policy", "prompted")]));
    let lines = highest.receive(1, query());
    assert_eq!(sent(lines), ["send n1 AYC_answer yes", "send n1 Invitation 2.n3"]);
    let mut middle = leader(2, [2], with(3, &[("policy", "prompted")]));
    let lines = middle.receive(1, query());
    assert_eq!(sent(lines), ["send n1 AYC_answer yes", "send n1 Invitation 2.n2"]);
}

#[test]
fn policy_prompted_notes_a_caller_while_it_checks() {
    let mut bench = leader(3, [3], with(3, &[("policy", "prompted")]));
    bench.tell(Command::Check);
    bench.receive(1, query());
    assert_eq!(sent(bench.ring(Timer::Answers)), ["send n1 Invitation 2.n3"]);
}

#[test]
fn policies_prompted_and_only_lower_leave_higher_coordinators_out() {
    for policy in ["prompted", "only-lower"] {
        let mut bench = leader(2, [2], with(3, &[("policy", policy)]));
        bench.tell(Command::Check);
        bench.receive(1, no(3));
        assert_eq!(bench.receive(3, yes(3)), ["cancel answers"], "{policy}");
        assert!(!bench.is_running(Timer::Delay), "{policy}");
    }
}

#[test]
fn policy_only_lower_merges_lower_coordinators_without_delay() {
    let mut bench = leader(2, [2], with(3, &[("policy", "only-lower")]));
    bench.tell(Command::Check);
    bench.receive(3, yes(3));
    assert_eq!(sent(bench.receive(1, yes(1))), ["send n1 Invitation 2.n2"]);
}

#[test]
fn with_full_waits_a_check_collects_for_t() {
    let mut bench = leader(2, [2], with(2, &[("waits", "full")]));
    bench.tell(Command::Check);
    assert_eq!(bench.receive(1, yes(1)), NOTHING);
    assert_eq!(sent(bench.ring(Timer::Answers)), ["send n1 Invitation 2.n2"]);
}
