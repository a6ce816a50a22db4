//! The formulas of the cases as text, for the legends of plots and for people.
//!
//! The numbers come from [`theory`](crate::studies::theory); a test compares these texts with the
//! tables in `docs/simulator.md`, which say what the letters mean.

use tanist_core::election::Algorithm;

/// What a case costs by theory, as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula {
    /// How many messages.
    pub messages: &'static str,
    /// How long it takes.
    pub time: &'static str,
}

/// The formula of an algorithm's case.
#[must_use]
pub fn formula(algorithm: Algorithm, case: &str) -> Option<Formula> {
    let row = FORMULAS.iter().find(|(of, name, ..)| (*of, *name) == (algorithm.name(), case));
    row.map(|(_, _, messages, time)| Formula { messages, time })
}

/// Algorithm, case, messages, time.
const FORMULAS: &[(&str, &str, &str, &str)] = &[
    ("bully", "second-highest-detects", "6N - 10", "2T + 6d"),
    ("bully", "all-detect", "N² + 5N - 12", "2T + 6d"),
    ("bully", "highest-recovers", "6(N - 1)", "6d"),
    ("bully", "found-by-check", "10(N - 1)", "p + T + 6d"),
    ("bully", "participant-dies", "10N - 16", "2T + 6d"),
    ("bully", "full-waits", "6N - 10", "5T"),
    ("bully", "descending", "6(N - 1)", "2d(N - 1) + 4d"),
    ("bully-lecture", "worst", "N² - N - 1", "2d + T"),
    ("bully-lecture", "best", "N - 1", "T + d"),
    ("bully-lecture", "shortcut", "N - 2", "d"),
    ("bully-lecture", "mean", "N(2N - 1)/6 + N - 2", "mean over all initiators"),
    ("bully-lecture", "concurrent", "N² - N - 1", "T + d"),
    ("bully-lecture", "recovery", "(N - 1)(N + 1)", "3d"),
    ("bully-lecture", "recovery-unguarded", "(N - 1)(2N - 1)", "3d"),
    ("bully-lecture", "recovery-highest", "N - 1", "d"),
    (
        "bully-lecture",
        "winner-dies",
        "N(N - 1)/2 + (N(N - 1) - 2)/2 + (N - 1)(N - 2)/2 + (N - 2)(N - 3)/2 + N - 3",
        "4d + T' + T",
    ),
    ("invitation", "check", "2(N - 1)", "2d"),
    ("invitation", "merge", "5(N - 1)", "5d; 4d if the invited group has no members"),
    ("invitation", "merge-full", "5(N - 1)", "T_merge + T"),
    ("invitation", "cold-start", "(2N + 5)(N - 1)", "6d"),
    ("invitation", "coordinator-dies", "2(N - 1)² + 5(N - 2)", "2T + u + 4d"),
    ("invitation", "reinvite", "1 + 5(N - 2)", "T + 4d"),
    ("ring-chang-roberts", "one-worst", "3N - 1", "(3N - 2)d"),
    ("ring-chang-roberts", "one-mean", "(5N - 1)/2", "mean of (D + 2N - 1)d"),
    ("ring-chang-roberts", "all-best", "3N - 1", "(2N - 1)d"),
    ("ring-chang-roberts", "all-worst", "N(N + 1)/2 + N", "(2N - 1)d"),
    ("ring-chang-roberts", "all-mean", "N(1 + 1/2 + … + 1/N) + N", "(2N - 1)d"),
    ("ring-modified", "one", "2N", "2Nd"),
    ("ring-modified", "k-initiators", "2kN", "2Nd"),
    ("ring-modified", "one-dead", "2(N - 1) + 2", "2(N - 1)d + 2T"),
    ("ring-modified", "winner-dies", "4N - 3, and 3 to the dead node", "(4N - 3)d + 3T"),
    ("ring-list", "one", "2N", "2Nd"),
    ("ring-list", "k-initiators", "2kN", "2Nd"),
    ("ring-list", "one-dead", "2(N - 1) + 2", "2(N - 1)d + 2T"),
    ("ring-active-list", "one", "N²", "(2N - 1)d"),
    ("ring-active-list", "all", "N²", "Nd"),
    ("ring-peterson", "one", "4N", "(3N - 1)d"),
    ("ring-peterson", "all-best", "4N", "(2N + 1)d"),
    (
        "ring-peterson",
        "all-worst",
        "2N floor(lg N) + 2N",
        "(4P - 3 + 3(N - P))d; from N = 3P/2 on (5P - 3 + 3(N - 3P/2))d",
    ),
    ("ring-hirschberg-sinclair", "one-best", "4(P - 1) + 3N", "(2P + 2N - 3)d"),
    ("ring-hirschberg-sinclair", "all-best", "4(P - 2) + 6N", "(2P + 2N - 3)d"),
    ("ring-hirschberg-sinclair", "all-halved", "3N lg N + 3N for N = P", "(2P + 2N - 3)d"),
    ("ring-hirschberg-sinclair", "all-mean", "3N + sum of 2N E(k)", "(2P + 2N - 3)d"),
    ("ring-hirschberg-sinclair", "all-bound", "8N + 8 ceil(N lg N)", "(2P + 2N - 3)d"),
    ("super-peer", "two-level", "G f(P) + f(G)", "4T + 3d"),
    ("adhoc-diffusing", "complete", "(N - 1)(2N - 1)", "5d; 3d for N = 2"),
    ("adhoc-diffusing", "line", "3(N - 1)", "3(N - 1)d"),
    ("adhoc-diffusing", "random", "4E - N + 1", "(k + ecc)d, at most (3 ecc + 2)d"),
    ("adhoc-expanding-ring", "line", "sum of abs(B(1, r - 1))", "sum of 2r(Tm + Tp), and ecc · d"),
    ("adhoc-expanding-ring", "grid", "sum of abs(B(1, r - 1))", "sum of 2r(Tm + Tp), and ecc · d"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::sweep::cases;

    #[test]
    fn every_case_has_a_formula_and_every_formula_a_case() {
        let mut count = 0;
        for algorithm in Algorithm::ALL {
            for case in cases(*algorithm) {
                count += 1;
                let name = algorithm.name();
                assert!(formula(*algorithm, case).is_some(), "{name}: {case} has no formula");
            }
        }
        assert_eq!(count, FORMULAS.len());
    }
}
