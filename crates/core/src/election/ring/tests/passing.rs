use super::*;

#[test]
fn the_successor_is_the_next_id_and_the_last_node_has_the_first() {
    assert_eq!(sent(member(2, 4).tell(Command::Call)), ["send n3 election 2.n2 hop 0"]);
    assert_eq!(sent(member(4, 4).tell(Command::Call)), ["send n1 election 2.n4 hop 0"]);
}

#[test]
fn the_ring_is_in_order_of_ids_whatever_the_priorities() {
    use crate::membership::{Member, Membership, Priority};
    let member = |id, priority| Member { priority: Priority(priority), id: NodeId(id) };
    let members = Membership::new([member(1, 9), member(5, 2), member(7, 5)]).unwrap();
    let config = TestGroup { members, ..group(3) };
    let mut bench: Bench<Ring> = Bench::established(config, 5, 1);
    assert_eq!(sent(bench.tell(Command::Call)), ["send n7 election 2.n5 hop 0"]);
}

#[test]
fn a_token_is_passed_on_before_it_is_acknowledged() {
    let mut bench = member(2, 4);
    let lines = sent(bench.receive(1, candidate(2, 4, 1)));
    assert_eq!(lines, ["send n3 election 2.n4 hop 2", "send n1 ack"]);
}

#[test]
fn an_acknowledgement_ends_the_wait() {
    let mut bench = member(2, 4);
    bench.tell(Command::Call);
    assert!(bench.is_running(Timer::Acknowledgement(NodeId(3))));
    let lines = bench.receive(3, ack(&candidate(2, 2, 0), None));
    assert_eq!(lines, ["cancel acknowledgement of n3"]);
}

#[test]
fn an_acknowledgement_of_something_else_or_by_somebody_else_ends_no_wait() {
    let mut bench = member(2, 4);
    bench.tell(Command::Call);
    assert_eq!(bench.receive(3, ack(&candidate(1, 2, 0), None)), NOTHING);
    assert_eq!(bench.receive(4, ack(&candidate(2, 2, 0), None)), NOTHING);
    assert!(bench.is_running(Timer::Acknowledgement(NodeId(3))));
}

#[test]
fn a_successor_that_does_not_acknowledge_within_t_is_skipped() {
    let mut bench = member(2, 4);
    bench.tell(Command::Call);
    let lines = bench.ring(Timer::Acknowledgement(NodeId(3)));
    assert_eq!(lines, ["set acknowledgement of n4 25ms", "send n4 election 2.n2 hop 0"]);
}

#[test]
fn evidence_that_the_successor_is_dead_skips_it_at_once() {
    let mut bench = member(2, 4);
    bench.tell(Command::Call);
    let lines = sent(bench.tell(Command::Failed(NodeId(3))));
    assert_eq!(lines, ["send n4 election 2.n2 hop 0"]);
    assert_eq!(bench.tell(Command::Failed(NodeId(3))), NOTHING);
}

#[test]
fn every_token_tries_the_successor_anew() {
    let mut bench = member(2, 4);
    bench.tell(Command::Call);
    bench.ring(Timer::Acknowledgement(NodeId(3)));
    let lines = sent(bench.receive(1, candidate(2, 4, 1)));
    assert_eq!(lines, ["send n3 election 2.n4 hop 2", "send n1 ack"]);
}

#[test]
fn whoever_skips_everybody_is_alone_and_wins() {
    let mut bench = member(2, 3);
    bench.tell(Command::Call);
    bench.stopped("");
    bench.ring(Timer::Acknowledgement(NodeId(3)));
    let lines = sent(bench.ring(Timer::Acknowledgement(NodeId(1))));
    assert_eq!(lines, ["send n3 elected 2.n2 told {}"]);
    bench.ring(Timer::Acknowledgement(NodeId(3)));
    let lines = bench.ring(Timer::Acknowledgement(NodeId(1)));
    assert!(lines.contains(&"form 2.n2 with {}, leniently".to_string()), "{lines:?}");
    bench.tell(settled([2]));
    assert_eq!(bench.state(), "Normal under n2 in 2.n2 with {}");
}

#[test]
fn a_token_of_an_election_that_is_over_is_acknowledged_with_its_number_and_dropped() {
    let mut bench = member(2, 4);
    assert_eq!(bench.receive(1, candidate(1, 4, 1)), ["send n1 ack past 1"]);
    assert_eq!(bench.state(), "Normal under n4 in 1.n4 with {n1 n3 n4}");
}

#[test]
fn a_better_node_that_calls_the_same_election_too_late_is_told_so() {
    let mut bench: Bench<Ring> = Bench::established(group(4), 1, 2);
    let lines = sent(bench.receive(3, candidate(1, 4, 2)));
    assert_eq!(lines, ["send n4 ack past 1", "send n3 ack past 1"]);
    // Once is enough where the better node itself has passed it on.
    assert_eq!(sent(bench.receive(4, candidate(1, 4, 0))), ["send n4 ack past 1"]);
    // A node needs no message to itself.
    let mut own: Bench<Ring> = Bench::established(group(4), 3, 2);
    assert_eq!(sent(own.receive(2, candidate(1, 3, 3))), ["send n2 ack past 1"]);
    let mut late: Bench<Ring> = Bench::coming_up(group(4), 4, None);
    let lines = sent(late.receive(1, ack(&candidate(1, 4, 2), Some(1))));
    assert_eq!(lines, ["send n1 election 2.n4 hop 0"]);
}

#[test]
fn a_call_with_a_number_that_is_over_elsewhere_is_repeated_with_a_higher_one() {
    let mut bench: Bench<Ring> = Bench::coming_up(group(3), 2, None);
    assert_eq!(bench.state(), "Election under none in 1.n2 with {}");
    let lines = sent(bench.receive(3, ack(&candidate(1, 2, 0), Some(6))));
    assert_eq!(lines, ["send n3 election 7.n2 hop 0"]);
}

#[test]
fn what_others_say_is_over_does_not_concern_a_node_that_did_not_call() {
    let mut bench = member(2, 4);
    bench.receive(1, candidate(2, 4, 1));
    let lines = bench.receive(3, ack(&candidate(2, 4, 2), Some(2)));
    assert_eq!(lines, ["cancel acknowledgement of n3"]);
}
