//! One node of the lectures' bully on the test bench, state by state.

use alloc::string::String;
use alloc::vec::Vec;

use super::{BullyLecture, Message, Timer};
use crate::election::{Algorithm, Command};
use crate::group::Counter;
use crate::membership::NodeId;
use crate::testing::TestGroup;
use crate::testing::{Bench, NOTHING, group_of, number};

fn group(n: u32) -> TestGroup {
    with(n, &[])
}

fn with(n: u32, options: &[(&str, &str)]) -> TestGroup {
    group_of(Algorithm::BullyLecture, n, options)
}

/// A node that has long followed the highest one.
fn follower(me: u32, n: u32) -> Bench<BullyLecture> {
    Bench::established(group(n), me, n)
}

const fn silent(node: u32) -> Command {
    Command::Silent(NodeId(node))
}

fn coordinator(counter: u64, node: u32) -> Message {
    Message::Coordinator { number: number(counter, node), replaces: None }
}

/// The lines that send something.
fn sent(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().filter(|line| line.starts_with("send")).collect()
}

#[test]
fn election_messages_go_to_higher_nodes_and_to_no_other() {
    let mut bench = follower(2, 4);
    let lines = bench.tell(silent(4));
    assert_eq!(
        lines,
        ["called", "watch {}", "yield", "send n3 election", "send n4 election", "set answers 25ms"]
    );
}

#[test]
fn a_node_that_joins_an_election_has_elected_nobody() {
    let mut bench = follower(2, 4);
    assert_eq!(bench.state(), "Normal under n4 in 1.n4 with {}");
    bench.tell(silent(4));
    assert_eq!(bench.state(), "Election under none in 1.n4 with {}");
}

#[test]
fn silence_of_somebody_else_means_nothing() {
    assert_eq!(follower(1, 3).tell(silent(2)), NOTHING);
    let mut incumbent = follower(3, 3);
    assert_eq!(incumbent.tell(silent(3)), NOTHING);
}

#[test]
fn evidence_that_the_coordinator_is_dead_calls_an_election() {
    let mut bench = follower(1, 2);
    assert_eq!(sent(bench.tell(Command::Failed(NodeId(2)))), ["send n2 election"]);
}

#[test]
fn nobody_answers_within_t_so_the_node_takes_over() {
    let mut bench = follower(2, 3);
    bench.tell(silent(3));
    let lines = bench.ring(Timer::Answers);
    assert_eq!(
        lines,
        [
            "save 1",
            "send n1 coordinator 1.n2 replaces 1.n3",
            "ended Won",
            "follow n2 as 1.n2",
            "set announce 500ms",
        ]
    );
    assert_eq!(bench.state(), "Normal under n2 in 1.n2 with {}");
}

#[test]
fn any_answer_ends_the_claim_and_starts_the_second_wait() {
    let mut bench = follower(1, 3);
    bench.tell(silent(3));
    let lines = bench.receive(2, Message::Answer);
    assert_eq!(lines, ["ended Yielded", "cancel answers", "set announcement 50ms"]);
    assert_eq!(bench.state(), "Election under none in 1.n3 with {}");
}

#[test]
fn the_second_wait_counts_from_the_first_answer() {
    let mut bench = follower(1, 3);
    bench.tell(silent(3));
    bench.receive(2, Message::Answer);
    assert_eq!(bench.receive(3, Message::Answer), NOTHING);
}

#[test]
fn without_an_announcement_the_algorithm_restarts() {
    let mut bench = follower(1, 3);
    bench.tell(silent(3));
    bench.receive(2, Message::Answer);
    let lines = bench.ring(Timer::Announcement);
    assert_eq!(lines[0], "called");
    assert_eq!(sent(lines), ["send n2 election", "send n3 election"]);
}

#[test]
fn an_election_message_is_answered_and_taken_over() {
    let mut bench = follower(2, 3);
    let lines = bench.receive(1, Message::Election);
    assert_eq!(lines[..2], ["send n1 answer", "called"]);
    assert_eq!(sent(lines), ["send n1 answer", "send n3 election"]);
}

