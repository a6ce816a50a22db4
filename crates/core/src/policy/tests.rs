use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::election::Algorithm;
use crate::membership::Membership;
use crate::testing::{Bench, NOTHING, group_of};

const HOLD: Duration = Duration::from_secs(3);

fn present() -> Bench<Policy> {
    Bench::coming_up(group_of(Algorithm::Bully, 3, &[]), 2, None)
}

fn withdraw(hold: Option<Duration>) -> Command {
    Command::Withdraw { hold }
}

fn withdrawn(hold: Option<Duration>) -> Bench<Policy> {
    let mut bench = present();
    bench.tell(withdraw(hold));
    bench.tell(Command::Stopped);
    bench
}

#[test]
fn nothing_is_said_before_the_application_has_stopped() {
    let mut bench = present();
    assert_eq!(bench.tell(withdraw(Some(HOLD))), NOTHING);
    assert!(bench.machine.is_leaving() && !bench.machine.is_withdrawn());
    let lines = bench.tell(Command::Stopped);
    let farewells = ["drop", "send n1 Farewell", "send n3 Farewell", "set quiet 25ms"];
    assert_eq!(lines[..4], farewells);
    assert_eq!(lines[4..], ["set hold 3s", "withdrawn"]);
    assert!(bench.machine.is_withdrawn());
}

#[test]
fn a_node_that_takes_part_ignores_what_is_meant_for_one_that_does_not() {
    let mut bench = present();
    for command in [Command::Stopped, Command::Rejoin, Command::Asked(NodeId(1))] {
        assert_eq!(bench.tell(command), NOTHING);
    }
}

#[test]
fn when_the_hold_is_over_the_node_returns() {
    let mut bench = withdrawn(Some(HOLD));
    assert_eq!(bench.ring(Timer::Quiet), NOTHING);
    assert_eq!(bench.ring(Timer::Hold), ["rejoined"]);
    assert!(!bench.machine.is_withdrawn());
}

#[test]
fn without_a_hold_only_a_command_brings_it_back() {
    let mut bench = withdrawn(None);
    assert!(!bench.is_running(Timer::Hold));
    bench.ring(Timer::Quiet);
    assert_eq!(bench.tell(Command::Rejoin), ["rejoined"]);
}

#[test]
fn nobody_returns_while_a_farewell_may_be_under_way() {
    let mut bench = withdrawn(None);
    assert_eq!(bench.tell(Command::Rejoin), NOTHING);
    assert!(bench.machine.is_withdrawn());
    assert_eq!(bench.ring(Timer::Quiet), ["rejoined"]);
}

#[test]
fn whoever_still_asks_is_told_again_and_the_wait_begins_anew() {
    let mut bench = withdrawn(None);
    bench.ring(Timer::Quiet);
    let lines = bench.tell(Command::Asked(NodeId(3)));
    assert_eq!(lines, ["send n3 Farewell", "set quiet 25ms"]);
    assert_eq!(bench.tell(Command::Rejoin), NOTHING);
    // Peers that keep asking cannot keep it from rejoining.
    assert_eq!(bench.tell(Command::Asked(NodeId(1))), NOTHING);
    assert_eq!(bench.ring(Timer::Quiet), ["rejoined"]);
}

#[test]
fn the_last_hold_that_was_asked_for_counts() {
    let mut bench = present();
    bench.tell(withdraw(None));
    bench.tell(withdraw(Some(HOLD)));
    assert!(bench.tell(Command::Stopped).contains(&"set hold 3s".into()));
    assert_eq!(bench.tell(withdraw(None)), ["cancel hold", "withdrawn"]);
    bench.ring(Timer::Quiet);
    assert_eq!(bench.tell(withdraw(Some(HOLD))), ["set hold 3s", "withdrawn"]);
    assert_eq!(bench.ring(Timer::Hold), ["rejoined"]);
}

#[test]
fn who_wants_it_back_while_it_is_leaving_gets_it_back_after_t() {
    let mut bench = present();
    bench.tell(withdraw(None));
    assert_eq!(bench.tell(Command::Rejoin), NOTHING);
    assert!(bench.tell(Command::Stopped).contains(&"set hold 0ns".into()));
    bench.ring(Timer::Hold);
    assert_eq!(bench.ring(Timer::Quiet), ["rejoined"]);
}

#[test]
fn a_farewell_is_passed_on() {
    assert_eq!(present().receive(3, Message::Farewell { successor: None }), ["farewell of n3"]);
    assert_eq!(
        withdrawn(None).receive(3, Message::Farewell { successor: None }),
        ["farewell of n3"]
    );
}

