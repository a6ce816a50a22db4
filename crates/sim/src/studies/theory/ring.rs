//! Rings (theory 3.4 to 3.6): the algorithm's own messages, without acknowledgements and hand-over.

use super::{Amount, Bounds, Cost, cost};

/// Chang and Roberts, one initiator D hops before the maximum: N + D and N; D + 2N - 1.
const fn one(n: u64, hops: u64, b: &Bounds) -> Cost {
    cost(n + hops + n, (hops + 2 * n - 1) * b.d)
}

/// The maximum sits behind the initiator: 3N - 1.
#[must_use]
pub const fn one_worst(n: u64, b: &Bounds) -> Cost {
    one(n, n - 1, b)
}

/// Mean over all initiators: (5N - 1)/2.
#[must_use]
pub const fn one_mean(n: u64, b: &Bounds) -> Cost {
    let time = (5 * n - 3) * b.d;
    Cost { messages: Amount::mean(5 * n - 1, 2), time: Amount::mean(time, 2) }
}

/// All start, attributes grow in the direction of the ring: 2N - 1 and N; 2N - 1.
#[must_use]
pub const fn all_best(n: u64, b: &Bounds) -> Cost {
    cost(2 * n - 1 + n, (2 * n - 1) * b.d)
}

/// All start, attributes fall: N(N + 1)/2 and N.
#[must_use]
pub const fn all_worst(n: u64, b: &Bounds) -> Cost {
    cost(n * (n + 1) / 2 + n, (2 * n - 1) * b.d)
}

/// All start, in random order: N(1 + 1/2 + ... + 1/N) on average, and N.
#[must_use]
pub fn all_mean(n: u64, b: &Bounds) -> Cost {
    const PARTS: u64 = 1_000_000;
    let harmonic: u64 = (1..=n).map(|k| n * PARTS / k).sum();
    let messages = Amount::mean(harmonic + n * PARTS, PARTS);
    Cost { messages, time: Amount::whole((2 * n - 1) * b.d) }
}

/// List rings, one initiator: a round for the list and one for the result, 2N.
#[must_use]
pub const fn list_one(n: u64, b: &Bounds) -> Cost {
    cost(2 * n, 2 * n * b.d)
}

/// The same with one crashed node, n = N - 1 live: one more message and T in each round.
#[must_use]
pub const fn list_one_dead(n: u64, b: &Bounds) -> Cost {
    let live = n - 1;
    cost(2 * live + 2, 2 * live * b.d + 2 * b.t)
}

/// Every other node starts, and every message goes round: 2kN.
#[must_use]
pub const fn list_k(n: u64, b: &Bounds) -> Cost {
    cost(2 * n.div_ceil(2) * n, 2 * n * b.d)
}

/// The winner crashes between the two rounds: 4N - 3, and one message to the crashed node and T in
/// each of the three rounds that it misses.
#[must_use]
pub const fn winner_dies(n: u64, b: &Bounds) -> Cost {
    cost(4 * n - 3 + 3, (4 * n - 3) * b.d + 3 * b.t)
}

/// Active list, one initiator: every node's id makes a round, N^2; 2N - 1.
#[must_use]
pub const fn names_one(n: u64, b: &Bounds) -> Cost {
    cost(n * n, (2 * n - 1) * b.d)
}

/// The same when all start at once: N^2; N.
#[must_use]
pub const fn names_all(n: u64, b: &Bounds) -> Cost {
    cost(n * n, n * b.d)
}

/// Peterson, priorities grow in the direction of the ring: one phase leaves one candidate, whose
/// name goes round, and then the result: 2N + N + N.
#[must_use]
pub const fn bids_best(n: u64, b: &Bounds) -> Cost {
    cost(4 * n, (2 * n + 1) * b.d)
}

/// The same with one initiator, the lowest: the last node stands N - 1 delays later.
#[must_use]
pub const fn bids_one(n: u64, b: &Bounds) -> Cost {
    cost(4 * n, (3 * n - 1) * b.d)
}

