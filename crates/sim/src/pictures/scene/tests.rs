//! Scenes of the sources' rings, and of positions that are not on a circle.

use crate::pictures::svg::assert_balanced;
use crate::run;
use crate::scenario::library;

use super::sheet::list;
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
    assert_eq!(svg.matches(", lost<").count(), 2);
    assert!(svg.contains("n2 calls · 6 election · 6 coordinator · n3 coordinates"), "{svg}");
    assert!(svg.contains("election from n6 to n2, step 6"), "{svg}");
}

#[test]
fn what_goes_the_same_way_twice_shares_an_arrow() {
    let svg = picture("ring-chang-roberts-17-24-33");
    assert_balanced(&svg);
    assert!(svg.contains("election from n1 to n2, step 1, 7"), "{svg}");
    assert!(svg.contains("10 election · 6 elected · n5 coordinates"), "{svg}");
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
fn many_numbers_are_cut_short() {
    assert_eq!(list(&[1, 7, 7]), "1, 7");
    assert_eq!(list(&[1, 2, 3, 4, 5, 6, 9]), "1, 2, 3, 4 … 9");
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
    assert!(svg.contains("Set_Coordinator from db-east-2 to db-east-1, step 2"), "{svg}");
    assert!(svg.contains("· db-east-2 coordinates</text>"), "{svg}");
}

#[test]
fn names_are_shortened_or_left_out_where_there_is_no_room() {
    let svg = named("lecture-worst", |id| format!("postgres-production-eu-{}", id.0));
    assert!(svg.contains(">postgres-p…uction-eu-1</text>"), "{svg}");
    assert!(svg.contains("<title>postgres-production-eu-1, priority 1</title>"), "{svg}");
    // Nine callers with long names would need more than the width of the picture.
    let svg = named("adhoc-diffusing-grid", |id| format!("sensor-field-north-{}", id.0));
    assert!(svg.contains(">n1 n2 n3 n4 n5 n6 n7 n8 n9 calls · "), "{svg}");
    let svg = named("lecture-worst", |id| format!("{}{}{}", "a".repeat(30), id.0, "a".repeat(30)));
    assert!(!svg.contains("class=\"name\""), "shortened names would all be alike: {svg}");
}
