//! Links that break during a computation.

use super::computation::{ack, election, member};
use super::said;
use crate::election::Command;
use crate::election::adhoc::diffusing::{Message, Timer};
use crate::membership::NodeId;
use crate::testing::{NOTHING, number};

const INDEX: crate::group::GroupNumber = crate::group::GroupNumber { counter: 2, node: NodeId(3) };

const fn reply(takes_part: bool) -> Message {
    Message::Reply { index: INDEX, takes_part }
}

const fn probe(awaits_ack: bool) -> Message {
    Message::Probe { index: INDEX, awaits_ack }
}

#[test]
fn those_who_are_waited_for_are_asked_and_given_up_after_two_questions() {
    let mut node = member(2, [1, 3, 4]);
    node.receive(3, election(INDEX));
    node.receive(4, ack(INDEX, None));
    let questions = ["send n1 probe 2.n3", "send n3 probe 2.n3"];
    assert_eq!(said(node.ring(Timer::Probe)), questions);
    node.receive(3, reply(true));
    assert_eq!(said(node.ring(Timer::Probe)), questions);
    node.receive(3, reply(true));
    let lines = said(node.ring(Timer::Probe));
    assert_eq!(lines, ["send n3 probe 2.n3", "send n3 ack 2.n3 yes best 3.n2"]);
}

#[test]
fn a_neighbour_that_is_still_busy_is_waited_for() {
    let mut node = member(2, [1, 3]);
    node.receive(3, election(INDEX));
    for _ in 0..9 {
        node.ring(Timer::Probe);
        node.receive(1, reply(true));
        node.receive(3, reply(true));
    }
    let lines = said(node.receive(1, ack(INDEX, None)));
    assert_eq!(lines, ["send n3 ack 2.n3 yes best 3.n2"]);
}

#[test]
fn a_neighbour_that_takes_no_part_is_not_waited_for() {
    let mut node = member(2, [1, 3]);
    node.receive(3, election(INDEX));
    assert_eq!(said(node.receive(1, reply(false))), ["send n3 ack 2.n3 yes best 3.n2"]);
}

#[test]
fn whoever_has_lost_its_parent_decides_for_what_is_below_it() {
    let mut node = member(2, [1, 3]);
    node.receive(3, election(INDEX));
    node.receive(1, ack(INDEX, Some(number(3, 1))));
    node.ring(Timer::Probe);
    node.ring(Timer::Probe);
    let lines = said(node.ring(Timer::Probe));
    assert_eq!(lines, ["send n1 leader 3.n2", "broadcast heartbeat 3.n2 hop 1"]);
    assert_eq!(node.state(), "Normal under n2 in 3.n2 with {}");
}

#[test]
fn a_parent_that_is_lost_before_all_have_answered_is_not_told() {
    let mut node = member(2, [1, 3]);
    node.receive(3, election(INDEX));
    assert_eq!(node.tell(Command::Failed(NodeId(3))), NOTHING);
    let lines = said(node.receive(1, ack(INDEX, Some(number(3, 4)))));
    assert_eq!(lines, ["send n1 leader 3.n4"]);
}

#[test]
fn a_question_stands_for_an_election_that_was_lost_and_an_answer_that_was() {
    let mut node = member(2, [1, 3]);
    assert_eq!(said(node.receive(3, probe(true))), ["send n1 election 2.n3"]);
    assert_eq!(node.receive(3, probe(true)), ["send n3 reply 2.n3 yes"]);
    node.receive(1, ack(INDEX, None));
    assert_eq!(node.receive(3, probe(true)), ["send n3 ack 2.n3 yes best 3.n2"]);
}

#[test]
fn a_child_that_missed_the_result_hears_it_when_it_asks() {
    let mut node = member(2, [1, 3]);
    node.receive(3, election(INDEX));
    node.receive(1, ack(INDEX, Some(number(3, 1))));
    assert_eq!(node.receive(1, probe(false)), ["send n1 reply 2.n3 yes"]);
    node.receive(3, Message::Leader { index: INDEX, group: number(3, 4) });
    assert_eq!(node.receive(1, probe(false)), ["send n1 leader 3.n4"]);
    assert_eq!(node.receive(1, ack(INDEX, Some(number(3, 1)))), ["send n1 leader 3.n4"]);
}

#[test]
fn a_parent_that_knows_nothing_of_it_is_no_parent() {
    let mut stranger = member(3, []);
    assert_eq!(stranger.receive(2, probe(false)), ["send n2 reply 2.n3 no"]);
    let mut node = member(2, [3]);
    node.receive(3, election(INDEX));
    let lines = node.receive(3, reply(false));
    assert_eq!(lines.last().unwrap(), "follow n2 as 3.n2");
}

#[test]
fn a_computation_that_does_not_end_is_begun_anew() {
    let mut node = member(2, [1, 3]);
    node.receive(3, election(INDEX));
    let lines = node.ring(Timer::Stall);
    assert_eq!(said(lines), ["send n1 election 3.n2", "send n3 election 3.n2"]);
}
