//! `tanist sim trade-off`: points, files, and what is refused.

use std::fs;

use assert_cmd::cargo_bin_cmd;
use serde_json::Value;

fn trade_off(args: &[&str]) -> (Option<i32>, String, String) {
    let output = cargo_bin_cmd!("tanist").args(["sim", "trade-off"]).args(args).output();
    let output = output.expect("tanist can be started");
    let text = |bytes| String::from_utf8(bytes).expect("tanist writes text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_longer_timeout_is_safer_and_slower() {
    let args = ["bully", "--timeouts", "40ms,2ms", "--seeds", "100", "-o", "json"];
    let (code, json, stderr) = trade_off(&args);
    assert_eq!(code, Some(0), "{stderr}");
    let result: Value = serde_json::from_str(&json).unwrap();
    let points = result["points"].as_array().unwrap();
    let timeouts: Vec<u64> =
        points.iter().map(|point| point["timeout_us"].as_u64().unwrap()).collect();
    assert_eq!(timeouts, [2000, 40_000]);
    let [short, long] = [0, 1].map(|at| {
        let point = &points[at];
        assert_eq!(point["failover"]["agreed"], 100, "{point}");
        assert!(point["probability_ci95"][1].as_f64() > point["probability"].as_f64(), "{point}");
        let time = point["failover"]["mean_us"].as_f64().unwrap();
        (point["two_coordinators"].as_u64().unwrap(), time)
    });
    assert!(short.0 > long.0 && short.1 < long.1, "{short:?} {long:?}");
}

#[test]
fn files_are_written_and_the_table_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (csv, svg) = (path("points.csv"), path("points.svg"));
    let args = ["--timeouts", "1ms..20ms", "--seeds", "2", "--csv", &csv, "--svg", &svg];
    let (code, stdout, stderr) = trade_off(&args);
    assert_eq!((code, stdout.as_str()), (Some(0), ""), "{stderr}");
    let points = fs::read_to_string(csv).unwrap();
    assert!(points.starts_with("timeout_us,runs,two_coordinators,probability,"), "{points}");
    assert_eq!(points.lines().count(), 21, "{points}");
    assert!(fs::read_to_string(svg).unwrap().starts_with("<svg"));
}

#[test]
fn without_a_tail_there_is_one_coordinator_and_failover_takes_2t_and_6d() {
    let args = ["--timeouts", "2ms", "--seeds", "2", "--spikes", "0", "--delay", "1ms"];
    let (code, table, stderr) = trade_off(&args);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(table.contains("0 of 2"), "{table}");
    assert!(table.contains("10.0 ±0.0"), "{table}");
}

#[test]
fn what_cannot_be_measured_is_refused_and_nothing_is_run() {
    for (args, expected) in [
        (&["adhoc-diffusing"] as &[&str], "adhoc-diffusing cannot be measured: expected"),
        (&["--timeouts", "1us"], "expected 2µs to 3600s"),
        (&["--timeouts", "5ms..1ms"], "the shorter one comes first"),
        (&["--spike", "100us"], "--spike 100us is shorter than --delay"),
        (&["--delay", "2m", "--spikes", "0"], "a message delay of 120s: expected at most 60s"),
        (&["--spikes", "2"], "expected a number from 0 to 1"),
        (&["--nodes", "65"], "65 is not in 2..=64"),
        (&["--seeds", "0"], "0 is not in 1..=100000"),
    ] {
        let (code, stdout, stderr) = trade_off(args);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{args:?}: {stderr}");
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    }
}
