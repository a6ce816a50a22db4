//! Leading and following: what both algorithms do between elections.

use crate::election::Command;
use crate::election::adhoc::expanding_ring::{Message, Timer};
use crate::election::adhoc::leadership::{Beat, Timer as Leadership};
use crate::election::adhoc::{Diffusing, ExpandingRing, diffusing};
use crate::membership::NodeId;
use crate::testing::{Bench, NOTHING, number};

use super::{diffusing_of, ring_of, said};

fn member(me: u32, leader: u32) -> Bench<ExpandingRing> {
    Bench::established(ring_of(5, &[]), me, leader)
}

fn beat(counter: u64, leader: u32, hops: u32) -> Message {
    Message::Beat(Beat { group: number(counter, leader), hops, is_new: false })
}

#[test]
fn a_heartbeat_of_the_own_leader_is_passed_on_once() {
    let mut node = member(2, 4);
    assert_eq!(node.began, ["set silence 1.56s"]);
    let lines = node.receive(3, beat(1, 4, 2));
    let relay = ["set silence 1.56s", "broadcast heartbeat 1.n4 hop 3", "set relay 25ms"];
    assert_eq!(lines, relay);
    assert_eq!(node.receive(1, beat(1, 4, 4)), NOTHING);
    node.ring(Timer::Leadership(Leadership::Relay));
    assert_eq!(node.receive(3, beat(1, 4, 2)), relay);
}

#[test]
fn a_heartbeat_that_has_crossed_too_many_links_is_void() {
    assert_eq!(member(2, 4).receive(3, beat(1, 4, 5)), NOTHING);
    assert_eq!(member(2, 3).receive(3, beat(1, 4, 5)), NOTHING);
}

#[test]
fn a_follower_turns_to_a_better_leader_and_not_to_a_worse_one() {
    let mut node = member(2, 4);
    assert_eq!(node.receive(1, beat(7, 3, 1)), NOTHING);
    let lines = node.receive(3, beat(1, 5, 1));
    assert_eq!(
        lines,
        [
            "set silence 1.56s",
            "broadcast heartbeat 1.n5 hop 2",
            "set relay 25ms",
            "yield",
            "follow n5 as 1.n5"
        ]
    );
    assert_eq!(node.state(), "Normal under n5 in 1.n5 with {}");
}

#[test]
fn a_leader_yields_to_a_better_one_and_speaks_up_against_a_worse_one() {
    let mut node = member(4, 4);
    assert_eq!(node.began, ["set heartbeat 500ms"]);
    let lines = node.receive(3, beat(9, 3, 2));
    assert_eq!(lines, ["broadcast heartbeat 1.n4 hop 1", "set heartbeat 500ms", "set relay 25ms"]);
    assert_eq!(node.receive(3, beat(9, 3, 2)), NOTHING);
    let lines = node.receive(3, beat(1, 5, 1));
    assert_eq!(lines[0], "cancel heartbeat");
    assert_eq!(node.state(), "Normal under n5 in 1.n5 with {}");
}

#[test]
fn a_leader_that_came_back_is_followed_under_its_new_number_only() {
    let mut node = member(2, 4);
    assert_eq!(node.receive(3, beat(2, 4, 1)).last().unwrap(), "follow n4 as 2.n4");
    assert_eq!(node.receive(3, beat(1, 4, 1)), NOTHING);
}

#[test]
fn a_leader_beats_once_in_a_period_and_whenever_it_is_told_to_check() {
    let mut node = member(4, 4);
    let lines = ["broadcast heartbeat 1.n4 hop 1", "set heartbeat 500ms", "set relay 25ms"];
    assert_eq!(node.ring(Timer::Leadership(Leadership::Beat)), lines);
    assert_eq!(node.tell(Command::Check), lines);
    assert_eq!(member(2, 4).tell(Command::Check), NOTHING);
}

#[test]
fn silence_begins_an_election_and_so_does_a_farewell_of_the_leader() {
    let mut node = member(2, 4);
    assert_eq!(
        said(node.ring(Timer::Leadership(Leadership::Silence))),
        ["broadcast election 1.n2 hop 1 of 1"]
    );
    let mut node = member(2, 4);
    assert_eq!(node.tell(Command::Failed(NodeId(3))), NOTHING);
    assert_eq!(said(node.tell(Command::Failed(NodeId(4)))).len(), 1);
}

#[test]
fn a_diffusing_node_follows_a_better_leader_in_the_same_way() {
    let mut node: Bench<Diffusing> = Bench::established(diffusing_of(5), 2, 4);
    let beat = Beat { group: number(1, 5), hops: 1, is_new: true };
    let lines = node.receive(3, diffusing::Message::Beat(beat));
    assert_eq!(lines.last().unwrap(), "follow n5 as 1.n5");
    assert_eq!(said(lines), ["broadcast heartbeat 1.n5 hop 2"]);
}
