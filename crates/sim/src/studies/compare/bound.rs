//! Upper bounds that a source proves for an algorithm's own messages, beside the measurements.
//!
//! They hold for one election of all nodes, in any order of the ring, and with its result. Leaves
//! out acknowledgements, the hand-over of the state, and messages to a crashed node, all of which
//! are in the measurements.

use tanist_core::election::Algorithm;

use super::Script;
use crate::studies::sweep::formula;
use crate::studies::theory::{Bounds, Cost, ring};

/// An upper bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The algorithm that it is proved for.
    pub algorithm: Algorithm,
    /// The formula.
    pub name: &'static str,
    /// Its value for each number of nodes, in messages.
    pub values: Vec<(u32, f64)>,
}

/// What the values of all bounds count.
pub const BOUNDED: &str =
    "messages of one election and its result, without acknowledgements and hand-over";

/// The bounds for a comparison of these algorithms and sizes.
#[must_use]
pub fn bounds(script: Script, algorithms: &[Algorithm], sizes: &[u32]) -> Vec<Bound> {
    let is_one_election = match script {
        Script::LeaderCrash | Script::ColdStart | Script::LeaderReturns => true,
        Script::Rolling | Script::PartitionAndHeal => false,
    };
    if !is_one_election {
        return Vec::new();
    }
    let proved = algorithms.iter().filter_map(|algorithm| {
        let (name, cost) = proved(*algorithm)?;
        let value = |n: u32| cost(u64::from(n), &NO_TIME).messages.to_f64();
        let values = sizes.iter().map(|n| (*n, value(*n))).collect();
        Some(Bound { algorithm: *algorithm, name, values })
    });
    proved.collect()
}

/// The formula, and what the sweep of the same algorithm compares its runs with.
fn proved(algorithm: Algorithm) -> Option<(&'static str, Theory)> {
    let (_, case, theory) = PROVED.iter().find(|(of, ..)| *of == algorithm)?;
    Some((formula(algorithm, case)?.messages, *theory))
}

type Theory = fn(u64, &Bounds) -> Cost;

/// Algorithm, the case of its sweep that no run is above, and what that costs.
const PROVED: &[(Algorithm, &str, Theory)] = &[
    (Algorithm::RingPeterson, "all-worst", ring::bids_worst),
    (Algorithm::RingHirschbergSinclair, "all-bound", ring::probes_bound),
];

/// Messages do not depend on delays.
const NO_TIME: Bounds = Bounds { d: 0, t: 0, t_announce: 0, t_merge: 0, unit: 0, phase: 0 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_with_a_proof_have_the_bound_of_the_sweep_and_others_have_none() {
        let found = bounds(Script::ColdStart, Algorithm::ALL, &[4, 5, 8]);
        let values: Vec<_> =
            found.iter().map(|bound| (bound.algorithm, bound.values.clone())).collect();
        let peterson = vec![(4, 24.0), (5, 30.0), (8, 64.0)];
        // 5 lg 5 is 11.6.
        let probes = vec![(4, 96.0), (5, 136.0), (8, 256.0)];
        let expected =
            [(Algorithm::RingPeterson, peterson), (Algorithm::RingHirschbergSinclair, probes)];
        assert_eq!(values.len(), expected.len());
        for one in expected {
            assert!(values.contains(&one), "{one:?} is not in {values:?}");
        }
        assert_eq!(bounds(Script::Rolling, Algorithm::ALL, &[4]), []);
    }
}
