//! Graphs with nodes 1..=n, for the theory of ad-hoc elections.

use std::collections::BTreeSet;

use tanist_core::NodeId;

use crate::world::dice::SeededDice;
use crate::world::places::columns;
use crate::world::topology::Topology;

/// An undirected graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// For each node, from 1 on, its neighbours.
    neighbours: Vec<Vec<usize>>,
}

impl Graph {
    /// 1 - 2 - ... - n.
    #[must_use]
    pub fn line(n: u32) -> Self {
        Self::joined(n, (2..=n).map(|node| (node - 1, node)))
    }

    /// Rows that make a square, the last one perhaps shorter; node 1 is in a corner.
    #[must_use]
    pub fn grid(n: u32) -> Self {
        let columns = u32::try_from(columns(i64::from(n))).unwrap_or(1);
        let across = (2..=n).filter(|node| (node - 1) % columns != 0).map(|node| (node - 1, node));
        let down = (columns + 1..=n).map(|node| (node - columns, node));
        Self::joined(n, across.chain(down))
    }

    /// The complete graph.
    #[must_use]
    pub fn complete(n: u32) -> Self {
        Self::joined(n, (2..=n).flat_map(|b| (1..b).map(move |a| (a, b))))
    }

    /// A random tree and a random number of further links, at most one for each node.
    #[must_use]
    pub fn random(n: u32, seed: u64) -> Self {
        let mut dice = SeededDice::new(seed);
        let mut below = |end: u32| u32::try_from(dice.below(u64::from(end))).unwrap_or(0);
        let mut links = BTreeSet::new();
        for node in 2..=n {
            links.insert((1 + below(node - 1), node));
        }
        for _ in 0..below(n + 1) {
            let (a, b) = (1 + below(n), 1 + below(n));
            if a != b {
                links.insert((a.min(b), a.max(b)));
            }
        }
        Self::joined(n, links.into_iter())
    }

    fn joined(n: u32, links: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut neighbours = vec![Vec::new(); n as usize];
        for (a, b) in links {
            neighbours[a as usize - 1].push(b as usize - 1);
            neighbours[b as usize - 1].push(a as usize - 1);
        }
        Self { neighbours }
    }

    /// As the topology of a world.
    #[must_use]
    pub fn topology(&self) -> Topology {
        let id = |at: usize| NodeId(u32::try_from(at + 1).unwrap_or(u32::MAX));
        let ends = self.neighbours.iter().enumerate();
        let links = ends.flat_map(|(a, near)| {
            let later = near.iter().filter(move |b| **b > a);
            later.map(move |b| (id(a), id(*b)))
        });
        Topology::Links(links.collect())
    }

    /// How many links there are.
    #[must_use]
    pub fn links(&self) -> u64 {
        self.neighbours.iter().map(|near| near.len() as u64).sum::<u64>() / 2
    }

    /// How many neighbours a node has; nodes count from 0 here.
    #[must_use]
    pub fn degree(&self, node: usize) -> usize {
        self.neighbours[node].len()
    }

    /// The distance of every node from node 1, in links; the graph is connected.
    #[must_use]
    pub fn depths(&self) -> Vec<u64> {
        let mut depths = vec![None; self.neighbours.len()];
        let mut queue = vec![0];
        depths[0] = Some(0);
        let mut done = 0;
        while let Some(node) = queue.get(done).copied() {
            done += 1;
            for near in &self.neighbours[node] {
                if depths[*near].is_none() {
                    depths[*near] = depths[node].map(|depth: u64| depth + 1);
                    queue.push(*near);
                }
            }
        }
        depths.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_have_the_links_and_the_depths_that_they_should() {
        assert_eq!((Graph::line(5).links(), Graph::line(5).depths()), (4, vec![0, 1, 2, 3, 4]));
        assert_eq!((Graph::complete(6).links(), Graph::complete(6).degree(3)), (15, 5));
        // 1 2 3 / 4 5 6 / 7
        let grid = Graph::grid(7);
        assert_eq!((grid.links(), grid.depths()), (8, vec![0, 1, 2, 1, 2, 3, 2]));
    }

    #[test]
    fn a_random_graph_is_connected_and_not_always_a_tree() {
        let mut extra = 0;
        for seed in 0..50 {
            let graph = Graph::random(40, seed);
            assert_eq!(graph.depths().len(), 40, "seed {seed}");
            extra += graph.links() - 39;
        }
        assert!(extra > 500, "{extra} links beyond trees");
    }
}
