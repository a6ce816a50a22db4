use super::*;

/// The highest of three, which has won election 2 and stopped; it has no follower yet.
fn winner() -> Bench<Ring> {
    let mut bench = member(3, 3);
    bench.tell(Command::Call);
    bench.stopped("mine");
    bench.receive(2, candidate(2, 3, 2));
    assert_eq!(bench.state(), "Reorganization under n3 in 2.n3 with {}");
    bench
}

#[test]
fn whoever_has_stopped_follows_the_winner_at_once() {
    let mut bench = member(1, 3);
    bench.receive(3, candidate(2, 3, 0));
    bench.stopped("half done");
    let lines = bench.receive(3, elected(2, 3, []));
    assert_eq!(lines[..2], ["join 2.n3 under n3", "send n3 follow 2.n3 half done"]);
    assert_eq!(bench.state(), "Reorganization under n3 in 2.n3 with {}");
}

#[test]
fn whoever_has_not_stopped_follows_when_it_has() {
    let mut bench = member(1, 3);
    bench.receive(3, candidate(2, 3, 0));
    let lines = sent(bench.receive(3, elected(2, 3, [])));
    assert_eq!(lines, ["send n2 elected 2.n3 told {n1}", "send n3 ack"]);
    assert_eq!(bench.stopped("done"), ["send n3 follow 2.n3 done"]);
}

#[test]
fn the_winner_hands_over_when_all_who_were_told_follow() {
    let mut bench = winner();
    bench.receive(1, follow(2, 3));
    let lines = bench.receive(2, elected(2, 3, [1, 2]));
    assert_eq!(lines, ["set follows 25ms", "send n2 ack"]);
    let lines = bench.receive(2, follow(2, 3));
    assert_eq!(
        lines,
        ["cancel follows", "set check 500ms", "form 2.n3 with {n1 n2} n3:mine, leniently"]
    );
    assert_eq!(bench.tell(settled([1, 2, 3])), ["cancel stall", "ended Won"]);
    assert_eq!(bench.state(), "Normal under n3 in 2.n3 with {n1 n2}");
}

#[test]
fn whoever_was_told_and_does_not_follow_within_t_is_left_out() {
    let mut bench = winner();
    bench.receive(2, elected(2, 3, [1, 2]));
    bench.receive(2, follow(2, 3));
    let lines = bench.ring(Timer::Follows);
    assert!(lines.contains(&"form 2.n3 with {n2} n3:mine, leniently".to_string()), "{lines:?}");
}

#[test]
fn a_follower_of_another_election_does_not_count_and_one_counts_once() {
    let mut bench = winner();
    bench.receive(1, follow(1, 3));
    bench.receive(2, follow(2, 3));
    bench.receive(2, follow(2, 3));
    bench.receive(2, elected(2, 3, [1, 2]));
    let lines = bench.ring(Timer::Follows);
    assert!(lines.contains(&"form 2.n3 with {n2} n3:mine, leniently".to_string()), "{lines:?}");
}

#[test]
fn a_winner_whose_application_still_stops_forms_no_group_yet() {
    let mut bench = member(3, 3);
    bench.tell(Command::Call);
    bench.receive(2, candidate(2, 3, 2));
    bench.receive(2, elected(2, 3, [1, 2]));
    bench.receive(1, follow(2, 3));
    assert_eq!(bench.receive(2, follow(2, 3)), NOTHING);
    let lines = bench.stopped("late");
    assert!(lines.contains(&"form 2.n3 with {n1 n2} n3:late, leniently".to_string()), "{lines:?}");
}

#[test]
fn a_participant_is_normal_with_the_definition_and_watches_its_coordinator() {
    let mut bench = member(1, 3);
    bench.receive(3, candidate(2, 3, 0));
    bench.stopped("");
    bench.receive(3, elected(2, 3, []));
    assert_eq!(bench.tell(settled([1, 3])), ["cancel stall", "watch {n3}"]);
    assert_eq!(bench.state(), "Normal under n3 in 2.n3 with {n3}");
}

#[test]
fn a_definition_that_never_comes_causes_an_election() {
    let mut bench = member(1, 3);
    bench.receive(3, candidate(2, 3, 0));
    bench.receive(3, elected(2, 3, []));
    assert_eq!(bench.tell(Command::Silent(NodeId(3))), NOTHING);
    assert_eq!(sent(bench.ring(Timer::Stall)), ["send n2 election 3.n1 hop 0"]);
}

#[test]
fn a_winner_that_nobody_hears_of_calls_again() {
    let mut bench = winner();
    let lines = bench.ring(Timer::Stall);
    assert_eq!(lines[0], "ended Yielded");
    assert_eq!(sent(lines), ["send n1 election 3.n3 hop 0"]);
}
