//! Pictures of small traces: every event is in them, once, and nothing else.

use tanist_core::membership::NodeNames;
use tanist_core::trace::{Kind, Link, Loss, MessageFacts, NodeState, Outcome, Source, TimerName};
use tanist_core::{GroupNumber, Member, NodeId, NodeSet, Priority, Status, Time};

use super::*;
use crate::pictures::svg::assert_balanced;

fn header(algorithm: &str) -> Header {
    Header {
        tanist_trace: tanist_core::trace::SCHEMA,
        source: Source::Sim,
        scenario: "a <b> & \"c\"".to_string(),
        algorithm: algorithm.to_string(),
        options: Vec::new(),
        seed: 7,
        nodes: (1..=3).map(|i| Member { priority: Priority(i), id: NodeId(i) }).collect(),
        labels: Vec::new(),
        names: NodeNames::default(),
        answer_us: 25_000,
        check_every_us: 100_000,
        preempt: String::new(),
    }
}

fn at(micros: u64, event: Event) -> Entry {
    Entry { at: Time::from_micros(micros), event }
}

fn facts(kind: Kind) -> MessageFacts {
    MessageFacts::new(kind, Some(GroupNumber { counter: 4, node: NodeId(3) }), None)
}

fn send(micros: u64, id: u64, from: u32, to: u32, kind: Kind) -> Entry {
    let message = facts(kind);
    at(micros, Event::Send { node: NodeId(from), to: NodeId(to), id, message })
}

fn receive(micros: u64, id: u64, from: u32, to: u32, kind: Kind) -> Entry {
    let message = facts(kind);
    at(micros, Event::Receive { node: NodeId(to), from: NodeId(from), id, message })
}

fn lose(micros: u64, id: u64, from: u32, to: u32, kind: Kind) -> Entry {
    let message = facts(kind);
    let why = Loss::Down;
    at(micros, Event::Lose { node: NodeId(from), to: NodeId(to), id, message, why })
}

fn state(micros: u64, node: u32, status: Status, coordinator: u32) -> Entry {
    let state = NodeState {
        status,
        coordinator: Some(NodeId(coordinator)),
        group: Some(GroupNumber { counter: 4, node: NodeId(coordinator) }),
        up: NodeSet::new(),
        definition: None,
        super_peer: None,
    };
    at(micros, Event::State { node: NodeId(node), state })
}

/// n2 finds n3 crashed and wins over n1.
fn election() -> Vec<Entry> {
    vec![
        at(0, Event::Start { node: NodeId(1), restarted: false }),
        at(0, Event::Start { node: NodeId(2), restarted: false }),
        state(0, 1, Status::Normal, 3),
        state(0, 3, Status::Normal, 3),
        at(5_000, Event::Crash { node: NodeId(3) }),
        at(90_000, Event::Call { node: NodeId(2) }),
        send(90_000, 1, 2, 3, Kind::AreYouUp),
        lose(100_000, 1, 2, 3, Kind::AreYouUp),
        state(115_000, 2, Status::Election, 2),
        send(115_000, 2, 2, 1, Kind::EnterElection),
        receive(125_000, 2, 2, 1, Kind::EnterElection),
        send(125_000, 3, 1, 2, Kind::EeAnswer),
        receive(135_000, 3, 1, 2, Kind::EeAnswer),
        state(135_000, 2, Status::Reorganization, 2),
        send(155_000, 4, 2, 1, Kind::NewState),
        receive(165_000, 4, 2, 1, Kind::NewState),
        state(175_000, 2, Status::Normal, 2),
        at(175_000, Event::End { node: NodeId(2), outcome: Outcome::Won }),
        send(176_000, 5, 2, 1, Kind::AreYouNormal),
    ]
}

fn count(svg: &str, class: &str) -> usize {
    svg.matches(&format!("<g class=\"{class}\">")).count()
}

