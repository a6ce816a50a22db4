//! Ad-hoc elections on a graph that does not change (theory 3.8, 3.9), source at node 1.
//!
//! A diffusing computation counts per link: a request to each neighbour except the parent, an
//! answer to each request. Node v at depth k is asked at k d and has by (k + 2) d the answers of
//! all neighbours that are not its children, if there are any; so the source knows after the
//! longest of 2k + 2, or 2k where v has no neighbour but its parent, and the result goes down the
//! tree in ecc more.
//!
//! A ring counts transmissions: a flood of TTL r from v costs |B(v, r - 1)|.

use super::{Bounds, Cost, cost};
use crate::studies::graph::Graph;

/// The complete graph: (n - 1)(2n - 1) messages, 5 delays; 3 for two nodes.
#[must_use]
pub const fn diffusing_complete(n: u64, b: &Bounds) -> Cost {
    cost((n - 1) * (2 * n - 1), if n == 2 { 3 * b.d } else { 5 * b.d })
}

/// A line from its end: 3(n - 1) messages and delays.
#[must_use]
pub const fn diffusing_line(n: u64, b: &Bounds) -> Cost {
    cost(3 * (n - 1), 3 * (n - 1) * b.d)
}

/// The random graph of this size: 4E - n + 1 messages, at most 3 ecc + 2 delays.
#[must_use]
pub fn diffusing_random(n: u64, b: &Bounds) -> Cost {
    diffusing(&random_graph(u32::try_from(n).unwrap_or(u32::MAX)), b)
}

/// The graph of a size.
#[must_use]
pub fn random_graph(n: u32) -> Graph {
    Graph::random(n, u64::from(n))
}

fn diffusing(graph: &Graph, b: &Bounds) -> Cost {
    let depths = graph.depths();
    let n = depths.len() as u64;
    let known = depths.iter().enumerate().map(|(node, depth)| {
        let has_others = node == 0 || graph.degree(node) > 1;
        2 * depth + if has_others { 2 } else { 0 }
    });
    let furthest = depths.iter().copied().max().unwrap_or(0);
    let delays = known.max().unwrap_or(0) + furthest;
    cost(4 * graph.links() + 1 - n, delays * b.d)
}

/// A line from its end.
#[must_use]
pub fn rings_line(n: u64, b: &Bounds) -> Cost {
    rings(&Graph::line(u32::try_from(n).unwrap_or(u32::MAX)), b)
}

/// A grid from its corner.
#[must_use]
pub fn rings_grid(n: u64, b: &Bounds) -> Cost {
    rings(&Graph::grid(u32::try_from(n).unwrap_or(u32::MAX)), b)
}

/// TTL 1, 2, 4 and so on up to n - 1, each followed by a wait of 2 TTL (Tm + Tp); then the
/// announcement goes to all.
fn rings(graph: &Graph, b: &Bounds) -> Cost {
    let depths = graph.depths();
    let limit = (depths.len() as u64).saturating_sub(1).max(1);
    let (mut transmissions, mut time, mut ttl) = (0, 0, 1);
    loop {
        transmissions += depths.iter().filter(|depth| **depth < ttl).count() as u64;
        // T = 2 Tm + Tp, so this is Tm + Tp.
        time += 2 * ttl * (b.t - b.d);
        if ttl >= limit {
            break;
        }
        ttl = (ttl * 2).min(limit);
    }
    let furthest = depths.iter().copied().max().unwrap_or(0);
    cost(transmissions, time + furthest * b.d)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds =
        Bounds { d: 1000, t: 2500, t_announce: 5000, t_merge: 4000, unit: 3000, phase: 0 };

    #[test]
    fn the_general_formula_gives_the_closed_ones() {
        for n in 2..40 {
            let (line, complete) = (Graph::line(n), Graph::complete(n));
            let n = u64::from(n);
            assert_eq!(diffusing(&line, &BOUNDS), diffusing_line(n, &BOUNDS), "{n}");
            assert_eq!(diffusing(&complete, &BOUNDS), diffusing_complete(n, &BOUNDS), "{n}");
        }
    }

    #[test]
    fn no_graph_takes_longer_than_three_eccentricities_and_two() {
        for n in 2..150 {
            let graph = random_graph(n);
            let furthest = graph.depths().into_iter().max().unwrap_or(0);
            let delays = diffusing(&graph, &BOUNDS).time.to_f64() / 1000.0;
            let (least, most) = (furthest * 3, furthest * 3 + 2);
            assert!((least as f64..=most as f64).contains(&delays), "{n}: {delays}");
        }
    }

    #[test]
    fn a_line_of_five_is_flooded_three_times() {
        // TTL 1, 2, 4 reach 1, 2 and 4 nodes that pass it on.
        assert_eq!(rings_line(5, &BOUNDS), cost(7, 2 * 7 * 1500 + 4 * 1000));
    }
}
