//! Recall on the test bench: the election waits, and the counter is right before it starts.

use super::*;
use crate::election::descriptor::Network;
use crate::recall::{Answers, Message as Recalling};
use crate::testing::TestGroup;

fn group(algorithm: Algorithm, n: u32) -> TestGroup {
    group_of(algorithm, n, &[]).recalling()
}

fn coming_up(algorithm: Algorithm) -> Bench<Node> {
    Bench::coming_up(group(algorithm, 3), 3, Some(Counter(2).into()))
}

fn recalled(counter: u64) -> Message {
    Message::Recall(Recalling::Recalled { question: 0, counter: Some(Counter(counter)) })
}

#[test]
fn a_node_takes_part_in_nothing_until_it_knows_its_counter() {
    for algorithm in Algorithm::ALL {
        let mut bench = coming_up(*algorithm);
        assert_eq!(bench.began, ["send n1 Recall", "send n2 Recall", "set recall 25ms"]);
        let state = bench.machine.state();
        assert_eq!((state.status, state.coordinator, state.group), (Status::Down, None, None));
        assert!(bench.machine.is_in(&state));
        assert_eq!(bench.receive(1, bully(bully::Message::AreYouUp { nudge: false })), NOTHING);
        let new_state = reorganization::Message::NewState {
            group: number(1, 1),
            members: nodes([1, 3]),
            definition: Definition::default(),
        };
        assert_eq!(bench.receive(1, Message::Reorganization(new_state)), NOTHING);
        for command in [Command::Call, Command::Check, Command::SuspectCoordinator] {
            assert_eq!(bench.tell(command), NOTHING);
        }
    }
}

#[test]
fn the_election_starts_from_what_the_others_saw() {
    // In ad-hoc networks the winner takes a number.
    let by_wire = |known: &&Algorithm| known.descriptor().network != Network::Radio;
    for algorithm in Algorithm::ALL.iter().filter(by_wire) {
        let mut bench = coming_up(*algorithm);
        bench.receive(1, recalled(7));
        let lines = without_timers(bench.receive(2, recalled(5)));
        assert_eq!(lines[..3], ["save 7", "called", "save 8"], "{algorithm:?}");
    }
}

#[test]
fn evidence_that_nobody_is_there_ends_the_wait() {
    let mut bench = coming_up(Algorithm::Bully);
    assert_eq!(bench.tell(Command::Refused(NodeId(1))), NOTHING);
    let lines = without_timers(bench.tell(Command::Refused(NodeId(2))));
    assert_eq!(lines[..2], ["called", "save 3"]);
}

#[test]
fn a_late_answer_raises_the_counter_before_the_next_number() {
    for algorithm in Algorithm::ALL {
        let mut bench = coming_up(*algorithm);
        bench.ring(Timer::Recall(Answers));
        assert_eq!(bench.receive(1, recalled(9)), ["save 9"], "{algorithm:?}");
        assert_eq!(bench.receive(2, recalled(9)), NOTHING, "{algorithm:?}");
    }
}

#[test]
fn numbers_of_messages_and_of_the_own_group_are_remembered() {
    let members = nodes([1, 2, 3]);
    let established = EstablishedGroup { group: number(4, 3), coordinator: NodeId(3), members };
    let mut bench = Bench::begun(group(Algorithm::Bully, 3), 1, |cx, out| {
        Node::established(cx, Counter(1).into(), &established, Definition::default(), out)
    });
    let question = || Message::Recall(Recalling::Recall { question: 5 });
    let lines = without_timers(bench.receive(3, question()));
    assert_eq!(lines, ["send n3 Recall_answer yes 4"]);
    let enter =
        bully::Message::EnterElection { group: number(6, 2), appoints: false, leads: false };
    bench.receive(2, bully(enter));
    assert_eq!(bench.receive(2, question()), ["send n2 Recall_answer yes 6"]);
}
