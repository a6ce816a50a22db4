use super::*;

#[test]
fn a_node_that_comes_up_calls_an_election_above_what_its_disk_kept() {
    let bench: Bench<Ring> = Bench::coming_up(group(3), 2, Some(Counter(4)));
    assert_eq!(
        bench.began,
        [
            "set stall 460ms",
            "watch {}",
            "stop",
            "called",
            "save 5",
            "set acknowledgement of n3 25ms",
            "send n3 election 5.n2 hop 0",
        ]
    );
}

#[test]
fn the_number_is_on_disk_before_anybody_hears_of_it() {
    let lines = member(1, 3).tell(Command::Call);
    let at = |what: &str| lines.iter().position(|line| line.starts_with(what));
    assert!(at("save 2") < at("send"), "{lines:?}");
}

#[test]
fn whoever_joins_an_election_has_elected_nobody_and_stops() {
    let mut bench = member(2, 4);
    let lines = bench.receive(1, candidate(2, 4, 1));
    assert!(lines.contains(&"stop".to_string()), "{lines:?}");
    assert_eq!(bench.state(), "Election under none in 2.n2 with {}");
}

#[test]
fn a_call_while_an_election_is_on_does_nothing() {
    let mut bench = member(2, 4);
    bench.tell(Command::Call);
    assert_eq!(bench.tell(Command::Call), NOTHING);
    let mut bench = member(2, 4);
    bench.receive(1, candidate(2, 4, 1));
    assert_eq!(bench.tell(Command::Suspect), NOTHING);
}

#[test]
fn only_the_coordinator_is_suspected() {
    let mut bench = member(2, 4);
    assert_eq!(bench.tell(Command::Silent(NodeId(3))), NOTHING);
    assert_eq!(bench.tell(Command::Failed(NodeId(3))), NOTHING);
    let lines = sent(bench.tell(Command::Silent(NodeId(4))));
    assert_eq!(lines, ["send n3 election 2.n2 hop 0"]);
    assert_eq!(member(4, 4).tell(Command::Suspect), NOTHING);
}

#[test]
fn evidence_that_the_coordinator_is_dead_calls_an_election() {
    let lines = sent(member(2, 4).tell(Command::Failed(NodeId(4))));
    assert_eq!(lines, ["send n3 election 2.n2 hop 0"]);
}

#[test]
fn a_higher_number_ends_the_election_that_is_on() {
    let mut bench = member(3, 4);
    bench.tell(Command::Call);
    let lines = bench.receive(2, candidate(5, 4, 0));
    assert_eq!(lines[0], "ended Yielded");
    assert_eq!(bench.state(), "Election under none in 5.n3 with {}");
    assert_eq!(sent(bench.receive(2, candidate(2, 4, 0))), ["send n2 ack past 4"]);
}

#[test]
fn an_election_that_nobody_wins_is_called_again() {
    let mut bench = member(2, 4);
    bench.receive(1, candidate(2, 4, 1));
    assert_eq!(sent(bench.ring(Timer::Stall)), ["send n3 election 3.n2 hop 0"]);
}

#[test]
fn a_coordinator_asks_everybody_whether_they_are_in_its_group() {
    let mut bench = member(3, 3);
    let lines = bench.ring(Timer::Check);
    assert_eq!(
        lines,
        ["set check 500ms", "send n1 AreYouNormal", "send n2 AreYouNormal", "set answers 25ms",]
    );
    for node in [1, 2] {
        bench.receive(node, Message::AynAnswer { is_normal: true, group: Some(number(1, 3)) });
    }
    assert_eq!(bench.ring(Timer::Answers), NOTHING);
}

#[test]
fn a_member_answers_where_it_is() {
    let mut bench = member(1, 3);
    let asked = bench.receive(3, Message::AreYouNormal { group: number(1, 3) });
    assert_eq!(asked, ["send n3 AYN_answer 1.n3 yes"]);
}

#[test]
fn a_member_that_does_not_answer_or_works_elsewhere_causes_an_election() {
    let mut bench = member(3, 3);
    bench.ring(Timer::Check);
    bench.receive(1, Message::AynAnswer { is_normal: true, group: Some(number(1, 3)) });
    assert_eq!(sent(bench.ring(Timer::Answers)), ["send n1 election 2.n3 hop 0"]);

    let mut bench = member(3, 3);
    bench.ring(Timer::Check);
    bench.receive(1, Message::AynAnswer { is_normal: true, group: Some(number(1, 3)) });
    bench.receive(2, Message::AynAnswer { is_normal: true, group: Some(number(6, 2)) });
    assert_eq!(sent(bench.ring(Timer::Answers)), ["send n1 election 7.n3 hop 0"]);
}

#[test]
fn an_outsider_that_is_dead_or_elects_causes_no_election() {
    let mut bench: Bench<Ring> = Bench::established_among(group(3), 3, 3, nodes([1, 3]));
    bench.ring(Timer::Check);
    bench.receive(1, Message::AynAnswer { is_normal: true, group: Some(number(1, 3)) });
    assert_eq!(bench.ring(Timer::Answers), NOTHING);
    bench.ring(Timer::Check);
    bench.receive(1, Message::AynAnswer { is_normal: true, group: Some(number(1, 3)) });
    bench.receive(2, Message::AynAnswer { is_normal: false, group: None });
    assert_eq!(bench.ring(Timer::Answers), NOTHING);
}

#[test]
fn a_silent_member_is_asked() {
    let lines = sent(member(3, 3).tell(Command::Silent(NodeId(1))));
    assert_eq!(lines, ["send n1 AreYouNormal", "send n2 AreYouNormal"]);
}

#[test]
fn a_number_that_others_remember_is_not_used_again() {
    let mut bench = member(2, 3);
    assert_eq!(bench.tell(Command::AdvanceTo(Counter(9))), ["save 9"]);
    assert_eq!(sent(bench.tell(Command::Call)), ["send n3 election 10.n2 hop 0"]);
}
