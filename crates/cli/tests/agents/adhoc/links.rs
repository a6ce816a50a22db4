//! The same elections where every node is a neighbour of every other: a local group, over links.

use crate::support::dev::Dev;
use crate::support::fleet::tanist;

fn elects_and_survives_its_leader(algorithm: &str) {
    let traces = tempfile::tempdir().unwrap();
    let kept = traces.path().join("run").display().to_string();
    let patient = ["--timing", "suspect_after=5s", "--timing", "heartbeat=1s"];
    let arguments = ["--nodes", "5", "--algorithm", algorithm, "--traces", &kept];
    let mut dev = Dev::start(&[&arguments[..], &patient[..]].concat());
    assert_eq!(dev.agree("all 5 nodes"), "n5");
    dev.act(&["kill", "n5"]);
    assert_eq!(dev.agree("4 of 5 nodes"), "n4");
    dev.act(&["restart", "n5"]);
    assert_eq!(dev.agree("all 5 nodes"), "n5");
    dev.signal("-INT");
    assert_eq!(dev.ends(), Some(130));
    let checked = tanist(traces.path()).args(["trace", "check", &kept]).output().unwrap();
    let told = String::from_utf8(checked.stdout).unwrap();
    assert!(checked.status.success() && !told.contains("missing"), "{told}");
}

#[test]
fn a_local_group_elects_by_diffusing_computations() {
    elects_and_survives_its_leader("adhoc-diffusing");
}

#[test]
fn a_local_group_elects_by_expanding_rings() {
    elects_and_survives_its_leader("adhoc-expanding-ring");
}
