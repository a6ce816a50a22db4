//! The policy `precedence`: which of two coordinators merges the other.

use super::*;
use crate::policy::Preempt;

fn sticky(n: u32) -> TestGroup {
    let mut config = with(n, &[]);
    config.settings.preempt = Preempt::Never;
    config
}

/// Of a coordinator that has established a group of this size.
fn of_size(size: u32) -> Option<Standing> {
    Some(Standing { leads: Some(size), ..Standing::default() })
}

/// The query of a coordinator that has established a group of this size.
fn query_of(size: u32) -> Message {
    Message::AreYouCoordinator { standing: of_size(size) }
}

/// The answer of a coordinator that has established a group of this size.
fn leading(node: u32, size: u32) -> Message {
    Message::AycAnswer { is_coordinator: true, coordinator: NodeId(node), standing: of_size(size) }
}

/// The invitation of a coordinator that has established a group of this size.
fn invitation_of(counter: u64, node: u32, size: u32) -> Message {
    Message::Invitation { group: number(counter, node), standing: of_size(size) }
}

/// Started, and Normal in a group of one.
fn newcomer(me: u32, config: TestGroup) -> Bench<Invitation> {
    let mut bench = Bench::<Invitation>::coming_up(config, me, None);
    bench.stopped("");
    bench.tell(settled([]));
    bench
}

#[test]
fn an_established_coordinator_invites_a_newcomer_of_higher_rank_at_once() {
    let mut bench = leader(1, [1, 2], sticky(3));
    let lines = sent(bench.receive(3, query()));
    assert_eq!(
        lines,
        ["send n3 AYC_answer yes", "send n2 Invitation 2.n1", "send n3 Invitation 2.n1"]
    );
}

#[test]
fn a_newcomer_waits_for_the_established_coordinator_though_it_outranks_it() {
    let mut bench = newcomer(3, sticky(3));
    bench.ring(Timer::Check);
    bench.receive(2, no(1));
    // join_wait: 2 * 500 + 25 + 3 * 45 + 60 + 10
    assert_eq!(bench.receive(1, leading(1, 2)), ["cancel answers", "set delay 1.23s"]);
    bench.receive(1, invitation(2, 1));
    assert_eq!(bench.state(), "Election under n1 in 2.n1 with {}");
}

#[test]
fn a_newcomer_that_was_not_invited_for_long_enough_merges_after_all() {
    let mut bench = newcomer(3, sticky(3));
    bench.ring(Timer::Check);
    bench.receive(2, no(1));
    bench.receive(1, leading(1, 2));
    assert_eq!(sent(bench.ring(Timer::Delay)), ["send n1 Invitation 2.n3"]);
}

#[test]
fn with_preempt_always_a_newcomer_of_higher_rank_takes_over() {
    let mut higher = newcomer(3, with(3, &[]));
    higher.ring(Timer::Check);
    higher.receive(2, no(1));
    assert_eq!(sent(higher.receive(1, yes(1))), ["send n1 Invitation 2.n3"]);
    let mut coordinator = leader(1, [1, 2], with(3, &[]));
    assert_eq!(sent(coordinator.receive(3, query())), ["send n3 AYC_answer yes"]);
}

#[test]
fn with_preempt_always_a_newcomer_of_lower_rank_waits_and_is_invited() {
    let mut lower = newcomer(1, with(3, &[]));
    lower.ring(Timer::Check);
    lower.receive(2, no(3));
    assert_eq!(lower.receive(3, yes(3)), ["cancel answers", "set delay 1.32s"]);
    let mut coordinator = leader(3, [2, 3], with(3, &[]));
    let lines = sent(coordinator.receive(1, query()));
    assert_eq!(
        lines,
        ["send n1 AYC_answer yes", "send n1 Invitation 2.n3", "send n2 Invitation 2.n3"]
    );
}

#[test]
fn of_two_established_groups_that_of_higher_priority_goes_on() {
    let mut lower = leader(2, [1, 2], sticky(4));
    assert_eq!(sent(lower.receive(4, query_of(2))), ["send n4 AYC_answer yes"]);
    let mut higher = leader(4, [3, 4], sticky(4));
    let lines = sent(higher.receive(2, query_of(2)));
    assert_eq!(
        lines,
        ["send n2 AYC_answer yes", "send n2 Invitation 2.n4", "send n3 Invitation 2.n4"]
    );
}

#[test]
fn with_equal_priorities_the_larger_of_two_established_groups_goes_on() {
    use crate::membership::{Member, Membership, Priority};
    let equal = |id| Member { priority: Priority(1), id: NodeId(id) };
    let config = || {
        let mut config = sticky(5);
        config.members = Membership::new((1..=5).map(equal)).unwrap();
        config
    };
    let mut larger = leader(1, [1, 2, 3], config());
    larger.dice = crate::dice::Fixed(8);
    let lines = larger.receive(5, query_of(2));
    assert!(sent(lines.clone()) == ["send n5 AYC_answer yes"], "{lines:?}");
    assert!(larger.is_running(Timer::Delay), "it merges after its jitter");
    let mut smaller = leader(5, [4, 5], config());
    smaller.receive(1, query_of(3));
    assert!(!smaller.is_running(Timer::Delay));
}

#[test]
fn a_node_that_hears_no_other_is_established_and_keeps_leading() {
    let mut bench = newcomer(1, sticky(3));
    bench.ring(Timer::Check);
    bench.ring(Timer::Answers);
    let lines = sent(bench.receive(3, query()));
    assert_eq!(lines, ["send n3 AYC_answer yes", "send n3 Invitation 2.n1"]);
}

#[test]
fn a_node_that_joins_another_group_is_not_established_any_more() {
    let mut bench = leader(2, [2], sticky(3));
    bench.receive(3, invitation_of(4, 3, 1));
    bench.stopped("");
    bench.receive(3, accept_answer(4, 3, false));
    bench.stopped("");
    bench.tell(settled([]));
    assert_eq!(bench.state(), "Normal under n2 in 2.n2 with {}");
    assert_eq!(sent(bench.receive(3, query())), ["send n3 AYC_answer yes"]);
}

#[test]
fn a_leader_ignores_the_invitation_of_a_coordinator_that_does_not_lead() {
    let mut bench = leader(1, [1, 2], sticky(3));
    assert_eq!(bench.receive(3, invitation(4, 3)), NOTHING);
    assert_eq!(bench.state(), "Normal under n1 in 1.n1 with {n2}");
    let lines = sent(bench.receive(3, query()));
    assert_eq!(lines[0], "send n3 AYC_answer yes");
    assert!(is_merging(&bench), "it invites that coordinator when it asks: {lines:?}");
}

#[test]
fn with_preempt_always_a_leader_ignores_the_invitation_of_a_lower_coordinator() {
    let mut bench = leader(3, [2, 3], with(3, &[]));
    assert_eq!(bench.receive(1, invitation(4, 1)), NOTHING);
    let mut lower = leader(1, [1, 2], with(3, &[]));
    lower.receive(3, invitation(4, 3));
    assert_eq!(lower.state(), "Election under n3 in 4.n3 with {}");
}

#[test]
fn two_coordinators_compare_with_the_priorities_that_each_says() {
    // This node knows n3 as the higher one; n3 has got priority 0 since.
    let mut bench = leader(2, [1, 2], sticky(3));
    let said = Standing { leads: Some(1), priority: Some(0) };
    bench.receive(3, Message::AreYouCoordinator { standing: Some(said) });
    assert!(is_merging(&bench) || bench.is_running(Timer::Delay));
}
