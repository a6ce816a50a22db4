//! What messages say is in the trace, and stories tell it in the words of the sources.

use std::collections::BTreeSet;

use tanist_core::NodeId;
use tanist_core::election::Algorithm;
use tanist_core::election::descriptor::Network;
use tanist_core::node::LAYERS;
use tanist_core::trace::{Contents, Entry, Event, Kind};
use tanist_sim::observe::recording::Recording;
use tanist_sim::pictures::story::story;
use tanist_sim::scenario::library;
use tanist_sim::studies::fuzz;
use tanist_sim::{Scenario, run};

fn shipped(name: &str) -> Recording {
    let text = library::find(name).expect("it comes with the program");
    let scenario = Scenario::parse(text).expect("it can be read");
    run(&scenario, scenario.seed).recording
}

/// The sentences of a story that begin so, without time and node.
fn told(name: &str, begins: &str) -> Vec<String> {
    let recording = shipped(name);
    let mut text = String::new();
    story(&recording.header, &recording.entries, &mut text).expect("a string can be written to");
    // A sentence that is too long goes on in the next line.
    let text = text.replace("\n                  ", " ");
    let sentences = text.lines().filter_map(|line| line.get(16..));
    sentences.filter(|line| line.starts_with(begins)).map(str::to_owned).collect()
}

#[test]
fn the_lists_of_the_slides_ring_grow_as_the_slides_draw_them() {
    let elected = "sends coordinator naming 5 as coordinator with the list [3 5 0 1 4]";
    assert_eq!(
        told("ring-list-six-processes", "sends election"),
        [
            "sends election with the list [3] to 5 (group 2.n3)",
            "sends election with the list [3 5] to 0 (group 2.n3)",
            "sends election with the list [3 5 0] to 1 (group 2.n3)",
            "sends election with the list [3 5 0 1] to 4 (group 2.n3)",
            "sends election with the list [3 5 0 1 4] to 6 (group 2.n3)",
            "sends election with the list [3 5 0 1 4] to 3 (group 2.n3)",
        ]
    );
    let to = |node: u32| format!("{elected} to {node} (group 2.n5)");
    assert_eq!(told("ring-list-six-processes", "sends coord"), [5, 0, 1, 4, 6, 3].map(to));
    let told = told("ring-list-six-processes", "sends told");
    assert_eq!(told, ["sends told with [0 1 3 4 5] told so far to 5 (group 2.n5)"]);
}

#[test]
fn the_candidates_of_chang_and_roberts_are_17_24_and_33() {
    let candidates = told("ring-chang-roberts-17-24-33", "sends election");
    assert_eq!(
        candidates[..5],
        [
            "sends election with candidate 17 to 9 (group 2.n1)",
            "sends election with candidate 17 to 24 (group 2.n1)",
            "sends election with candidate 24 to 1 (group 2.n3)",
            "sends election with candidate 24 to 33 (group 2.n3)",
            "sends election with candidate 33 to 28 (group 2.n5)",
        ]
    );
    let elected = told("ring-chang-roberts-17-24-33", "sends elected");
    let to = |node: u32| format!("sends elected naming 33 as coordinator to {node} (group 2.n5)");
    assert_eq!(elected, [28, 17, 9, 24, 1, 33].map(to));
}

#[test]
fn the_other_algorithms_tell_what_they_send() {
    for (scenario, sentence) in [
        ("ring-modified-winner-dies", "sends election with the list [1 2] to n3 (group 2.n1)"),
        (
            "ring-modified-winner-dies",
            "sends coordinator naming n5 as coordinator with [1 2] told so far to n3 (group 2.n5)",
        ),
        ("ring-active-list-four", "sends elect with candidate n2 to n3 (group 2.n2)"),
        (
            "bully-figure-10-8",
            "sends Set_Coordinator naming n3 as coordinator to n1 n2 (group 2.n3)",
        ),
        ("bully-figure-10-8", "sends Enter_Election to n1 n2 (group 2.n3)"),
        (
            "bully-figure-10-8",
            "sends New_State with definition \"plan 1 for 2.n3 {n1 n2 n3} from ...\" to n1 n2 \
             (group 2.n3)",
        ),
        ("lecture-best", "sends coordinator naming n4 as coordinator to n1 n2 n3 (group 2.n4)"),
        ("invitation-figure-10-9", "sends AYC_answer no naming n3 as coordinator to n1"),
        (
            "invitation-figure-10-9",
            "sends Invitation naming n1 as coordinator to n4 n5 (group 2.n1)",
        ),
        (
            "invitation-figure-10-9",
            "sends Accept naming n1 as coordinator with the list [4 5] to n1 (group 2.n1)",
        ),
        (
            "adhoc-expanding-ring-line",
            "broadcasts election with candidate n5 and a reach of 2 hops (group 1.n5)",
        ),
        ("adhoc-expanding-ring-line", "sends answer with source n1 to n1 (group 1.n1)"),
        ("adhoc-diffusing-line", "sends election with source n3 to n4 (group 1.n3)"),
        (
            "adhoc-diffusing-line",
            "sends ack yes with candidate n4 and source n5 to n1 (group 1.n5)",
        ),
        ("invitation-priority-raised", "sends Priority with priority 50 to n2 n3"),
    ] {
        let kind: String = sentence.split_inclusive(' ').take(2).collect();
        let told = told(scenario, &kind);
        assert!(told.iter().any(|line| line == sentence), "{scenario}: {sentence}\n{told:#?}");
    }
}

