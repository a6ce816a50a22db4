//! `tanist compare`: every algorithm under the same faults, the files, the limits and the mistakes.

use std::fs;

use assert_cmd::cargo_bin_cmd;
use serde_json::Value;
use tanist_core::election::Algorithm;
use tanist_sim::studies::compare::Script;

fn compare(args: &[&str]) -> String {
    let output = cargo_bin_cmd!("tanist").arg("compare").args(args).output();
    let output = output.expect("tanist can be started");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).expect("tanist writes text")
}

fn json(args: &[&str]) -> Value {
    let text = compare(&[args, &["-o", "json"]].concat());
    serde_json::from_str(&text).expect("tanist writes JSON")
}

/// A figure of the only row of an algorithm.
fn figure(report: &Value, algorithm: &str, name: &str) -> f64 {
    let mut rows = report["rows"].as_array().expect("a report has rows").iter();
    let row = rows.find(|row| row["algorithm"] == algorithm).expect("the algorithm was compared");
    row[name].as_f64().unwrap_or_else(|| panic!("{algorithm} has no {name}: {row}"))
}

#[test]
fn all_algorithms_agree_after_every_fault_that_they_are_made_for() {
    for script in Script::ALL.into_iter().filter(|script| !script.is_beyond_synchronous()) {
        let report = json(&["--nodes", "4", "--seeds", "3", "--fault", script.name()]);
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), Algorithm::ALL.len(), "{}", script.name());
        for row in rows {
            assert_eq!(row["agreed"], 3, "{}: {row}", script.name());
            assert!(row["messages"].as_f64().unwrap() > 0.0, "{}: {row}", script.name());
            assert!(row["bytes"].as_f64().unwrap() > row["messages"].as_f64().unwrap(), "{row}");
            assert!(row["messages_ci95"].is_number(), "{row}");
        }
    }
}

#[test]
fn super_peers_of_several_groups_agree_in_each() {
    for fault in ["leader-crash", "cold-start", "leader-returns", "partition-and-heal"] {
        let args = ["--algorithms", "super-peer", "--nodes", "20", "--seeds", "2"];
        let report = json(&[&args[..], &["--fault", fault]].concat());
        assert_eq!(report["rows"][0]["agreed"], 2, "{fault}: {report}");
    }
}

#[test]
fn bully_is_quick_because_it_is_ordered_and_invitation_takes_long_to_merge() {
    let both = ["--algorithms", "bully,invitation", "--nodes", "12", "--seeds", "20"];
    for fault in ["leader-returns", "partition-and-heal"] {
        let report = json(&[&both[..], &["--fault", fault]].concat());
        let [bully, invitation] =
            ["bully", "invitation"].map(|name| figure(&report, name, "time_d"));
        assert!(bully < invitation, "{fault}: bully {bully} d, invitation {invitation} d");
    }
}

#[test]
fn no_algorithm_beats_the_limits() {
    for fault in ["leader-crash", "cold-start", "leader-returns"] {
        let report = json(&["--nodes", "2..7", "--seeds", "4", "--fault", fault]);
        let limits = report["limits"].as_array().unwrap();
        assert!(limits.len() >= 2, "{fault}: {limits:?}");
        for limit in limits {
            let quantity = match limit["quantity"].as_str().unwrap() {
                "time" => "time_d",
                other => other,
            };
            let binds = limit["algorithms"].as_array().unwrap();
            assert!(!binds.is_empty(), "{fault}: {limit}");
            for row in report["rows"].as_array().unwrap() {
                if !binds.contains(&row["algorithm"]) {
                    continue;
                }
                let values = limit["values"].as_array().unwrap();
                let least = values.iter().find(|value| value["n"] == row["n"]).unwrap();
                let (least, got) =
                    (least["value"].as_f64().unwrap(), row[quantity].as_f64().unwrap());
                assert!(got >= least - 1e-9, "{fault}: {row} below {limit}");
            }
        }
    }
}

