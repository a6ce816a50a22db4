//! Elections as one node lives through them.

use tanist_core::Priority;
use tanist_core::membership::NodeNames;
use tanist_core::trace::{MessageFacts, Source};

use super::*;

fn header() -> Header {
    let member = |id| Member { priority: Priority(10 * id), id: NodeId(id) };
    Header {
        tanist_trace: 2,
        source: Source::Live,
        scenario: "billing".to_owned(),
        algorithm: "bully".to_owned(),
        options: Vec::new(),
        seed: 0,
        nodes: (1..=3).map(member).collect(),
        labels: Vec::new(),
        names: NodeNames::default(),
        answer_us: 150_000,
        ring: Vec::new(),
        stop_within_us: 30_000_000,
        check_every_us: 2_000_000,
        preempt: String::new(),
    }
}

fn at(millis: u64, event: Event) -> Entry {
    Entry { at: Time::from_micros(millis * 1000), event }
}

const ME: NodeId = NodeId(2);

fn state(status: Phase, counter: u64, coordinator: u32, up: &[u32]) -> Event {
    let node = NodeId(coordinator);
    let state = NodeState {
        status,
        coordinator: Some(node),
        group: Some(GroupNumber { counter, node }),
        up: up.iter().map(|id| NodeId(*id)).collect(),
        definition: None,
        super_peer: None,
    };
    Event::State { node: ME, state }
}

fn message(kind: Kind) -> MessageFacts {
    MessageFacts::new(kind, None, None)
}

fn send(to: u32, kind: Kind) -> Event {
    Event::Send { node: ME, to: NodeId(to), id: 1, message: message(kind), contents: None }
}

fn receive(from: u32, kind: Kind) -> Event {
    Event::Receive { node: ME, from: NodeId(from), id: 1, message: message(kind), contents: None }
}

fn timer(timer: TimerName) -> Event {
    Event::Timer { node: ME, timer }
}

/// n3 leads, falls silent, and n2 takes over.
fn failover() -> Vec<Entry> {
    vec![
        at(0, Event::Start { node: ME, restarted: false }),
        at(1, state(Phase::Election, 1, 3, &[])),
        at(2, state(Phase::Normal, 1, 3, &[1, 3])),
        at(900, timer(TimerName::Check)),
        at(1000, timer(TimerName::Silence)),
        at(1000, state(Phase::Election, 1, 3, &[])),
        at(1000, Event::Call { node: ME }),
        at(1000, send(3, Kind::AreYouUp)),
        at(1150, timer(TimerName::Answers)),
        at(1150, send(1, Kind::EnterElection)),
        at(1152, receive(1, Kind::EeAnswer)),
        at(1152, Event::End { node: ME, outcome: Outcome::Won }),
        at(1160, state(Phase::Normal, 2, 2, &[1])),
    ]
}

#[test]
fn a_failover_is_told_with_its_cause_its_waits_and_its_winner() {
    let told = accounts(&header(), ME, &failover());
    assert_eq!(told.len(), 2);
    let last = &told[1];
    let texts: Vec<&str> = last.steps.iter().map(|step| step.text.as_str()).collect();
    assert_eq!(texts[0], "n2 has heard nothing for too long (silence timer)");
    let asked = "n2 asks n3: AreYouUp. n3 does not answer within the 150.0 ms that it waits";
    assert!(texts.contains(&asked), "{texts:#?}");
    let halted = "n2 asks n1: Enter_Election. n1 answers after 2.0 ms";
    assert!(texts.contains(&halted), "{texts:#?}");
    assert_eq!(last.silent, [NodeId(3)]);
    assert_eq!(
        last.result(),
        "n2 leads group 2.n2 of n1 n2: of its members it has the highest rank, priority 20. \
         It took 160.0 ms."
    );
}

#[test]
fn an_election_that_is_still_on_is_told_as_far_as_it_went() {
    let entries = &failover()[..9];
    let told = accounts(&header(), ME, entries);
    assert_eq!(told.len(), 2);
    assert_eq!(told[1].result(), "the election is still on");
    assert!(told[1].ended.is_none());
}

#[test]
fn a_message_that_moves_the_node_is_where_its_election_begins() {
    let entries = [
        at(0, state(Phase::Normal, 1, 3, &[1, 3])),
        at(10, timer(TimerName::Check)),
        at(50, receive(3, Kind::EnterElection)),
        at(50, state(Phase::Election, 1, 3, &[])),
        at(60, state(Phase::Normal, 2, 3, &[1, 3])),
    ];
    let told = accounts(&header(), ME, &entries);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].steps[0].text, "n2 hears Enter_Election from n3");
    assert!(told[0].result().starts_with("n3 leads group 2.n3 of n1 n2 n3"));
}

#[test]
fn a_killed_leader_is_named_with_the_evidence() {
    let header = header();
    let killed = [
        at(0, state(Phase::Normal, 1, 3, &[1, 2])),
        at(1000, state(Phase::Election, 1, 3, &[1, 2])),
        at(1003, state(Phase::Normal, 2, 2, &[1])),
    ];
    let mut told = accounts(&header, ME, &killed).pop().unwrap();
    assert!(told.steps[0].text.ends_with(LEARNS), "{told:?}");
    let line = r#"{"index":4,"at_us":0,"when_ms":0,"node":"n2","role":"leader","group_number":"2.n2",
        "coordinator":"n2","members":["n1","n2"],"reason":"failure","old_leader":"n3",
        "lost":[{"node":"n3","evidence":"connection-refused","silent_ms":300}],"text":""}"#;
    told.silent = vec![NodeId(3)];
    let names = NodeNames::default();
    told.explain(&[serde_json::from_str(line).unwrap()], "n2", &names);
    let first = "n2 finds: n3 is dead: connection refused, last heard 300.0 ms before";
    assert_eq!(told.steps[0].text, first);
    assert!(told.steps.iter().all(|step| !step.text.ends_with(LEARNS)), "{told:?}");
    assert!(told.silent.is_empty(), "it is known why it did not answer: {told:?}");
    assert_eq!(told.json(&names, 0)["lost"][0]["node"], "n3");
}

/// The leader was asked whether it is there, and answered; it was killed a second later.
#[test]
fn an_election_begins_with_the_evidence_and_not_with_an_earlier_question() {
    let killed = [
        at(0, state(Phase::Normal, 1, 3, &[1, 2])),
        at(10, timer(TimerName::Timeout)),
        at(1000, state(Phase::Election, 1, 3, &[1, 2])),
        at(1003, state(Phase::Normal, 2, 2, &[1])),
    ];
    let mut told = accounts(&header(), ME, &killed).pop().unwrap();
    assert!(told.steps[0].text.ends_with("(timeout timer)"), "{told:?}");
    let line = r#"{"index":4,"at_us":0,"when_ms":0,"node":"n2","role":"leader","group_number":"2.n2",
        "coordinator":"n2","members":["n1","n2"],"reason":"failure","old_leader":"n3",
        "lost":[{"node":"n3","evidence":"connection-refused","silent_ms":300}],"text":""}"#;
    told.explain(&[serde_json::from_str(line).unwrap()], "n2", &NodeNames::default());
    assert!(told.steps.iter().all(|step| !step.text.contains("timer")), "{told:?}");
    assert!(told.result().ends_with("It took 3.0 ms."), "{}", told.result());
}
