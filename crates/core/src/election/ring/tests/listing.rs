use super::*;

fn modified(me: u32, options: &[(&str, &str)]) -> Bench<Ring> {
    Bench::established(group_of(Algorithm::RingModified, 4, options), me, 4)
}

fn listed(me: u32, options: &[(&str, &str)]) -> Bench<Ring> {
    Bench::established(group_of(Algorithm::RingList, 4, options), me, 4)
}

fn list<const N: usize>(number: u64, initiator: u32, names: [u32; N]) -> Message {
    let (number, initiator) = (Counter(number), NodeId(initiator));
    Message::Pass(Token::List {
        number,
        initiator,
        names: names.map(NodeId).to_vec(),
        leader: None,
    })
}

/// The result of a list that its initiator began and owns.
fn result<const N: usize>(owner: u32, winner: u32, names: &[u32], told: [u32; N]) -> Message {
    let (number, initiator) = (Counter(2), NodeId(owner));
    let (owner, winner) = (NodeId(owner), NodeId(winner));
    let names = names.iter().copied().map(NodeId).collect();
    Message::Pass(Token::Coordinator {
        number,
        owner,
        winner,
        names,
        told: nodes(told),
        initiator,
        leader: None,
    })
}

#[test]
fn the_list_begins_with_its_initiator() {
    assert_eq!(sent(modified(2, &[]).tell(Command::Call)), ["send n3 election 2.n2 by n2"]);
    assert_eq!(sent(listed(2, &[]).tell(Command::Suspect)), ["send n3 election 2.n2 by n2"]);
}

#[test]
fn everybody_appends_its_name() {
    let lines = sent(modified(3, &[]).receive(2, list(2, 1, [1, 2])));
    assert_eq!(lines, ["send n4 election 2.n1 by n1 n2 n3", "send n2 ack"]);
}

#[test]
fn back_at_the_initiator_the_best_of_the_list_is_elected_and_told_round() {
    let mut bench = modified(1, &[]);
    bench.tell(Command::Call);
    let lines = sent(bench.receive(3, list(2, 1, [1, 2, 3])));
    assert_eq!(lines, ["send n2 coordinator 2.n3 of n1 told {n1}", "send n3 ack"]);
    assert_eq!(bench.state(), "Reorganization under n3 in 2.n3 with {}");
}

#[test]
fn everybody_records_the_winner_and_appends_its_name() {
    let mut bench = modified(2, &[]);
    bench.receive(1, list(2, 1, [1]));
    let lines = sent(bench.receive(1, result(1, 3, &[], [1])));
    assert_eq!(lines, ["send n3 coordinator 2.n3 of n1 told {n1 n2}", "send n1 ack"]);
    assert_eq!(bench.state(), "Reorganization under n3 in 2.n3 with {}");
}

#[test]
fn a_winner_that_was_told_ends_the_election_and_hears_who_was_told() {
    let mut bench = modified(1, &[]);
    bench.tell(Command::Call);
    bench.receive(3, list(2, 1, [1, 2, 3]));
    let lines = sent(bench.receive(3, result(1, 3, &[], [1, 2, 3])));
    assert_eq!(lines, ["send n3 told 2.n3 {n1 n2 n3}", "send n3 ack"]);
}

#[test]
fn a_winner_that_was_not_told_is_dead_and_the_election_is_repeated() {
    for mut bench in [modified(1, &[]), listed(1, &[])] {
        bench.tell(Command::Call);
        bench.receive(3, list(2, 1, [1, 2, 3]));
        let lines = sent(bench.receive(2, result(1, 3, &[1, 2, 3], [1, 2])));
        assert_eq!(lines, ["send n2 election 3.n1 by n1", "send n2 ack"]);
    }
}

#[test]
fn the_winner_saves_its_number_and_waits_for_those_who_were_told() {
    let mut bench = modified(3, &[]);
    bench.receive(2, list(2, 1, [1, 2]));
    bench.stopped("");
    bench.receive(1, follow(2, 3));
    let lines = bench.receive(2, result(1, 3, &[], [1, 2]));
    assert_eq!(lines[0], "save 2");
    let all = nodes([1, 2, 3]);
    assert_eq!(bench.receive(1, Message::Told { group: number(2, 3), all }), ["set follows 25ms"]);
    let lines = bench.receive(2, follow(2, 3));
    assert!(lines.contains(&"form 2.n3 with {n1 n2}, leniently".to_string()), "{lines:?}");
}

