//! F-12, F-13: with delays that have a tail, a longer T makes two coordinators rarer, never
//! impossible, and makes every failover slower.

use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_sim::studies::trade_off::{self, Point, TradeOff, TradeOffError};
use tanist_sim::world::network::Delay;

const SEEDS: u32 = 1500;

/// A fifth of all messages takes far longer than any T below.
const TAIL: Delay = Delay::Spiky {
    min: Duration::from_micros(200),
    max: MILLISECOND,
    spike: Duration::from_millis(60),
    spike_ppm: 200_000,
};

const MILLISECOND: Duration = Duration::from_millis(1);

fn points(study: TradeOff, timeouts_ms: &[u32], seeds: u32) -> Vec<Point> {
    let measure = |factor: &u32| study.measure(MILLISECOND * *factor, seeds, &|| false, &|| ());
    timeouts_ms
        .iter()
        .map(measure)
        .collect::<Result<_, _>>()
        .expect("these timeouts can be measured")
}

#[test]
fn longer_timeouts_make_two_coordinators_rarer_and_failover_slower() {
    let study = TradeOff::new(Algorithm::Bully, 3, TAIL).unwrap();
    let points = points(study, &[2, 8, 24, 40], SEEDS);
    let splits: Vec<u32> = points.iter().map(|point| point.split.hits()).collect();
    assert!(splits.windows(2).all(|pair| pair[0] > pair[1]), "{splits:?} of {SEEDS}");
    assert!(splits[3] > 0, "never to zero: {splits:?} of {SEEDS}");
    let times: Vec<f64> =
        points.iter().map(|point| point.calm.time_us.mean().unwrap().to_f64()).collect();
    // With the tail elections are repeated, and a short T need not be faster; all end.
    let tail = points.iter().flat_map(|point| &point.tail);
    assert!(tail.map(|tail| tail.agreed.hits()).eq([SEEDS; 4]), "{points:?}");
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?} us");
}

#[test]
fn where_the_bound_is_kept_there_is_one_coordinator_and_failover_takes_what_theory_says() {
    let study = TradeOff::new(Algorithm::Bully, 3, Delay::Fixed(MILLISECOND)).unwrap();
    for point in points(study, &[2, 8, 24, 40], 3) {
        assert_eq!((point.split.hits(), point.split.count()), (0, 3));
        assert_eq!((point.calm.agreed.hits(), &point.tail), (3, &None));
        // 2T + 6d with d = 1 ms.
        let expected = point.timeout * 2 + MILLISECOND * 6;
        assert_eq!(
            point.calm.time_us.mean().unwrap().to_string(),
            expected.as_micros().to_string()
        );
    }
}

#[test]
fn every_algorithm_with_one_coordinator_is_measured_and_others_are_refused() {
    for algorithm in Algorithm::ALL {
        let study = TradeOff::new(*algorithm, 4, Delay::Fixed(MILLISECOND));
        match algorithm.name() {
            "adhoc-expanding-ring" | "adhoc-diffusing" | "super-peer" => {
                assert_eq!(study, Err(TradeOffError::Algorithm(*algorithm)));
            }
            name => {
                let points = points(study.unwrap(), &[2, 20], 2);
                assert!(
                    points.iter().all(|point| point.calm.agreed.hits() == 2),
                    "{name}: {points:?}"
                );
            }
        }
    }
}

#[test]
fn what_cannot_be_measured_is_refused_with_what_is_possible() {
    let fixed = Delay::Fixed(MILLISECOND);
    let refusal = |nodes, delay| TradeOff::new(Algorithm::Bully, nodes, delay).unwrap_err();
    assert_eq!(refusal(1, fixed).to_string(), "1 nodes: expected 2 to 64");
    assert_eq!(refusal(65, fixed).to_string(), "65 nodes: expected 2 to 64");
    let slow = Delay::Uniform { min: MILLISECOND, max: Duration::from_secs(61) };
    assert_eq!(refusal(3, slow).to_string(), "a message delay of 61s: expected at most 60s");
    for timeout in [Duration::from_micros(1), Duration::from_nanos(2500), Duration::from_secs(3601)]
    {
        assert_eq!(TradeOff::check_timeout(timeout), Err(TradeOffError::Timeout(timeout)));
    }
}

#[test]
fn a_study_that_is_stopped_has_the_seeds_that_were_done() {
    let study = TradeOff::new(Algorithm::Bully, 3, TAIL).unwrap();
    let done = std::cell::Cell::new(0);
    let is_over = || done.get() == 2;
    let on_seed = || done.set(done.get() + 1);
    let point = study.measure(MILLISECOND, 50, &is_over, &on_seed).unwrap();
    assert_eq!((point.split.count(), point.calm.agreed.count()), (2, 2));
    let csv = trade_off::csv(&[point]);
    assert!(csv.lines().nth(1).unwrap().starts_with("1000,2,"), "{csv}");
}