#[test]
fn an_election_message_during_an_own_election_is_only_answered() {
    let mut asking = follower(2, 3);
    asking.tell(silent(3));
    assert_eq!(asking.receive(1, Message::Election), ["send n1 answer"]);
    let mut waiting = asking;
    waiting.receive(3, Message::Answer);
    assert_eq!(waiting.receive(1, Message::Election), ["send n1 answer"]);
}

#[test]
fn an_election_message_of_a_higher_node_is_answered_and_starts_nothing() {
    let mut bench = follower(1, 3);
    assert_eq!(bench.receive(2, Message::Election), ["send n2 answer"]);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {}");
}

#[test]
fn a_call_while_an_own_election_runs_does_nothing() {
    let mut bench = follower(1, 3);
    assert_eq!(bench.tell(Command::Call)[0], "called");
    assert_eq!(bench.tell(Command::Call), NOTHING);
}

#[test]
fn the_highest_node_elects_itself_without_asking() {
    let bench = Bench::<BullyLecture>::coming_up(group(3), 3, None);
    assert_eq!(sent(bench.began.clone()), ["send n1 coordinator 1.n3", "send n2 coordinator 1.n3"]);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {}");
}

#[test]
fn with_the_shortcut_the_second_highest_asks_nobody() {
    let mut bench = Bench::<BullyLecture>::established(with(3, &[("shortcut", "on")]), 2, 3);
    let lines = bench.tell(silent(3));
    assert_eq!(sent(lines), ["send n1 coordinator 1.n2 replaces 1.n3"]);
    assert_eq!(bench.state(), "Normal under n2 in 1.n2 with {}");
}

#[test]
fn the_shortcut_is_for_a_node_that_knows_it_is_the_highest_left() {
    let mut third = Bench::<BullyLecture>::established(with(3, &[("shortcut", "on")]), 1, 3);
    assert_eq!(sent(third.tell(silent(3))), ["send n2 election", "send n3 election"]);
    let mut unsuspecting = Bench::<BullyLecture>::established(with(3, &[("shortcut", "on")]), 2, 3);
    assert_eq!(sent(unsuspecting.tell(Command::Call)), ["send n3 election"]);
}

#[test]
fn without_the_shortcut_the_dead_coordinator_is_asked_once_more() {
    let mut bench = follower(2, 3);
    assert_eq!(sent(bench.tell(silent(3))), ["send n3 election"]);
}

#[test]
fn an_announcement_of_a_higher_node_is_recorded_at_any_time() {
    let mut idle = Bench::<BullyLecture>::established(group(3), 1, 2);
    let lines = idle.receive(3, coordinator(5, 3));
    assert_eq!(lines, ["yield", "watch {n3}", "follow n3 as 5.n3"]);
    assert_eq!(idle.state(), "Normal under n3 in 5.n3 with {}");

    let mut asking = Bench::<BullyLecture>::coming_up(group(3), 1, None);
    let lines = asking.receive(2, coordinator(1, 2));
    assert_eq!(lines[..2], ["ended Yielded", "cancel answers"]);
    assert_eq!(asking.state(), "Normal under n2 in 1.n2 with {}");

    let mut waiting = Bench::<BullyLecture>::coming_up(group(3), 1, None);
    waiting.receive(2, Message::Answer);
    assert_eq!(waiting.receive(2, coordinator(1, 2))[0], "cancel announcement");
    assert_eq!(waiting.state(), "Normal under n2 in 1.n2 with {}");
}

#[test]
fn a_repeated_announcement_is_no_news() {
    let mut bench = follower(1, 3);
    assert_eq!(bench.receive(3, coordinator(1, 3)), NOTHING);
}

#[test]
fn an_announcement_of_a_lower_node_is_answered_with_an_election() {
    let mut bench = follower(2, 3);
    let lines = bench.receive(1, coordinator(1, 1));
    assert_eq!(lines[0], "called");
    assert_eq!(sent(lines), ["send n3 election"]);
}

#[test]
fn a_recovered_node_runs_the_algorithm_at_once() {
    let bench = Bench::<BullyLecture>::coming_up(group(3), 1, Some(Counter(4)));
    assert_eq!(sent(bench.began.clone()), ["send n2 election", "send n3 election"]);
    assert_eq!(bench.state(), "Election under none in none with {}");
}

