//! A whole node on the test bench: how the layers work together.

mod heartbeats;
mod overdue;
mod pause;
mod priorities;
mod recall;
mod succession;
mod withdrawal;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;
use crate::detector::Heartbeat;
use crate::election::{self, Algorithm, bully, bully_lecture, invitation};
use crate::group::{GroupNumber, Status};
use crate::membership::NodeId;
use crate::payload::Report;
use crate::policy;
use crate::reorganization;
use crate::testing::{Bench, NOTHING, group_of, nodes, number};

/// A node that has long worked in group 1 of the highest of three.
fn established(algorithm: Algorithm, me: u32) -> Bench<Node> {
    let members = nodes([1, 2, 3]);
    let established = EstablishedGroup { group: number(1, 3), coordinator: NodeId(3), members };
    Bench::begun(group_of(algorithm, 3, &[]), me, |cx, out| {
        Node::established(cx, Counter(1).into(), &established, Definition::from("old"), out)
    })
}

fn bully(message: bully::Message) -> Message {
    Message::Election(election::Message::Bully(message))
}

fn enter_election() -> Message {
    bully(bully::Message::EnterElection { group: number(2, 3), appoints: false, leads: false })
}

fn define(group: GroupNumber) -> Command {
    Command::Define { group, definition: Definition::from("new") }
}

fn without_timers(lines: Vec<String>) -> Vec<String> {
    let is_timer = |line: &String| line.starts_with("set ") || line.starts_with("cancel ");
    lines.into_iter().filter(|line| !is_timer(line)).collect()
}

#[test]
fn a_bully_member_is_led_through_all_four_states() {
    let mut bench = established(Algorithm::Bully, 1);
    assert!(bench.machine.is_accepting());

    assert_eq!(without_timers(bench.receive(3, enter_election())), ["stop"]);
    assert!(!bench.machine.is_accepting());
    assert_eq!(bench.machine.state().status, Status::Election);

    let lines = bench.tell(Command::Stopped(Report::from("half")));
    assert_eq!(lines, ["send n3 EE_answer 2.n3 yes half", "cancel stop"]);
    let set = bully(bully::Message::SetCoordinator { group: number(2, 3) });
    let lines = without_timers(bench.receive(3, set));
    assert_eq!(lines, ["send n3 SC_answer 2.n3 yes"]);
    assert_eq!(bench.machine.state().status, Status::Reorganization);
    assert!(!bench.machine.is_accepting());

    let new_state = reorganization::Message::NewState {
        group: number(2, 3),
        members: nodes([1, 3]),
        definition: Definition::from("new"),
    };
    let lines = without_timers(bench.receive(3, Message::Reorganization(new_state)));
    let begin = "begin 2.n3 under n3 of {n1 n3}: new";
    assert_eq!(lines, [begin, "send n3 NS_answer 2.n3 yes"]);
    let state = bench.machine.state();
    assert!(bench.machine.is_accepting());
    assert_eq!(state.status, Status::Normal);
    assert_eq!(state.coordinator, Some(NodeId(3)));
    assert_eq!(state.up, nodes([3]));
    assert_eq!(state.definition, Some(Definition::from("new")));
    assert!(bench.machine.is_in(&state));
}

#[test]
fn no_operation_is_accepted_once_the_stop_was_acknowledged() {
    for (algorithm, request, answer) in [
        (Algorithm::Bully, enter_election(), "send n3 EE_answer 2.n3 yes"),
        (
            Algorithm::Invitation,
            Message::Election(election::Message::Invitation(invitation::Message::Invitation {
                group: number(2, 3),
                standing: None,
            })),
            "send n3 Accept 2.n3",
        ),
    ] {
        let mut bench = established(algorithm, 1);
        let lines = bench.receive(3, request);
        assert!(!lines.iter().any(|line| line == answer), "{lines:?}");
        assert!(!bench.machine.is_accepting());
        let lines = bench.tell(Command::Stopped(Report::default()));
        assert!(lines.iter().any(|line| line == answer), "{lines:?}");
        assert!(!bench.machine.is_accepting());
    }
}

#[test]
fn a_node_that_comes_up_has_nothing_to_stop() {
    let bench = Bench::<Node>::coming_up(group_of(Algorithm::Bully, 1, &[]), 1, None);
    assert_eq!(bench.began, ["called", "save 1", "plan 1.n1 for {n1}"]);
    assert!(!bench.machine.is_accepting());
}

#[test]
fn a_lone_node_begins_when_its_application_has_planned() {
    for algorithm in [Algorithm::Bully, Algorithm::Invitation] {
        let mut bench = Bench::<Node>::coming_up(group_of(algorithm, 1, &[]), 1, None);
        let lines = without_timers(bench.tell(define(number(1, 1))));
        assert_eq!(lines, ["begin 1.n1 under n1 of {n1}: new", "ended Won"]);
        assert_eq!(bench.machine.state().status, Status::Normal);
        assert!(bench.machine.is_accepting());
    }
}

#[test]
fn a_lecture_node_works_without_a_definition() {
    let mut bench = established(Algorithm::BullyLecture, 1);
    let number = number(2, 3);
    let coordinator = bully_lecture::Message::Coordinator { number, replaces: None };
    bench.receive(3, Message::Election(election::Message::BullyLecture(coordinator)));
    assert!(!bench.machine.is_accepting());
    bench.tell(Command::Stopped(Report::default()));
    let state = bench.machine.state();
    assert_eq!((state.status, state.coordinator), (Status::Normal, Some(NodeId(3))));
    assert_eq!(state.definition, Some(Definition::default()));
    assert!(bench.machine.is_accepting());
}

#[test]
fn every_message_of_the_coordinator_is_a_sign_of_life() {
    let mut bench = established(Algorithm::Bully, 1);
    assert_eq!(bench.began, ["set silence 515ms"]);
    let ask = || bully(bully::Message::AreYouNormal);
    assert_eq!(bench.receive(3, ask())[0], "set silence 515ms");
    assert_eq!(bench.receive(2, ask()), ["send n2 AYN_answer 1.n3 yes"]);
}

#[test]
fn a_coordinator_that_falls_silent_is_probed() {
    let mut bench = established(Algorithm::Bully, 1);
    let lines = bench.ring(Timer::Detector(detector::Timer::Silence(NodeId(3))));
    assert_eq!(lines[1..], ["send n3 AreYouUp", "set answers 25ms"]);
    let mut suspected = established(Algorithm::Bully, 1);
    assert_eq!(suspected.tell(Command::SuspectCoordinator)[0], "send n3 AreYouUp");
}

#[test]
fn a_refused_connection_is_evidence() {
    let mut bench = established(Algorithm::Bully, 2);
    assert_eq!(bench.tell(Command::Refused(NodeId(3)))[0], "called");
    assert_eq!(established(Algorithm::Bully, 2).tell(Command::Refused(NodeId(1))), NOTHING);
}

#[test]
fn a_message_of_another_algorithm_is_not_understood() {
    let mut bench = established(Algorithm::Bully, 1);
    let stray = bully_lecture::Message::Election;
    let stray = Message::Election(election::Message::BullyLecture(stray));
    assert_eq!(bench.receive(2, stray), NOTHING);
}

#[test]
fn the_hand_over_is_called_as_its_source_calls_it() {
    let answer = reorganization::Message::NewStateAnswer { group: number(1, 1), ok: true };
    let kind = |algorithm| answer.facts(algorithm).kind.to_string();
    assert_eq!(kind(Algorithm::Bully), "NS_answer");
    assert_eq!(kind(Algorithm::Invitation), "Ready_answer");
}