#[test]
fn every_message_is_an_arrow_a_cross_or_a_stub() {
    let svg = space_time(&header("bully"), &election());
    assert_balanced(&svg);
    assert_eq!(count(&svg, "arrow"), 3);
    assert_eq!(count(&svg, "lost"), 1);
    assert_eq!(count(&svg, "pending"), 1);
    assert!(svg.contains("AreYouUp, n2 to n3, group 4.n3, sent 90 ms, lost: n3 is down"));
}

#[test]
fn a_message_that_arrives_twice_is_two_arrows_and_one_from_elsewhere_is_a_stub() {
    let mut entries = election();
    entries.push(receive(177_000, 4, 2, 1, Kind::NewState));
    entries.push(receive(178_000, 9, 3, 1, Kind::Election));
    let svg = space_time(&header("bully"), &entries);
    assert_balanced(&svg);
    assert_eq!(count(&svg, "arrow"), 5);
}

#[test]
fn heartbeats_are_left_out() {
    let mut entries = election();
    let plain = space_time(&header("bully"), &entries);
    let beat = Event::Timer { node: NodeId(2), timer: TimerName::Heartbeat };
    entries.push(at(177_000, beat));
    entries.push(send(177_000, 9, 2, 1, Kind::Heartbeat));
    entries.push(receive(900_000, 9, 2, 1, Kind::Heartbeat));
    assert_eq!(space_time(&header("bully"), &entries), plain);
}

#[test]
fn an_election_of_the_bully_algorithm_shows_its_four_cuts() {
    let svg = space_time(&header("bully"), &election());
    for cut in ["c1", "c2", "c3", "c4"] {
        assert_eq!(svg.matches(&format!(">{cut}</text>")).count(), 1, "{cut}");
    }
    assert_eq!(count(&space_time(&header("invitation"), &election()), "stage"), 0);
}

#[test]
fn cuts_of_an_election_that_was_yielded_are_not_drawn() {
    let mut entries = election();
    entries.truncate(13);
    entries.push(at(135_000, Event::End { node: NodeId(2), outcome: Outcome::Yielded }));
    assert_eq!(count(&space_time(&header("bully"), &entries), "stage"), 0);
}

#[test]
fn marks_of_crash_coordinator_links_and_assertions_are_drawn_and_explained() {
    let mut entries = election();
    let links =
        vec![Link { from: NodeId(1), to: NodeId(2) }, Link { from: NodeId(2), to: NodeId(1) }];
    entries.push(at(180_000, Event::Cut { links: links.clone() }));
    entries.push(at(180_000, Event::Pause { node: NodeId(1) }));
    entries.push(at(190_000, Event::Heal { links }));
    let why = "two <coordinators>".to_string();
    let nodes = vec![NodeId(1), NodeId(2)];
    entries.push(at(191_000, Event::Violation { assertion: "A-1.1".to_string(), nodes, why }));
    let svg = space_time(&header("bully"), &entries);
    assert_balanced(&svg);
    for text in ["cut n1 | n2", "heal n1 | n2", "A-1.1", "crash", "paused", "time skipped"] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}");
    }
    assert!(svg.contains("n2 coordinates group 4.n2, 175 ms"));
    assert!(svg.contains("two &lt;coordinators&gt;"));
    assert!(!svg.contains(">restart</text>"));
}

#[test]
fn the_legend_lists_the_kinds_that_occur() {
    let svg = space_time(&header("bully"), &election());
    let legend = &svg[svg.find("class=\"legend\"").unwrap()..];
    for kind in Kind::ALL {
        let occurs = matches!(
            kind,
            Kind::AreYouUp
                | Kind::EnterElection
                | Kind::EeAnswer
                | Kind::NewState
                | Kind::AreYouNormal
        );
        assert_eq!(legend.contains(&format!(">{kind}</text>")), occurs, "{kind}");
    }
}

