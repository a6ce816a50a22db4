use super::*;
use crate::membership::Direction;
use crate::membership::Direction::{Back, Onward};

fn six(me: u32) -> Bench<Ring> {
    Bench::established(group_of(Algorithm::RingHirschbergSinclair, 6, &[]), me, 6)
}

const fn probe(node: u32, phase: u32, left: u32, direction: Direction) -> Message {
    let (number, candidate) = (Counter(2), NodeId(node));
    Message::Pass(Token::Probe { number, candidate, phase, left, direction, leads: false })
}

const fn reply(node: u32, phase: u32, direction: Direction) -> Message {
    let (number, candidate) = (Counter(2), NodeId(node));
    Message::Pass(Token::Okay { number, candidate, phase, direction, leads: false })
}

#[test]
fn whoever_calls_probes_one_hop_on_each_side() {
    let lines = sent(six(3).tell(Command::Suspect));
    assert_eq!(
        lines,
        ["send n4 election 2.n3 phase 0 left 1", "send n2 election 2.n3 phase 0 left 1"]
    );
}

#[test]
fn a_higher_probe_goes_on_in_its_direction_with_a_hop_less() {
    let mut bench = six(3);
    let lines = sent(bench.receive(2, probe(5, 2, 3, Onward)));
    assert_eq!(lines, ["send n4 election 2.n5 phase 2 left 2", "send n2 ack"]);
    let lines = sent(bench.receive(4, probe(5, 2, 3, Back)));
    assert_eq!(lines, ["send n2 election 2.n5 phase 2 left 2", "send n4 ack"]);
}

#[test]
fn a_probe_is_answered_the_other_way_at_its_last_hop() {
    let mut bench = six(3);
    let lines = sent(bench.receive(2, probe(5, 2, 1, Onward)));
    assert_eq!(lines, ["send n2 ok 2.n5 phase 2", "send n2 ack"]);
    let lines = sent(bench.receive(4, probe(5, 2, 1, Back)));
    assert_eq!(lines, ["send n4 ok 2.n5 phase 2", "send n4 ack"]);
}

#[test]
fn the_reply_to_another_candidate_goes_on_against_the_direction_of_its_probe() {
    let mut bench = six(3);
    bench.receive(2, probe(5, 2, 3, Onward));
    let lines = sent(bench.receive(4, reply(5, 2, Onward)));
    assert_eq!(lines, ["send n2 ok 2.n5 phase 2", "send n4 ack"]);
}

#[test]
fn a_lower_probe_ends_and_makes_a_node_stand_if_it_is_the_first() {
    let mut bench = six(3);
    let lines = bench.receive(2, probe(1, 1, 2, Onward));
    assert!(lines.contains(&"save 2".to_string()), "{lines:?}");
    assert!(lines.contains(&"called".to_string()), "{lines:?}");
    assert_eq!(
        sent(lines),
        [
            "send n4 election 2.n3 phase 0 left 1",
            "send n2 election 2.n3 phase 0 left 1",
            "send n2 ack"
        ]
    );
    assert_eq!(bench.receive(4, probe(2, 1, 1, Back)), ["send n4 ack"]);
}

#[test]
fn replies_from_both_sides_begin_the_next_phase() {
    let mut bench = six(3);
    bench.tell(Command::Call);
    assert_eq!(bench.receive(4, reply(3, 0, Onward)), ["send n4 ack"]);
    // The same once more, as after a crash between: it counts once.
    assert_eq!(bench.receive(4, reply(3, 0, Onward)), ["send n4 ack"]);
    let lines = sent(bench.receive(2, reply(3, 0, Back)));
    assert_eq!(
        lines,
        [
            "send n4 election 2.n3 phase 1 left 2",
            "send n2 election 2.n3 phase 1 left 2",
            "send n2 ack"
        ]
    );
    assert_eq!(bench.receive(2, reply(3, 0, Back)), ["send n2 ack"]);
}

