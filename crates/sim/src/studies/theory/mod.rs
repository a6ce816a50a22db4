//! The cost of a case by theory: messages and time, from the formula and never from a run.
//!
//! Conventions: nodes 1..=N with id = priority, every message takes d, processing takes no time,
//! links are FIFO, a message to a crashed node counts, and at equal times deliveries precede
//! timers. Without addressees there is no wait. Detection is not included unless the case says so.

pub mod adhoc;
pub mod ring;

use std::fmt;
use std::time::Duration;

use tanist_core::time::micros;

/// The delays in the formulas, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Message delay.
    pub d: u64,
    /// T = 2Tm + Tp.
    pub t: u64,
    /// T' = 4Tm + 2Tp.
    pub t_announce: u64,
    /// T_merge = 3Tm + 2Tp.
    pub t_merge: u64,
    /// Merge delay per node of higher rank.
    pub unit: u64,
    /// When the check of `found-by-check` begins.
    pub phase: u64,
}

/// An exact quantity: a count, a time, or the mean of some.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    sum: u64,
    over: u64,
}

impl Amount {
    /// A whole number.
    #[must_use]
    pub const fn whole(value: u64) -> Self {
        Self { sum: value, over: 1 }
    }

    /// The mean of `over` values that add up to `sum`.
    #[must_use]
    pub const fn mean(sum: u64, over: u64) -> Self {
        Self { sum, over }
    }

    /// A duration in microseconds.
    #[must_use]
    pub fn span(span: Duration) -> Self {
        Self::whole(micros(span))
    }

    /// The nearest float.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for plots")]
    pub fn to_f64(self) -> f64 {
        self.sum as f64 / self.over as f64
    }
}

impl PartialEq for Amount {
    /// Equal as fractions, exactly.
    fn eq(&self, other: &Self) -> bool {
        u128::from(self.sum) * u128::from(other.over)
            == u128::from(other.sum) * u128::from(self.over)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sum.is_multiple_of(self.over) {
            return write!(f, "{}", self.sum / self.over);
        }
        write!(f, "{:.6}", self.to_f64())
    }
}

/// Messages and time of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Messages sent.
    pub messages: Amount,
    /// Microseconds.
    pub time: Amount,
}

const fn cost(messages: u64, time: u64) -> Cost {
    Cost { messages: Amount::whole(messages), time: Amount::whole(time) }
}

/// The lecture bully (theory 3.1): f = 1 unless said, initiator i, m = N - i.
pub mod lecture {
    use super::{Amount, Bounds, Cost, cost};

    /// Total for one crashed coordinator and lowest initiator i: m^2 + N - 2.
    const fn total(n: u64, i: u64) -> u64 {
        let m = n - i;
        m * m + n - 2
    }

    /// Until all know: T + d if the initiator wins, else 2d + T; without other nodes to inform, d
    /// less.
    const fn time(n: u64, i: u64, b: &Bounds) -> u64 {
        if n == 2 {
            b.t
        } else if i == n - 1 {
            b.t + b.d
        } else {
            2 * b.d + b.t
        }
    }

    /// The lowest process notices: N^2 - N - 1.
    #[must_use]
    pub const fn worst(n: u64, b: &Bounds) -> Cost {
        cost(n * n - n - 1, time(n, 1, b))
    }

    /// The second highest notices and asks the crashed one: N - 1.
    #[must_use]
    pub const fn best(n: u64, b: &Bounds) -> Cost {
        cost(n - 1, time(n, n - 1, b))
    }

    /// The second highest knows that it is the highest left: N - 2, one delay.
    #[must_use]
    pub const fn shortcut(n: u64, b: &Bounds) -> Cost {
        cost(n - 2, if n == 2 { 0 } else { b.d })
    }

    /// Mean over all initiators: N(2N - 1)/6 + N - 2.
    #[must_use]
    pub fn mean(n: u64, b: &Bounds) -> Cost {
        let messages = Amount::mean(n * (2 * n - 1) + 6 * (n - 2), 6);
        let times = (1..n).map(|i| time(n, i, b)).sum();
        Cost { messages, time: Amount::mean(times, n - 1) }
    }

    /// All survivors notice at once: as the lowest alone, but the winner need not be woken.
    #[must_use]
    pub const fn concurrent(n: u64, b: &Bounds) -> Cost {
        cost(total(n, 1), if n == 2 { b.t } else { b.t + b.d })
    }