#[test]
fn an_algorithm_that_hands_over_can_leave_a_lower_node_leading() {
    let never = |algorithm, options: &[(&str, &str)]| {
        let config = group_of(algorithm, 3, options);
        Preempt::Never.checked(algorithm, &config.settings.options)
    };
    assert_eq!(never(Algorithm::Invitation, &[]), Ok(Preempt::Never));
    for policy in ["ignore-lower", "prompted", "only-lower"] {
        let refused = never(Algorithm::Invitation, &[("policy", policy)]);
        assert_eq!(refused, Err(PreemptError::HigherMerges), "{policy}");
    }
    for (option, value) in [("waits", "full"), ("reinvite", "off")] {
        let config = group_of(Algorithm::Invitation, 3, &[(option, value)]);
        let after = Preempt::After(HOLD).checked(Algorithm::Invitation, &config.settings.options);
        assert_eq!(after, Err(PreemptError::NobodyTakesOver), "{option}");
        assert!(never(Algorithm::Invitation, &[(option, value)]).is_ok(), "{option}");
    }
    let after = Preempt::After(HOLD);
    for algorithm in Algorithm::ALL {
        let config = group_of(*algorithm, 3, &[]);
        let options = &config.settings.options;
        assert!(Preempt::Always.checked(*algorithm, options).is_ok());
        if keeps_leaders(*algorithm) {
            assert_eq!(never(*algorithm, &[]), Ok(Preempt::Never));
            assert_eq!(after.checked(*algorithm, options), Ok(after));
        } else {
            let refused = PreemptError::HighestWins(algorithm.name());
            assert_eq!(never(*algorithm, &[]), Err(refused));
            assert_eq!(after.checked(*algorithm, options), Err(refused));
        }
    }
    let config = group_of(Algorithm::Bully, 3, &[("waits", "full")]);
    let refused = after.checked(Algorithm::Bully, &config.settings.options);
    assert_eq!(refused, Err(PreemptError::NobodyTakesOver));
}

#[test]
fn who_waits_to_be_found_waits_for_two_checks_and_the_longest_merge_delay() {
    let config = group_of(Algorithm::Invitation, 3, &[]);
    let timing = &config.settings.timing;
    assert_eq!(Preempt::Always.first_check(timing, &config.members), Duration::ZERO);
    // 2 * 500 + 25 + 3 * 45 + 60 + 10
    assert_eq!(Preempt::Never.first_check(timing, &config.members), Duration::from_millis(1230));
    assert_eq!(
        Preempt::After(HOLD).first_check(timing, &config.members),
        Duration::from_millis(1230)
    );
}

#[test]
fn a_coordinator_makes_room_when_its_group_has_been_the_same_for_long_enough() {
    use crate::testing::number;
    let mut config = group_of(Algorithm::Invitation, 3, &[]);
    config.settings.preempt = Preempt::After(HOLD);
    let mut bench: Bench<Policy> = Bench::coming_up(config, 2, None);
    let outranked = |counter| Command::Outranked(Some(number(counter, 2)));
    assert_eq!(bench.tell(outranked(1)), ["set yield 3s"]);
    assert_eq!(bench.tell(outranked(1)), NOTHING);
    assert_eq!(bench.tell(outranked(2)), ["set yield 3s"]);
    assert_eq!(bench.tell(Command::Outranked(None)), ["cancel yield"]);
    bench.tell(outranked(3));
    bench.tell(Command::Pause { is_on: true });
    assert_eq!(bench.ring(Timer::Yield), ["set yield 3s"]);
    bench.tell(Command::Pause { is_on: false });
    assert_eq!(bench.ring(Timer::Yield), NOTHING);
    assert!(bench.machine.is_leaving());
    assert!(bench.tell(Command::Stopped).contains(&"set hold 0ns".into()));
}

fn inviting() -> Bench<Policy> {
    Bench::coming_up(group_of(Algorithm::Invitation, 3, &[]), 2, None)
}

/// The nodes in the order in force at this one, lowest first.
fn order(bench: &Bench<Policy>) -> Option<Vec<u32>> {
    let members = Membership::numbered(3).unwrap();
    let ranked = bench.machine.members_in_force(&members)?;
    Some(ranked.all().iter().map(|member| member.id.0).collect())
}

#[test]
fn a_new_priority_is_said_to_all_others_and_counts_here() {
    let mut bench = inviting();
    assert_eq!(order(&bench), None);
    assert_eq!(bench.tell(Command::SetPriority(50)), ["send n1 Priority", "send n3 Priority"]);
    assert_eq!(order(&bench), Some(vec![1, 3, 2]));
    assert_eq!(bench.machine.priority(NodeId(2)), Some(50));
    bench.tell(Command::SetPriority(0));
    assert_eq!(order(&bench), Some(vec![2, 1, 3]));
}

#[test]
fn what_another_says_of_its_priority_counts_until_it_comes_up_again() {
    let mut bench = inviting();
    assert_eq!(bench.receive(1, Message::Priority { priority: 50 }), NOTHING);
    assert_eq!(order(&bench), Some(vec![2, 3, 1]));
    assert_eq!(bench.tell(Command::Greet(NodeId(1))), NOTHING);
    assert_eq!(order(&bench), None);
    assert_eq!(bench.machine.priority(NodeId(2)), None);
}

#[test]
fn whoever_comes_up_is_told_the_priority_that_this_node_has() {
    let mut bench = inviting();
    bench.tell(Command::SetPriority(50));
    assert_eq!(bench.tell(Command::Greet(NodeId(3))), ["send n3 Priority"]);
    assert_eq!(order(&bench), Some(vec![1, 3, 2]));
}

