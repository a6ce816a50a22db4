//! What the letters in the formulas of a sweep mean, in lines below the legend.

use tanist_core::election::Algorithm;

use super::Series;

/// The letters of these formulas, each with its meaning; those of all sweeps come first.
pub(super) fn letters(algorithm: Algorithm, series: &[Series]) -> Vec<&'static str> {
    let formulas = || series.iter().filter_map(|series| series.formula.as_deref());
    let is_used = |word: &str| formulas().flat_map(words).any(|used| used == word);
    let means = |(of, word, meaning): &(&str, &str, &'static str)| {
        let is_here = of.is_empty() || *of == algorithm.name();
        (is_here && is_used(word)).then_some(*meaning)
    };
    let conventions = formulas().next().map(|_| CONVENTIONS);
    conventions.into_iter().chain(LETTERS.iter().filter_map(means)).collect()
}

/// The letters and words of a formula, without the numbers before them: `2T` is `T`.
fn words(formula: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| !c.is_alphanumeric() && c != '\'' && c != '_';
    let words = formula.split(is_between).map(|word| word.trim_start_matches(char::is_numeric));
    words.filter(|word| !word.is_empty())
}

const CONVENTIONS: &str = "N: nodes; d: the delay of a message";

/// The algorithm, if it is not the same in all; the letter; what it means.
const LETTERS: &[(&str, &str, &str)] = &[
    ("", "T", "T: how long a node waits for an answer"),
    ("", "T'", "T': how long a node waits for an announcement"),
    ("", "lg", "lg: the logarithm to base two"),
    ("bully", "p", "p: until the check begins"),
    ("invitation", "u", "u: the unit of the delay by priority"),
    ("invitation", "T_merge", "T_merge: how long accepts are collected"),
    ("ring-chang-roberts", "D", "D: hops from the caller to node N"),
    ("ring-list", "kN", "k: nodes that call"),
    ("ring-modified", "kN", "k: nodes that call"),
    ("ring-peterson", "P", "P: the largest power of two that is not above N"),
    ("ring-hirschberg-sinclair", "P", "P: the smallest power of two that is not below N"),
    (
        "ring-hirschberg-sinclair",
        "E",
        "E(k): what a node spends on one side in phase k, if its probes do not go round",
    ),
    ("super-peer", "G", "G: groups of P nodes; f(x) = x² - x - 1"),
];
