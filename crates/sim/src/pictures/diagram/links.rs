//! A short description of a list of one-way links: `n1 n2 | n3 n4`, `n1 | n3`, `n1 -> n3`.

use std::collections::{BTreeMap, BTreeSet};

use tanist_core::NodeId;
use tanist_core::trace::Link;

use crate::pictures::names::ShortNames;

/// Describes the links; a cut between groups of nodes is described by its sides.
pub(in crate::pictures) fn describe(links: &[Link], names: &ShortNames) -> String {
    let all: BTreeSet<(NodeId, NodeId)> = links.iter().map(|link| (link.from, link.to)).collect();
    let is_both_ways = all.iter().all(|(from, to)| all.contains(&(*to, *from)));
    if is_both_ways && let Some(sides) = sides(&all) {
        let side = |nodes: &BTreeSet<NodeId>| names.list(nodes.iter().copied());
        return sides.iter().map(side).collect::<Vec<_>>().join(" | ");
    }
    let mut words = Vec::new();
    for (from, to) in &all {
        if !all.contains(&(*to, *from)) {
            words.push(format!("{} -> {}", names.of(*from), names.of(*to)));
        } else if from < to {
            words.push(format!("{} | {}", names.of(*from), names.of(*to)));
        }
    }
    let more = words.len().saturating_sub(LISTED_MAX);
    words.truncate(LISTED_MAX);
    if more > 0 {
        words.push(format!("{more} more"));
    }
    words.join(", ")
}

/// The sides, if the links are all those between nodes of different sides and no other.
fn sides(links: &BTreeSet<(NodeId, NodeId)>) -> Option<BTreeSet<BTreeSet<NodeId>>> {
    let mut reached: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    for (from, to) in links {
        reached.entry(*from).or_default().insert(*to);
    }
    let nodes: BTreeSet<NodeId> = reached.keys().copied().collect();
    let side = |node: &NodeId| -> BTreeSet<NodeId> { &nodes - &reached[node] };
    let is_split = nodes.iter().all(|node| side(node).iter().all(|mate| side(mate) == side(node)));
    (is_split && !nodes.is_empty()).then(|| nodes.iter().map(side).collect())
}

/// More links than this are counted, not listed.
const LISTED_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use tanist_core::membership::NodeNames;

    use super::*;

    fn describe(links: &[Link]) -> String {
        super::describe(links, &ShortNames::new(&NodeNames::default(), 20))
    }

    fn link(from: u32, to: u32) -> Link {
        Link { from: NodeId(from), to: NodeId(to) }
    }

    fn between(pairs: &[(u32, u32)]) -> Vec<Link> {
        pairs.iter().flat_map(|(a, b)| [link(*a, *b), link(*b, *a)]).collect()
    }

    #[test]
    fn a_partition_is_named_by_its_sides() {
        assert_eq!(describe(&between(&[(1, 3)])), "n1 | n3");
        assert_eq!(describe(&between(&[(1, 3), (1, 4), (2, 3), (2, 4)])), "n1 n2 | n3 n4");
        assert_eq!(describe(&between(&[(1, 2), (2, 3), (1, 3)])), "n1 | n2 | n3");
    }

    #[test]
    fn nodes_with_names_are_called_by_them() {
        let names = NodeNames::new([(NodeId(3), "db-west-1".parse().unwrap())]).unwrap();
        let names = ShortNames::new(&names, 20);
        assert_eq!(super::describe(&between(&[(1, 3), (2, 3)]), &names), "n1 n2 | db-west-1");
        assert_eq!(super::describe(&[link(3, 1)], &names), "db-west-1 -> n1");
    }

    #[test]
    fn other_links_are_listed() {
        assert_eq!(describe(&[link(1, 3)]), "n1 -> n3");
        assert_eq!(describe(&between(&[(1, 2), (2, 3), (3, 4)])), "n1 | n2, n2 | n3, n3 | n4");
        let star: Vec<Link> = (2..=7).map(|to| link(1, to)).collect();
        assert!(describe(&star).ends_with(", 2 more"), "{}", describe(&star));
        assert_eq!(describe(&[]), "");
    }
}
