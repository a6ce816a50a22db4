//! The coordinator crashes fifty times, in groups of real processes.

use std::process::Command;

use serde_json::Value;

fn failover(arguments: &[&str]) -> Value {
    let program = env!("CARGO_BIN_EXE_tanist");
    let output = Command::new(program)
        .args(["bench", "failover", "-o", "json"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The group agrees every time, under a new group number, and long before the silence of the
/// coordinator could be suspected.
fn killed_fifty_times(nodes: &str, algorithm: &str) {
    let found = failover(&["--nodes", nodes, "--algorithm", algorithm, "--runs", "50"]);
    assert_eq!(found["runs"], 50);
    assert_eq!(found["numbers"], 101, "the first group, and two for each run");
    let median = found["all_ms"]["median"].as_f64().unwrap();
    let silence = found["detection"]["suspect_after_ms"].as_f64().unwrap();
    assert!(median < silence / 4.0, "bounded by silence, not by the closed connection: {found}");
}

#[test]
fn three_bully_nodes_lose_their_coordinator_fifty_times() {
    killed_fifty_times("3", "bully");
}

#[test]
fn five_bully_nodes_lose_their_coordinator_fifty_times() {
    killed_fifty_times("5", "bully");
}

#[test]
fn three_invitation_nodes_lose_their_coordinator_fifty_times() {
    killed_fifty_times("3", "invitation");
}

#[test]
fn five_invitation_nodes_lose_their_coordinator_fifty_times() {
    killed_fifty_times("5", "invitation");
}

#[test]
fn a_lecture_group_finds_a_new_coordinator_too() {
    let found = failover(&["--nodes", "3", "--algorithm", "bully-lecture", "--runs", "10"]);
    assert_eq!(found["runs"], 10);
}

#[test]
fn a_hung_coordinator_is_noticed_by_silence() {
    for algorithm in ["bully", "invitation"] {
        let arguments =
            ["--nodes", "3", "--algorithm", algorithm, "--fault", "stop", "--runs", "3"];
        let found = failover(&arguments);
        let median = found["all_ms"]["median"].as_f64().unwrap();
        let silence = found["detection"]["suspect_after_ms"].as_f64().unwrap();
        let heartbeat = found["detection"]["heartbeat_ms"].as_f64().unwrap();
        assert!(median >= silence - heartbeat - 1.0, "sooner than silence can tell: {found}");
        assert!(median < silence * 2.0, "{found}");
    }
}
