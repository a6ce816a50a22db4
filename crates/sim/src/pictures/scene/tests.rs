//! Scenes of the sources' rings, and of positions that are not on a circle.

use crate::pictures::svg::assert_balanced;
use crate::run;
use crate::scenario::library;

use super::messages::list;
use super::*;

fn picture(scenario: &str) -> String {
    let scenario = library::find(scenario).expect("it comes with the program");
    let scenario = crate::Scenario::parse(scenario).expect("it can be read");
    let trace = run(&scenario, scenario.seed).recording;
    draw(&trace.header, &trace.entries, &Scene::circle(&trace.header))
}

#[test]
fn the_slides_ring_has_two_rounds_past_the_dead_node() {
    let svg = picture("ring-list-six-processes");
    assert_balanced(&svg);
    // Twelve sends on twelve arrows: five hops and one to the crashed node, in each round.
    assert_eq!(svg.matches("class=\"step\"").count(), 12);
    assert_eq!(svg.matches(", lost: its receiver is down<").count(), 2);
    assert!(svg.contains("3 calls · 6 election · 6 coordinator · 5 coordinates"), "{svg}");
    assert!(svg.contains("election from 4 to 3, step 6"), "{svg}");
}

#[test]
fn what_goes_the_same_way_twice_shares_an_arrow() {
    let svg = picture("ring-chang-roberts-17-24-33");
    assert_balanced(&svg);
    assert!(svg.contains("election from 17 to 9, step 1, 7"), "{svg}");
    assert!(svg.contains("10 election · 6 elected · 33 coordinates"), "{svg}");
}

#[test]
fn nodes_stand_where_they_are_put() {
    let header = Header { nodes: Vec::new(), ..example() };
    assert_balanced(&draw(&header, &[], &Scene::circle(&header)));
    let header = example();
    let at = |node, x, y| Place { node: NodeId(node), x, y };
    let far = Scene {
        places: vec![at(1, 0.0, 0.0), at(2, 300.0, 0.0), at(3, 0.0, 90.0)],
        links: vec![(NodeId(1), NodeId(3))],
    };
    let svg = draw(&header, &[], &far);
    assert_balanced(&svg);
    assert_eq!(svg.matches("class=\"node\"").count(), 3);
    let same = Scene { places: vec![at(1, 5.0, 5.0), at(2, 5.0, 5.0)], links: Vec::new() };
    assert_balanced(&draw(&header, &[], &same));
}

#[test]
fn many_numbers_are_counted() {
    assert_eq!(list(&[1, 7]), "1, 7");
    assert_eq!(list(&[2, 2]), "2 ×2");
    assert_eq!(list(&[1, 7, 7]), "1 ×3");
    assert_eq!(list(&[3, 4, 5, 6, 9]), "3 ×5");
}

/// The pictures of a run's stages.
fn drawn_stages(scenario: &str) -> Vec<Frame> {
    let text = library::find(scenario).expect("it comes with the program");
    let scenario = crate::Scenario::parse(text).expect("it can be read");
    let trace = run(&scenario, scenario.seed).recording;
    frames(&trace.header, &trace.entries, &Scene::of(&scenario, scenario.seed))
}

/// The texts on the arrows of a picture.
fn badges(svg: &str) -> Vec<&str> {
    let after = svg.split("class=\"badge\"").skip(1);
    after.filter_map(|part| part.split("<text").nth(1)?.split(['>', '<']).nth(1)).collect()
}

#[test]
fn badges_stand_for_as_many_messages_as_the_caption_says() {
    let frames = drawn_stages("ring-peterson-eight");
    assert!(frames[0].caption.contains("28 messages"), "{}", frames[0].caption);
    let count = |badge: &&str| match badge.split_once('×') {
        Some((_, count)) => count.parse().expect("a number of messages"),
        None => badge.split(", ").count(),
    };
    let counts: Vec<usize> = badges(&frames[0].svg).iter().map(count).collect();
    assert_eq!(counts.iter().sum::<usize>(), 28, "{:?}", badges(&frames[0].svg));
    assert!(frames[0].svg.contains("five messages, the first in step 3"));
}