#[test]
fn rings_with_a_proved_bound_show_it() {
    let rings = ["--algorithms", "ring-peterson,ring-hirschberg-sinclair", "--seeds", "1"];
    for fault in ["leader-crash", "cold-start"] {
        let args = [&rings[..], &["--nodes", "4..5", "--fault", fault]].concat();
        let report = json(&args);
        let bounds: Vec<(&Value, &Value)> = report["bounds"]
            .as_array()
            .unwrap()
            .iter()
            .map(|bound| (&bound["algorithms"][0], &bound["values"][1]["value"]))
            .collect();
        let expected = [("ring-peterson", 30.0), ("ring-hirschberg-sinclair", 136.0)];
        for (found, (name, value)) in bounds.iter().zip(expected) {
            assert!(found.0 == name && *found.1 == value, "{fault}: {bounds:?}");
        }
        assert_eq!(bounds.len(), 2, "{fault}: {bounds:?}");
        let table = compare(&args);
        for line in [
            "BOUNDS: messages of one election and its result, without acknowledgements",
            "ring-peterson at most             2N floor(lg N) + 2N = 30.0",
            "ring-hirschberg-sinclair at most  8N + 8 ceil(N lg N) = 136.0",
        ] {
            assert!(table.contains(line), "{line} is not in\n{table}");
        }
    }
    let others = json(&["--algorithms", "bully", "--nodes", "4", "--seeds", "1"]);
    assert_eq!(others["bounds"], serde_json::json!([]));
}

#[test]
fn equal_questions_get_equal_answers() {
    let args = ["--nodes", "3..5", "--seeds", "2", "--csv", "-"];
    assert_eq!(compare(&args), compare(&args));
}

#[test]
fn files_are_written_and_the_table_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (csv, svg) = (path("rows.csv"), path("rows.svg"));
    let args = ["--algorithms", "bully,ring-list", "--nodes", "2..4", "--seeds", "2"];
    assert_eq!(compare(&[&args[..], &["--csv", &csv, "--svg", &svg]].concat()), "");
    let rows = fs::read_to_string(csv).unwrap();
    let head = "fault,algorithm,n,seeds,agreed,messages,messages_ci95,time_us,time_us_ci95,\
                bytes,bytes_ci95\nleader-crash,bully,2,2,2,";
    assert!(rows.starts_with(head), "{rows}");
    assert_eq!(rows.lines().count(), 7);
    let picture = fs::read_to_string(svg).unwrap();
    assert!(picture.starts_with("<svg"));
    assert_eq!(picture.matches("class=\"line\"").count(), 6, "two algorithms in three panels");
    assert!(picture.contains("T_detect + d"), "the limits are drawn");
}

#[test]
fn the_table_has_the_largest_groups_and_the_limits() {
    let table = compare(&["--algorithms", "all,bully", "--nodes", "2..3", "--seeds", "2"]);
    for algorithm in Algorithm::ALL {
        let lines =
            table.lines().filter(|line| line.starts_with(&format!("{} ", algorithm.name())));
        assert_eq!(lines.count(), 1, "{}: {table}", algorithm.name());
    }
    assert!(table.contains("messages at least N - 2 = 1.0"), "{table}");
    for line in table.lines() {
        assert_eq!(line, line.trim_end());
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn slips_exit_with_2_and_say_what_there_is() {
    for (args, hint) in [
        (&["--algorithms", "bully,paxos"][..], "ring-chang-roberts"),
        (&["--algorithms", ""], "ring-chang-roberts"),
        (&["--fault", "earthquake"], "partition-and-heal"),
        (&["--nodes", "4..2"], "smaller"),
        (&["--nodes", "1..3"], "--nodes 2..16"),
        (&["--nodes", "1000000"], "at most 2000 nodes"),
        (&["--seeds", "4000000000"], "--seeds"),
        (&["--seeds", "0"], "--seeds"),
        (&["--csv", "-", "--svg", "-"], "stdout"),
    ] {
        let output = cargo_bin_cmd!("tanist").arg("compare").args(args).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(hint), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}