#[test]
fn whoever_steps_aside_forgets_the_others_priorities_and_is_told_them_again() {
    let mut bench = inviting();
    bench.tell(Command::SetPriority(0));
    bench.receive(1, Message::Priority { priority: 50 });
    bench.tell(withdraw(None));
    assert_eq!(order(&bench), Some(vec![2, 3, 1]));
    bench.tell(Command::Stopped);
    assert_eq!(order(&bench), Some(vec![2, 1, 3]));
    assert_eq!(
        bench.receive(3, Message::Farewell { successor: None }),
        ["send n3 Priority", "farewell of n3"]
    );
}

#[test]
fn where_all_nodes_need_one_order_it_stays_as_it_is() {
    for algorithm in Algorithm::ALL.iter().filter(|other| **other != Algorithm::Invitation) {
        let mut bench: Bench<Policy> = Bench::coming_up(group_of(*algorithm, 3, &[]), 2, None);
        assert_eq!(bench.tell(Command::SetPriority(50)), NOTHING);
        assert_eq!(bench.receive(1, Message::Priority { priority: 50 }), NOTHING);
        assert_eq!(order(&bench), None, "{algorithm:?}");
        let refused = PriorityError::check(&group_of(*algorithm, 3, &[]).config().unwrap());
        assert_eq!(refused, Err(PriorityError::OneOrder(algorithm.name())));
    }
    for policy in ["ignore-lower", "prompted", "only-lower"] {
        let config = group_of(Algorithm::Invitation, 3, &[("policy", policy)]);
        assert_eq!(
            PriorityError::check(&config.config().unwrap()),
            Err(PriorityError::NobodyMerges),
            "{policy}"
        );
        let mut bench: Bench<Policy> = Bench::coming_up(config, 2, None);
        assert_eq!(bench.tell(Command::SetPriority(50)), NOTHING);
        assert_eq!(order(&bench), None, "{policy}");
    }
    assert_eq!(
        PriorityError::check(&group_of(Algorithm::Invitation, 3, &[]).config().unwrap()),
        Ok(())
    );
}

#[test]
fn a_stranger_has_no_priority() {
    let mut bench = inviting();
    bench.receive(9, Message::Priority { priority: 50 });
    assert_eq!(order(&bench), None);
}

/// Whether coordinators by this algorithm can keep leading when a higher node joins.
fn keeps_leaders(algorithm: Algorithm) -> bool {
    let name = algorithm.name();
    matches!(name, "bully" | "invitation") || name.starts_with("ring-")
}

fn objected_to() -> Bench<Policy> {
    let mut bench = present();
    assert_eq!(bench.tell(Command::Object(Objection::Gate)), NOTHING);
    assert!(bench.machine.is_leaving());
    bench.tell(Command::Stopped);
    bench.ring(Timer::Hold);
    bench.ring(Timer::Quiet);
    assert!(bench.machine.is_withdrawn());
    bench
}

#[test]
fn an_objection_keeps_a_node_out_until_it_is_lifted() {
    let mut bench = objected_to();
    assert_eq!(bench.tell(Command::Rejoin), NOTHING);
    assert!(bench.machine.is_withdrawn());
    assert_eq!(bench.tell(Command::Lift(Objection::Gate)), ["rejoined"]);
    assert!(!bench.machine.is_withdrawn());
}

#[test]
fn every_objection_has_to_be_lifted() {
    let mut bench = objected_to();
    assert_eq!(bench.tell(Command::Object(Objection::Health)), NOTHING);
    assert_eq!(bench.tell(Command::Lift(Objection::Gate)), NOTHING);
    assert_eq!(bench.tell(Command::Lift(Objection::Job)), NOTHING);
    assert_eq!(bench.tell(Command::Lift(Objection::Health)), ["rejoined"]);
}

#[test]
fn a_hold_that_ends_while_an_objection_stands_brings_nothing_back() {
    let mut bench = withdrawn(Some(HOLD));
    bench.ring(Timer::Quiet);
    bench.tell(Command::Object(Objection::Health));
    assert_eq!(bench.ring(Timer::Hold), NOTHING);
    assert!(bench.machine.is_withdrawn());
    assert_eq!(bench.tell(Command::Lift(Objection::Health)), ["rejoined"]);
}

#[test]
fn an_operators_hold_outlasts_the_objection() {
    let mut bench = withdrawn(Some(HOLD));
    bench.ring(Timer::Quiet);
    bench.tell(Command::Object(Objection::Health));
    assert_eq!(bench.tell(Command::Lift(Objection::Health)), NOTHING);
    assert_eq!(bench.ring(Timer::Hold), ["rejoined"]);
}

#[test]
fn a_node_that_is_kept_out_answers_with_farewells_and_rejoins_t_after_the_last() {
    let mut bench = objected_to();
    let lines = bench.tell(Command::Asked(NodeId(3)));
    assert_eq!(lines, ["send n3 Farewell", "set quiet 25ms"]);
    assert_eq!(bench.tell(Command::Lift(Objection::Gate)), NOTHING);
    assert_eq!(bench.ring(Timer::Quiet), ["rejoined"]);
}
