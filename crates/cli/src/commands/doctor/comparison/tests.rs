//! Which differences are told, and how.

use super::super::finding::Severity;
use super::super::group::tests::{seen, settings};
use super::*;

fn difference(key: &str, ours: &str, theirs: &str) -> DifferenceReport {
    let own = str::to_owned;
    DifferenceReport { key: own(key), ours: own(ours), theirs: own(theirs) }
}

fn told() -> ToldReport {
    let program = env!("CARGO_PKG_VERSION").to_owned();
    ToldReport { program, peers_version: 1, port: Some(7400), clock_ahead_ms: 900 }
}

fn found(peer: PeerReport) -> Vec<(Severity, String)> {
    let peer = PeerReport { node: "n2".to_owned(), ..peer };
    let settings = SettingsReport { peers: vec![peer], ..settings() };
    let mut findings = Findings::default();
    look(&seen(), &settings, false, &mut findings);
    findings.all().iter().map(|finding| (finding.severity, finding.what.clone())).collect()
}

fn differs(differences: &[DifferenceReport]) -> Vec<String> {
    let peer = PeerReport { differences: differences.to_vec(), ..PeerReport::default() };
    let all = found(peer);
    assert!(all.iter().all(|(severity, _)| *severity == Severity::Problem), "{all:?}");
    all.into_iter().map(|(_, what)| what).collect()
}

#[test]
fn every_difference_names_the_peer_and_both_values() {
    assert_eq!(
        differs(&[
            difference("timing.heartbeat", "250ms", "500ms"),
            difference("preempt", "never", "always"),
            difference("timing.others", "1s", "2s"),
        ]),
        ["n2 has timing.heartbeat 500ms, n1 has 250ms.", "n2 has preempt always, n1 has never."]
    );
}

#[test]
fn what_follows_from_another_difference_is_left_out() {
    let all = [
        difference("algorithm", "bully", "invitation"),
        difference("options.waits", "full", "early"),
    ];
    assert_eq!(differs(&all), ["n2 runs the algorithm invitation, n1 runs bully."]);
    let all = [
        difference("timing.others", "1s", "2s"),
        difference("peers", "n1 n2", "n2 n3"),
        difference("priorities", "n1:1 n2:2", "n2:2 n3:3"),
    ];
    assert_eq!(differs(&all), ["n2 does not list n1: its peers are n2 n3, here n1 n2."]);
    let all = [
        difference("peers", "n1 n2", "n2 n1"),
        difference("priorities", "n1:1 n2:2", "n2:2 n1:30"),
    ];
    assert_eq!(differs(&all), ["n2 has priorities n2:2 n1:30, n1 has n1:1 n2:2."]);
    assert_eq!(differs(&[difference("timing.others", "1s", "2s")]).len(), 1);
}

#[test]
fn a_digest_of_a_long_list_is_not_taken_for_one_without_this_node() {
    let told = differs(&[difference("peers", "n1 n2", "12 of digest 00ff")]);
    assert_eq!(told, ["n2 has the peers 12 of digest 00ff, n1 has n1 n2."]);
}

#[test]
fn what_a_peer_told_is_compared_unless_it_is_alike() {
    let with = |told: ToldReport| found(PeerReport { told: Some(told), ..PeerReport::default() });
    assert_eq!(with(told()), []);
    let ToldReport { program, .. } = told();
    for (told, severity, words) in [
        (ToldReport { program: "9.9.9".to_owned(), ..told() }, Severity::Warning, "tanist 9.9.9"),
        (ToldReport { peers_version: 4, ..told() }, Severity::Problem, "version 4 of the member"),
        (ToldReport { clock_ahead_ms: -90_000, ..told() }, Severity::Warning, "1 min behind"),
        (ToldReport { clock_ahead_ms: i64::MIN, ..told() }, Severity::Warning, "behind"),
    ] {
        let all = with(told);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].0 == severity && all[0].1.contains(words), "{program} {all:?}");
    }
}
