//! Handing over to a named node.

use super::*;
use crate::policy::{HandOverError, Preempt};

/// The algorithms whose leaders can keep leading.
fn keeping() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied().filter(|one| one.descriptor().adjustable.is_some())
}

/// A node that has long worked in group 1 of the highest of three, and a leader keeps leading.
fn kept(algorithm: Algorithm, me: u32) -> Bench<Node> {
    let members = nodes([1, 2, 3]);
    let established = EstablishedGroup { group: number(1, 3), coordinator: NodeId(3), members };
    let mut group = group_of(algorithm, 3, &[]);
    group.settings.preempt = Preempt::Never;
    Bench::begun(group, me, |cx, out| {
        Node::established(cx, Counter(1).into(), &established, Definition::from("old"), out)
    })
}

fn farewell(successor: u32) -> Message {
    Message::Policy(policy::Message::Farewell { successor: Some(NodeId(successor)) })
}

fn plan(
    bench: &Bench<Node>,
    me: u32,
    group: crate::testing::TestGroup,
    to: Option<u32>,
) -> Result<NodeId, HandOverError> {
    let config = group.config().unwrap();
    bench.machine.successor(NodeId(me), &config, &group.members, to.map(NodeId))
}

fn group(algorithm: Algorithm, preempt: Preempt) -> crate::testing::TestGroup {
    let mut group = group_of(algorithm, 3, &[]);
    group.settings.preempt = preempt;
    group
}

#[test]
fn a_leader_stops_and_then_names_its_successor() {
    for algorithm in keeping() {
        let mut bench = kept(algorithm, 3);
        let hand_over = Command::HandOver { to: NodeId(1) };
        assert_eq!(without_timers(bench.tell(hand_over)), ["yield"], "{algorithm:?}");
        assert!(!bench.machine.is_withdrawn());
        let lines = bench.tell(Command::Stopped(Report::default()));
        let farewells = ["send n1 Farewell for n1", "send n2 Farewell for n1", "withdrawn"];
        assert_eq!(without_timers(lines), farewells, "{algorithm:?}");
        // It rejoins by itself.
        bench.ring(Timer::Policy(policy::Timer::Quiet));
        let lines = bench.ring(Timer::Policy(policy::Timer::Hold));
        assert_eq!(lines[0], "rejoined", "{algorithm:?}");
    }
}

#[test]
fn a_leader_whose_process_ends_names_the_best_of_the_others() {
    for algorithm in keeping() {
        let mut bench = kept(algorithm, 3);
        assert_eq!(without_timers(bench.tell(Command::Leave)), ["yield"], "{algorithm:?}");
        let lines = bench.tell(Command::Stopped(Report::default()));
        let farewells = ["send n1 Farewell for n2", "send n2 Farewell for n2", "withdrawn"];
        assert_eq!(without_timers(lines), farewells, "{algorithm:?}");
        // It does not rejoin by itself.
        bench.ring(Timer::Policy(policy::Timer::Quiet));
        assert!(bench.machine.is_withdrawn(), "{algorithm:?}");
    }
}

#[test]
fn a_member_whose_process_ends_names_nobody() {
    for algorithm in keeping() {
        let mut bench = kept(algorithm, 2);
        bench.tell(Command::Leave);
        let lines = without_timers(bench.tell(Command::Stopped(Report::default())));
        let farewells = ["send n1 Farewell", "send n3 Farewell", "withdrawn"];
        assert_eq!(lines, farewells, "{algorithm:?}");
    }
}

#[test]
fn the_named_node_calls_an_election_at_once_and_the_others_leave_it_to_it() {
    for algorithm in keeping() {
        let lines = kept(algorithm, 1).receive(3, farewell(1));
        assert!(lines.contains(&"called".to_string()), "{algorithm:?}: {lines:?}");
        let mut other = kept(algorithm, 2);
        let lines = other.receive(3, farewell(1));
        assert_eq!(without_timers(lines), ["farewell of n3"], "{algorithm:?}");
        // Told once more, it does not wait longer; without a successor it elects in the end.
        assert_eq!(other.receive(3, farewell(1)), ["farewell of n3"], "{algorithm:?}");
        let lines = other.ring(Timer::Policy(policy::Timer::Succession));
        assert!(lines.contains(&"called".to_string()), "{algorithm:?}: {lines:?}");
    }
}

#[test]
fn a_named_bully_halts_the_higher_nodes_as_one_that_leads() {
    let mut bench = kept(Algorithm::Bully, 1);
    let lines = without_timers(bench.receive(3, farewell(1)));
    assert_eq!(lines[2..], ["send n2 AreYouUp", "send n3 AreYouUp"]);
    let answer = bully(bully::Message::AyuAnswer { leads: false });
    let lines = without_timers(bench.receive(2, answer));
    assert!(lines.contains(&"send n2 Enter_Election 2.n1".to_string()), "{lines:?}");
}

