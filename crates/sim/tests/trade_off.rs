//! F-12, F-13: with delays that have a tail, a longer T makes two coordinators rarer, never
//! impossible, and makes every failover slower.

use tanist_sim::{Scenario, run};

const RUNS: u64 = 1500;

/// A bully group whose configured Tm is `factor` milliseconds, on a network with a tail far beyond
/// it.
fn scenario(factor: u32, fault: &str) -> Scenario {
    let text = format!(
        "name = \"trade-off\"\nalgorithm = \"bully\"\nnodes = 3\nend = \"400ms\"\nstop_at_break = true\n\
         [timing]\nmessage = \"{factor}ms\"\nprocessing = \"0ms\"\ncheck = \"1s\"\n\
         [network]\ndelay_min = \"200us\"\ndelay_max = \"1ms\"\nspike = \"60ms\"\nspikes = 0.2\n\
         [[group]]\ncoordinator = 3\nmembers = [1, 2]\n{fault}"
    );
    Scenario::parse(&text).expect("the text above is a scenario")
}

/// How often a false suspicion of a live coordinator ends with two coordinators.
fn splits(factor: u32) -> u64 {
    let scenario = scenario(factor, "[[fault]]\nat = \"1ms\"\ndo = \"timeout\"\nnode = 2\n");
    let violates =
        |seed: &u64| run(&scenario, *seed).violated().any(|judged| judged.assertion == "A-1.1");
    (1..=RUNS).filter(violates).count() as u64
}

/// How long a failover takes when the network keeps every bound.
fn failover_us(factor: u32) -> u64 {
    let fault = "[[fault]]\nat = \"0ms\"\ndo = \"crash\"\nnode = 3\n\
                 [[fault]]\nat = \"0ms\"\ndo = \"timeout\"\nnode = 2\n";
    let mut scenario = scenario(factor, fault);
    let delay = std::time::Duration::from_millis(1);
    scenario.conditions.delay = tanist_sim::world::network::Delay::Fixed(delay);
    run(&scenario, 1).settled.as_micros()
}

#[test]
fn longer_timeouts_make_two_coordinators_rarer_and_failover_slower() {
    let factors = [1, 4, 12, 20];
    let splits: Vec<u64> = factors.iter().map(|factor| splits(*factor)).collect();
    assert!(splits.windows(2).all(|pair| pair[0] > pair[1]), "{splits:?} of {RUNS}");
    assert!(splits[3] > 0, "never to zero: {splits:?} of {RUNS}");
    for factor in factors {
        // 2T + 6d with T = 2 Tm and d = 1 ms.
        assert_eq!(failover_us(factor), u64::from(factor) * 4000 + 6000);
    }
}
