//! Withdrawal, and how the peers react.

use core::time::Duration;

use super::*;
use crate::recall::Message as Recalling;

const HOLD: Duration = Duration::from_secs(3);

fn withdraw() -> Command {
    Command::Withdraw { hold: Some(HOLD) }
}

fn stopped() -> Command {
    Command::Stopped(Report::from("half"))
}

fn sent(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().filter(|line| line.starts_with("send ")).collect()
}

fn withdrawn(algorithm: Algorithm, me: u32) -> Bench<Node> {
    let mut bench = established(algorithm, me);
    bench.tell(withdraw());
    bench.tell(stopped());
    assert!(bench.machine.is_withdrawn());
    bench
}

#[test]
fn a_coordinator_stops_first_and_then_says_farewell() {
    for algorithm in Algorithm::ALL {
        let mut bench = established(*algorithm, 3);
        assert_eq!(bench.tell(withdraw()), ["yield", "set stop 30s"], "{algorithm:?}");
        assert_eq!(bench.machine.state().status, Status::Normal);
        let lines = without_timers(bench.tell(stopped()));
        assert_eq!(lines, ["send n1 Farewell", "send n2 Farewell", "withdrawn"], "{algorithm:?}");
        let state = bench.machine.state();
        assert_eq!((state.status, state.group, state.coordinator), (Status::Down, None, None));
        assert!(!bench.machine.is_accepting());
    }
}

#[test]
fn nothing_of_the_election_runs_on() {
    use crate::policy::Timer as Waits;
    for algorithm in Algorithm::ALL {
        let mut bench = heartbeats::established(*algorithm, 3);
        bench.tell(withdraw());
        bench.tell(stopped());
        assert_eq!(*bench.running(), [Timer::Policy(Waits::Quiet), Timer::Policy(Waits::Hold)]);
    }
}

#[test]
fn a_member_that_was_stopping_for_an_election_says_farewell_instead_of_answering() {
    let mut bench = established(Algorithm::Bully, 1);
    assert_eq!(without_timers(bench.receive(3, enter_election())), ["stop"]);
    assert_eq!(bench.tell(withdraw()), NOTHING);
    let lines = without_timers(bench.tell(stopped()));
    assert_eq!(lines, ["send n2 Farewell", "send n3 Farewell", "withdrawn"]);
}

#[test]
fn a_node_whose_application_had_stopped_goes_at_once() {
    let mut bench = established(Algorithm::Bully, 1);
    bench.receive(3, enter_election());
    bench.tell(stopped());
    let lines = without_timers(bench.tell(withdraw()));
    assert_eq!(lines, ["send n2 Farewell", "send n3 Farewell", "withdrawn"]);
}

#[test]
fn until_it_has_stopped_a_node_answers_as_ever() {
    let mut bench = established(Algorithm::Bully, 3);
    bench.tell(withdraw());
    let question = bully(bully::Message::AreYouUp { nudge: false });
    assert_eq!(sent(bench.receive(1, question)), ["send n1 AYU_answer"]);
}

#[test]
fn what_comes_for_the_election_is_answered_with_a_farewell() {
    let mut bench = withdrawn(Algorithm::Bully, 2);
    assert_eq!(sent(bench.receive(3, enter_election())), ["send n3 Farewell"]);
    let late = reorganization::Message::NewStateAnswer { group: number(1, 3), ok: true };
    assert_eq!(sent(bench.receive(1, Message::Reorganization(late))), ["send n1 Farewell"]);
    assert_eq!(bench.receive(3, Message::Detector(Heartbeat)), NOTHING);
    for command in [Command::Call, Command::Check, Command::SuspectCoordinator] {
        assert_eq!(bench.tell(command), NOTHING);
    }
    assert_eq!(bench.machine.state().status, Status::Down);
}

#[test]
fn a_farewell_is_evidence_at_once() {
    for algorithm in Algorithm::ALL {
        let mut told = established(*algorithm, 2);
        let lines = told.receive(3, Message::Policy(policy::Message::Farewell { successor: None }));
        assert_eq!(lines[0], "farewell of n3", "{algorithm:?}");
        let refused = established(*algorithm, 2).tell(Command::Refused(NodeId(3)));
        assert_eq!(lines[1..], refused, "{algorithm:?}");
        assert!(refused.contains(&"called".to_string()), "{algorithm:?}: {refused:?}");
    }
}

#[test]
fn a_node_that_returns_goes_on_from_its_counter() {
    let mut bench = withdrawn(Algorithm::Invitation, 3);
    assert!(bench.ring(Timer::Policy(policy::Timer::Quiet)).is_empty());
    let lines = bench.ring(Timer::Policy(policy::Timer::Hold));
    let plan = "plan 2.n3 for {n3} n3:half";
    assert_eq!(without_timers(lines), ["rejoined", "called", "save 2", plan]);
    assert!(!bench.machine.is_withdrawn());
}

#[test]
fn a_node_that_is_alone_in_the_world_steps_aside_and_returns() {
    let mut bench: Bench<Node> = Bench::coming_up(group_of(Algorithm::Bully, 1, &[]), 1, None);
    bench.tell(define(number(1, 1)));
    assert!(bench.machine.is_accepting());
    bench.tell(withdraw());
    assert_eq!(without_timers(bench.tell(stopped())), ["withdrawn"]);
    bench.tell(Command::Rejoin);
    let lines = without_timers(bench.ring(Timer::Policy(policy::Timer::Quiet)));
    assert_eq!(lines[..2], ["rejoined", "called"]);
}