#[test]
fn text_is_escaped_and_equal_traces_give_equal_pictures() {
    let svg = space_time(&header("bully"), &election());
    assert!(svg.contains("a &lt;b&gt; &amp; &quot;c&quot; · bully · seed 7"));
    assert!(!svg.contains("<b>"));
    assert_eq!(svg, space_time(&header("bully"), &election()));
}

#[test]
fn a_long_trace_is_drawn_in_part_and_says_so() {
    let entries: Vec<Entry> = (0..MESSAGES_MAX as u64 + 20)
        .map(|id| send(id * 1_000, id, 1, 2, Kind::Election))
        .collect();
    let svg = space_time(&header("bully"), &entries);
    assert_balanced(&svg);
    assert_eq!(count(&svg, "pending"), MESSAGES_MAX);
    assert!(svg.contains("20 entries from 1500 ms on are left out, 20 messages among them"));
}

#[test]
fn an_empty_trace_is_a_picture_of_idle_nodes() {
    let svg = space_time(&header("bully"), &[]);
    assert_balanced(&svg);
    assert!(svg.contains(">n3</text>"));
    let mut nobody = header("bully");
    nobody.nodes.clear();
    assert_balanced(&space_time(&nobody, &election()));
}

#[test]
fn higher_rank_is_further_up_and_an_odd_priority_is_shown() {
    let mut header = header("bully");
    header.nodes[0].priority = Priority(9);
    let svg = space_time(&header, &[]);
    let place = |name: &str| svg.find(&format!(">{name}</text>")).unwrap();
    assert!(place("n1") < place("n3") && place("n3") < place("n2"));
    assert!(svg.contains("priority 9"));
}

fn named(names: &[&str]) -> Header {
    let names = (1..).map(NodeId).zip(names).map(|(id, name)| (id, name.parse().unwrap()));
    Header { names: NodeNames::new(names).unwrap(), ..header("bully") }
}

#[test]
fn nodes_with_names_are_called_by_them_and_have_room_for_them() {
    let mut entries = election();
    let links =
        vec![Link { from: NodeId(1), to: NodeId(3) }, Link { from: NodeId(3), to: NodeId(1) }];
    entries.push(at(180_000, Event::Cut { links }));
    let svg = space_time(&named(&["db-east-1", "db-east-2", "db-west-1"]), &entries);
    assert_balanced(&svg);
    for text in ["db-east-1", "db-east-2", "db-west-1", "n3", "cut db-east-1 | db-west-1"] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}");
    }
    for tooltip in [
        "AreYouUp, db-east-2 to db-west-1, group 4.n3, sent 90 ms, lost: db-west-1 is down",
        "db-west-1 crashes",
        "db-east-2 coordinates group 4.n2",
        "cut c1 of the election that db-east-2 wins",
        "db-east-1: Normal 4.n3",
    ] {
        assert!(svg.contains(tooltip), "{tooltip}");
    }
    // Nine bold characters need 91 pixels, and 16 more on either side.
    assert!(svg.contains("<text x=\"106.7\""), "{svg}");
}

#[test]
fn very_long_names_are_shortened_and_tooltips_have_them_whole() {
    let names = ["east", "north", "west"].map(|place| format!("{place}-{}-1", "x".repeat(50)));
    let mut entries = election();
    let link = |from, to| Link { from: NodeId(from), to: NodeId(to) };
    entries.push(at(180_000, Event::Cut { links: vec![link(1, 3), link(3, 1)] }));
    let svg = space_time(&named(&names.each_ref().map(String::as_str)), &entries);
    assert_balanced(&svg);
    assert!(svg.contains(">east-xxxxxx…xxxxxxxxxx-1</text>"), "{svg}");
    assert!(svg.contains(&format!("{} crashes", names[2])));
    let few = [at(0, Event::Cut { links: (2..9).map(|to| link(1, to)).collect() })];
    let svg = space_time(&named(&names.each_ref().map(String::as_str)), &few);
    assert!(svg.contains(">cut n1 -&gt; n2, n1 -&gt; n3, "), "no room for names: {svg}");
}
