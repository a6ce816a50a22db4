//! `tanist sim fuzz` and `tanist sim mutants`: clean seeds, caught mutants, files that replay.

use assert_cmd::cargo_bin_cmd;
use serde_json::Value;

#[test]
fn some_seeds_of_every_algorithm_are_clean() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let args = ["sim", "fuzz", "--seeds", "20", "--jobs", "2", "--out", out, "-o", "json"];
    let output = cargo_bin_cmd!("tanist").args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for name in ["first", "seeds", "jobs", "mutant", "interrupted", "algorithms"] {
        assert!(report.get(name).is_some(), "{name}");
    }
    let algorithms = report["algorithms"].as_array().unwrap();
    assert!(algorithms.len() >= 3);
    for turn in algorithms {
        assert_eq!(turn["seeds"], 20);
        assert_eq!(turn["failures"], Value::Array(Vec::new()));
        for name in ["elections", "events", "simulated_us"] {
            assert!(turn[name].as_u64().unwrap() > 0, "{name} of {turn}");
        }
    }
}

#[test]
fn the_table_has_a_line_per_algorithm() {
    let args = ["sim", "fuzz", "--algorithm", "invitation", "--first", "5", "--seeds", "3"];
    let output = cargo_bin_cmd!("tanist").args(args).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout.starts_with("ALGORITHM "), "{stdout}");
    assert_eq!(stdout.lines().count(), 2, "{stdout}");
    assert!(output.stderr.is_empty(), "no bar where there is no terminal");
}

#[cfg(feature = "mutants")]
#[test]
fn a_caught_mutant_leaves_a_small_file_that_breaks_the_same_assertion() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let args =
        ["--algorithm", "invitation", "--mutant", "merge-nobody", "--out", out, "-o", "json"];
    let output = cargo_bin_cmd!("tanist").args(["sim", "fuzz"]).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let failure = &report["algorithms"][0]["failures"][0];
    let file = failure["scenario"].as_str().unwrap();
    let ran = cargo_bin_cmd!("tanist").args(["sim", "run", file]).output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let stderr = String::from_utf8(ran.stderr).unwrap();
    assert!(stderr.starts_with(failure["assertion"].as_str().unwrap()), "{stderr}");
    let replay = failure["replay"].as_str().unwrap();
    let replay = replay.strip_prefix("tanist ").unwrap().split(' ');
    let again = cargo_bin_cmd!("tanist").args(replay).args(["--out", out]).output().unwrap();
    assert_eq!(again.status.code(), Some(1), "{again:?}");
}

#[test]
fn more_threads_than_a_machine_has_are_refused() {
    for jobs in ["0", "1000000"] {
        let args = ["sim", "fuzz", "--seeds", "1", "--jobs", jobs];
        let output = cargo_bin_cmd!("tanist").args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{jobs}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("from 1 to 1024"), "{stderr}");
    }
}

#[test]
fn no_seeds_and_more_than_can_be_tried_are_refused() {
    for seeds in ["0", "18446744073709551614"] {
        let args = ["sim", "fuzz", "--seeds", seeds];
        let output = cargo_bin_cmd!("tanist").args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{seeds}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("1..=1000000000"), "{stderr}");
    }
}
