//! Listing 10.26: a coordinator merges groups into a new one.

use super::*;

#[test]
fn a_merge_forms_a_new_group_and_invites_others_and_old_members() {
    let mut bench = leader(4, [3, 4], group(4));
    bench.tell(Command::Check);
    bench.receive(1, yes(1));
    bench.receive(2, no(1));
    let lines = bench.receive(3, no(4));
    assert_eq!(
        lines,
        [
            "cancel answers",
            "cancel check",
            "called",
            "save 2",
            "watch {}",
            "send n1 Invitation 2.n4",
            "send n3 Invitation 2.n4",
            "set answers 40ms",
            "stop",
        ]
    );
    assert_eq!(bench.state(), "Election under n4 in 2.n4 with {}");
}

#[test]
fn the_counter_is_on_disk_before_an_invitation_leaves() {
    let mut bench = leader(2, [2], group(2));
    bench.tell(Command::Check);
    let lines = bench.receive(1, yes(1));
    let save = lines.iter().position(|line| line == "save 2").unwrap();
    let first = lines.iter().position(|line| line.contains("2.n2")).unwrap();
    assert!(save < first, "{lines:?}");
}

#[test]
fn the_same_group_formed_again_gets_another_number() {
    let mut bench = merging(&[]);
    bench.receive(1, accept(2, 3));
    bench.receive(2, accept(2, 3));
    bench.tell(settled([1, 2, 3]));
    assert_eq!(bench.state(), "Normal under n3 in 2.n3 with {n1 n2}");
    bench.tell(Command::Silent(NodeId(1)));
    bench.stopped("");
    bench.receive(2, accept(3, 3));
    bench.tell(settled([2, 3]));
    assert_eq!(bench.state(), "Normal under n3 in 3.n3 with {n2}");
}

#[test]
fn an_accept_for_the_new_group_is_confirmed() {
    let mut bench = merging(&[]);
    assert_eq!(bench.receive(1, accept(2, 3)), ["send n1 Accept_answer 2.n3 yes"]);
    assert_eq!(bench.state(), "Election under n3 in 2.n3 with {n1}");
}

#[test]
fn an_accept_for_another_group_is_refused() {
    let mut bench = merging(&[]);
    assert_eq!(bench.receive(1, accept(1, 3)), ["send n1 Accept_answer 1.n3 no"]);
    assert_eq!(bench.state(), "Election under n3 in 2.n3 with {}");
}

#[test]
fn late_accept_is_refused() {
    let mut bench = merging(&[]);
    bench.receive(1, accept(2, 3));
    bench.ring(Timer::Answers);
    assert_eq!(bench.state(), "Reorganization under n3 in 2.n3 with {n1}");
    assert_eq!(bench.receive(2, accept(2, 3)), ["send n2 Accept_answer 2.n3 no"]);
    bench.tell(settled([1, 3]));
    assert_eq!(bench.receive(2, accept(2, 3)), ["send n2 Accept_answer 2.n3 no"]);
    assert_eq!(bench.state(), "Normal under n3 in 2.n3 with {n1}");
}

#[test]
fn exactly_those_that_accepted_are_the_group() {
    let mut bench = merging(&[]);
    bench.receive(1, accept(2, 3));
    assert_eq!(bench.ring(Timer::Answers), ["form 2.n3 with {n1}"]);
    assert_eq!(bench.state(), "Reorganization under n3 in 2.n3 with {n1}");
}

#[test]
fn a_merge_ends_early_when_all_have_accepted() {
    let mut bench = merging(&[]);
    bench.receive(1, accept(2, 3));
    let lines = bench.receive(2, accept(2, 3));
    assert_eq!(
        lines,
        ["send n2 Accept_answer 2.n3 yes", "cancel answers", "form 2.n3 with {n1 n2}"]
    );
}

#[test]
fn with_full_waits_a_merge_lasts_for_its_whole_wait() {
    let mut bench = merging(&[("waits", "full")]);
    bench.receive(1, accept(2, 3));
    assert_eq!(bench.receive(2, accept(2, 3)), ["send n2 Accept_answer 2.n3 yes"]);
    assert_eq!(bench.ring(Timer::Answers), ["form 2.n3 with {n1 n2}, in full"]);
}