    /// The lowest recovers, the incumbent answers the callers only: M(M + 2) with M = N - 1.
    #[must_use]
    pub const fn recovery(n: u64, b: &Bounds) -> Cost {
        let m = n - 1;
        // The incumbent tells the recovered process after 2d, those it woke after 3d.
        cost(m * (m + 2), if m == 1 { 2 * b.d } else { 3 * b.d })
    }

    /// The same without the guard: M(M + 1) + (N - 1) max(1, M).
    #[must_use]
    pub const fn recovery_unguarded(n: u64, b: &Bounds) -> Cost {
        let m = n - 1;
        cost(m * (m + 1) + (n - 1) * m, if m == 1 { 2 * b.d } else { 3 * b.d })
    }

    /// The highest recovers: N - 1 announcements, one delay.
    #[must_use]
    pub const fn recovery_highest(n: u64, b: &Bounds) -> Cost {
        cost(n - 1, b.d)
    }

    /// The future winner N - 1 crashes after answering; N >= 3.
    #[must_use]
    pub const fn winner_dies(n: u64, b: &Bounds) -> Cost {
        let election = n * (n - 1) / 2 + (n * (n - 1) - 2) / 2;
        let answer = (n - 1) * (n - 2) / 2 + (n - 2) * (n - 3) / 2;
        let coordinator = n - 3;
        // The initiator's T' runs from 2d; its second call wakes the next winner after another d.
        let time = if n == 3 { 2 * b.d + b.t_announce + b.t } else { 4 * b.d + b.t_announce + b.t };
        cost(election + answer + coordinator, time)
    }
}

/// The textbook's bully (theory 3.2): winner w, h crashed nodes above it, u live ones below it.
pub mod bully {
    use super::{Bounds, Cost, cost};

    /// Election() by w, without detection: h + (w - 1) + 5u.
    const fn election(h: u64, w: u64, u: u64) -> u64 {
        h + (w - 1) + 5 * u
    }

    /// N has crashed and N - 1 finds out: 6N - 10; 2T + 6d.
    #[must_use]
    pub const fn second_highest_detects(n: u64, b: &Bounds) -> Cost {
        cost(6 * n - 10, 2 * b.t + if n == 2 { 0 } else { 6 * b.d })
    }

    /// The same with timeouts of full T: 5T.
    #[must_use]
    pub const fn full_waits(n: u64, b: &Bounds) -> Cost {
        cost(6 * n - 10, if n == 2 { 2 * b.t } else { 5 * b.t })
    }

    /// All survivors time out together: N^2 + 5N - 12.
    #[must_use]
    pub const fn all_detect(n: u64, b: &Bounds) -> Cost {
        cost(n * n + 5 * n - 12, 2 * b.t + if n == 2 { 0 } else { 6 * b.d })
    }

    /// The highest recovers, all lower up: 6(N - 1); 6d.
    #[must_use]
    pub const fn highest_recovers(n: u64, b: &Bounds) -> Cost {
        cost(election(0, n, n - 1), 6 * b.d)
    }

    /// The same, halting one by one: the halting phase takes 2d(N - 1) instead of 2d.
    #[must_use]
    pub const fn descending(n: u64, b: &Bounds) -> Cost {
        cost(election(0, n, n - 1), 2 * b.d * (n - 1) + 4 * b.d)
    }

    /// Node r = 1 recovers and N's Check finds it: 2(N - r) + 2(N - 1) + 6(N - 1); phase + T + 6d.
    #[must_use]
    pub const fn found_by_check(n: u64, b: &Bounds) -> Cost {
        cost(2 * (n - 1) + 2 * (n - 1) + 6 * (n - 1), b.phase + b.t + 6 * b.d)
    }

    /// A participant crashes after EE_answer; w = N, h = 0, u = N - 1.
    #[must_use]
    pub const fn participant_dies(n: u64, b: &Bounds) -> Cost {
        let (h, w, u) = (0, n, n - 1);
        let messages = 2 * h + 2 * (w - 1) + 2 * u + (u - 1) + 5 * (u - 1);
        // Without a node left below, the last two rounds are not needed.
        cost(messages, 2 * b.d + 2 * b.t + if u == 1 { 0 } else { 4 * b.d })
    }
}

/// Invitation (theory 3.3): n live nodes, one active coordinator.
pub mod invitation {
    use super::{Bounds, Cost, cost};

