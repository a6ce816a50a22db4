use super::*;

#[test]
fn whoever_discovers_the_failure_sends_its_own_name() {
    let lines = sent(member(2, 4).tell(Command::Failed(NodeId(4))));
    assert_eq!(lines, ["send n3 election 2.n2 hop 0"]);
}

#[test]
fn a_higher_candidate_is_passed_on_unchanged() {
    let lines = sent(member(2, 4).receive(1, candidate(2, 3, 1)));
    assert_eq!(lines, ["send n3 election 2.n3 hop 2", "send n1 ack"]);
}

#[test]
fn a_lower_candidate_is_replaced_by_the_own() {
    let mut bench = member(3, 4);
    let lines = bench.receive(2, candidate(2, 1, 1));
    assert!(lines.contains(&"save 2".to_string()), "{lines:?}");
    assert!(lines.contains(&"called".to_string()), "{lines:?}");
    assert_eq!(sent(lines), ["send n4 election 2.n3 hop 0", "send n2 ack"]);
}

#[test]
fn a_lower_candidate_is_dropped_by_a_node_that_takes_part() {
    let mut caller = member(3, 4);
    caller.tell(Command::Call);
    assert_eq!(caller.receive(2, candidate(2, 1, 1)), ["send n2 ack"]);
    let mut passer = member(3, 4);
    passer.receive(2, candidate(2, 4, 1));
    assert_eq!(passer.receive(2, candidate(2, 1, 1)), ["send n2 ack"]);
}

#[test]
fn a_candidate_that_passes_a_higher_one_on_has_lost() {
    let mut bench = member(2, 4);
    bench.tell(Command::Call);
    assert_eq!(bench.receive(1, candidate(2, 4, 0))[0], "ended Yielded");
    assert_eq!(bench.receive(1, candidate(2, 2, 3)), ["send n1 ack"]);
}

#[test]
fn the_own_name_coming_back_is_victory_and_is_told_round() {
    let mut bench = member(4, 4);
    bench.tell(Command::Call);
    let lines = sent(bench.receive(3, candidate(2, 4, 2)));
    assert_eq!(lines, ["send n1 elected 2.n4 told {}", "send n3 ack"]);
    assert_eq!(bench.state(), "Reorganization under n4 in 2.n4 with {}");
}

#[test]
fn the_winner_is_recorded_and_passed_on_with_ones_own_name() {
    let mut bench = member(2, 4);
    bench.receive(1, candidate(2, 4, 0));
    let lines = sent(bench.receive(1, elected(2, 4, [1])));
    assert_eq!(lines, ["send n3 elected 2.n4 told {n1 n2}", "send n1 ack"]);
    assert_eq!(bench.state(), "Reorganization under n4 in 2.n4 with {}");
}

#[test]
fn the_winner_does_not_pass_its_own_victory_on() {
    let mut bench = member(4, 4);
    bench.tell(Command::Call);
    bench.receive(3, candidate(2, 4, 2));
    let lines = sent(bench.receive(3, elected(2, 4, [1, 2, 3])));
    assert_eq!(lines, ["send n3 ack"]);
}

#[test]
fn a_winner_that_everybody_knows_goes_round_no_second_time() {
    let mut bench = member(2, 4);
    bench.receive(1, candidate(2, 4, 0));
    bench.receive(1, elected(2, 4, [1]));
    assert_eq!(sent(bench.receive(1, elected(2, 4, [1, 2, 3]))), ["send n1 ack past 2"]);
}

#[test]
fn a_node_that_came_up_too_late_for_an_election_follows_a_higher_winner() {
    let mut bench: Bench<Ring> = Bench::coming_up(group(4), 2, None);
    bench.receive(1, elected(5, 4, [1]));
    assert_eq!(bench.state(), "Reorganization under n4 in 5.n4 with {}");
}

#[test]
fn a_node_that_came_up_too_late_for_an_election_follows_nobody_lower() {
    let mut bench: Bench<Ring> = Bench::coming_up(group(4), 4, None);
    let lines = sent(bench.receive(3, elected(5, 2, [3])));
    assert_eq!(lines, ["send n1 election 6.n4 hop 0", "send n3 ack"]);
}

#[test]
fn a_candidate_that_has_been_everywhere_is_dead_and_a_new_election_begins() {
    let mut bench = member(2, 4);
    bench.receive(1, candidate(2, 4, 1));
    let lines = sent(bench.receive(1, candidate(2, 4, 3)));
    assert_eq!(lines, ["send n3 election 3.n2 hop 0", "send n1 ack"]);
}

#[test]
fn literal_orphans_circulate_for_ever_and_nobody_loses_patience() {
    let mut bench: Bench<Ring> = Bench::established(with(4, &[("orphans", "literal")]), 2, 4);
    bench.receive(1, candidate(2, 4, 1));
    assert!(!bench.is_running(Timer::Stall));
    let lines = sent(bench.receive(1, candidate(2, 4, 99)));
    assert_eq!(lines, ["send n3 election 2.n4 hop 100", "send n1 ack"]);
}

/// Nodes 1 and 2 with the same attribute.
fn equals(options: &[(&str, &str)]) -> TestGroup {
    use crate::membership::{Member, Membership, Priority};
    let member = |id| Member { priority: Priority(7), id: NodeId(id) };
    TestGroup { members: Membership::new([member(1), member(2)]).unwrap(), ..with(2, options) }
}

#[test]
fn of_two_equal_attributes_the_higher_id_wins() {
    let mut bench: Bench<Ring> = Bench::established(equals(&[]), 1, 2);
    bench.tell(Command::Call);
    let lines = bench.receive(2, candidate(2, 2, 0));
    assert_eq!(lines[0], "ended Yielded");
    assert_eq!(bench.state(), "Election under none in 2.n1 with {}");
}

#[test]
fn literal_ties_take_an_equal_attribute_for_ones_own() {
    let mut bench: Bench<Ring> = Bench::established(equals(&[("ties", "attribute")]), 1, 2);
    bench.tell(Command::Call);
    bench.receive(2, candidate(2, 2, 0));
    assert_eq!(bench.state(), "Reorganization under n1 in 2.n1 with {}");
}