#[test]
fn a_list_whose_initiator_died_is_adopted_by_whoever_has_signed_it() {
    let mut bench = modified(2, &[]);
    bench.receive(1, list(2, 1, [1]));
    let lines = sent(bench.receive(4, list(2, 1, [1, 2, 3, 4])));
    assert_eq!(lines, ["send n3 coordinator 2.n4 of n2 told {n2}", "send n4 ack"]);
}

#[test]
fn a_result_whose_owner_died_is_adopted_by_whoever_has_passed_it_on() {
    let mut bench = modified(2, &[]);
    bench.receive(1, list(2, 1, [1]));
    bench.receive(1, result(1, 4, &[], [1]));
    let lines = sent(bench.receive(4, result(1, 4, &[], [1, 2, 3, 4])));
    assert_eq!(lines, ["send n4 told 2.n4 {n1 n2 n3 n4}", "send n4 ack"]);
}

#[test]
fn literal_orphans_go_round_and_round() {
    let mut bench = modified(2, &[("orphans", "literal")]);
    bench.receive(1, list(2, 1, [1]));
    assert!(!bench.is_running(Timer::Stall));
    let lines = sent(bench.receive(4, list(2, 1, [1, 2, 3, 4])));
    assert_eq!(lines, ["send n3 election 2.n1 by n1 n2 n3 n4", "send n4 ack"]);
}

#[test]
fn of_two_lists_of_one_election_the_higher_initiators_goes_on() {
    let mut bench = listed(3, &[]);
    bench.receive(2, list(2, 2, [2]));
    assert_eq!(bench.receive(2, list(2, 1, [1, 2])), ["send n2 ack"]);
    let lines = sent(bench.receive(2, list(2, 4, [4, 1, 2])));
    assert_eq!(lines, ["send n4 election 2.n4 by n4 n1 n2 n3", "send n2 ack"]);
    assert_eq!(bench.receive(2, result(2, 3, &[2, 3], [2])), ["send n2 ack"]);
    assert_eq!(bench.state(), "Election under none in 2.n3 with {}");
}

#[test]
fn as_printed_all_lists_go_on_and_the_last_one_counts() {
    let options = [("concurrent", "all"), ("confirmation", "literal")];
    let mut bench = listed(2, &options);
    bench.receive(1, list(2, 3, [3, 4, 1]));
    let lines = sent(bench.receive(1, list(2, 1, [1])));
    assert_eq!(lines, ["send n3 election 2.n1 by n1 n2", "send n1 ack"]);
    bench.receive(1, result(3, 4, &[3, 4, 1, 2], [3, 4, 1]));
    assert_eq!(bench.state(), "Reorganization under n4 in 2.n4 with {}");
    bench.receive(1, result(1, 3, &[1, 2, 3], [1]));
    assert_eq!(bench.state(), "Reorganization under n3 in 2.n3 with {}");
}

#[test]
fn the_starter_turns_the_list_into_a_coordinator_message_with_the_same_list() {
    let mut bench = listed(1, &[]);
    bench.tell(Command::Call);
    let lines = sent(bench.receive(4, list(2, 1, [1, 2, 4])));
    assert_eq!(lines[0], "send n2 coordinator 2.n4 of n1 told {n1} by n1 n2 n4");
    let mut other = listed(2, &[]);
    other.receive(1, list(2, 1, [1]));
    // The list decides, whatever else the message says.
    other.receive(1, result(1, 1, &[1, 2, 4], [1]));
    assert_eq!(bench.state(), "Reorganization under n4 in 2.n4 with {}");
    assert_eq!(other.state(), bench.state());
}

#[test]
fn after_one_round_the_starter_removes_the_coordinator_message() {
    let mut bench = listed(1, &[("confirmation", "literal")]);
    bench.tell(Command::Call);
    bench.receive(4, list(2, 1, [1, 2, 4]));
    assert_eq!(sent(bench.receive(4, result(1, 4, &[1, 2, 4], [1, 2, 4]))), ["send n4 ack"]);
}

#[test]
fn a_node_that_came_up_too_late_for_the_list_follows_nobody_lower() {
    let config = group_of(Algorithm::RingModified, 4, &[]);
    let mut bench: Bench<Ring> = Bench::coming_up(config, 4, Some(Counter(0)));
    let lines = sent(bench.receive(3, result(1, 3, &[], [1, 2, 3])));
    assert_eq!(lines, ["send n1 election 3.n4 by n4", "send n3 ack"]);
}
