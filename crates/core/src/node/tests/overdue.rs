//! An application that does not stop in time: its node falls silent, and withdraws when it has.

use core::time::Duration;

use super::*;

const HOLD: Duration = Duration::from_secs(3);
const LIMIT: Timer = Timer::Policy(policy::Timer::Stop);

fn stopped() -> Command {
    Command::Stopped(Report::from("half"))
}

/// A coordinator that was asked to withdraw, and whose application hangs.
fn overdue(algorithm: Algorithm) -> Bench<Node> {
    let mut bench = established(algorithm, 3);
    bench.tell(Command::Withdraw { hold: Some(HOLD) });
    assert_eq!(without_timers(bench.ring(LIMIT)), ["overdue"], "{algorithm:?}");
    bench
}

#[test]
fn a_coordinator_whose_application_hangs_falls_silent_and_says_no_farewell() {
    for algorithm in Algorithm::ALL {
        let mut bench = heartbeats::established(*algorithm, 3);
        bench.tell(Command::Withdraw { hold: None });
        assert_eq!(without_timers(bench.ring(LIMIT)), ["overdue"], "{algorithm:?}");
        assert_eq!(*bench.running(), [], "{algorithm:?}: no heartbeat, no check");
        let state = bench.machine.state();
        assert_eq!((state.status, state.group, state.coordinator), (Status::Down, None, None));
        assert!(bench.machine.is_overdue());
        assert!(!bench.machine.is_withdrawn());
        assert!(!bench.machine.takes_part());
    }
}

#[test]
fn an_overdue_node_answers_nothing() {
    let mut bench = overdue(Algorithm::Bully);
    for message in [
        bully(bully::Message::AreYouUp { nudge: false }),
        bully(bully::Message::AreYouNormal),
        enter_election(),
        Message::Detector(Heartbeat),
    ] {
        assert_eq!(bench.receive(1, message), NOTHING);
    }
    for command in [Command::Call, Command::Check, Command::SuspectCoordinator] {
        assert_eq!(bench.tell(command), NOTHING);
    }
}

#[test]
fn an_overdue_node_still_tells_others_the_numbers_that_it_remembers() {
    let config = group_of(Algorithm::Invitation, 2, &[]).recalling();
    let group =
        EstablishedGroup { group: number(1, 2), coordinator: NodeId(2), members: nodes([1, 2]) };
    let mut bench = Bench::begun(config, 1, |cx, out| {
        Node::established(cx, Counter(1).into(), &group, Definition::default(), out)
    });
    bench.tell(Command::Withdraw { hold: None });
    bench.ring(LIMIT);
    let asked = crate::recall::Message::Recall { question: 4 };
    let lines = bench.receive(2, Message::Recall(asked));
    assert!(lines.iter().any(|line| line.starts_with("send n2 Recall_answer")), "{lines:?}");
}

#[test]
fn an_overdue_node_withdraws_when_its_application_has_stopped_at_last() {
    let mut bench = overdue(Algorithm::Bully);
    let lines = without_timers(bench.tell(stopped()));
    assert_eq!(lines, ["send n1 Farewell", "send n2 Farewell", "withdrawn"]);
    assert!(bench.machine.is_withdrawn());
    bench.ring(Timer::Policy(policy::Timer::Quiet));
    let lines = without_timers(bench.ring(Timer::Policy(policy::Timer::Hold)));
    assert_eq!(lines[0], "rejoined");
}

#[test]
fn an_overdue_node_does_not_rejoin_before_its_application_has_stopped() {
    let mut bench = overdue(Algorithm::Bully);
    assert_eq!(bench.tell(Command::Rejoin), NOTHING);
    assert!(bench.machine.is_overdue());
    bench.tell(stopped());
    bench.ring(Timer::Policy(policy::Timer::Hold));
    let lines = without_timers(bench.ring(Timer::Policy(policy::Timer::Quiet)));
    assert_eq!(lines[0], "rejoined");
}

#[test]
fn a_member_that_hangs_in_an_election_falls_silent_and_rejoins_by_itself() {
    let mut bench = established(Algorithm::Bully, 1);
    let lines = bench.receive(3, enter_election());
    assert!(lines.contains(&"set stop 30s".to_string()), "{lines:?}");
    assert_eq!(without_timers(bench.ring(LIMIT)), ["overdue"]);
    assert_eq!(bench.receive(3, bully(bully::Message::AreYouUp { nudge: false })), NOTHING);
    let lines = without_timers(bench.tell(stopped()));
    assert_eq!(lines, ["send n2 Farewell", "send n3 Farewell", "withdrawn"]);
    bench.ring(Timer::Policy(policy::Timer::Hold));
    let lines = without_timers(bench.ring(Timer::Policy(policy::Timer::Quiet)));
    assert_eq!(lines[..2], ["rejoined", "called"]);
}