#[test]
fn a_live_lower_coordinator_yields_to_the_recovered_highest() {
    let mut bench = Bench::<BullyLecture>::established(group(3), 2, 2);
    let lines = bench.receive(3, coordinator(1, 3));
    assert_eq!(lines, ["cancel announce", "yield", "watch {n3}", "follow n3 as 1.n3"]);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {}");
}

#[test]
fn an_incumbent_tells_the_caller_and_only_the_caller() {
    let mut bench = follower(3, 3);
    let lines = bench.receive(1, Message::Election);
    assert_eq!(lines, ["send n1 answer", "send n1 coordinator 1.n3"]);
}

#[test]
fn an_unguarded_incumbent_announces_itself_to_everybody_again() {
    let mut bench = Bench::<BullyLecture>::established(with(3, &[("guard", "off")]), 3, 3);
    let lines = bench.receive(1, Message::Election);
    assert_eq!(
        sent(lines),
        [
            "send n1 answer",
            "send n1 coordinator 2.n3 replaces 1.n3",
            "send n2 coordinator 2.n3 replaces 1.n3",
        ]
    );
}

#[test]
fn announce_all_tells_higher_nodes_as_well() {
    let mut bench = Bench::<BullyLecture>::established(with(3, &[("announce", "all")]), 2, 3);
    bench.tell(silent(3));
    let lines = bench.ring(Timer::Answers);
    assert_eq!(
        sent(lines),
        ["send n1 coordinator 1.n2 replaces 1.n3", "send n3 coordinator 1.n2 replaces 1.n3"]
    );
}

#[test]
fn a_lower_announcement_that_came_late_does_not_unseat_a_higher_one() {
    let mut bench = follower(1, 3);
    let late = Message::Coordinator { number: number(1, 2), replaces: Some(number(9, 3)) };
    assert_eq!(bench.receive(2, late), NOTHING);
    assert_eq!(bench.receive(2, coordinator(1, 2)), NOTHING);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {}");
}

#[test]
fn a_lower_announcement_that_replaces_the_followed_one_is_obeyed() {
    let mut bench = follower(1, 3);
    let successor = Message::Coordinator { number: number(1, 2), replaces: Some(number(1, 3)) };
    bench.receive(2, successor);
    assert_eq!(bench.state(), "Normal under n2 in 1.n2 with {}");
}

#[test]
fn an_announcement_of_an_earlier_life_takes_nobody_back() {
    let mut bench = follower(1, 3);
    bench.receive(3, coordinator(2, 3));
    assert_eq!(bench.receive(3, coordinator(1, 3)), NOTHING);
    // An announcement that replaces that earlier one is too late as well.
    let late = Message::Coordinator { number: number(2, 2), replaces: Some(number(1, 3)) };
    assert_eq!(bench.receive(2, late), NOTHING);
    // Neither does it end an election that was called since.
    bench.tell(silent(3));
    assert_eq!(bench.receive(3, coordinator(1, 3)), NOTHING);
}

#[test]
fn without_numbers_the_last_announcement_counts_as_printed() {
    let mut bench = Bench::<BullyLecture>::established(with(3, &[("numbers", "off")]), 1, 3);
    bench.receive(2, coordinator(1, 2));
    assert_eq!(bench.state(), "Normal under n2 in 1.n2 with {}");
}

#[test]
fn a_coordinator_repeats_its_announcement_as_a_sign_of_life() {
    let mut bench = follower(3, 3);
    assert_eq!(bench.began, ["set announce 500ms"]);
    let lines = bench.ring(Timer::Announce);
    assert_eq!(
        lines,
        ["send n1 coordinator 1.n3", "send n2 coordinator 1.n3", "set announce 500ms"]
    );
}

#[test]
fn the_counter_is_on_disk_before_the_announcement_leaves() {
    let mut bench = Bench::<BullyLecture>::coming_up(group(3), 2, Some(Counter(6)));
    let lines = bench.ring(Timer::Answers);
    assert_eq!(lines[..2], ["save 7", "send n1 coordinator 7.n2"]);
}
