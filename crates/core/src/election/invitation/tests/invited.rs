//! Listing 10.27: a node that is invited.

use super::*;

/// A member of n3's group that has accepted n4's invitation into 7.n4.
fn accepting(options: &[(&str, &str)]) -> Bench<Invitation> {
    let config = with(4, options);
    let mut bench = Bench::<Invitation>::established_among(config, 1, 3, nodes([1, 2, 3]));
    bench.receive(3, invitation(7, 4));
    bench.stopped("");
    bench
}

#[test]
fn a_strangers_invitation_is_passed_on_to_the_coordinator() {
    let config = |options| with(5, options);
    let member =
        |options| Bench::<Invitation>::established_among(config(options), 1, 3, nodes([1, 2, 3]));
    let mut bench = member(&[]);
    let before = bench.state();
    assert_eq!(bench.receive(5, invitation(7, 5)), ["send n3 Invitation 7.n5"]);
    assert_eq!(bench.state(), before);
    // Invited by its coordinator, or by a fellow member that lost the coordinator, the node
    // accepts.
    for (from, group) in [(3, 5), (4, 5), (2, 2), (3, 2)] {
        let mut bench = member(&[]);
        bench.receive(from, invitation(7, group));
        assert!(bench.state().starts_with("Election under"), "{from} {group}: {}", bench.state());
    }
    let mut printed = member(&[("strangers", "accept")]);
    printed.receive(5, invitation(7, 5));
    assert_eq!(printed.state(), "Election under n5 in 7.n5 with {}");
}

#[test]
fn an_invitation_stops_the_application_before_it_is_accepted() {
    let mut bench = member(1, 3);
    let lines = bench.receive(2, invitation(7, 2));
    assert_eq!(lines, ["cancel timeout", "watch {}", "yield"]);
    assert_eq!(bench.state(), "Election under n2 in 7.n2 with {}");
    let lines = bench.stopped("half");
    assert_eq!(lines, ["join 7.n2 under n2", "send n2 Accept 7.n2 half", "set answers 25ms"]);
    assert_eq!(bench.state(), "Reorganization under n2 in 7.n2 with {}");
}

#[test]
fn a_coordinator_that_accepts_passes_the_invitation_on_to_its_members() {
    let mut bench = leader(3, [1, 2, 3], group(4));
    let lines = bench.receive(4, invitation(7, 4));
    assert_eq!(sent(lines), ["send n1 Invitation 7.n4", "send n2 Invitation 7.n4"]);
    let lines = bench.stopped("");
    assert_eq!(sent(lines), ["send n4 Accept 7.n4 forwarded {n1 n2}"]);
}

#[test]
fn a_member_that_accepts_passes_nothing_on() {
    let mut bench = member(1, 3);
    assert_eq!(sent(bench.receive(2, invitation(7, 2))), NOTHING);
    assert_eq!(sent(bench.stopped("")), ["send n2 Accept 7.n2"]);
}

#[test]
fn a_forwarded_invitation_is_accepted_at_the_new_coordinator() {
    let mut bench = member(1, 3);
    bench.receive(3, invitation(7, 2));
    assert_eq!(sent(bench.stopped("")), ["send n2 Accept 7.n2"]);
}

#[test]
fn an_invitation_is_accepted_only_in_normal() {
    let mut recovering = Bench::<Invitation>::coming_up(group(3), 1, None);
    assert_eq!(recovering.receive(2, invitation(7, 2)), NOTHING);
    recovering.stopped("");
    assert_eq!(recovering.state(), "Reorganization under n1 in 1.n1 with {}");
    assert_eq!(recovering.receive(2, invitation(7, 2)), NOTHING);
    recovering.tell(settled([1]));
    assert!(!recovering.receive(2, invitation(7, 2)).is_empty());

    assert_eq!(merging(&[]).receive(2, invitation(7, 2)), NOTHING);
    assert_eq!(accepting(&[]).receive(2, invitation(7, 2)), NOTHING);
}

#[test]
fn an_invitation_into_a_group_that_was_left_is_ignored() {
    let mut bench = Bench::<Invitation>::established(group(3), 1, 3);
    assert_eq!(bench.receive(3, invitation(1, 3)), NOTHING);
    assert_eq!(bench.state(), "Normal under n3 in 1.n3 with {n2 n3}");
}

#[test]
fn a_confirmed_accept_waits_for_the_definition() {
    let mut bench = accepting(&[]);
    let lines = bench.receive(4, accept_answer(7, 4, true));
    assert_eq!(lines, ["cancel answers", "set timeout 250ms"]);
    assert_eq!(bench.state(), "Reorganization under n4 in 7.n4 with {}");
    bench.tell(settled([1, 4]));
    assert_eq!(bench.state(), "Normal under n4 in 7.n4 with {n4}");
}

#[test]
fn a_refused_accept_leads_to_a_group_of_ones_own() {
    let mut bench = accepting(&[]);
    let lines = bench.receive(4, accept_answer(7, 4, false));
    assert_eq!(lines, ["cancel answers", "called", "save 1", "watch {}", "stop"]);
    bench.stopped("");
    bench.tell(settled([1]));
    assert_eq!(bench.state(), "Normal under n1 in 1.n1 with {}");
}

#[test]
fn an_unanswered_accept_counts_as_refused() {
    let mut bench = accepting(&[]);
    bench.ring(Timer::Answers);
    assert_eq!(bench.state(), "Election under n1 in 1.n1 with {}");
}

#[test]
fn an_accept_answer_for_another_group_is_not_taken_for_this_one() {
    let mut bench = accepting(&[]);
    assert_eq!(bench.receive(4, accept_answer(6, 4, false)), NOTHING);
    assert_eq!(bench.receive(4, accept_answer(6, 4, true)), NOTHING);
    assert!(bench.is_running(Timer::Answers));
}

#[test]
fn a_definition_may_overtake_the_accept_answer() {
    let mut bench = accepting(&[]);
    let lines = bench.tell(settled([1, 4]));
    assert_eq!(lines, ["cancel answers", "set timeout 250ms", "watch {}"]);
    assert_eq!(bench.state(), "Normal under n4 in 7.n4 with {n4}");
    assert_eq!(bench.receive(4, accept_answer(7, 4, true)), NOTHING);
}

#[test]
fn literal_joining_waits_for_the_accept_answer() {
    let mut bench = accepting(&[("joining", "literal")]);
    assert_eq!(bench.state(), "Election under n4 in 7.n4 with {}");
    let lines = bench.receive(4, accept_answer(7, 4, true));
    assert_eq!(lines.last().unwrap(), "join 7.n4 under n4");
    assert_eq!(bench.state(), "Reorganization under n4 in 7.n4 with {}");
}

#[test]
fn literal_recovery_leaves_the_node_stuck_in_reorganization() {
    let mut bench = accepting(&[("recovery", "literal")]);
    bench.receive(4, accept_answer(7, 4, false));
    bench.stopped("");
    bench.tell(settled([1]));
    assert_eq!(bench.state(), "Reorganization under n1 in 1.n1 with {}");
    assert_eq!(sent(bench.tell(Command::Check)), NOTHING);
    assert_eq!(bench.receive(4, invitation(8, 4)), NOTHING);
}
