use super::*;

fn peterson(me: u32) -> Bench<Ring> {
    Bench::established(group_of(Algorithm::RingPeterson, 4, &[]), me, 4)
}

const fn bid(number: u64, node: u32, place: u32) -> Message {
    Message::Pass(Token::Elect { number: Counter(number), node: NodeId(node), place, leads: false })
}

#[test]
fn whoever_calls_stands_for_its_own_name() {
    let lines = sent(peterson(2).tell(Command::Suspect));
    assert_eq!(lines, ["send n3 elect 2.n2 place 0"]);
}

#[test]
fn the_first_name_makes_a_node_stand_and_is_passed_on_as_the_second() {
    let mut bench = peterson(2);
    let lines = bench.receive(1, bid(2, 1, 0));
    assert!(lines.contains(&"save 2".to_string()), "{lines:?}");
    let lines = sent(lines);
    assert_eq!(lines, ["send n3 elect 2.n2 place 0", "send n3 elect 2.n1 place 1", "send n1 ack"]);
}

#[test]
fn a_candidate_stays_for_the_name_before_it_if_that_is_the_highest_of_three() {
    let mut bench = peterson(2);
    bench.receive(1, bid(2, 4, 0));
    let lines = sent(bench.receive(1, bid(2, 3, 1)));
    assert_eq!(lines, ["send n3 elect 2.n4 place 2", "send n1 ack"]);
}

#[test]
fn a_candidate_that_outranks_the_one_before_it_relays_every_later_name() {
    let mut bench = peterson(2);
    bench.receive(1, bid(2, 1, 0));
    assert_eq!(sent(bench.receive(1, bid(2, 4, 1))), ["send n1 ack"]);
    let lines = sent(bench.receive(1, bid(2, 4, 2)));
    assert_eq!(lines, ["send n3 elect 2.n4 place 2", "send n1 ack"]);
}

#[test]
fn a_candidate_whose_second_name_is_higher_than_the_first_relays() {
    let mut bench = peterson(2);
    bench.receive(1, bid(2, 3, 0));
    assert_eq!(sent(bench.receive(1, bid(2, 4, 1))), ["send n1 ack"]);
}

#[test]
fn the_last_candidate_gets_its_name_back_and_tells_all_who_has_won() {
    let mut bench = peterson(2);
    bench.receive(1, bid(2, 4, 0));
    bench.receive(1, bid(2, 3, 1));
    let lines = sent(bench.receive(1, bid(2, 4, 2)));
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("send n3 coordinator 2.n4"), "{lines:?}");
    assert_eq!(bench.state(), "Reorganization under n4 in 2.n4 with {}");
}

#[test]
fn a_name_that_overtook_another_waits_for_it() {
    let mut bench = peterson(2);
    assert_eq!(bench.receive(1, bid(2, 3, 1)), ["send n1 ack"]);
    let lines = sent(bench.receive(1, bid(2, 4, 0)));
    assert_eq!(
        lines,
        [
            "send n3 elect 2.n2 place 0",
            "send n3 elect 2.n4 place 1",
            "send n3 elect 2.n4 place 2",
            "send n1 ack"
        ]
    );
}

#[test]
fn names_from_somebody_else_mean_that_the_ring_has_changed() {
    let mut bench = peterson(3);
    bench.receive(2, bid(2, 2, 0));
    let lines = sent(bench.receive(1, bid(2, 1, 0)));
    assert_eq!(lines, ["send n4 elect 3.n3 place 0", "send n1 ack"]);
}

#[test]
fn a_successor_that_took_some_names_and_died_ends_the_election() {
    let mut bench = peterson(2);
    bench.receive(1, bid(2, 1, 0));
    bench.receive(3, ack(&bid(2, 2, 0), None));
    let lines = sent(bench.ring(Timer::Acknowledgement(NodeId(3))));
    assert_eq!(lines, ["send n3 elect 3.n2 place 0"]);
}

#[test]
fn a_successor_that_took_all_names_and_not_the_result_is_passed_by() {
    let mut bench = peterson(2);
    bench.receive(1, bid(2, 4, 0));
    bench.receive(1, bid(2, 3, 1));
    bench.receive(1, bid(2, 4, 2));
    for (node, place) in [(2, 0), (4, 1), (4, 2)] {
        bench.receive(3, ack(&bid(2, node, place), None));
    }
    let lines = sent(bench.ring(Timer::Acknowledgement(NodeId(3))));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("send n4 coordinator 2.n4"), "{lines:?}");
}

#[test]
fn a_stall_is_later_the_more_phases_there_may_be() {
    let stall = |algorithm| {
        let mut bench = Bench::<Ring>::established(group_of(algorithm, 4, &[]), 2, 4);
        let lines = bench.tell(Command::Suspect);
        let set =
            lines.into_iter().find_map(|line| Some(line.strip_prefix("set stall ")?.to_string()));
        set.expect("an election has a stall timer")
    };
    // T = 25 ms and a hop of 40 ms: seven rounds of four hops instead of three, and 4T.
    assert_eq!(stall(Algorithm::RingActiveList), "580ms");
    assert_eq!(stall(Algorithm::RingPeterson), "1.22s");
}
