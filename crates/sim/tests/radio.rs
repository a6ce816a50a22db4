//! The radio world: reach, links that come and go, and errors in scenario files about them.

use std::time::Duration;

use tanist_core::trace::{Entry, Event, Link, Loss};
use tanist_core::{NodeId, NodeSet, Time};
use tanist_sim::observe::global_state::GlobalState;
use tanist_sim::world::places::{Area, Position};
use tanist_sim::world::topology::{Fading, Topology};
use tanist_sim::{Scenario, run};

const HEAD: &str = "name = \"r\"\nalgorithm = \"invitation\"\nend = \"20s\"\n";

fn parse(rest: &str) -> Scenario {
    Scenario::parse(&format!("{HEAD}{rest}")).unwrap_or_else(|error| panic!("{error}\n{rest}"))
}

/// The error for a file.
fn refusal(rest: &str) -> String {
    match Scenario::parse(&format!("{HEAD}{rest}")) {
        Ok(_) => panic!("accepted: {rest}"),
        Err(error) => error.to_string(),
    }
}

fn components(entries: &[Entry], scenario: &Scenario, at: Duration) -> Vec<Vec<u32>> {
    let mut global = GlobalState::new(scenario.members.clone());
    for entry in entries.iter().take_while(|entry| entry.at <= Time::ZERO + at) {
        global.note(entry.at, &entry.event);
    }
    let ids = |set: &NodeSet| set.iter().map(|id| id.0).collect();
    global.components().iter().map(ids).collect()
}

#[test]
fn what_is_said_to_somebody_out_of_range_is_lost() {
    let scenario = parse("nodes = 3\n[radio]\nlinks = [\"1-2\", \"2-3\"]\n");
    let report = run(&scenario, 1);
    let mut lost = 0;
    for entry in &report.recording.entries {
        if let Event::Receive { node, from, .. } = &entry.event {
            assert_ne!((from.0.min(node.0), from.0.max(node.0)), (1, 3), "{entry:?}");
        }
        if let Event::Lose { node, to, why, .. } = &entry.event {
            assert_eq!((node.0.min(to.0), node.0.max(to.0), *why), (1, 3, Loss::Cut));
            lost += 1;
        }
    }
    assert!(lost > 0, "no node sent anything");
}

#[test]
fn a_trace_tells_the_components_while_a_node_walks_from_one_to_the_other() {
    let scenario = parse(
        "[[node]]\nid = 1\nat = [0, 0]\n[[node]]\nid = 2\nat = [80, 0]\n\
         [[node]]\nid = 3\nat = [1000, 0]\n[[node]]\nid = 4\nat = [1080, 0]\n\
         [radio]\nrange = 100\n\
         [[fault]]\nat = \"5s\"\ndo = \"move\"\nnode = 2\nto = [1000, 50]\nover = \"10s\"\n",
    );
    let entries = run(&scenario, 1).recording.entries;
    let at = |second| components(&entries, &scenario, Duration::from_secs(second));
    assert_eq!(at(1), [vec![1, 2], vec![3, 4]]);
    assert_eq!(at(10), [vec![1], vec![2], vec![3, 4]]);
    assert_eq!(at(16), [vec![1], vec![2, 3, 4]]);
}

#[test]
fn a_cut_link_stays_cut_when_its_ends_come_near_and_a_healed_one_waits_for_them() {
    let file = |faults: &str| {
        parse(&format!(
            "nodes = 2\n[radio]\nrange = 100\nat = [[0, 0], [500, 0]]\n{faults}\
             [[fault]]\nat = \"5s\"\ndo = \"move\"\nnode = 2\nto = [50, 0]\n"
        ))
    };
    let apart = [vec![1], vec![2]];
    let cut = "[[fault]]\nat = \"1s\"\ndo = \"cut\"\nlinks = [[1, 2]]\n";
    let scenario = file(cut);
    let entries = run(&scenario, 1).recording.entries;
    assert_eq!(components(&entries, &scenario, Duration::from_secs(19)), apart);
    let scenario = file(&format!("{cut}[[fault]]\nat = \"2s\"\ndo = \"heal\"\n"));
    let entries = run(&scenario, 1).recording.entries;
    assert_eq!(components(&entries, &scenario, Duration::from_secs(4)), apart);
    assert_eq!(components(&entries, &scenario, Duration::from_secs(6)), [[1, 2]]);
}

