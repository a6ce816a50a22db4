//! Super-peers: their guarantees, and their sweep case: two levels, each at its worst.

use tanist_core::NodeId;
use tanist_core::election::Algorithm;
use tanist_core::membership::Label;
use tanist_core::trace::{Header, Kind};

use super::{Inside, Study, study};
use crate::monitors::{
    AgreedAbove, Eventually, EverybodyHasSuperPeers, Monitor, OfOwnGroup, Peers, SafeInside,
    Selection,
};
use crate::studies::fuzz::{FuzzModel, FuzzWorld};
use crate::studies::sweep::{Case, Measure, Plan, Verdict};
use crate::studies::theory::super_peers;
use crate::world::faults::Action;

pub(super) const STUDY: Study = Study {
    algorithm: Algorithm::SuperPeer,
    monitors,
    inside: Inside::NOTHING,
    fuzz: FuzzModel {
        world: FuzzWorld::PeerGroups,
        is_asynchronous: false,
        changes_priorities: false,
    },
    sweeps: CASES,
    follows_lower: false,
    halts_all: false,
    only_compares: false,
};

/// The guarantees of super-peers, and inside each peer group those of the inner algorithm.
fn monitors(header: &Header, selection: Selection) -> Vec<Box<dyn Monitor>> {
    let Some(peers) = Peers::of(header) else { return Vec::new() };
    let inside = &study(peers.inner()).inside;
    let is_safe = inside.is_safe && !selection.is_beyond_model;
    let mut monitors: Vec<Box<dyn Monitor>> = vec![
        Box::new(Eventually::new(EverybodyHasSuperPeers::new(peers.clone()), header)),
        Box::new(OfOwnGroup::new(peers.clone())),
        Box::new(SafeInside::new(peers.clone(), is_safe)),
        Box::new(Eventually::new(AgreedAbove::new(peers), header)),
    ];
    monitors.extend((inside.monitors)(selection));
    monitors
}

/// The messages of the elections, without those that discover the other super-peers.
const ELECTIONS: Measure =
    Measure::Rounds(&[Kind::Election, Kind::Answer, Kind::Coordinator, Kind::AmongSuperPeers]);

const CASES: &[Case] = &[Case {
    name: "two-level",
    least: 9,
    runs: |n| vec![two_levels(n)],
    theory: super_peers::two_level,
    measure: ELECTIONS,
    verdict: Verdict::Exact,
}];

/// Groups by rack. The highest node of each is down, and the second highest of the last one crashes
/// when it has won its group: the second level finds its highest node down, as the first level
/// does.
fn two_levels(n: u32) -> Plan {
    let count = super_peers::groups(u64::from(n));
    let mut plan = Plan {
        options: &[("inner", "bully-lecture"), ("max", "64"), ("min", "3")],
        ..Plan::default()
    };
    for group in 0..count {
        let (first, end) = super_peers::group(u64::from(n), group);
        let nodes: Vec<u32> =
            (first + 1..=end).filter_map(|node| u32::try_from(node).ok()).collect();
        let rack: Option<Label> = format!("rack-{group}").parse().ok();
        plan.racks.extend(nodes.iter().filter_map(|node| Some((NodeId(*node), rack?))));
        plan.down.extend(nodes.last());
        if group + 1 == count {
            let winner = nodes.iter().rev().nth(1).map(|node| (WON, Action::Crash(NodeId(*node))));
            plan.faults.extend(winner);
            // All its nodes crash, long after the count, so that the group does not elect again.
            plan.faults.extend(nodes.iter().map(|node| (OVER, Action::Crash(NodeId(*node)))));
        }
    }
    plan
}

/// After T the groups have elected, and after 2T their super-peers take their seats; T is 2.5 ms.
const WON: u64 = 3750;
const OVER: u64 = 50_000_000;