#[test]
fn a_leader_that_hangs_in_its_own_reorganization_ends_its_leadership_before_it_withdraws() {
    let mut bench = established(Algorithm::Invitation, 3);
    let lines = bench.tell(Command::Refused(NodeId(1)));
    assert!(lines.contains(&"stop".to_string()), "{lines:?}");
    assert_eq!(without_timers(bench.ring(LIMIT)), ["overdue"]);
    assert_eq!(without_timers(bench.tell(stopped())), ["yield"], "its job goes on until here");
    assert!(bench.machine.is_overdue());
    let lines = without_timers(bench.tell(stopped()));
    assert_eq!(lines, ["send n1 Farewell", "send n2 Farewell", "withdrawn"]);
}

#[test]
fn an_application_that_stops_in_time_leaves_no_timer_behind() {
    let mut bench = established(Algorithm::Bully, 1);
    bench.receive(3, enter_election());
    assert!(bench.running().contains(&LIMIT));
    bench.tell(stopped());
    assert!(!bench.running().contains(&LIMIT));
}

/// A coordinator of two that has halted the other and whose application hangs in the plan.
fn planning() -> Bench<Node> {
    let mut bench = established(Algorithm::Bully, 2);
    bench.tell(Command::Call);
    bench.tell(Command::Refused(NodeId(3)));
    bench.tell(Command::Stopped(Report::default()));
    let number = bench.machine.state().group.unwrap();
    let halted = bully::Message::EeAnswer { group: number, ok: true, report: Report::from("half") };
    bench.receive(1, bully(halted));
    let appointed = bully::Message::ScAnswer { group: number, ok: true };
    let lines = bench.receive(1, bully(appointed));
    assert!(lines.iter().any(|line| line.starts_with("plan")), "{lines:?}");
    assert!(lines.contains(&"set stop 30s".to_string()), "{lines:?}");
    bench
}

fn plan_of(bench: &Bench<Node>) -> Command {
    let group = bench.machine.state().group.unwrap();
    Command::Define { group, definition: Definition::from("late") }
}

#[test]
fn a_coordinator_that_hangs_in_its_plan_falls_silent_and_stays_away_until_it_has_made_it() {
    let mut bench = planning();
    let plan = plan_of(&bench);
    assert_eq!(without_timers(bench.ring(LIMIT)), ["overdue"]);
    assert_eq!(bench.receive(1, bully(bully::Message::AreYouUp { nudge: false })), NOTHING);
    let lines = without_timers(bench.tell(plan));
    assert_eq!(lines, ["send n1 Farewell", "send n3 Farewell", "withdrawn"]);
    bench.ring(Timer::Policy(policy::Timer::Hold));
    let lines = without_timers(bench.ring(Timer::Policy(policy::Timer::Quiet)));
    assert_eq!(lines[..2], ["rejoined", "called"]);
}

#[test]
fn a_plan_in_time_leaves_no_timer_behind() {
    let mut bench = planning();
    bench.tell(plan_of(&bench));
    assert!(!bench.running().contains(&LIMIT));
}

#[test]
fn elections_after_the_one_that_hangs_do_not_make_the_limit_longer() {
    let mut bench = planning();
    let halting = enter_election();
    let lines = bench.receive(3, halting);
    assert!(!lines.iter().any(|line| line.contains(" stop")), "{lines:?}");
    assert!(bench.running().contains(&LIMIT));
    assert_eq!(without_timers(bench.ring(LIMIT)), ["overdue"]);
}

#[test]
fn a_limit_that_ran_out_while_the_node_had_withdrawn_counts_when_it_is_back() {
    let mut bench = planning();
    let lines = without_timers(bench.tell(Command::Withdraw { hold: Some(HOLD) }));
    assert_eq!(lines.last().map(String::as_str), Some("withdrawn"), "it runs nothing: {lines:?}");
    assert_eq!(bench.ring(LIMIT), ["set stop 30s"]);
    bench.ring(Timer::Policy(policy::Timer::Quiet));
    bench.ring(Timer::Policy(policy::Timer::Hold));
    assert!(bench.machine.takes_part());
    assert_eq!(without_timers(bench.ring(LIMIT)), ["overdue"]);
}