#[test]
fn arrows_say_what_their_messages_say() {
    let svg = picture("ring-list-six-processes");
    for tooltip in [
        "election from 5 to 0, step 2: the list [3 5]<",
        "election from 4 to 6, step 5: the list [3 5 0 1 4], lost: its receiver is down<",
        "coordinator from 0 to 1, step 9: coordinator 5, the list [3 5 0 1 4]<",
    ] {
        assert!(svg.contains(tooltip), "{tooltip}\n{svg}");
    }
    let badges_of_lists: Vec<&str> = badges(&svg);
    for badge in ["1: [3]", "2: [3 5]", "3: [3 5 0]"] {
        assert!(badges_of_lists.contains(&badge), "{badge}: {badges_of_lists:?}");
    }
    assert!(svg.contains(">2: [3 5]: what the message of step 2 says<"), "{svg}");
    let svg = picture("ring-chang-roberts-17-24-33");
    let twice = "election from 17 to 9, step 1, 7: 1 candidate 17; 7 candidate 33<";
    assert!(svg.contains(twice), "{svg}");
    let svg = picture("lecture-worst");
    assert!(!svg.contains("what the message of step 2 says"), "{svg}");
}

#[test]
fn captions_say_what_messages_say() {
    let stages = stages("ring-list-six-processes");
    let lists = "election goes round: 3 → 5 → 0 → 1 → 4 → 3, past 6. It says [3], [3 5], \
                 [3 5 0], [3 5 0 1] and [3 5 0 1 4].";
    assert!(stages.iter().any(|(_, caption)| caption.contains(lists)), "{stages:?}");
    // The candidates that are their own senders are among them.
    let probes = drawn_stages("ring-hirschberg-sinclair-eight");
    assert!(probes[0].caption.contains("They say 1, 5, 2, 7, 3, "), "{}", probes[0].caption);
}

#[test]
fn a_node_whose_application_hangs_is_marked_and_named() {
    let frames = drawn_stages("bully-hung-application");
    let last = frames.last().expect("there are stages");
    assert!(last.caption.ends_with("n3 coordinates n1 and n2; n4 is silent."), "{}", last.caption);
    for frame in &frames {
        assert!(frame.svg.contains("<title>n4, priority 4, silent"), "{}", frame.svg);
        assert!(frame.svg.contains(">silent: its application hangs</text>"), "{}", frame.svg);
    }
}

fn stages(scenario: &str) -> Vec<(String, String)> {
    let text = library::find(scenario).expect("it comes with the program");
    let scenario = crate::Scenario::parse(text).expect("it can be read");
    let trace = run(&scenario, scenario.seed).recording;
    let scene = Scene::of(&scenario, scenario.seed);
    let frames = frames(&trace.header, &trace.entries, &scene);
    frames.into_iter().map(|frame| (frame.title, frame.caption)).collect()
}

#[test]
fn the_lectures_bully_has_the_stages_of_the_textbooks_figure() {
    let stages = stages("lecture-worst");
    let expected = [
        ("Stage 1 of 4: crash", "n5 crashes."),
        (
            "Stage 2 of 4: election",
            "n1 calls an election. n1 sends election to n2, n3, n4 and n5. n2, n3 and n4 answer n1 \
             with answer. n5 is down and hears nothing.",
        ),
        (
            "Stage 3 of 4: election",
            "n2, n3 and n4 call elections. n2, n3 and n4 send election, 6 messages. n3 and n4 \
             answer with answer, 3 messages. n5 is down and hears nothing.",
        ),
        (
            "Stage 4 of 4: announcement",
            "n4 sends coordinator to n1, n2 and n3. In the end n4 coordinates n1, n2 and n3; n5 is \
             down.",
        ),
    ];
    let expected = expected.map(|(title, caption)| (title.to_owned(), caption.to_owned()));
    assert_eq!(stages, expected);
}

#[test]
fn a_round_of_a_ring_is_a_stage() {
    let captions: Vec<String> =
        stages("ring-list-six-processes").into_iter().map(|(_, caption)| caption).collect();
    assert!(
        captions.iter().any(|caption| caption.contains("election goes round: ")),
        "{captions:?}"
    );
    let of_the_election: Vec<&String> =
        captions.iter().filter(|caption| caption.contains("goes round")).collect();
    assert_eq!(of_the_election.len(), 2, "{captions:?}");
}

#[test]
fn answers_are_in_the_picture_of_their_question_and_dashed() {
    let svg = picture("bully-figure-10-8");
    for answer in ["EE_answer from n1 to n3, step 4", "SC_answer from n2 to n3, step 6"] {
        let place = svg.find(answer).unwrap_or_else(|| panic!("{answer} is not in {svg}"));
        let line = &svg[place..place + svg[place..].find("/>").expect("a line")];
        assert!(line.contains("stroke-dasharray"), "{line}");
    }
    assert!(svg.contains("AreYouUp from n3 to n5, step 1, 2, lost: its receiver is down"), "{svg}");
}