    /// A check with all nodes up: 2(N - 1); 2d.
    #[must_use]
    pub const fn check(n: u64, b: &Bounds) -> Cost {
        cost(2 * (n - 1), 2 * b.d)
    }

    /// A merge of two groups: 5(n - 1), whatever the sizes; a forwarded invitation costs one more
    /// d.
    #[must_use]
    pub const fn merge(n: u64, b: &Bounds) -> Cost {
        let invited_group_has_members = n >= 4;
        cost(5 * (n - 1), if invited_group_has_members { 5 * b.d } else { 4 * b.d })
    }

    /// The same with full timeouts: T_merge + T.
    #[must_use]
    pub const fn merge_full(n: u64, b: &Bounds) -> Cost {
        cost(5 * (n - 1), b.t_merge + b.t)
    }

    /// All N start and check at once: (2N + 5)(N - 1); 6d.
    #[must_use]
    pub const fn cold_start(n: u64, b: &Bounds) -> Cost {
        cost((2 * n + 5) * (n - 1), 6 * b.d)
    }

    /// The coordinator crashes, all others time out, then check: 2(N - 1)^2 + 5(N - 2).
    #[must_use]
    pub const fn coordinator_dies(n: u64, b: &Bounds) -> Cost {
        let messages = 2 * (n - 1) * (n - 1) + 5 * (n - 2);
        // T for AreYouThere; T for the check, which the crashed node does not answer; the delay of
        // N - 1.
        cost(messages, if n == 2 { b.t } else { 2 * b.t + b.unit + 4 * b.d })
    }

    /// The coordinator crashes and one member invites the others directly: 1 + 5(N - 2); T + 4d.
    #[must_use]
    pub const fn reinvite(n: u64, b: &Bounds) -> Cost {
        cost(1 + 5 * (n - 2), b.t + if n == 2 { 0 } else { 4 * b.d })
    }
}

/// Super-peers (theory 3.10): groups that elect by the textbook's bully, and groups of the
/// super-peers that they select.
pub mod super_peers {
    use super::{Bounds, Cost, cost};

    /// The lectures' bully among p nodes of which the highest has crashed: p^2 - p - 1.
    const fn worst(p: u64) -> u64 {
        p * p - p - 1
    }

    /// How many groups the case `two-level` makes of n nodes: of about the cube root of 2n each,
    /// which costs least, but of three at least and not more than 64 groups.
    #[must_use]
    pub const fn groups(n: u64) -> u64 {
        let mut size = 3;
        while size * size * size < 2 * n || size * 64 < n {
            size += 1;
        }
        n / size
    }

    /// The nodes of one of these groups, from 0.
    #[must_use]
    pub const fn group(n: u64, at: u64) -> (u64, u64) {
        let count = groups(n);
        (at * n / count, (at + 1) * n / count)
    }

    /// In each of G groups of P the highest is down and all others start; the group of highest rank
    /// loses its super-peer before the second level begins. G f(P) + f(G), if G divides N. T for
    /// the first level, T until the seats are taken, T until the crashed nodes are given up and 2d
    /// until the others are found, then T + d.
    #[must_use]
    pub const fn two_level(n: u64, b: &Bounds) -> Cost {
        let count = groups(n);
        let mut messages = worst(count);
        let mut at = 0;
        while at < count {
            let (first, end) = group(n, at);
            messages += worst(end - first);
            at += 1;
        }
        cost(messages, 4 * b.t + 3 * b.d)
    }

    /// A group of p starts at once: every node asks those above and is answered, the highest halts,
    /// appoints and informs the others: p(p - 1) + 6(p - 1).
    #[must_use]
    pub const fn cold_start(p: u64) -> u64 {
        let others = p.saturating_sub(1);
        p * others + 6 * others
    }

    /// The same above, where all ask all others for their seats first: 2p(p - 1) more.
    #[must_use]
    pub const fn cold_start_above(p: u64) -> u64 {
        2 * p * p.saturating_sub(1) + cold_start(p)
    }

    /// The cost of a network per node at most, whatever its size, in groups of at most p nodes:
    /// every level has at most one p-th of the groups of the one below, and one more.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of messages are far below 2^52")]
    pub fn per_node_max(p: u64, levels: u64, nodes: u64) -> f64 {
        let (below, above) = (cold_start(p) as f64, cold_start_above(p) as f64);
        let size = p as f64;
        let rounded_up = levels as f64 * above / size / nodes as f64;
        below / size + above / (size * (size - 1.0)) + rounded_up
    }
}