#[test]
fn nodes_take_the_same_ways_whatever_the_protocol_says() {
    let ways = |algorithm: &str, seed| {
        let text = format!(
            "name = \"r\"\nalgorithm = {algorithm:?}\nend = \"30s\"\nnodes = 12\n[radio]\n\
             range = 100\narea = [400, 300]\nlayout = \"random\"\n[mobility]\n\
             model = \"random-waypoint\"\nspeed = [3, 19]\npause = [\"0s\", \"2s\"]\n"
        );
        let scenario = Scenario::parse(&text).expect("this file is right");
        let entries = run(&scenario, seed).recording.entries.into_iter();
        let is_link = |event: &Event| matches!(event, Event::Cut { .. } | Event::Heal { .. });
        entries.filter(|entry| is_link(&entry.event)).collect::<Vec<_>>()
    };
    let first = ways("invitation", 3);
    assert!(first.len() > 20, "only {} changes", first.len());
    assert_eq!(first, ways("bully", 3));
    assert_ne!(first, ways("invitation", 4));
}

#[test]
fn loss_by_distance_takes_more_from_those_further_away() {
    let scenario = parse(
        "nodes = 3\n[timing]\ncheck = \"20ms\"\n[radio]\nrange = 100\n\
         at = [[0, 0], [70, 0], [0, 95]]\nloss = \"distance\"\n",
    );
    let report = run(&scenario, 1);
    let lost = |to: u32| {
        let is_it = |link: Link| link == Link { from: NodeId(1), to: NodeId(to) };
        let (mut sent, mut lost) = (0_u32, 0_u32);
        for entry in &report.recording.entries {
            if let Event::Send { node, to, .. } = entry.event {
                sent += u32::from(is_it(Link { from: node, to }));
            }
            if let Event::Lose { node, to, .. } = entry.event {
                lost += u32::from(is_it(Link { from: node, to }));
            }
        }
        assert!(sent > 50, "{sent}");
        lost * 100 / sent
    };
    assert_eq!(lost(2), 0, "70 of 100 m is sure");
    assert!((50..100).contains(&lost(3)), "{} percent at 95 m", lost(3));
}

#[test]
fn a_radio_scenario_reads_back_as_it_was_written() {
    for rest in [
        "nodes = 3\n[radio]\nlinks = [\"1-2\", \"3-2\"]\n",
        "nodes = 3\n[radio]\nrange = 12.5\nlayout = \"circle\"\nloss = 0.25\n",
        "nodes = 3\n[radio]\nrange = 99\nlayout = \"grid\"\nspacing = 44\nstep = \"20ms\"\n",
        "nodes = 2\n[radio]\nrange = 100\nat = [[-1.5, 2], [3, 4]]\nloss = \"distance\"\n\
         [[fault]]\nat = \"1s\"\ndo = \"move\"\nnode = 1\nto = [5, -6.5]\nover = \"2s\"\n",
        "nodes = 9\n[radio]\nrange = 100\nlayout = \"random\"\narea = [200, 300]\n[mobility]\n\
         model = \"random-waypoint\"\nspeed = [0.5, 7]\npause = \"3s\"\nuntil = \"9s\"\n",
    ] {
        let scenario = parse(rest);
        let text = scenario.to_text();
        assert_eq!(Scenario::parse(&text).as_ref(), Ok(&scenario), "{text}");
        assert!(scenario.topology.is_radio());
    }
}

#[test]
fn lengths_are_metres_in_a_file_and_whole_decimetres_in_the_world() {
    let scenario = parse(
        "nodes = 1\n[radio]\nrange = 99.94\narea = [10, 20.5]\nlayout = \"random\"\n[mobility]\n\
         model = \"random-waypoint\"\nspeed = [3, 19]\n",
    );
    let Topology::Radio(radio) = scenario.topology else { panic!("not a radio") };
    assert_eq!((radio.range, radio.fading), (999, Fading::Flat(0)));
    let mobility = radio.mobility.expect("they move");
    assert_eq!(mobility.area, Area { width: 100, height: 205 });
    assert_eq!((mobility.speed_min, mobility.speed_max), (30, 190));
    assert_eq!(Position { x: 3, y: 4 }.distance_squared(Position { x: 0, y: 0 }), 25);
}

