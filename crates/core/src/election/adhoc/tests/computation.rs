//! Diffusing computations: asking, answering, and the result.

use crate::election::Command;
use crate::election::adhoc::Diffusing;
use crate::election::adhoc::diffusing::{Message, Timer};
use crate::election::adhoc::leadership::{Beat, Timer as Leadership};
use crate::group::GroupNumber;
use crate::membership::NodeId;
use crate::testing::{Bench, NOTHING, number};

use super::{diffusing_of, said};

/// A follower of node 5 with these neighbours.
pub(super) fn member<const N: usize>(me: u32, neighbours: [u32; N]) -> Bench<Diffusing> {
    let mut bench = Bench::established(diffusing_of(5), me, 5);
    for neighbour in neighbours {
        bench.receive(neighbour, Message::Hello { is_answer: true, leader: None });
    }
    bench
}

pub(super) const fn election(index: GroupNumber) -> Message {
    Message::Election { index }
}

pub(super) const fn ack(index: GroupNumber, best: Option<GroupNumber>) -> Message {
    Message::Ack { index, best }
}

#[test]
fn a_source_asks_every_neighbour() {
    let mut node = member(2, [1, 3]);
    let lines = node.ring(Timer::Leadership(Leadership::Silence));
    assert_eq!(
        lines,
        [
            "called",
            "save 2",
            "yield",
            "send n1 election 2.n2",
            "send n3 election 2.n2",
            "set probe 25ms",
            "set stall 340ms"
        ]
    );
    assert_eq!(node.state(), "Election under none in 2.n2 with {}");
}

#[test]
fn whoever_asks_first_is_the_parent_and_hears_when_all_others_have_answered() {
    let mut node = member(2, [1, 3, 4]);
    let index = number(2, 3);
    let lines = said(node.receive(3, election(index)));
    assert_eq!(lines, ["send n1 election 2.n3", "send n4 election 2.n3"]);
    assert_eq!(node.receive(1, ack(index, Some(number(3, 1)))), NOTHING);
    let lines = node.receive(4, ack(index, None));
    assert_eq!(lines, ["save 3", "send n3 ack 2.n3 yes best 3.n2"]);
}

#[test]
fn the_answer_carries_the_best_below() {
    let mut node = member(2, [3, 4]);
    let index = number(2, 3);
    node.receive(3, election(index));
    let lines = node.receive(4, ack(index, Some(number(7, 4))));
    assert_eq!(lines, ["send n3 ack 2.n3 yes best 7.n4"]);
}

#[test]
fn whoever_asks_later_is_answered_at_once() {
    let mut node = member(2, [1, 3, 4]);
    let index = number(2, 3);
    node.receive(3, election(index));
    assert_eq!(node.receive(4, election(index)), ["send n4 ack 2.n3 no"]);
}

#[test]
fn the_source_tells_the_tree_who_is_best_and_everybody_passes_it_down() {
    let mut source = member(2, [1, 3]);
    source.tell(Command::Call);
    let index = number(2, 2);
    source.receive(1, ack(index, None));
    let lines = source.receive(3, ack(index, Some(number(3, 4))));
    assert_eq!(said(lines), ["send n3 leader 3.n4"], "n1 has another parent");
    assert_eq!(source.state(), "Normal under n4 in 3.n4 with {}");
    let mut node = member(3, [2, 4]);
    node.receive(2, election(index));
    node.receive(4, ack(index, Some(number(3, 4))));
    let lines = node.receive(2, Message::Leader { index, group: number(3, 4) });
    assert_eq!(said(lines.clone()), ["send n4 leader 3.n4"]);
    assert_eq!(lines.last().unwrap(), "follow n4 as 3.n4");
}

#[test]
fn the_best_leads_under_the_number_that_it_has_offered() {
    let mut node = member(4, [3]);
    let index = number(2, 3);
    assert_eq!(said(node.receive(3, election(index))), ["send n3 ack 2.n3 yes best 3.n4"]);
    let lines = node.receive(3, Message::Leader { index, group: number(3, 4) });
    assert_eq!(said(lines), ["broadcast heartbeat 3.n4 hop 1"]);
    assert_eq!(node.state(), "Normal under n4 in 3.n4 with {}");
}

#[test]
fn nobody_leads_again_under_an_earlier_number() {
    let mut node = member(4, [3]);
    let index = number(2, 3);
    node.receive(3, election(index));
    assert_eq!(node.receive(3, Message::Leader { index, group: number(1, 4) }), NOTHING);
}

