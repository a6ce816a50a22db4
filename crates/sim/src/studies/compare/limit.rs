//! Lower bounds that no algorithm can beat, drawn beside the measurements.
//!
//! Only bounds whose assumptions fit the script and an algorithm that is compared. They do not
//! include acknowledgements and state transfer, which most algorithms have besides.

use tanist_core::election::Algorithm;
use tanist_core::election::descriptor::Model;

use super::trial::{self, Draw, detection_us};
use super::{Quantity, Script, delay_us};
use crate::algorithms;

/// A lower bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The quantity that it bounds.
    pub quantity: Quantity,
    /// The formula.
    pub name: &'static str,
    /// The reason.
    pub note: &'static str,
    /// The compared algorithms that it applies to.
    pub algorithms: Vec<Algorithm>,
    /// Its value for each number of nodes; times in message delays.
    pub values: Vec<(u32, f64)>,
}

impl Limit {
    /// The reason, and which of the compared algorithms it applies to.
    #[must_use]
    pub fn footnote(&self, compared: &[Algorithm]) -> String {
        let names = |algorithms: &[Algorithm]| {
            algorithms.iter().map(|each| each.name()).collect::<Vec<_>>().join(", ")
        };
        let others: Vec<Algorithm> =
            compared.iter().copied().filter(|each| !self.algorithms.contains(each)).collect();
        let whose = match others.len() {
            0 => "all".to_owned(),
            few if few < self.algorithms.len() => format!("all but {}", names(&others)),
            _ => names(&self.algorithms),
        };
        format!("{} ({whose})", self.note)
    }
}

/// The bounds for a comparison of these algorithms and sizes; those that fit none are left out.
#[must_use]
pub fn limits(script: Script, algorithms: &[Algorithm], sizes: &[u32], seeds: u32) -> Vec<Limit> {
    let maker = Maker { algorithms, sizes };
    let all = match script {
        Script::LeaderCrash => {
            let detect = |n| detection(n, seeds);
            // The only survivor of two has no node to inform.
            let if_any = |n: u32, delays: f64| if n > 2 { delays } else { 0.0 };
            vec![
                maker.messages("N - 2", ALL_SURVIVORS_HEAR, agrees_on_one, |n| f64::from(n) - 2.0),
                maker.time("T_detect + d", DETECT_AND_ANNOUNCE, waits_for_silence, |n| {
                    detect(n) + if_any(n, 1.0)
                }),
                maker.time("T_detect + 3d", HALT, halts_all, |n| detect(n) + if_any(n, 3.0)),
            ]
        }
        Script::ColdStart => vec![
            maker.messages("N - 1", ALL_HEAR, agrees_on_one, |n| f64::from(n) - 1.0),
            maker.messages("N H(N)", RING_MEAN, only_compares, |n| {
                f64::from(n) * (1..=n).map(|k| 1.0 / f64::from(k)).sum::<f64>()
            }),
            maker.time("d", ANNOUNCE, agrees_on_one, |_| 1.0),
        ],
        Script::LeaderReturns => vec![
            maker.messages("N - 1", ALL_HEAR, agrees_on_one, |n| f64::from(n) - 1.0),
            maker.time("d", ANNOUNCE, agrees_on_one, |_| 1.0),
            maker.time("3d", HALT, halts_all, |_| 3.0),
        ],
        // Sums of many elections, some of which not every algorithm needs.
        Script::Rolling | Script::PartitionAndHeal => Vec::new(),
    };
    all.into_iter().filter(|limit| !limit.algorithms.is_empty()).collect()
}

struct Maker<'a> {
    algorithms: &'a [Algorithm],
    sizes: &'a [u32],
}

impl Maker<'_> {
    fn messages(
        &self,
        name: &'static str,
        note: &'static str,
        binds: fn(Algorithm) -> bool,
        value: impl Fn(u32) -> f64,
    ) -> Limit {
        let values = self.sizes.iter().map(|n| (*n, value(*n))).collect();
        let algorithms = self.algorithms.iter().copied().filter(|each| binds(*each)).collect();
        Limit { quantity: Quantity::Messages, name, note, algorithms, values }
    }

    fn time(
        &self,
        name: &'static str,
        note: &'static str,
        binds: fn(Algorithm) -> bool,
        value: impl Fn(u32) -> f64,
    ) -> Limit {
        Limit { quantity: Quantity::Time, ..self.messages(name, note, binds, value) }
    }
}

/// Whether it guarantees one coordinator for all nodes that can reach each other.
fn agrees_on_one(algorithm: Algorithm) -> bool {
    ["A-2", "A-4", "G-15"].iter().any(|id| trial::is_promised(algorithm, id))
}

/// Whether it detects a crash by silence only; an algorithm that also probes may learn of it
/// sooner.
fn waits_for_silence(algorithm: Algorithm) -> bool {
    algorithm.descriptor().model == Model::Synchronous && agrees_on_one(algorithm)
}

/// Whether one candidate stops all nodes, and none works on under the old coordinator.
fn halts_all(algorithm: Algorithm) -> bool {
    algorithms::study(algorithm).halts_all
}

/// Whether it goes one way round a ring, and only compares ids.
fn only_compares(algorithm: Algorithm) -> bool {
    algorithms::study(algorithm).only_compares
}

/// The mean time to detection over the moments that the seeds draw, in message delays.
fn detection(n: u32, seeds: u32) -> f64 {
    let moment = |seed| Draw::new(n, seed).quiet(Script::LeaderCrash);
    let seeds = seeds.max(1);
    let sum: u64 = (1..=u64::from(seeds)).map(|seed| detection_us(moment(seed))).sum();
    #[expect(clippy::cast_precision_loss, reason = "microseconds of a few runs are below 2^52")]
    let sum = sum as f64;
    sum / f64::from(seeds) / delay_us()
}

const ALL_SURVIVORS_HEAR: &str = "every survivor but the winner must hear something";
const ALL_HEAR: &str = "everybody but the winner must hear something";
const RING_MEAN: &str =
    "mean over all orders of a one-way ring that only compares names and does not know N";
const DETECT_AND_ANNOUNCE: &str =
    "nobody can act before the silence is noticed, and then the others must be told";
const ANNOUNCE: &str = "the others must be told";
const HALT: &str = "where one candidate makes sure that nobody goes on under the old coordinator: \
                    ask, answer, announce";