#[test]
fn a_mistake_is_named_with_its_line_and_what_was_expected() {
    for (rest, part) in [
        ("nodes = 2\n[radio]\nloss = 0.1\n", "needs either `range` in metres, or `links`"),
        ("nodes = 2\n[radio]\nrange = 10\n", "n1 has no position"),
        ("nodes = 2\n[radio]\nrange = 0\nlayout = \"line\"\n", "line 6: expected metres"),
        ("nodes = 2\n[radio]\nrange = 1\nlayout = \"star\"\n", "no layout \"star\""),
        ("nodes = 2\n[radio]\nrange = 1\nlayout = \"random\"\n", "needs `area`"),
        ("nodes = 2\n[radio]\nrange = 1\nat = [[0, 0]]\n", "1 places for 2 nodes"),
        ("nodes = 2\n[radio]\nlinks = [\"1-3\"]\n", "there is no node 3"),
        ("nodes = 2\n[radio]\nlinks = [\"1-1\"]\n", "\"1-1\" is not a link"),
        ("nodes = 2\n[radio]\nlinks = [\"1-2\"]\nrange = 5\n", "neither `range`"),
        ("nodes = 2\n[radio]\nrange = 1\nlayout = \"line\"\nloss = \"some\"\n", "\"distance\""),
        ("nodes = 2\n[mobility]\nmodel = \"random-waypoint\"\nspeed = [1, 2]\n", "needs [radio]"),
        (
            "nodes = 2\n[radio]\nrange = 1\nlayout = \"line\"\narea = [9, 9]\n[mobility]\n\
             model = \"random-waypoint\"\nspeed = [0, 2]\n",
            "speed 0 never arrive",
        ),
        (
            "nodes = 2\n[[fault]]\nat = \"1s\"\ndo = \"move\"\nnode = 1\nto = [1, 1]\n",
            "these nodes have no places",
        ),
        (
            "nodes = 2\n[radio]\nrange = 1\nlayout = \"line\"\n[[fault]]\nat = \"1s\"\n\
             do = \"move\"\nnode = 1\n",
            "`move` needs `to`",
        ),
        ("[[node]]\nid = 1\nat = [1, 2]\n", "`at` needs [radio]"),
    ] {
        let error = refusal(rest);
        assert!(error.contains(part), "expected {part:?} in {error:?}");
    }
}

#[test]
fn one_broadcast_is_one_transmission_and_a_reception_for_each_in_reach() {
    let text = "name = \"r\"\nalgorithm = \"adhoc-expanding-ring\"\nnodes = 4\nend = \"1s\"\n\
                [radio]\nlinks = [\"1-2\", \"2-3\"]\n";
    let scenario = Scenario::parse(text).expect("this file is right");
    let report = run(&scenario, 1);
    let mut told = 0;
    for entry in &report.recording.entries {
        let Event::Broadcast { node, id, .. } = entry.event else { continue };
        // Nothing is lost, and a message sent at the very end may be in flight.
        if entry.at > Time::ZERO + Duration::from_millis(990) {
            continue;
        }
        let mut heard = Vec::new();
        for entry in &report.recording.entries {
            if let Event::Receive { node, id: known, .. } = entry.event
                && known == id
            {
                heard.push(node.0);
            }
        }
        let near: &[u32] = match node.0 {
            1 | 3 => &[2],
            2 => &[1, 3],
            _ => &[],
        };
        assert_eq!(heard, near, "{entry:?}");
        told += 1;
    }
    assert!(told > 20, "{told}");
    let json = report.to_json(&scenario);
    assert_eq!(json["radio"]["transmissions"], json["messages"]["sent"]);
    assert_eq!(json["radio"]["receptions"], json["messages"]["delivered"]);
}
