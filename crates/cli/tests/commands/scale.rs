//! `tanist sim scale`: rows, files, and what is refused.

use std::fs;

use assert_cmd::cargo_bin_cmd;
use serde_json::Value;

fn scale(args: &[&str]) -> (Option<i32>, String, String) {
    let output = cargo_bin_cmd!("tanist").args(["sim", "scale"]).args(args).output();
    let output = output.expect("tanist can be started");
    let text = |bytes| String::from_utf8(bytes).expect("tanist writes text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn every_size_costs_what_theory_says_and_less_than_the_bound() {
    // Sizes come in order, whatever the order in which they are given.
    let (code, json, stderr) = scale(&["--nodes", "900,300", "-o", "json"]);
    assert_eq!(code, Some(0), "{stderr}");
    let rows: Value = serde_json::from_str(&json).unwrap();
    let rows = rows.as_array().unwrap();
    let sizes: Vec<u64> = rows.iter().map(|row| row["nodes"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [300, 900]);
    for row in rows {
        assert_eq!(row["messages"], row["theory_messages"], "{row}");
        let (per_node, bound) = (&row["per_node"], &row["per_node_max"]);
        assert!(per_node.as_f64().unwrap() <= bound.as_f64().unwrap(), "{row}");
        assert_eq!(row["good"], true, "{row}");
        assert!(row["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20), "{row}");
    }
}

#[test]
fn files_are_written_and_the_table_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (csv, svg) = (path("rows.csv"), path("rows.svg"));
    let (code, stdout, stderr) = scale(&["--nodes", "40,200", "--csv", &csv, "--svg", &svg]);
    assert_eq!((code, stdout.as_str()), (Some(0), ""), "{stderr}");
    let rows = fs::read_to_string(csv).unwrap();
    assert!(rows.starts_with("nodes,levels,groups,messages,theory_messages,"), "{rows}");
    assert_eq!(rows.lines().filter(|line| line.ends_with(",true")).count(), 2, "{rows}");
    assert!(fs::read_to_string(svg).unwrap().starts_with("<svg"));
}

#[test]
fn a_network_of_nobody_is_refused() {
    let (code, _, stderr) = scale(&["--nodes", "0"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("1 to 10000000 nodes"), "{stderr}");
}

#[test]
fn a_size_that_is_too_large_is_refused_before_anything_is_run() {
    let (code, stdout, stderr) = scale(&["--nodes", "100,4000000000", "--csv", "-"]);
    assert_eq!((code, stdout), (Some(2), String::new()), "{stderr}");
    assert!(stderr.contains("4000000000 were asked for, so nothing was run"), "{stderr}");
}
