//! Priorities that change: every layer uses those in force.

use core::time::Duration;

use super::*;
use crate::policy::Message as Said;
use crate::recall::Message as Recalling;

fn rank(priority: u32) -> Message {
    Message::Policy(Said::Priority { priority })
}

/// Whether a member whose coordinator n3 has failed leaves it to others to form the next group.
fn waits(bench: &mut Bench<Node>) -> bool {
    let lines = bench.receive(3, Message::Policy(Said::Farewell { successor: None }));
    lines.iter().any(|line| line.starts_with("set delay"))
}

#[test]
fn who_was_raised_does_not_wait_for_a_higher_id_when_the_coordinator_is_gone() {
    assert!(waits(&mut established(Algorithm::Invitation, 1)));
    let mut bench = established(Algorithm::Invitation, 1);
    assert_eq!(bench.tell(Command::SetPriority(50)), ["send n2 Priority", "send n3 Priority"]);
    assert_eq!(bench.machine.priority(NodeId(1)), Some(50));
    assert!(!waits(&mut bench));
}

#[test]
fn who_hears_of_a_raised_one_waits_for_it() {
    assert!(!waits(&mut established(Algorithm::Invitation, 2)));
    let mut bench = established(Algorithm::Invitation, 2);
    assert_eq!(bench.receive(1, rank(50)), NOTHING);
    assert!(waits(&mut bench));
}

#[test]
fn who_has_come_up_again_is_not_waited_for() {
    let mut bench = established(Algorithm::Invitation, 2);
    bench.receive(1, rank(50));
    let question = Message::Recall(Recalling::Recall { question: 7 });
    assert_eq!(bench.receive(1, question), ["send n1 Recall_answer no"]);
    assert!(!waits(&mut bench));
}

#[test]
fn a_coordinator_learns_of_a_claim_in_the_step_in_which_it_hears_of_it() {
    let stable = Duration::from_secs(3);
    let members = nodes([1, 2, 3]);
    let established = EstablishedGroup { group: number(1, 3), coordinator: NodeId(3), members };
    let mut config = group_of(Algorithm::Invitation, 3, &[]);
    config.settings.preempt = Preempt::After(stable);
    let mut bench = Bench::begun(config, 3, |cx, out| {
        Node::established(cx, Counter(1).into(), &established, Definition::from("old"), out)
    });
    assert_eq!(bench.receive(1, rank(50)), ["set yield 3s"]);
    assert_eq!(bench.receive(1, rank(0)), ["cancel yield"]);
    let lowered = bench.tell(Command::SetPriority(1));
    assert_eq!(lowered, ["send n1 Priority", "send n2 Priority", "set yield 3s"]);
}
