//! `tanist sim sweep`: rows, files, and the verdict.

use std::fs;

use assert_cmd::cargo_bin_cmd;
use serde_json::Value;
use tanist_core::election::Algorithm;

fn sweep(args: &[&str]) -> String {
    let output = cargo_bin_cmd!("tanist").args(["sim", "sweep"]).args(args).output();
    let output = output.expect("tanist can be started");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).expect("tanist writes text")
}

#[test]
fn every_case_of_every_algorithm_matches_theory_in_small_groups() {
    for algorithm in Algorithm::ALL {
        let table = sweep(&[algorithm.name(), "--nodes", "2..9"]);
        assert!(table.starts_with("CASE "), "{table}");
        assert!(table.lines().skip(1).all(|line| line.ends_with(" -")), "{table}");
    }
}

#[test]
fn both_ends_are_included() {
    let rows: Value =
        serde_json::from_str(&sweep(&["bully", "--nodes", "3..5", "-o", "json"])).unwrap();
    let rows = rows.as_array().unwrap();
    let sizes: Vec<u64> = rows.iter().take(3).map(|row| row["n"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [3, 4, 5]);
    let mut names: Vec<&str> = rows[0].as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    let expected = [
        "algorithm",
        "case",
        "match",
        "messages",
        "messages_ci95",
        "n",
        "theory_messages",
        "theory_time_us",
        "time_us",
    ];
    assert_eq!(names, expected);
    assert!(rows[0]["messages"].is_number());
    assert_eq!(rows[0]["match"], true);
}

#[test]
fn files_are_written_and_the_table_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (csv, svg) = (path("rows.csv"), path("rows.svg"));
    let args = ["bully", "--case", "all-detect", "--nodes", "4"];
    assert_eq!(sweep(&[&args[..], &["--csv", &csv, "--svg", &svg]].concat()), "");
    let rows = fs::read_to_string(csv).unwrap();
    let head =
        "algorithm,case,n,messages,theory_messages,time_us,theory_time_us,match,messages_ci95\n";
    assert!(rows.starts_with(&format!("{head}bully,all-detect,4,")), "{rows}");
    assert_eq!(rows.lines().count(), 2);
    assert!(fs::read_to_string(svg).unwrap().starts_with("<svg"));
    assert_eq!(sweep(&[&args[..], &["--csv", "-"]].concat()), rows);
}

#[test]
fn a_mean_shows_its_confidence_interval_everywhere() {
    let args = ["ring-chang-roberts", "--case", "all-mean", "--nodes", "8"];
    let rows: Value = serde_json::from_str(&sweep(&[&args[..], &["-o", "json"]].concat())).unwrap();
    let half = rows[0]["messages_ci95"].as_f64().unwrap();
    assert!(half > 0.0 && half < rows[0]["messages"].as_f64().unwrap(), "{rows}");
    assert!(sweep(&args).contains(&format!("±{half:.1}")));
    assert!(sweep(&[&args[..], &["--csv", "-"]].concat()).contains(&format!(",true,{half:.6}\n")));
    let picture = sweep(&[&args[..], &["--svg", "-"]].concat());
    assert!(picture.contains("(95 %)"), "{picture}");
    assert!(!picture.contains("class=\"off\""), "a mean near its curve is not off it");
}

#[test]
fn every_mean_is_named_in_the_table_and_exact_cases_have_no_interval() {
    let table = sweep(&["ring-chang-roberts", "--nodes", "2..5"]);
    for line in table.lines().skip(1) {
        let is_mean = line.contains("-mean");
        assert_eq!(line.contains('±'), is_mean, "{table}");
    }
}

#[test]
fn more_nodes_than_a_world_holds_are_refused() {
    for nodes in ["4000000000", "2..2001"] {
        let args = ["sim", "sweep", "bully", "--nodes", nodes];
        let output = cargo_bin_cmd!("tanist").args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{nodes}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("at most 2000 nodes"), "{stderr}");
    }
}
