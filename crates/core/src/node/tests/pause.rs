//! Pausing: what is postponed, what is not, and what is reported afterwards.

use super::*;
use crate::policy::{Message as Said, Stamp, Timer as Waits};

fn flag(counter: u64, node: u32, is_on: bool) -> Message {
    let stamp = Stamp { counter, node: NodeId(node) };
    Message::Policy(Said::Pause { stamp, is_on })
}

fn paused(algorithm: Algorithm, me: u32) -> Bench<Node> {
    let mut bench = established(algorithm, me);
    let lines = without_timers(bench.tell(Command::Pause));
    assert_eq!(lines.iter().filter(|line| line.ends_with("Pause yes")).count(), 2);
    assert_eq!(lines[2], "paused");
    assert!(bench.machine.is_paused());
    bench
}

#[test]
fn who_is_told_by_a_peer_does_not_pass_it_on_at_once() {
    let mut bench = established(Algorithm::Bully, 1);
    assert_eq!(without_timers(bench.receive(2, flag(1, 2, true))), ["paused"]);
    assert_eq!(bench.receive(2, flag(1, 2, true)), NOTHING);
}

#[test]
fn the_highest_stamp_counts_and_who_has_a_lower_one_is_told() {
    let mut bench = established(Algorithm::Bully, 1);
    bench.receive(2, flag(5, 2, true));
    assert_eq!(bench.receive(3, flag(4, 3, false)), ["send n3 Pause yes"]);
    assert_eq!(bench.receive(3, flag(5, 1, false)), ["send n3 Pause yes"]);
    assert!(bench.machine.is_paused());
    assert_eq!(bench.receive(3, flag(5, 3, false))[..2], ["cancel remind", "resumed"]);
    assert_eq!(bench.receive(2, flag(5, 2, true)), ["send n2 Pause no"]);
    assert!(!bench.machine.is_paused());
}

#[test]
fn silence_and_evidence_are_kept_from_a_settled_election() {
    for algorithm in Algorithm::ALL {
        let mut bench = paused(*algorithm, 2);
        assert_eq!(bench.tell(Command::Refused(NodeId(3))), NOTHING, "{algorithm:?}");
        let farewell = Message::Policy(Said::Farewell { successor: None });
        assert_eq!(bench.receive(3, farewell), ["farewell of n3"], "{algorithm:?}");
        assert_eq!(bench.machine.state().status, Status::Normal);
    }
}

#[test]
fn a_leader_that_is_gone_is_told_until_it_is_heard_again() {
    for algorithm in Algorithm::ALL {
        let mut bench = established(*algorithm, 2);
        bench.tell(Command::Pause);
        assert_eq!(bench.machine.lost_leader(), None, "{algorithm:?}");
        bench.tell(Command::Refused(NodeId(1)));
        assert_eq!(bench.machine.lost_leader(), None, "{algorithm:?}: a member is gone");
        bench.tell(Command::Refused(NodeId(3)));
        assert_eq!(bench.machine.lost_leader(), Some(NodeId(3)), "{algorithm:?}");
        bench.receive(3, Message::Detector(Heartbeat));
        assert_eq!(bench.machine.lost_leader(), None, "{algorithm:?}");
    }
}

#[test]
fn what_begins_by_itself_is_put_off() {
    use election::Timer as Electing;
    let check = Timer::Election(Electing::Bully(bully::Timer::Check));
    assert_eq!(paused(Algorithm::Bully, 3).ring(check), ["set check 500ms"]);
    let check = Timer::Election(Electing::Invitation(invitation::Timer::Check));
    assert_eq!(paused(Algorithm::Invitation, 3).ring(check), ["set check 500ms"]);
    let timeout = Timer::Election(Electing::Invitation(invitation::Timer::Timeout));
    assert_eq!(paused(Algorithm::Invitation, 1).ring(timeout), ["set timeout 250ms"]);
}

#[test]
fn what_others_ask_is_answered_as_ever() {
    let mut bench = paused(Algorithm::Bully, 1);
    assert_eq!(without_timers(bench.receive(3, enter_election())), ["stop"]);
    let lines = bench.tell(Command::Stopped(Report::default()));
    assert_eq!(without_timers(lines), ["send n3 EE_answer 2.n3 yes"]);
    // It is in an election, and that goes on.
    assert_eq!(bench.tell(Command::Refused(NodeId(3)))[0], "called");
}

#[test]
fn what_was_put_off_is_done_at_once_when_elections_resume() {
    let mut member = paused(Algorithm::Bully, 1);
    member.tell(Command::Refused(NodeId(3)));
    let lines = without_timers(member.tell(Command::Resume));
    assert_eq!(lines[2..], ["resumed", "send n3 AreYouUp"]);
    let mut coordinator = paused(Algorithm::Bully, 3);
    let lines = without_timers(coordinator.tell(Command::Resume));
    assert_eq!(lines[2..], ["resumed", "send n1 AreYouNormal", "send n2 AreYouNormal"]);
}

#[test]
fn a_member_that_was_missed_and_came_back_is_not_left_out() {
    let mut missing = paused(Algorithm::Invitation, 3);
    missing.tell(Command::Refused(NodeId(1)));
    assert!(missing.tell(Command::Resume).contains(&"called".to_string()));
    let mut back = paused(Algorithm::Invitation, 3);
    back.tell(Command::Refused(NodeId(1)));
    back.receive(1, Message::Detector(Heartbeat));
    assert!(!back.tell(Command::Resume).contains(&"called".to_string()));
}

#[test]
fn who_speaks_up_is_told_once_in_a_period() {
    let mut bench = established(Algorithm::Bully, 1);
    bench.receive(3, flag(1, 3, true));
    let question = || bully(bully::Message::AreYouUp { nudge: false });
    let answer = "send n2 AYU_answer";
    assert_eq!(bench.receive(2, question()), ["send n2 Pause yes", answer]);
    assert_eq!(bench.receive(2, question()), [answer]);
    bench.ring(Timer::Policy(Waits::Remind));
    assert_eq!(bench.receive(2, question()), ["send n2 Pause yes", answer]);
}
