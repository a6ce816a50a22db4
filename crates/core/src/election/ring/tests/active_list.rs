use super::*;

fn active(me: u32, options: &[(&str, &str)]) -> Bench<Ring> {
    Bench::established(group_of(Algorithm::RingActiveList, 4, options), me, 4)
}

const fn elect(number: u64, node: u32, place: u32) -> Message {
    Message::Pass(Token::Elect { number: Counter(number), node: NodeId(node), place, leads: false })
}

#[test]
fn whoever_detects_the_failure_sends_its_own_name_to_the_right() {
    let lines = sent(active(2, &[]).tell(Command::Suspect));
    assert_eq!(lines, ["send n3 elect 2.n2 place 0"]);
}

#[test]
fn the_first_name_seen_makes_a_node_send_its_own_and_then_the_other() {
    let mut bench = active(2, &[]);
    let lines = bench.receive(1, elect(2, 1, 0));
    assert!(lines.contains(&"save 2".to_string()), "{lines:?}");
    let lines = sent(lines);
    assert_eq!(lines, ["send n3 elect 2.n2 place 0", "send n3 elect 2.n1 place 1", "send n1 ack"]);
}

#[test]
fn a_later_name_is_passed_on_and_decides_nothing() {
    let mut bench = active(2, &[]);
    bench.receive(1, elect(2, 1, 0));
    let lines = sent(bench.receive(1, elect(2, 4, 1)));
    assert_eq!(lines, ["send n3 elect 2.n4 place 2", "send n1 ack"]);
    assert_eq!(bench.state(), "Election under none in 2.n2 with {}");
}

#[test]
fn the_own_name_coming_back_decides_and_nothing_is_announced() {
    let mut bench = active(2, &[]);
    bench.receive(1, elect(2, 1, 0));
    bench.receive(1, elect(2, 3, 1));
    let lines = sent(bench.receive(1, elect(2, 2, 2)));
    assert_eq!(lines, ["send n1 ack"]);
    assert_eq!(bench.state(), "Reorganization under n3 in 2.n3 with {}");
}

#[test]
fn the_winner_waits_for_everybody_on_its_list() {
    let mut bench = active(4, &[]);
    bench.receive(3, elect(2, 3, 0));
    bench.stopped("");
    bench.receive(2, follow(2, 4));
    bench.receive(3, elect(2, 2, 1));
    let lines = bench.receive(3, elect(2, 4, 2));
    assert!(lines.contains(&"set follows 85ms".to_string()), "{lines:?}");
    let lines = bench.receive(3, follow(2, 4));
    assert!(lines.contains(&"form 2.n4 with {n2 n3}, leniently".to_string()), "{lines:?}");
}

#[test]
fn the_next_election_begins_with_an_empty_list() {
    let mut bench = active(2, &[]);
    bench.receive(1, elect(2, 1, 0));
    bench.receive(1, elect(2, 4, 1));
    bench.receive(1, elect(3, 1, 0));
    bench.receive(1, elect(3, 2, 1));
    assert_eq!(bench.state(), "Reorganization under n2 in 3.n2 with {}");
}

#[test]
fn a_name_that_overtook_another_waits_for_it() {
    let mut bench = active(2, &[]);
    assert_eq!(bench.receive(1, elect(2, 4, 1)), ["send n1 ack"]);
    let lines = sent(bench.receive(1, elect(2, 1, 0)));
    assert_eq!(
        lines,
        [
            "send n3 elect 2.n2 place 0",
            "send n3 elect 2.n1 place 1",
            "send n3 elect 2.n4 place 2",
            "send n1 ack"
        ]
    );
}

#[test]
fn as_printed_a_name_that_overtook_another_is_taken_as_it_comes() {
    let mut bench = active(2, &[("order", "literal")]);
    let lines = sent(bench.receive(1, elect(2, 4, 1)));
    assert_eq!(lines[..2], ["send n3 elect 2.n2 place 0", "send n3 elect 2.n4 place 1"]);
}

#[test]
fn names_from_somebody_else_mean_that_the_ring_has_changed() {
    let mut bench = active(3, &[]);
    bench.receive(2, elect(2, 2, 0));
    let lines = sent(bench.receive(1, elect(2, 1, 0)));
    assert_eq!(lines, ["send n4 elect 3.n3 place 0", "send n1 ack"]);
}

#[test]
fn a_successor_that_took_some_names_and_died_ends_the_election() {
    let mut bench = active(2, &[]);
    bench.receive(1, elect(2, 1, 0));
    bench.receive(3, ack(&elect(2, 2, 0), None));
    let lines = sent(bench.ring(Timer::Acknowledgement(NodeId(3))));
    assert_eq!(lines, ["send n3 elect 3.n2 place 0"]);
}

#[test]
fn a_successor_that_took_none_is_skipped_for_the_whole_election() {
    let mut bench = active(2, &[]);
    bench.receive(1, elect(2, 1, 0));
    let lines = sent(bench.ring(Timer::Acknowledgement(NodeId(3))));
    assert_eq!(lines, ["send n4 elect 2.n2 place 0", "send n4 elect 2.n1 place 1"]);
    let lines = sent(bench.receive(1, elect(2, 4, 1)));
    assert_eq!(lines, ["send n4 elect 2.n4 place 2", "send n1 ack"]);
}

#[test]
fn the_name_of_a_dead_node_goes_round_once() {
    let mut bench = active(2, &[]);
    bench.receive(1, elect(2, 1, 0));
    bench.receive(1, elect(2, 4, 1));
    assert_eq!(bench.receive(1, elect(2, 4, 2)), ["send n1 ack"]);
}
