//! A short version of the long campaigns: many seeds for the safe defaults, and every mutant
//! caught.

use tanist_core::election::Algorithm;
use tanist_core::mutant::Mutant;
use tanist_core::recall::RecallMode;
use tanist_sim::studies::fuzz::{judge, scenario};
use tanist_sim::studies::shrink::{shrink, without_idle};
use tanist_sim::world::faults::{Action, Fault};
use tanist_sim::world::mutants;
use tanist_sim::{Scenario, run};

/// The campaign of `tanist sim fuzz` goes further.
const SEEDS: u64 = 3000;
/// Enough to catch every mutant.
const MUTANT_SEEDS: u64 = 12_000;

#[test]
fn safe_defaults_hold_over_many_seeds() {
    for algorithm in Algorithm::ALL {
        for seed in 1..=SEEDS {
            let outcome = judge(&scenario(*algorithm, seed, None));
            let name = algorithm.name();
            assert!(
                outcome.failure.is_none(),
                "{:?}\nreplay: tanist sim fuzz --algorithm {name} --first {seed} --seeds 1",
                outcome.failure,
            );
        }
    }
}

/// As printed, a member leaves its leader for a stranger without notice, so that leader keeps
/// nothing: P-02 is not promised then.
#[test]
fn a_leader_whose_only_member_follows_a_stranger_may_follow_another() {
    let drawn = scenario(Algorithm::Invitation, 135_238, None);
    let changed = drawn.settings.options.changed(Algorithm::Invitation);
    assert!(changed.contains(&("strangers", "accept")), "{changed:?}");
    assert!(judge(&drawn).failure.is_none());
}

/// With these seeds both of two nodes take themselves for the highest once the network keeps its
/// bounds.
#[test]
fn nodes_whose_orders_differ_merge_all_the_same() {
    for seed in [45_717, 50_976, 81_352, 101_233, 181_850, 183_524] {
        let drawn = scenario(Algorithm::Invitation, seed, None);
        let is_rank = |fault: &Fault| matches!(fault.action, Action::Priority { .. });
        assert!(drawn.faults.iter().any(is_rank), "seed {seed}");
        assert!(judge(&drawn).failure.is_none(), "seed {seed}");
    }
}

#[test]
fn the_storm_is_a_storm() {
    let (mut elections, mut rough) = (0, 0);
    for seed in 1..=200 {
        let scenario = scenario(Algorithm::Invitation, seed, None);
        rough += u32::from(scenario.conditions.loss_ppm > 0);
        elections += judge(&scenario).elections;
    }
    assert!(elections > 1000, "only {elections} elections in 200 seeds");
    assert!(rough > 20, "only {rough} of 200 seeds lose messages");
}

#[test]
fn the_same_seed_draws_the_same_scenario() {
    for algorithm in Algorithm::ALL {
        for seed in 1..50 {
            let first = scenario(*algorithm, seed, None);
            assert_eq!(first, scenario(*algorithm, seed, None));
            let readable = without_idle(&first);
            let text = readable.to_text();
            let back = Scenario::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(back, readable, "{text}");
        }
    }
}

/// Seeds that documents and scenarios name were drawn before there were heartbeats, recall
/// and operator requests.
#[test]
fn seeds_that_documents_name_mean_what_they_meant() {
    for seed in [4711, 220_441] {
        for algorithm in Algorithm::ALL {
            let scenario = scenario(*algorithm, seed, None);
            assert_eq!(scenario.timing.heartbeat, None, "seed {seed}");
            assert_eq!(scenario.settings.recall, RecallMode::Off, "seed {seed}");
            assert!(!scenario.faults.iter().any(is_operator_request), "seed {seed}");
        }
    }
}

#[test]
fn some_seeds_beat_some_recall_and_some_have_wishes() {
    let drawn: Vec<Scenario> =
        (1..=200).map(|seed| scenario(Algorithm::Bully, seed, None)).collect();
    let beating = drawn.iter().filter(|drawn| drawn.timing.heartbeat.is_some()).count();
    let recalling = drawn.iter().filter(|drawn| drawn.settings.recall == RecallMode::On).count();
    assert!((30..=70).contains(&beating), "{beating} of 200");
    assert!((30..=70).contains(&recalling), "{recalling} of 200");
    let with_requests =
        drawn.iter().filter(|drawn| drawn.faults.iter().any(is_operator_request)).count();
    assert!((30..=70).contains(&with_requests), "{with_requests} of 200");
}

fn is_operator_request(fault: &Fault) -> bool {
    matches!(
        fault.action,
        Action::Withdraw { .. }
            | Action::HandOver { .. }
            | Action::Rejoin(_)
            | Action::PauseElections(_)
            | Action::ResumeElections(_)
            | Action::Priority { .. }
    )
}

/// Every mutant is caught by some algorithm's seeds.
#[test]
fn every_mutant_is_caught() {
    let mut survivors = Vec::new();
    for mutant in mutants::all() {
        // Seed after seed on every algorithm, as a mutant need not concern them all.
        let caught = (1..=MUTANT_SEEDS).any(|seed| {
            Algorithm::ALL
                .iter()
                .any(|algorithm| judge(&scenario(*algorithm, seed, Some(mutant))).failure.is_some())
        });
        if !caught {
            survivors.push(mutant.name());
        }
    }
    assert!(survivors.is_empty(), "survived {MUTANT_SEEDS} seeds: {survivors:?}");
}

/// Its rule concerns one algorithm only, so that one must catch it.
#[test]
fn a_candidate_that_wins_from_replies_is_caught_in_its_own_ring() {
    let of = |seed, mutant| judge(&scenario(Algorithm::RingHirschbergSinclair, seed, mutant));
    let mutant = Some(Mutant::WIN_FROM_REPLIES);
    let caught = (1..=SEEDS).find(|seed| of(*seed, mutant).failure.is_some());
    let seed = caught.expect("two candidates win in some seed");
    assert!(of(seed, None).failure.is_none(), "seed {seed} fails without the mutant, too");
}

#[test]
fn a_failure_shrinks_to_a_small_scenario_that_still_fails() {
    let failing = (1..=SEEDS)
        .map(|seed| scenario(Algorithm::Bully, seed, Some(Mutant::SKIP_SAVE)))
        .find(|scenario| judge(scenario).failure.is_some())
        .expect("skip-save is caught");
    let small = shrink(&failing);
    assert!(small.faults.len() <= 4, "{}", small.to_text());
    let back = Scenario::parse(&small.to_text()).unwrap();
    let report = run(&back, back.seed);
    assert!(report.surprises.is_empty(), "{:?}\n{}", report.surprises, small.to_text());
}