#[test]
fn a_name_counts_only_in_the_group_of_its_leader() {
    for algorithm in keeping() {
        // n2 does not lead: a farewell of it that names a node is that of any member.
        let named = kept(algorithm, 1).receive(2, farewell(1));
        let plain = Message::Policy(policy::Message::Farewell { successor: None });
        assert_eq!(named, kept(algorithm, 1).receive(2, plain), "{algorithm:?}");
        // n9 is not in the group, so all elect at once.
        let lines = kept(algorithm, 2).receive(3, farewell(9));
        assert!(lines.contains(&"called".to_string()), "{algorithm:?}: {lines:?}");
    }
}

#[test]
fn a_group_that_was_formed_meanwhile_is_not_disturbed() {
    let mut bench = kept(Algorithm::Bully, 1);
    bench.receive(3, farewell(2));
    let group = number(2, 2);
    let enter = bully::Message::EnterElection { group, appoints: false, leads: true };
    bench.receive(2, bully(enter));
    bench.tell(Command::Stopped(Report::default()));
    bench.receive(2, bully(bully::Message::SetCoordinator { group }));
    let (members, definition) = (nodes([1, 2]), Definition::from("new"));
    let new_state = reorganization::Message::NewState { group, members, definition };
    bench.receive(2, Message::Reorganization(new_state));
    assert_eq!(bench.machine.state().coordinator, Some(NodeId(2)));
    assert_eq!(bench.ring(Timer::Policy(policy::Timer::Succession)), NOTHING);
}

#[test]
fn the_best_successor_is_the_highest_member() {
    for algorithm in keeping() {
        let bench = kept(algorithm, 3);
        let never = || group(algorithm, Preempt::Never);
        assert_eq!(plan(&bench, 3, never(), None), Ok(NodeId(2)), "{algorithm:?}");
        assert_eq!(plan(&bench, 3, never(), Some(1)), Ok(NodeId(1)), "{algorithm:?}");
    }
}

#[test]
fn what_cannot_be_done_is_refused_with_the_reason() {
    let never = || group(Algorithm::Bully, Preempt::Never);
    let leader = kept(Algorithm::Bully, 3);
    assert_eq!(plan(&leader, 3, never(), Some(9)), Err(HandOverError::Unknown(NodeId(9))));
    assert_eq!(plan(&leader, 3, never(), Some(3)), Err(HandOverError::Already(NodeId(3))));
    let member = kept(Algorithm::Bully, 2);
    let not_leader = HandOverError::NotLeader { node: NodeId(2), leader: Some(NodeId(3)) };
    assert_eq!(plan(&member, 2, never(), Some(1)), Err(not_leader));
    assert_eq!(plan(&member, 2, never(), None), Err(not_leader));
    let mut paused = kept(Algorithm::Bully, 3);
    paused.tell(Command::Pause);
    assert_eq!(plan(&paused, 3, never(), Some(1)), Err(HandOverError::Paused));
    assert_eq!(paused.tell(Command::HandOver { to: NodeId(1) }), NOTHING);

    let always = group(Algorithm::Bully, Preempt::Always);
    let (from, to) = (NodeId(3), NodeId(2));
    let reverts = Err(HandOverError::WouldNotLast { from, to });
    assert_eq!(plan(&established(Algorithm::Bully, 3), 3, always, None), reverts);
    for algorithm in Algorithm::ALL.iter().filter(|one| !keeping().any(|kept| kept == **one)) {
        let refused = plan(&established(*algorithm, 3), 3, group_of(*algorithm, 3, &[]), Some(1));
        let name = algorithm.descriptor().name;
        assert_eq!(refused, Err(HandOverError::KeepsNoLeader(name)));
    }
}

#[test]
fn a_leader_that_acts_tells_all_others() {
    let mut leader = kept(Algorithm::Bully, 3);
    let lines = leader.tell(Command::Acting(number(1, 3)));
    assert_eq!(lines, ["send n1 Acting 1.n3", "send n2 Acting 1.n3"]);
    let acting = |group| Message::Policy(policy::Message::Acting { group });
    let lines = kept(Algorithm::Bully, 1).receive(3, acting(number(1, 3)));
    assert_eq!(lines, ["n3 acts as 1.n3"]);
    assert_eq!(kept(Algorithm::Bully, 1).receive(2, acting(number(1, 3))), NOTHING);
}