#[test]
fn a_candidate_that_lets_a_higher_probe_pass_goes_to_no_other_phase() {
    let mut bench = six(3);
    bench.tell(Command::Call);
    bench.receive(4, reply(3, 0, Onward));
    assert_eq!(bench.receive(2, probe(5, 0, 1, Onward))[0], "ended Yielded");
    assert_eq!(bench.receive(2, reply(3, 0, Back)), ["send n2 ack"]);
}

#[test]
fn the_own_probe_from_the_other_side_is_victory_and_is_told_round() {
    let mut bench = six(6);
    bench.tell(Command::Call);
    let lines = sent(bench.receive(5, probe(6, 3, 2, Onward)));
    assert_eq!(lines, ["send n1 elected 2.n6 told {}", "send n5 ack"]);
    assert_eq!(bench.state(), "Reorganization under n6 in 2.n6 with {}");
    assert_eq!(sent(bench.receive(1, probe(6, 3, 2, Back))), ["send n1 ack past 2"]);
}

#[test]
fn a_dead_node_is_passed_by_in_both_directions_and_costs_no_hop() {
    let mut bench = six(3);
    bench.tell(Command::Call);
    let lines = sent(bench.ring(Timer::Acknowledgement(NodeId(4))));
    assert_eq!(lines, ["send n5 election 2.n3 phase 0 left 1"]);
    let lines = sent(bench.ring(Timer::Acknowledgement(NodeId(2))));
    assert_eq!(lines, ["send n1 election 2.n3 phase 0 left 1"]);
}

#[test]
fn the_messages_of_a_dead_candidate_end_before_its_place_and_the_next_election_begins() {
    let next = ["send n4 election 3.n3 phase 0 left 1", "send n2 election 3.n3 phase 0 left 1"];
    let mut replies = six(3);
    replies.receive(4, probe(4, 0, 1, Back));
    assert_eq!(sent(replies.ring(Timer::Acknowledgement(NodeId(4)))), next);
    let mut probes = six(3);
    probes.receive(2, probe(4, 3, 4, Onward));
    assert_eq!(sent(probes.tell(Command::Failed(NodeId(4)))), next);
}

#[test]
fn as_printed_the_messages_of_a_dead_candidate_are_lost() {
    let literal = group_of(Algorithm::RingHirschbergSinclair, 6, &[("orphans", "literal")]);
    let mut bench = Bench::<Ring>::established(literal, 3, 6);
    let lines = bench.receive(4, probe(4, 0, 1, Back));
    assert!(!lines.iter().any(|line| line.starts_with("set stall")), "{lines:?}");
    assert_eq!(sent(bench.ring(Timer::Acknowledgement(NodeId(4)))), NOTHING);
}

/// A higher node let it go on, and is gone: with it alive, the probe would have ended there.
#[test]
fn a_node_whose_probe_went_round_although_it_yielded_calls_again() {
    let mut bench = six(3);
    bench.tell(Command::Call);
    bench.receive(2, probe(5, 1, 1, Onward));
    let lines = sent(bench.receive(2, probe(3, 3, 2, Onward)));
    assert_eq!(lines[0], "send n4 election 3.n3 phase 0 left 1");
}

#[test]
fn a_node_that_is_alone_in_the_ring_wins_with_one_probe() {
    let mut bench = six(6);
    bench.tell(Command::Call);
    for node in 1..=5 {
        bench.tell(Command::Failed(NodeId(node)));
    }
    assert_eq!(bench.state(), "Reorganization under n6 in 2.n6 with {}");
}

#[test]
fn probes_of_one_candidate_on_one_link_have_labels_of_their_own() {
    let mut labels = Vec::new();
    for direction in [Onward, Back] {
        for phase in 0..6 {
            for left in 1..=1 << phase {
                labels.push(ack(&probe(1, phase, left, direction), None));
            }
            labels.push(ack(&reply(1, phase, direction), None));
        }
    }
    for (at, label) in labels.iter().enumerate() {
        assert!(!labels[..at].contains(label), "{label:?}");
    }
}