#[test]
fn what_nodes_ask_to_see_that_all_is_well_is_no_stage() {
    let svg = picture("bully-healthy-group-suspects-nobody");
    assert!(!svg.contains("AreYouNormal"), "{svg}");
}

#[test]
fn a_run_that_repeats_itself_has_a_bounded_number_of_stages() {
    let stages = stages("ce-i3-broken");
    assert_eq!(stages.len(), 30);
    assert!(stages[29].1.starts_with("(371 stages before this one are left out.)"), "{stages:?}");
}

#[test]
fn the_index_shows_every_frame_and_has_no_script() {
    let frame = Frame {
        file: "stage-01.svg".to_owned(),
        title: "Stage 1 of 1: crash".to_owned(),
        caption: "a<b crashes.".to_owned(),
        svg: String::new(),
    };
    let page = index("run", &[frame]);
    assert!(
        page.contains("<img src=\"stage-01.svg\" alt=\"Stage 1 of 1: crash: a&lt;b crashes.\">")
    );
    assert!(page.contains(FRAMES_MARK) && !page.contains("<script"));
}

fn example() -> Header {
    let scenario = library::find("lecture-worst").expect("it comes with the program");
    crate::Scenario::parse(scenario).expect("it can be read").header(1)
}

#[test]
fn nodes_of_a_radio_network_stand_where_they_are_and_broadcasts_reach_their_neighbours() {
    let text = library::find("adhoc-diffusing-grid").expect("it comes with the program");
    let scenario = crate::Scenario::parse(text).expect("it can be read");
    let scene = Scene::of(&scenario, scenario.seed);
    let mut heights: Vec<f64> = scene.places.iter().map(|place| place.y).collect();
    heights.dedup();
    assert_eq!(heights.len(), 3, "nine nodes make three rows: {scene:?}");
    assert_eq!(scene.links.len(), 12, "each hears those beside it: {scene:?}");
    let trace = run(&scenario, scenario.seed).recording;
    let svg = draw(&trace.header, &trace.entries, &scene);
    assert_balanced(&svg);
    assert!(svg.contains("from n9 to n6, step"), "{svg}");
    assert!(!svg.contains("from n9 to n1, step"), "n1 is out of reach: {svg}");
}

fn named(scenario: &str, name: impl Fn(NodeId) -> String) -> String {
    let text = library::find(scenario).expect("it comes with the program");
    let scenario = crate::Scenario::parse(text).expect("it can be read");
    let mut trace = run(&scenario, scenario.seed).recording;
    let nodes = trace.header.nodes.iter();
    let names = nodes.map(|member| (member.id, name(member.id).parse().unwrap()));
    trace.header.names = NodeNames::new(names).unwrap();
    let svg = draw(&trace.header, &trace.entries, &Scene::of(&scenario, scenario.seed));
    assert_balanced(&svg);
    svg
}

#[test]
fn names_are_beside_the_nodes() {
    let svg = picture("named-nodes-replace-a-leader");
    assert_balanced(&svg);
    for name in ["db-east-1", "db-east-2", "db-west-1"] {
        assert_eq!(svg.matches(&format!(">{name}</text>")).count(), 1, "{name}");
        assert!(svg.contains(&format!("{name}, priority ")), "{name}");
    }
    assert!(svg.contains(">n3</text>"), "a group number has the short form");
    assert!(svg.contains("Set_Coordinator from db-east-2 to db-east-1, step 6"), "{svg}");
    assert!(svg.contains("n2 coordinates</text>"), "{svg}");
    assert!(svg.contains("db-east-2 coordinates.</desc>"), "{svg}");
}

#[test]
fn names_are_shortened_or_left_out_where_there_is_no_room() {
    let svg = named("lecture-worst", |id| format!("postgres-production-eu-{}", id.0));
    assert!(svg.contains(">postgres-p") && svg.contains("…"), "{svg}");
    assert!(svg.contains("uction-eu-1</text>"), "{svg}");
    assert!(!svg.contains(">postgres-production-eu-1</text>"), "{svg}");
    assert!(svg.contains("<title>postgres-production-eu-1, priority 1, "), "{svg}");
    // Nine callers with long names would need many lines.
    let svg = named("adhoc-diffusing-grid", |id| format!("sensor-field-north-{}", id.0));
    assert!(svg.contains(">9 nodes call elections. "), "{svg}");
    let svg = named("lecture-worst", |id| format!("{}{}{}", "a".repeat(30), id.0, "a".repeat(30)));
    assert!(!svg.contains("class=\"name\""), "shortened names would all be alike: {svg}");
}