#[test]
fn super_peers_tell_whom_they_have_selected() {
    let entries = shipped("super-peer-two-apart").entries;
    let of = |kind: Kind| {
        let mut all = entries
            .iter()
            .filter(|entry| entry.event.message().is_some_and(|message| message.kind == kind));
        all.find_map(|entry| entry.event.contents()).cloned().expect("one says something")
    };
    assert_eq!(of(Kind::Selected), Contents::list([2, 4].map(NodeId)));
    assert!(of(Kind::SetCoordinator).coordinator.is_some());
    assert!(of(Kind::NewState).definition.is_some());
}

#[test]
fn the_contents_survive_in_json_and_a_trace_without_them_is_read() {
    let recording = shipped("ring-list-six-processes");
    let mut bytes = Vec::new();
    recording.write(&mut bytes).expect("memory can be written to");
    assert_eq!(Recording::read(&bytes[..]).expect("it reads back"), recording);
    let text = String::from_utf8(bytes).expect("a trace is text");
    let list = r#""kind":"election","group":{"counter":2,"node":3},"contents":{"list":[3,5]}}"#;
    assert!(text.contains(list), "{text}");
    let result = r#""contents":{"coordinator":5,"list":[3,5,0,1,4]}"#;
    assert!(text.contains(result), "{text}");
    assert!(text.lines().next().is_some_and(|header| header.contains(r#""ring":[6,3,5,0,1,4]"#)));
    let old = r#"{"at_us":1,"event":"send","node":3,"to":5,"id":1,"kind":"election"}"#;
    let old: Entry = serde_json::from_str(old).expect("a line from before is read");
    assert_eq!(old.event.contents(), None);
}

#[test]
fn nothing_is_collected_where_no_trace_is_kept() {
    let text = library::find("ring-list-six-processes").expect("it comes with the program");
    let scenario = Scenario::parse(text).expect("it can be read");
    assert!(scenario.world(1, true).observers.is_recording());
    assert!(!scenario.world(1, false).observers.is_recording());
}

/// A table of messages with a row too many would let a scenario name a message that is never sent.
#[test]
fn every_ring_sends_the_kinds_in_its_table_and_no_others() {
    let all = Algorithm::ALL.iter().copied();
    let rings = all.filter(|algorithm| algorithm.descriptor().network == Network::Ring);
    for ring in rings {
        let table: BTreeSet<Kind> =
            ring.descriptor().messages.iter().map(|info| info.kind).collect();
        let pair = ring.descriptor().handover.map(|pair| [pair.request, pair.answer]);
        let of_layers = LAYERS.iter().flat_map(|layer| layer.messages.iter());
        let others: BTreeSet<Kind> =
            of_layers.map(|info| info.kind).chain(pair.into_iter().flatten()).collect();
        let mut sent = BTreeSet::new();
        for seed in 0..200 {
            let recording = run(&fuzz::scenario(ring, seed, None), seed).recording;
            let events = recording.entries.iter().map(|entry| &entry.event);
            let sends = events.filter(|event| matches!(event, Event::Send { .. }));
            sent.extend(sends.filter_map(Event::message).map(|message| message.kind));
        }
        sent.retain(|kind| !others.contains(kind));
        assert_eq!(sent, table, "{}", ring.name());
    }
}