#[test]
fn the_group_does_not_form_before_the_own_application_has_stopped() {
    let mut bench = leader(2, [2], group(2));
    bench.tell(Command::Check);
    bench.receive(1, yes(1));
    assert_eq!(bench.receive(1, accept(2, 2)), ["send n1 Accept_answer 2.n2 yes"]);
    assert_eq!(bench.stopped(""), ["cancel answers", "form 2.n2 with {n1}"]);
}

#[test]
fn forwarded_invitations_are_waited_for() {
    let mut bench = leader(3, [3], group(3));
    bench.tell(Command::Check);
    bench.receive(1, no(2));
    bench.receive(2, yes(2));
    bench.stopped("");
    let (report, forwarded) = (Report::default(), nodes([1]));
    let lines = bench.receive(2, Message::Accept { group: number(2, 3), report, forwarded });
    assert_eq!(lines, ["send n2 Accept_answer 2.n3 yes"]);
    let lines = bench.receive(1, accept(2, 3));
    assert_eq!(lines.last().unwrap(), "form 2.n3 with {n1 n2}");
}

#[test]
fn accepts_are_collected_long_enough_for_forwarded_invitations() {
    let mut bench = leader(2, [2], group(2));
    bench.tell(Command::Check);
    assert!(bench.receive(1, yes(1)).iter().any(|line| line == "set answers 40ms"));
}

#[test]
fn literal_merge_wait_is_too_short_for_forwarded_invitations() {
    let mut bench = leader(2, [2], with(2, &[("merge-wait", "literal")]));
    bench.tell(Command::Check);
    assert!(bench.receive(1, yes(1)).iter().any(|line| line == "set answers 25ms"));
}

#[test]
fn reports_of_those_that_accepted_reach_the_formation() {
    let mut bench = leader(2, [2], group(2));
    bench.tell(Command::Check);
    bench.receive(1, yes(1));
    bench.stopped("mine");
    let (report, forwarded) = (Report::from("theirs"), NodeSet::new());
    let lines = bench.receive(1, Message::Accept { group: number(2, 2), report, forwarded });
    assert_eq!(lines.last().unwrap(), "form 2.n2 with {n1} n2:mine n1:theirs");
}

#[test]
fn a_hand_over_that_all_took_makes_the_initiator_coordinator() {
    let mut bench = merging(&[]);
    bench.receive(1, accept(2, 3));
    bench.receive(2, accept(2, 3));
    let lines = bench.tell(settled([1, 2, 3]));
    assert_eq!(lines, ["ended Won", "set check 500ms", "watch {n1 n2}"]);
    assert_eq!(bench.state(), "Normal under n3 in 2.n3 with {n1 n2}");
}

#[test]
fn a_hand_over_that_somebody_did_not_take_ends_in_recovery() {
    let mut bench = merging(&[]);
    bench.receive(1, accept(2, 3));
    bench.receive(2, accept(2, 3));
    let lines = bench.tell(Command::Unsettled { missing: nodes([2]) });
    assert_eq!(lines, ["ended Failed", "called", "save 3", "watch {}", "stop"]);
    assert_eq!(bench.state(), "Election under n3 in 3.n3 with {}");
}

#[test]
fn a_call_during_a_merge_does_nothing() {
    let mut bench = merging(&[]);
    assert_eq!(bench.tell(Command::Call), NOTHING);
}

#[test]
fn evidence_that_an_invited_node_is_dead_ends_the_wait_for_it() {
    let mut bench = merging(&[]);
    bench.receive(1, accept(2, 3));
    let lines = bench.tell(Command::Failed(NodeId(2)));
    assert_eq!(lines, ["cancel answers", "form 2.n3 with {n1}"]);
    let mut patient = merging(&[("waits", "full")]);
    patient.receive(1, accept(2, 3));
    assert_eq!(patient.tell(Command::Failed(NodeId(2))), NOTHING);
}
