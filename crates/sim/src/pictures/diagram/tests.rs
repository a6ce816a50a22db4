//! Pictures of small traces: every event is in them, once, and nothing else.

use tanist_core::membership::{NodeName, NodeNames};
use tanist_core::trace::{
    Contents, Kind, Link, Loss, MessageFacts, NodeState, Outcome, Source, TimerName,
};
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
        ring: Vec::new(),
        stop_within_us: 30_000_000,
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
    at(micros, Event::Send { node: NodeId(from), to: NodeId(to), id, message, contents: None })
}

fn receive(micros: u64, id: u64, from: u32, to: u32, kind: Kind) -> Entry {
    let message = facts(kind);
    at(micros, Event::Receive { node: NodeId(to), from: NodeId(from), id, message, contents: None })
}

fn lose(micros: u64, id: u64, from: u32, to: u32, kind: Kind) -> Entry {
    let message = facts(kind);
    let why = Loss::Down;
    at(micros, Event::Lose { node: NodeId(from), to: NodeId(to), id, message, contents: None, why })
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

/// Four tokens in a ring of three, each with a list; the last goes back past the node between.
fn tokens() -> Vec<Entry> {
    let list = |ids: &[u32]| Contents::list(ids.iter().copied().map(NodeId)).boxed();
    let hop = |at_ms: u64, id: u64, from: u32, to: u32, ids: &[u32]| {
        let (node, target) = (NodeId(from), NodeId(to));
        let message = facts(Kind::Election);
        let left = Event::Send { node, to: target, id, message, contents: list(ids) };
        let came = Event::Receive { node: target, from: node, id, message, contents: list(ids) };
        [at(at_ms * 1_000, left), at(at_ms * 1_000 + 1_000, came)]
    };
    let mut entries = Vec::new();
    entries.extend(hop(1, 1, 1, 2, &[1]));
    entries.extend(hop(2, 2, 2, 3, &[1, 2]));
    entries.extend(hop(3, 3, 3, 1, &[1, 2, 3]));
    entries
}

#[test]
fn arrows_say_what_their_messages_say() {
    let svg = space_time(&header("ring-list"), &tokens());
    assert_balanced(&svg);
    // The kind is left out where only the list has room.
    for label in ["election [1]", "election [1 2]", "[1 2 3]"] {
        assert_eq!(svg.matches(&format!(">{label}</text>")).count(), 1, "{label}\n{svg}");
    }
    assert!(svg.contains("election, n2 to n3, the list [1 2], group 4.n3"), "{svg}");
    let labels = ["17", "24", "33"].map(|text| NodeName::label(text).unwrap());
    let names = NodeNames::new((1..).map(NodeId).zip(labels)).unwrap();
    let svg = space_time(&Header { names, ..header("ring-list") }, &tokens());
    assert!(svg.contains(">[17 24 33]</text>"), "{svg}");
}

#[test]
fn a_list_without_room_is_shortened_and_not_left_out() {
    let text = crate::scenario::library::find("tanenbaum-ring-two-elections");
    let scenario = crate::Scenario::parse(text.expect("it comes with the program")).unwrap();
    let trace = crate::run(&scenario, scenario.seed).recording;
    let svg = space_time(&trace.header, &trace.entries);
    assert_balanced(&svg);
    assert!(svg.contains(">[p5 p6 … p4]<title>coordinator p6 [p5 p6 p0 p1 p2 p3 p4]<"), "{svg}");
    // The legend has the kinds, too.
    for kind in ["election", "coordinator"] {
        let bare = format!(">{kind}</text>");
        assert_eq!(svg.matches(&bare).count(), 1, "{kind} without its list\n{svg}");
    }
}

#[test]
fn messages_that_go_together_share_a_label() {
    let token = |id: u64, node: u32| {
        let contents = Contents::candidate(NodeId(node)).boxed();
        let message = facts(Kind::Elect);
        at(1_000, Event::Send { node: NodeId(1), to: NodeId(2), id, message, contents })
    };
    let mut entries = vec![token(1, 1), token(2, 3)];
    for (id, node) in [(1, 1), (2, 3)] {
        let contents = Contents::candidate(NodeId(node)).boxed();
        let (node, from, message) = (NodeId(2), NodeId(1), facts(Kind::Elect));
        entries.push(at(2_000, Event::Receive { node, from, id, message, contents }));
    }
    let svg = space_time(&header("ring-active-list"), &entries);
    assert_eq!(svg.matches(">elect n1, n3</text>").count(), 1, "{svg}");
}

#[test]
fn lanes_are_in_the_order_of_the_ring() {
    let header = Header { ring: [3, 1, 2].map(NodeId).to_vec(), ..header("ring-list") };
    let svg = space_time(&header, &[]);
    let place = |name: &str| svg.find(&format!(">{name}</text>")).unwrap();
    assert!(place("n3") < place("n1") && place("n1") < place("n2"));
}

#[test]
fn a_part_says_below_the_title_what_it_leaves_out() {
    let svg = space_time_of_part(&header("bully"), &election(), "5ms to 9ms of 1s");
    assert!(svg.contains(">5ms to 9ms of 1s</text>"), "{svg}");
}

/// The ends of a label on its baseline.
fn ends(label: &str) -> Option<[Spot; 2]> {
    let (_, rest) = label.split_once("matrix(")?;
    let (numbers, rest) = rest.split_once(')')?;
    let numbers: Vec<f64> = numbers.split(' ').filter_map(|text| text.parse().ok()).collect();
    let text = rest.split_once('>')?.1.split_once('<')?.0;
    let half = Font::new(11.0, "").width(text) / 2.0;
    let end = |by: f64| Spot::new(numbers[4] + numbers[0] * by, numbers[5] + numbers[1] * by);
    Some([end(-half), end(half)])
}

#[test]
fn no_label_covers_another() {
    let scenarios = ["ring-list-six-processes", "ring-active-list-four", "invitation-figure-10-9"];
    for name in scenarios {
        let text = crate::scenario::library::find(name).expect("it comes with the program");
        let scenario = crate::Scenario::parse(text).expect("it can be read");
        let trace = crate::run(&scenario, scenario.seed).recording;
        let svg = space_time(&trace.header, &trace.entries);
        let labels: Vec<[Spot; 2]> =
            svg.split("class=\"label\"").skip(1).filter_map(ends).collect();
        assert!(labels.len() > 10, "{name}: {}", labels.len());
        let points = |[left, right]: [Spot; 2]| {
            (0..=40).map(move |part| left.toward(right, f64::from(part) / 40.0))
        };
        for (at, label) in labels.iter().enumerate() {
            for other in &labels[at + 1..] {
                let apart = points(*label).flat_map(|a| points(*other).map(move |b| a.distance(b)));
                let least = apart.fold(f64::INFINITY, f64::min);
                assert!(least > 9.0, "{name}: {label:?} and {other:?} are {least} apart");
            }
        }
    }
}
