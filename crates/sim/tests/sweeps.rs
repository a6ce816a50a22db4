//! Messages and times are exactly as in theory, for every case and every size from 2 to 64.

use tanist_core::election::Algorithm;
use tanist_sim::studies::sweep::{Row, cases, csv, sweep};
use tanist_sim::studies::theory::Amount;

fn check(algorithm: Algorithm, named: &[&str]) {
    for case in named {
        assert!(cases(algorithm).contains(case), "{case} is missing");
    }
    let rows = sweep(algorithm, None, 2..=64, &mut |_| {});
    let wrong: Vec<_> = rows.iter().filter(|row| !row.is_match).copied().collect();
    assert!(wrong.is_empty(), "\n{}", csv(&wrong));
    for case in cases(algorithm) {
        let count = rows.iter().filter(|row| row.case == case).count();
        assert!(count >= 62, "{case} has only {count} rows");
    }
}

#[test]
fn lecture_sweeps_match_theory() {
    check(
        Algorithm::BullyLecture,
        &["worst", "best", "shortcut", "mean", "recovery", "recovery-highest", "winner-dies"],
    );
}

#[test]
fn bully_sweeps_match_theory() {
    check(
        Algorithm::Bully,
        &[
            "second-highest-detects",
            "all-detect",
            "highest-recovers",
            "found-by-check",
            "participant-dies",
        ],
    );
}

#[test]
fn invitation_sweeps_match_theory() {
    check(Algorithm::Invitation, &["check", "merge", "cold-start", "coordinator-dies", "reinvite"]);
}

#[test]
fn chang_roberts_sweeps_match_theory() {
    check(
        Algorithm::RingChangRoberts,
        &["one-worst", "one-mean", "all-best", "all-worst", "all-mean"],
    );
}

#[test]
fn modified_ring_sweeps_match_theory() {
    check(Algorithm::RingModified, &["one", "k-initiators", "winner-dies", "one-dead"]);
}

#[test]
fn list_ring_sweeps_match_theory() {
    check(Algorithm::RingList, &["one", "k-initiators", "one-dead"]);
}

#[test]
fn active_list_sweeps_match_theory() {
    check(Algorithm::RingActiveList, &["one", "all"]);
}

#[test]
fn peterson_sweeps_match_theory() {
    check(Algorithm::RingPeterson, &["one", "all-best", "all-worst"]);
}

#[test]
fn hirschberg_sinclair_sweeps_match_theory() {
    let named = ["one-best", "all-best", "all-halved", "all-mean", "all-bound"];
    check(Algorithm::RingHirschbergSinclair, &named);
}

/// A power of two costs 3N in each of lg N phases, and 3N; the bound is more than twice as high.
#[test]
fn an_order_that_halves_the_candidates_costs_hirschberg_and_sinclair_3n_in_each_phase() {
    for lg in 1..=6_u32 {
        let n = 1 << lg;
        let of = |case| {
            let rows = sweep(Algorithm::RingHirschbergSinclair, Some(case), n..=n, &mut |_| {});
            (rows[0].messages, rows[0].theory_messages)
        };
        let messages = Amount::whole(u64::from(3 * n * lg + 3 * n));
        assert_eq!(of("all-halved"), (messages, messages));
        let (most, bound) = of("all-bound");
        assert_eq!(bound, Amount::whole(u64::from(8 * n + 8 * n * lg)));
        assert!(most.to_f64() >= messages.to_f64(), "{n}: {most}");
        assert!(most.to_f64() * 2.0 <= bound.to_f64(), "{n}: {most}");
    }
}

/// N(N + 1)/2 against 2N floor(lg N) + N, and N for the result of both.
#[test]
fn petersons_worst_case_is_below_that_of_chang_and_roberts_from_18_nodes_on() {
    let worst = |algorithm| sweep(algorithm, Some("all-worst"), 2..=64, &mut |_| {});
    let (peterson, others) = (worst(Algorithm::RingPeterson), worst(Algorithm::RingChangRoberts));
    let cheaper: Vec<u32> = peterson
        .iter()
        .zip(&others)
        .filter(|(peterson, other)| peterson.messages.to_f64() < other.messages.to_f64())
        .map(|(row, _)| row.n)
        .collect();
    assert_eq!(cheaper[..2], [14, 15]);
    assert!(cheaper[2..].iter().copied().eq(18..=64), "{cheaper:?}");
    let at = |rows: &[Row], n: u32| rows.iter().find(|row| row.n == n).unwrap().messages;
    assert_eq!((at(&peterson, 18), at(&others, 18)), (Amount::whole(180), Amount::whole(189)));
    assert_eq!((at(&peterson, 64), at(&others, 64)), (Amount::whole(896), Amount::whole(2144)));
}

#[test]
fn two_levels_of_super_peers_cost_what_theory_says() {
    let rows = sweep(Algorithm::SuperPeer, Some("two-level"), 2..=120, &mut |_| {});
    // Two groups would leave the second level to one node.
    assert_eq!(rows.len(), 112);
    let wrong: Vec<_> = rows.iter().filter(|row| !row.is_match).copied().collect();
    assert!(wrong.is_empty(), "\n{}", csv(&wrong));
}

#[test]
fn the_csv_has_the_columns_that_readers_rely_on() {
    let rows = sweep(Algorithm::BullyLecture, Some("worst"), 5..=5, &mut |_| {});
    assert_eq!(
        csv(&rows),
        "algorithm,case,n,messages,theory_messages,time_us,theory_time_us,match,messages_ci95\n\
         bully-lecture,worst,5,19,19,4500,4500,true,\n"
    );
}

#[test]
fn a_mean_has_a_confidence_interval_and_an_exact_figure_has_none() {
    let rows = |case| sweep(Algorithm::RingChangRoberts, Some(case), 8..=8, &mut |_| {});
    let spread = |case| rows(case)[0].spread;
    assert_eq!(spread("one-worst"), None);
    // Every initiator was tried, so there is no sampling error.
    assert_eq!(spread("one-mean").map(|spread| spread.confidence), Some(0.0));
    let sampled = spread("all-mean").expect("a sample has a spread");
    assert!(sampled.confidence > 0.0, "{sampled:?}");
    assert!(sampled.tolerance > sampled.confidence, "{sampled:?}");
}

#[test]
fn diffusing_sweeps_match_theory() {
    check(Algorithm::AdhocDiffusing, &["complete", "line", "random"]);
}

#[test]
fn diffusing_computations_match_theory_on_random_graphs_of_up_to_two_hundred_nodes() {
    for n in (70..=200).step_by(10) {
        let rows = sweep(Algorithm::AdhocDiffusing, Some("random"), n..=n, &mut |_| {});
        assert!(rows.iter().all(|row| row.is_match), "{}", csv(&rows));
        assert_eq!(rows.len(), 1);
    }
}

#[test]
fn expanding_ring_sweeps_match_theory() {
    check(Algorithm::AdhocExpandingRing, &["line", "grid"]);
}