#[test]
fn a_node_that_does_not_know_its_counter_yet_starts_when_both_are_over() {
    let asking = || {
        let config = group_of(Algorithm::Invitation, 2, &[]).recalling();
        let mut bench: Bench<Node> = Bench::coming_up(config, 1, Some(Counter(4).into()));
        assert_eq!(without_timers(bench.tell(withdraw())), ["send n2 Farewell", "withdrawn"]);
        bench
    };
    let recalled = |question| Recalling::Recalled { question, counter: Some(Counter(9)) };
    let answer = || Message::Recall(recalled(0));

    let mut first_known = asking();
    assert_eq!(without_timers(first_known.receive(2, answer())), ["save 9"]);
    first_known.tell(Command::Rejoin);
    let lines = without_timers(first_known.ring(Timer::Policy(policy::Timer::Quiet)));
    assert_eq!(lines[..3], ["rejoined", "called", "save 10"]);

    let mut first_back = asking();
    first_back.tell(Command::Rejoin);
    let lines = without_timers(first_back.ring(Timer::Policy(policy::Timer::Quiet)));
    assert_eq!(lines, ["rejoined"]);
    let lines = without_timers(first_back.receive(2, answer()));
    assert_eq!(lines[..3], ["save 9", "called", "save 10"]);
}

#[test]
fn a_farewell_does_not_stand_for_what_the_peer_remembers() {
    let config = group_of(Algorithm::Invitation, 2, &[]).recalling();
    let mut bench: Bench<Node> = Bench::coming_up(config, 1, Some(Counter(4).into()));
    let farewell = Message::Policy(policy::Message::Farewell { successor: None });
    assert_eq!(bench.receive(2, farewell), ["farewell of n2"]);
    let recalled = Recalling::Recalled { question: 0, counter: Some(Counter(9)) };
    let lines = without_timers(bench.receive(2, Message::Recall(recalled)));
    assert_eq!(lines[..3], ["save 9", "called", "save 10"]);
}

#[test]
fn a_number_that_is_seen_while_aside_is_not_used_again() {
    let config = group_of(Algorithm::Invitation, 2, &[]).recalling();
    let members = nodes([1, 2]);
    let group = EstablishedGroup { group: number(1, 2), coordinator: NodeId(2), members };
    let mut bench = Bench::begun(config, 1, |cx, out| {
        Node::established(cx, Counter(1).into(), &group, Definition::default(), out)
    });
    bench.tell(Command::Withdraw { hold: None });
    bench.tell(stopped());
    let invited = invitation::Message::AreYouThere { group: number(7, 1) };
    bench.receive(2, Message::Election(election::Message::Invitation(invited)));
    bench.tell(Command::Rejoin);
    let lines = without_timers(bench.ring(Timer::Policy(policy::Timer::Quiet)));
    assert_eq!(lines[..3], ["rejoined", "called", "save 8"]);
}

#[test]
fn a_node_that_starts_with_an_objection_disturbs_no_election_until_it_is_lifted() {
    for algorithm in Algorithm::ALL {
        let config = group_of(*algorithm, 3, &[]);
        let mut bench = Bench::begun(config, 3, |cx, out| {
            Node::start_objected(cx, None, BTreeSet::from([Objection::Gate]), out)
        });
        assert_eq!(*bench.running(), [Timer::Policy(policy::Timer::Quiet)], "{algorithm:?}");
        assert!(bench.machine.is_withdrawn());
        bench.ring(Timer::Policy(policy::Timer::Quiet));
        assert_eq!(bench.tell(Command::Call), NOTHING, "{algorithm:?}");
        assert_eq!(bench.tell(Command::Rejoin), NOTHING, "{algorithm:?}");
        let lines = without_timers(bench.tell(Command::Lift(Objection::Gate)));
        assert_eq!(lines[0], "rejoined", "{algorithm:?}: {lines:?}");
        assert!(!bench.machine.is_withdrawn());
    }
}

#[test]
fn a_node_that_starts_with_an_objection_asks_for_its_numbers_and_then_says_farewell() {
    let config = group_of(Algorithm::Invitation, 2, &[]).recalling();
    let mut bench = Bench::begun(config, 1, |cx, out| {
        let objections = BTreeSet::from([Objection::Health]);
        Node::start_objected(cx, Some(Counter(4).into()), objections, out)
    });
    // A peer takes whatever comes after a farewell for a sign that the node is back.
    let began = without_timers(bench.began.clone());
    assert_eq!(began, ["send n2 Recall", "send n2 Farewell", "withdrawn"]);
    let recalled = Recalling::Recalled { question: 0, counter: Some(Counter(9)) };
    assert_eq!(without_timers(bench.receive(2, Message::Recall(recalled))), ["save 9"]);
    bench.ring(Timer::Policy(policy::Timer::Quiet));
    let lines = without_timers(bench.tell(Command::Lift(Objection::Health)));
    assert_eq!(lines[..3], ["rejoined", "called", "save 10"]);
}
