use alloc::vec::Vec;

use crate::election::Algorithm;
use crate::membership::{Hierarchy, HierarchyError, Labels, Membership, NodeId};
use crate::testing::TestGroup;
use crate::testing::group_of;

fn config(nodes: u32, racks: &[(u32, &str)], options: &[(&str, &str)]) -> TestGroup {
    let config = group_of(Algorithm::SuperPeer, nodes, options);
    let labels = racks.iter().map(|(node, rack)| {
        let rack = Some(rack.parse().unwrap());
        (NodeId(*node), Labels { zone: rack, rack })
    });
    let members = Membership::numbered(nodes).unwrap().with_labels(labels);
    TestGroup { members, ..config }
}

fn made(group: &TestGroup) -> Result<Hierarchy, HierarchyError> {
    Hierarchy::new(&group.config().unwrap(), &group.members)
}

fn arranged(group: TestGroup) -> Membership {
    let config = group.config().unwrap();
    group.members.arranged(&config).unwrap()
}

fn groups(config: &TestGroup) -> Vec<Vec<u32>> {
    let hierarchy = made(config).unwrap();
    let peers = (0..hierarchy.groups(0)).filter_map(|group| hierarchy.peers(group));
    peers
        .map(|peers| {
            let mut ids: Vec<u32> = peers.all().iter().map(|member| member.id.0).collect();
            ids.sort_unstable();
            ids
        })
        .collect()
}

#[test]
fn peers_of_one_rack_are_a_group() {
    let racks = [(1, "a"), (2, "b"), (3, "a"), (4, "b")];
    assert_eq!(groups(&config(4, &racks, &[])), [[1, 3], [2, 4]]);
    // By hash racks do not matter, and four nodes fit into one group.
    assert_eq!(groups(&config(4, &racks, &[("by", "hash")])), [[1, 2, 3, 4]]);
}

#[test]
fn a_rack_above_max_is_split_and_one_below_min_is_merged() {
    let racks = [(1, "a"), (2, "b"), (3, "b"), (4, "b"), (5, "b"), (6, "b")];
    let made = groups(&config(6, &racks, &[("max", "3"), ("min", "2")]));
    // The node that is alone on its rack joins the next, and six are two groups of three.
    assert_eq!(made.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
    assert!(made[0].contains(&1), "{made:?}");
}

#[test]
fn every_size_is_within_its_bounds_on_every_level() {
    for nodes in 1..300 {
        let hierarchy = made(&config(nodes, &[], &[("max", "6"), ("min", "3")])).unwrap();
        let sizes = (0..hierarchy.groups(0)).map(|group| hierarchy.nodes(0, group).count());
        assert!(sizes.clone().all(|size| size <= 6), "{nodes}");
        assert!(nodes < 3 || sizes.clone().all(|size| size >= 3), "{nodes}");
        assert_eq!(sizes.sum::<usize>(), usize::try_from(nodes).unwrap());
        let top = hierarchy.depth() - 1;
        assert_eq!(hierarchy.groups(top), 1, "{nodes}");
        assert_eq!(hierarchy.first(top, 0), Some(NodeId(nodes)));
        for level in 1..=top {
            for group in 0..hierarchy.groups(level) {
                assert!(hierarchy.children(level, group).len() <= 6, "{nodes}");
            }
        }
    }
}

#[test]
fn a_node_finds_its_group_on_every_level() {
    let hierarchy = made(&config(100, &[], &[("max", "4")])).unwrap();
    for level in 0..hierarchy.depth() {
        for group in 0..hierarchy.groups(level) {
            for node in hierarchy.nodes(level, group) {
                assert_eq!(hierarchy.place(node, level), Some(group), "{node} at {level}");
            }
        }
    }
    assert_eq!(hierarchy.place(NodeId(101), 0), None);
    assert_eq!(hierarchy.place(NodeId(1), hierarchy.depth()), None);
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for (options, error) in [
        (&[("k", "2"), ("ratio", "1/4")][..], HierarchyError::TwoCounts),
        (&[("min", "8"), ("max", "8")], HierarchyError::Bounds { min: 8, max: 8 }),
        (&[("k", "3"), ("max", "4")], HierarchyError::NoFewer { most: 3, max: 4 }),
        (&[("k", "2"), ("inner", "bully-lecture")], HierarchyError::Unlisted),
        (&[("k", "2"), ("disperse", "on")], HierarchyError::OneRack),
        (&[("by", "zone"), ("disperse", "on")], HierarchyError::NobodyToKeepApart),
    ] {
        assert_eq!(made(&config(9, &[], options)), Err(error), "{options:?}");
    }
}

#[test]
fn other_algorithms_have_no_groups() {
    let members = arranged(group_of(Algorithm::Bully, 3, &[]));
    assert_eq!(members.hierarchy(), None);
    assert_eq!(members.peer_group(NodeId(1)).count(), 3);
    let members = arranged(config(40, &[], &[("max", "4")]));
    assert!(members.peer_group(NodeId(1)).count() <= 4);
}