/// Peterson, every phase leaves as many candidates as it can: 2N messages in each of floor(lg N)
/// phases, N for the last name, N for the result. For N = P, a power of two, candidates are 1, 2,
/// 4, ... hops apart, which takes 2(P - 1), and then 2P - 1. Nodes in between add 3 delays each,
/// but the first of the second half takes the place of P/2 of these.
#[must_use]
pub const fn bids_worst(n: u64, b: &Bounds) -> Cost {
    let phases = n.ilog2() as u64;
    let power = 1 << phases;
    let (more, half) = (n - power, power / 2);
    let delays =
        if more < half { 4 * power - 3 + 3 * more } else { 5 * power - 3 + 3 * (more - half) };
    cost(2 * n * phases + 2 * n, delays * b.d)
}
/// Hirschberg and Sinclair: how many phases have probes that do not go round, ceil(lg N).
const fn phases(n: u64) -> u64 {
    n.next_power_of_two().ilog2() as u64
}

/// The highest node, no matter which others stand, probes 2^k hops there and back in each of these
/// phases, then N, and its name takes N - 1 to the last node.
const fn probes_time(n: u64, b: &Bounds) -> u64 {
    let power = 1 << phases(n);
    (2 * (power - 1) + n + n - 1) * b.d
}

/// Hirschberg and Sinclair, only the highest node stands: 4 * 2^k messages in each of ceil(lg N)
/// phases, 2N for the probes that go round, N for the result.
#[must_use]
pub const fn probes_one(n: u64, b: &Bounds) -> Cost {
    let power = 1 << phases(n);
    cost(4 * (power - 1) + 3 * n, probes_time(n, b))
}

/// All start, priorities grow along the ring: phase 0 costs 3N and leaves the highest.
#[must_use]
pub const fn probes_best(n: u64, b: &Bounds) -> Cost {
    let power = 1 << phases(n);
    cost(3 * n + 4 * (power - 2) + 3 * n, probes_time(n, b))
}

/// All start, the rank of node i grows with the number of times that 2 divides i: a power of two
/// costs 3N in each of lg N phases, and 3N. Another N is counted node by node: a probe ends at the
/// next higher node in its direction, or is answered before that.
#[must_use]
pub fn probes_halved(n: u64, b: &Bounds) -> Cost {
    let rank = |node: u64| (node.trailing_zeros(), node);
    let node = |at: u64| (at - 1) % n + 1;
    let mut messages = n;
    for own in 1..=n {
        let is_higher = |other: u64| rank(node(other)) > rank(own);
        let after = (1..n).find(|hops| is_higher(own + hops)).unwrap_or(n);
        let before = (1..n).find(|hops| is_higher(own + n - hops)).unwrap_or(n);
        let mut reach = 1;
        loop {
            for higher in [after, before] {
                messages += if higher <= reach { higher } else { 2 * reach };
            }
            if after.min(before) <= reach {
                break;
            }
            reach *= 2;
        }
    }
    cost(messages, probes_time(n, b))
}

/// All start, in random order. A node that is the highest of h on one side and of j - 1 on the
/// other, which has a chance of 1/(h + j), finds a higher one at exactly j with the difference to
/// 1/(h + j + 1).
#[must_use]
pub fn probes_mean(n: u64, b: &Bounds) -> Cost {
    const PARTS: f64 = 1e6;
    let nodes = n as f64;
    let chance = |window: u64| 1.0 / window.min(n) as f64;
    // 2N for the probes that go round, N for the result.
    let mut messages = 3.0 * nodes;
    for phase in 0..phases(n) {
        let reach = 1_u64 << phase;
        let known = if phase == 0 { 0 } else { reach / 2 };
        let ends: f64 = (known + 1..=reach)
            .map(|at| at as f64 * (chance(known + at) - chance(known + at + 1)))
            .sum();
        let answered = 2.0 * reach as f64 * chance(known + reach + 1);
        messages += 2.0 * nodes * (ends + answered);
    }
    let messages = Amount::mean((messages * PARTS).round() as u64, PARTS as u64);
    Cost { messages, time: Amount::whole(probes_time(n, b)) }
}

/// What the source proves for every order: 8N + 8 ceil(N lg N).
#[must_use]
pub fn probes_bound(n: u64, b: &Bounds) -> Cost {
    let nodes = n as f64;
    cost(8 * n + 8 * (nodes * nodes.log2()).ceil() as u64, probes_time(n, b))
}
