//! The end states of the super-peer scenarios, beyond what a scenario can expect, and the mutants
//! that violate them.

use tanist_core::GroupConfig;
use tanist_core::election::Algorithm;
use tanist_core::mutant::Mutant;
use tanist_core::trace::{Event, SuperPeerStatus};
use tanist_core::{NodeId, NodeSet};
use tanist_sim::scenario::library;
use tanist_sim::studies::fuzz::{judge, scenario};
use tanist_sim::{Report, Scenario, run};

/// Enough to catch each of these mutants many times over.
const SEEDS: u64 = 400;

#[test]
fn the_top_is_lost_and_the_next_one_follows() {
    let report = played("super-peer-lost");
    for node in [3, 6, 8] {
        let peerage = peerage(&report, node);
        assert_eq!(peerage.seats.len(), 1, "n{node}");
        assert_eq!(peerage.seats[0].coordinator, Some(NodeId(8)), "n{node}");
    }
    assert_eq!(peerage(&report, 7).seats, []);
}

#[test]
fn a_rack_that_is_gone_leaves_its_place_empty() {
    let report = played("super-peer-rack-lost");
    assert_eq!(peerage(&report, 3).seats[0].coordinator, Some(NodeId(6)));
    assert_eq!(peerage(&report, 6).seats[0].coordinator, Some(NodeId(6)));
}

#[test]
fn two_super_peers_of_a_zone_are_never_on_one_rack() {
    let report = played("super-peer-two-apart");
    assert_eq!(peerage(&report, 1).super_peers, set(&[2, 4]));
    assert_eq!(peerage(&report, 5).super_peers, set(&[6, 7]));
    for node in [2, 4, 6, 7] {
        assert_eq!(peerage(&report, node).seats[0].coordinator, Some(NodeId(7)), "n{node}");
    }
    assert_eq!(peerage(&report, 3).seats, []);
}

#[test]
fn groups_by_hash_have_as_many_levels_as_it_takes() {
    let report = played("super-peer-by-hash");
    let top = peerage(&report, 38);
    assert_eq!(top.seats.len(), 2);
    assert_eq!(top.seats[1].coordinator, Some(NodeId(38)));
}

#[test]
fn every_mutant_of_the_super_peers_is_caught() {
    for (mutant, assertion) in [
        (Mutant::SUPER_PEER_OF_OTHER_GROUP, "V-03"),
        (Mutant::KEEP_LOST_SUPER_PEER, "V-02"),
        (Mutant::KEEP_SEAT, "V-03"),
    ] {
        let caught = (1..=SEEDS).find_map(|seed| {
            let failure = judge(&scenario(Algorithm::SuperPeer, seed, Some(mutant))).failure;
            failure.filter(|violated| violated.assertion == assertion)
        });
        assert!(caught.is_some(), "{} breaks no {assertion}", mutant.name());
    }
}

/// Most seeds have several groups; otherwise they would not test the levels above.
#[test]
fn most_seeds_have_levels() {
    let levels = (1..=200).filter(|seed| {
        let drawn = scenario(Algorithm::SuperPeer, *seed, None);
        let config = GroupConfig::new(drawn.settings).unwrap();
        let members = drawn.members.arranged(&config).unwrap();
        members.hierarchy().is_some_and(|hierarchy| hierarchy.depth() > 1)
    });
    assert!(levels.count() > 120);
}

fn played(name: &str) -> Report {
    let text = library::find(name).expect("the scenario is shipped");
    let scenario = Scenario::parse(text).expect("a shipped scenario can be read");
    let report = run(&scenario, scenario.seed);
    assert!(report.surprises.is_empty(), "{:?}", report.surprises);
    report
}

/// The super-peers and seats that a node last recorded.
fn peerage(report: &Report, id: u32) -> SuperPeerStatus {
    let mut last = None;
    for entry in &report.recording.entries {
        if let Event::State { node, state } = &entry.event
            && *node == NodeId(id)
        {
            last.clone_from(&state.super_peer);
        }
    }
    *last.expect("a node of a run with super-peers tells them")
}

fn set(ids: &[u32]) -> NodeSet {
    ids.iter().copied().map(NodeId).collect()
}
