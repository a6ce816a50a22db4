//! What counts and views are judged as.

use serde_json::json;

use super::super::finding::Severity;
use super::*;

pub(in super::super) fn settings() -> SettingsReport {
    SettingsReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        process: 1,
        data_dir: "data".into(),
        key_file: "key".into(),
        listen: "127.0.0.1:7400".to_owned(),
        message_max_ms: 50.0,
        processing_max_ms: 50.0,
        heartbeat_ms: Some(250.0),
        suspect_after_ms: Some(1000.0),
        files_max: Some(1024),
        log_lines_dropped: 0,
        stdout_lines_dropped: 0,
        waits_for: None,
        peers: Vec::new(),
    }
}

pub(in super::super) fn seen() -> MembersReport {
    let member = |node: &str, is_self: bool| {
        json!({
            "node": node, "address": "127.0.0.1:7400", "role": "member", "is_self": is_self,
            "is_connected": !is_self, "is_refused": false, "priority": 1, "rtt_ms": null,
            "seen_ms": null,
        })
    };
    let value = json!({
        "status": {
            "group": "billing", "node": "n1", "algorithm": "bully", "role": "member",
            "state": "normal", "active": false, "paused": false, "withdrawn": false, "group_number": null,
            "leader": { "node": "n2", "address": "127.0.0.1:7400" }, "members": ["n1", "n2"],
            "peers_version": 1, "since_ms": 0, "index": 1, "incarnation": 1,
        },
        "members": [member("n1", true), member("n2", false)],
    });
    serde_json::from_value(value).unwrap()
}

fn worst(seen: &MembersReport, settings: &SettingsReport, metrics: &Value) -> (Severity, String) {
    let mut findings = Findings::default();
    look(seen, settings, metrics, &mut findings);
    let worst = findings.all().iter().max_by_key(|finding| finding.severity).unwrap();
    assert!(worst.severity <= Severity::Note || worst.fix.is_some(), "{worst:?}");
    (worst.severity, worst.what.clone())
}

#[test]
fn a_group_that_is_well_has_nothing_to_note() {
    let (severity, what) = worst(&seen(), &settings(), &json!({}));
    assert_eq!(severity, Severity::Well, "{what}");
}

#[test]
fn a_second_node_with_this_ones_id_is_a_problem() {
    let metrics = json!({ "transport": { "refused_own_id": 3 } });
    let (severity, what) = worst(&seen(), &settings(), &metrics);
    assert_eq!(severity, Severity::Problem);
    assert!(what.contains("own id connected 3 times"), "{what}");
}

#[test]
fn failed_handshakes_matter_when_a_peer_is_missing() {
    let metrics = json!({ "transport": { "handshakes_failed": 7 } });
    assert_eq!(worst(&seen(), &settings(), &metrics).0, Severity::Note);
    let mut seen = seen();
    seen.members[1].role = None;
    seen.members[1].is_connected = false;
    let (severity, what) = worst(&seen, &settings(), &metrics);
    assert_eq!(severity, Severity::Problem);
    assert!(what.contains("another key"), "{what}");
}

#[test]
fn a_peer_that_gives_no_link_is_a_problem_with_its_own_reason() {
    let mut seen = seen();
    seen.members[1].is_connected = false;
    seen.members[1].refusal = Some("it speaks versions 3, this node 2".to_owned());
    let metrics = json!({ "transport": { "handshakes_failed": 7 } });
    let (severity, what) = worst(&seen, &settings(), &metrics);
    assert_eq!(severity, Severity::Problem);
    assert!(what.starts_with("n2 ") && what.contains("versions 3"), "{what}");
}

#[test]
fn a_peer_that_is_refused_here_is_a_problem_even_if_it_never_was_dialled() {
    let mut seen = seen();
    seen.members[1].refused_here = Some("its settings differ".to_owned());
    let (severity, what) = worst(&seen, &settings(), &json!({}));
    assert_eq!(severity, Severity::Problem);
    assert!(what.starts_with("n2 is refused here: its settings differ"), "{what}");
}

#[test]
fn a_round_trip_is_held_against_the_bound_on_messages() {
    let mut seen = seen();
    for (rtt, expected) in
        [(1.0, Severity::Well), (60.0, Severity::Warning), (101.0, Severity::Problem)]
    {
        seen.members[1].rtt_ms = Some(rtt);
        assert_eq!(worst(&seen, &settings(), &json!({})).0, expected, "{rtt}");
    }
}

#[test]
fn a_suspicion_after_one_lost_heartbeat_is_told_with_its_arithmetic() {
    let settings = SettingsReport { suspect_after_ms: Some(500.0), ..settings() };
    let (severity, what) = worst(&seen(), &settings, &json!({}));
    assert_eq!(severity, Severity::Warning);
    assert!(what.contains("2 x 250.0 ms + 50.0 ms + 50.0 ms = 600.0 ms"), "{what}");
}
