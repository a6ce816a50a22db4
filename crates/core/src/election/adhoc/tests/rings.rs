//! Elections by expanding ring search.

use crate::election::Command;
use crate::election::adhoc::ExpandingRing;
use crate::election::adhoc::expanding_ring::{Message, Timer};
use crate::election::adhoc::leadership::Beat;
use crate::group::Counter;
use crate::testing::{Bench, NOTHING, number};

use super::{ring_of, said};

/// A node that has started and is a candidate.
fn candidate(me: u32) -> Bench<ExpandingRing> {
    Bench::coming_up(ring_of(5, &[]), me, Some(Counter(2)))
}

fn member(me: u32) -> Bench<ExpandingRing> {
    Bench::established(ring_of(5, &[]), me, 5)
}

fn flood(counter: u64, node: u32, ttl: u32, hops: u32) -> Message {
    Message::Election { number: number(counter, node), ttl, hops }
}

#[test]
fn a_node_that_comes_up_stands_with_a_number_that_is_on_disk() {
    let lines =
        ["called", "save 3", "yield", "broadcast election 3.n2 hop 1 of 1", "set ring 30ms"];
    let node = candidate(2);
    assert_eq!(node.began, lines);
    assert_eq!(node.state(), "Election under none in 3.n2 with {}");
}

#[test]
fn a_ring_without_answer_is_followed_by_one_twice_as_wide_and_the_last_by_the_announcement() {
    let mut node = candidate(2);
    let second = node.ring(Timer::Ring);
    assert_eq!(second, ["broadcast election 3.n2 hop 1 of 2", "set ring 60ms"]);
    let third = node.ring(Timer::Ring);
    assert_eq!(third, ["broadcast election 3.n2 hop 1 of 4", "set ring 120ms"]);
    let announcement = node.ring(Timer::Ring);
    assert_eq!(
        announcement,
        [
            "broadcast leader 3.n2 hop 1",
            "set heartbeat 500ms",
            "set relay 25ms",
            "ended Won",
            "follow n2 as 3.n2"
        ]
    );
    assert_eq!(node.state(), "Normal under n2 in 3.n2 with {}");
}

#[test]
fn the_last_ring_is_as_wide_as_the_limit() {
    let mut node: Bench<ExpandingRing> =
        Bench::coming_up(ring_of(5, &[("ttl-limit", "2")]), 2, None);
    node.ring(Timer::Ring);
    assert_eq!(said(node.ring(Timer::Ring)), ["broadcast leader 1.n2 hop 1"]);
}

#[test]
fn a_candidate_yields_to_a_better_flood_and_passes_it_on() {
    let mut node = candidate(2);
    let lines = node.receive(3, flood(1, 4, 2, 1));
    let yields =
        ["ended Yielded", "cancel ring", "set stall 480ms", "broadcast election 1.n4 hop 2 of 2"];
    assert_eq!(lines, yields);
    assert_eq!(node.state(), "Election under none in 3.n2 with {}");
}

#[test]
fn a_better_candidate_answers_a_worse_flood_and_does_not_pass_it_on() {
    let mut node = candidate(4);
    assert_eq!(node.receive(3, flood(1, 2, 4, 2)), ["send n3 answer 1.n2"]);
    assert_eq!(node.receive(1, flood(1, 2, 4, 3)), NOTHING, "a copy of the same flood");
    assert!(node.is_running(Timer::Ring));
}

#[test]
fn a_leader_answers_with_its_group_and_the_candidate_follows_it() {
    let mut leader = member(5);
    assert_eq!(leader.receive(3, flood(1, 2, 2, 2)), ["send n3 answer 1.n2 follow 1.n5"]);
    let mut node = candidate(2);
    let answer = Message::Answer { number: number(3, 2), leader: Some(number(1, 5)) };
    assert_eq!(node.receive(3, answer).last().unwrap(), "follow n5 as 1.n5");
}

#[test]
fn a_follower_passes_floods_on_as_far_as_they_go_and_each_once() {
    let mut node = member(3);
    assert_eq!(node.receive(2, flood(1, 2, 2, 1)), ["broadcast election 1.n2 hop 2 of 2"]);
    assert_eq!(node.receive(1, flood(1, 2, 2, 1)), NOTHING);
    assert_eq!(node.receive(2, flood(1, 2, 4, 4)), NOTHING);
    assert_eq!(node.state(), "Normal under n5 in 1.n5 with {}");
}

#[test]
fn an_answer_goes_back_the_way_the_flood_came_and_only_one_does() {
    let mut node = member(3);
    node.receive(2, flood(1, 1, 4, 2));
    let answer = Message::Answer { number: number(1, 1), leader: None };
    assert_eq!(node.receive(4, answer), ["send n2 answer 1.n1"]);
    assert_eq!(node.receive(5, answer), NOTHING);
}

#[test]
fn an_answer_to_an_earlier_election_is_void() {
    let mut node = candidate(2);
    let answer = Message::Answer { number: number(2, 2), leader: None };
    assert_eq!(node.receive(3, answer), NOTHING);
    let answer = Message::Answer { number: number(3, 2), leader: None };
    assert_eq!(node.receive(3, answer), ["ended Yielded", "cancel ring", "set stall 480ms"]);
}

#[test]
fn a_node_that_yielded_in_vain_stands_again() {
    let mut node = candidate(2);
    node.receive(3, flood(1, 4, 1, 1));
    let lines = node.ring(Timer::Stall);
    assert_eq!(lines[..2], ["called", "save 4"]);
    assert_eq!(said(lines), ["broadcast election 4.n2 hop 1 of 1"]);
}

#[test]
fn a_candidate_follows_a_better_leader_and_ignores_a_worse_one() {
    let mut node = candidate(3);
    let beat = |leader| Message::Beat(Beat { group: number(1, leader), hops: 1, is_new: false });
    assert_eq!(node.receive(2, beat(2)), NOTHING);
    let lines = node.receive(2, beat(4));
    assert!(lines.contains(&"ended Yielded".into()), "{lines:?}");
    assert_eq!(node.state(), "Normal under n4 in 1.n4 with {}");
}

#[test]
fn whoever_stands_does_not_begin_once_more() {
    assert_eq!(candidate(2).tell(Command::Call), NOTHING);
    assert_eq!(member(5).tell(Command::Suspect), NOTHING);
}