#[test]
fn a_higher_computation_ends_a_lower_one() {
    let mut node = member(2, [1, 3]);
    node.tell(Command::Call);
    let lines = node.receive(3, election(number(2, 3)));
    assert!(lines.contains(&"ended Yielded".into()), "{lines:?}");
    assert_eq!(said(lines), ["send n1 election 2.n3"]);
    assert_eq!(node.state(), "Election under none in 2.n3 with {}");
}

#[test]
fn whoever_comes_with_a_lower_computation_is_asked_into_the_higher_one() {
    let mut node = member(4, [3]);
    node.tell(Command::Call);
    assert_eq!(node.receive(3, election(number(2, 3))), NOTHING, "it was asked already");
    assert_eq!(node.receive(2, election(number(2, 2))), ["send n2 election 2.n4"]);
    node.receive(3, ack(number(2, 4), None));
    assert_eq!(node.state(), "Election under none in 2.n4 with {}", "n2 is waited for, too");
}

#[test]
fn a_computation_that_is_over_holds_nobody_up() {
    let mut node = member(2, [3]);
    assert_eq!(node.receive(3, election(number(1, 4))), ["send n3 ack 1.n4 no"]);
    assert_eq!(node.state(), "Normal under n5 in 1.n5 with {}");
}

#[test]
fn whoever_is_better_than_the_winner_begins_anew() {
    let mut node = member(4, [3]);
    let index = number(2, 3);
    node.receive(3, election(index));
    let lines = node.receive(3, Message::Leader { index, group: number(3, 2) });
    assert_eq!(said(lines), ["send n3 election 4.n4"]);
}

#[test]
fn a_node_alone_leads() {
    let mut node = member(2, []);
    let lines = node.tell(Command::Call);
    assert_eq!(lines.last().unwrap(), "follow n2 as 3.n2");
}

#[test]
fn a_node_that_comes_up_follows_the_leader_of_its_neighbours_or_outdoes_it() {
    for (leader, outcome) in [(5, "follow n5 as 7.n5"), (1, "follow n3 as 1.n3")] {
        let mut node: Bench<Diffusing> = Bench::coming_up(diffusing_of(5), 3, None);
        assert_eq!(node.began, ["broadcast hello", "set hello 25ms", "set age 1s"]);
        node.receive(2, Message::Hello { is_answer: true, leader: Some(number(7, leader)) });
        assert_eq!(node.ring(Timer::Hello).last().unwrap(), outcome);
    }
}

#[test]
fn a_node_that_comes_up_where_nobody_leads_begins_a_computation() {
    let mut node: Bench<Diffusing> = Bench::coming_up(diffusing_of(5), 3, None);
    assert_eq!(
        node.receive(2, Message::Hello { is_answer: false, leader: None }),
        ["send n2 hello"]
    );
    assert_eq!(said(node.ring(Timer::Hello)), ["send n2 election 1.n3"]);
}

#[test]
fn a_neighbour_that_says_nothing_for_a_whole_span_is_not_asked() {
    let mut node = member(2, [1, 3]);
    node.ring(Timer::Age);
    node.receive(3, Message::Hello { is_answer: true, leader: None });
    node.ring(Timer::Age);
    assert_eq!(said(node.tell(Command::Call)), ["send n3 election 2.n2"]);
}

#[test]
fn a_heartbeat_is_heeded_by_whoever_has_done_its_part() {
    let beat = |leader| Message::Beat(Beat { group: number(1, leader), hops: 1, is_new: false });
    let mut node = member(2, [3, 4]);
    let index = number(2, 3);
    node.receive(3, election(index));
    assert_eq!(node.receive(3, beat(5)), NOTHING);
    node.receive(4, ack(index, Some(number(3, 4))));
    assert_eq!(node.receive(3, beat(3)), NOTHING, "n4 is better");
    assert_eq!(node.receive(3, beat(5)).last().unwrap(), "follow n5 as 1.n5");
}

#[test]
fn evidence_against_somebody_else_than_the_leader_ends_no_peace() {
    let mut node = member(2, [3]);
    assert_eq!(node.tell(Command::Failed(NodeId(3))), NOTHING);
    assert_eq!(node.tell(Command::Failed(NodeId(5))).last().unwrap(), "follow n2 as 3.n2");
}
