//! The simulator still does what it did when the lists in `golden/` were recorded: SHA-256 of the
//! trace of every scenario and of many fuzz seeds, and two failures shrunk to small scenarios.
//!
//! `TANIST_BLESS=1 cargo test -p tanist-sim --test golden` records the lists again; a change of
//! behaviour does so on purpose and says why. `.ci/baseline` compares more than these lists.
//!
//! `golden/names.txt` has lines `old => new`: names that changed since the lists were recorded. New
//! output is translated back into the old names before it is compared. `TANIST_BASELINE_MAP=FILE`
//! names another such file.

use std::fs;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use tanist_core::election::Algorithm;
use tanist_core::mutant::Mutant;
use tanist_sim::observe::recording::Recording;
use tanist_sim::scenario::library;
use tanist_sim::studies::{fuzz, shrink};
use tanist_sim::{Scenario, run};

/// How many fuzz seeds of each algorithm are in the list.
const FUZZ_SEEDS: u64 = 200;
/// Every scenario runs with its own seed and with this one.
const OTHER_SEED: u64 = 7;

#[test]
fn traces_of_all_scenarios_are_the_recorded_ones() {
    let names = Names::read();
    let mut lines = Vec::new();
    for (name, text) in library::all() {
        let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for seed in [scenario.seed, OTHER_SEED] {
            let recording = run(&scenario, seed).recording;
            lines.push(format!("{name} seed {seed} {}", names.fingerprint(&recording)));
        }
    }
    compare("scenarios.txt", &lines);
}

#[test]
fn traces_of_fuzz_seeds_are_the_recorded_ones() {
    let names = Names::read();
    let mut lines = Vec::new();
    for algorithm in Algorithm::ALL {
        for seed in 1..=FUZZ_SEEDS {
            let scenario = fuzz::scenario(*algorithm, seed, None);
            let recording = run(&scenario, seed).recording;
            let algorithm = algorithm.name();
            lines.push(format!("{algorithm} seed {seed} {}", names.fingerprint(&recording)));
        }
    }
    compare("fuzz.txt", &lines);
}

#[test]
fn shrunk_failures_are_the_recorded_ones() {
    let names = Names::read();
    let failures = [(Algorithm::Bully, "skip-save"), (Algorithm::Invitation, "accept-any-group")];
    for (algorithm, mutant) in failures {
        let mutant = Mutant::from_name(mutant).expect("a mutant of this name");
        let failing = (1..)
            .map(|seed| fuzz::scenario(algorithm, seed, Some(mutant)))
            .find(|scenario| fuzz::judge(scenario).failure.is_some())
            .expect("the mutant is caught");
        let text = names.old(&shrink::shrink(&failing).to_text());
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        compare(&format!("shrunk-{}-{}.toml", algorithm.name(), mutant.name()), &lines);
    }
}

/// Compares lines with a recorded file, or records them.
fn compare(file: &str, lines: &[String]) {
    let path = golden(file);
    if std::env::var_os("TANIST_BLESS").is_some() {
        fs::write(&path, lines.join("\n") + "\n").expect("the list can be written");
        return;
    }
    let recorded = fs::read_to_string(&path).expect("the list can be read");
    let recorded: Vec<&str> = recorded.lines().collect();
    let differing: Vec<String> = (0..recorded.len().max(lines.len()))
        .filter(|at| recorded.get(*at).copied() != lines.get(*at).map(String::as_str))
        .map(|at| {
            let recorded = recorded.get(at).copied().unwrap_or("(no line)");
            let found = lines.get(at).map_or("(no line)", String::as_str);
            format!("recorded: {recorded}\n   found: {found}")
        })
        .collect();
    let count = differing.len();
    let first = differing.into_iter().take(10).collect::<Vec<_>>().join("\n");
    assert!(count == 0, "{file}: {count} lines differ from the recorded ones\n{first}");
}

fn golden(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file)
}

/// Names that changed since the lists were recorded.
struct Names {
    /// New and old, in the order of the file.
    changed: Vec<(String, String)>,
}

impl Names {
    fn read() -> Self {
        let given = std::env::var_os("TANIST_BASELINE_MAP").map(PathBuf::from);
        let path = given.unwrap_or_else(|| golden("names.txt"));
        let text = fs::read_to_string(&path).expect("the map can be read");
        let pairs = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let pair = |line: &str| {
            let (old, new) = line.split_once(" => ").expect("a line `old => new`");
            (new.to_owned(), old.to_owned())
        };
        Self { changed: pairs.map(pair).collect() }
    }

    /// The text with the old names in it.
    fn old(&self, text: &str) -> String {
        let replace = |text: String, (new, old): &(String, String)| text.replace(new, old);
        self.changed.iter().fold(text.to_owned(), replace)
    }

    /// SHA-256 of a trace in the old names.
    fn fingerprint(&self, recording: &Recording) -> String {
        let mut bytes = Vec::new();
        recording.write(&mut bytes).expect("memory takes bytes");
        let text = self.old(&String::from_utf8(bytes).expect("a trace is text"));
        Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
