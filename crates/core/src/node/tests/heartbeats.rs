//! Heartbeats on the test bench: which nodes exchange them, and what follows from silence.

use core::time::Duration;

use super::*;
use crate::detector::Timer as Detecting;
use crate::election::descriptor::Network;
use crate::testing::TestGroup;
use crate::timing::{Timing, TimingConfig};

/// Three nodes with heartbeats every 20 ms, so S = 55 ms.
fn group(algorithm: Algorithm, options: &[(&str, &str)]) -> TestGroup {
    let mut config = group_of(algorithm, 3, options);
    let (tm, tp) = (config.settings.timing.message_max(), config.settings.timing.processing_max());
    let heartbeat = Some(Duration::from_millis(20));
    let timing = TimingConfig { heartbeat, ..TimingConfig::bounded_by(tm, tp) };
    config.settings.timing = Timing::new(timing).unwrap();
    config
}

/// A node that has long worked in group 1 of the highest of three.
fn standing_with(algorithm: Algorithm, me: u32, options: &[(&str, &str)]) -> Bench<Node> {
    let members = nodes([1, 2, 3]);
    let established = EstablishedGroup { group: number(1, 3), coordinator: NodeId(3), members };
    Bench::begun(group(algorithm, options), me, |cx, out| {
        Node::established(cx, Counter(1).into(), &established, Definition::from("old"), out)
    })
}

pub(super) fn established(algorithm: Algorithm, me: u32) -> Bench<Node> {
    standing_with(algorithm, me, &[])
}

fn silent(bench: &mut Bench<Node>, peer: u32) -> Vec<String> {
    let mut lines = bench.ring(Timer::Detector(Detecting::Silence(NodeId(peer))));
    assert_eq!(lines.remove(0), "set silence 55ms", "silence is watched on");
    lines
}

fn beats(lines: &[String]) -> Vec<&str> {
    let beats = lines.iter().filter(|line| line.ends_with(" heartbeat"));
    beats.map(String::as_str).collect()
}

#[test]
fn a_coordinator_and_its_participants_owe_each_other_heartbeats() {
    // In ad-hoc networks the election itself floods heartbeats.
    let by_wire = |known: &&Algorithm| known.descriptor().network != Network::Radio;
    for algorithm in Algorithm::ALL.iter().filter(by_wire) {
        let coordinator = established(*algorithm, 3);
        assert_eq!(beats(&coordinator.began), ["send n1 heartbeat", "send n2 heartbeat"]);
        let mut participant = established(*algorithm, 1);
        assert_eq!(beats(&participant.began), ["send n3 heartbeat"]);
        let lines = participant.ring(Timer::Detector(Detecting::Beat));
        assert_eq!(lines, ["send n3 heartbeat", "set heartbeat 20ms"]);
        assert!(participant.is_running(Timer::Detector(Detecting::Silence(NodeId(3)))));
        assert!(!participant.is_running(Timer::Detector(Detecting::Silence(NodeId(2)))));
    }
}

#[test]
fn a_node_that_loses_its_coordinator_beats_nobody() {
    let mut bench = established(Algorithm::Bully, 1);
    let lines = bench.receive(3, enter_election());
    assert!(lines.contains(&"cancel heartbeat".to_string()), "{lines:?}");
    let set = bully(bully::Message::SetCoordinator { group: number(2, 3) });
    bench.tell(Command::Stopped(Report::default()));
    // In Reorganization it has a heartbeat peer again, and the first heartbeat is sent at once.
    assert_eq!(beats(&bench.receive(3, set)), ["send n3 heartbeat"]);
}

#[test]
fn a_node_that_comes_up_without_a_coordinator_beats_nobody() {
    for algorithm in [Algorithm::Bully, Algorithm::BullyLecture] {
        let bench = Bench::<Node>::coming_up(group(algorithm, &[]), 1, None);
        assert_eq!(beats(&bench.began), NOTHING, "{algorithm:?}");
        assert!(!bench.is_running(Timer::Detector(Detecting::Beat)));
    }
}

#[test]
fn a_heartbeat_is_a_sign_of_life_and_nothing_else() {
    let by_wire = |known: &&Algorithm| known.descriptor().network != Network::Radio;
    for algorithm in Algorithm::ALL.iter().filter(by_wire) {
        let mut bench = established(*algorithm, 1);
        assert_eq!(bench.receive(3, Message::Detector(Heartbeat)), ["set silence 55ms"]);
        assert_eq!(bench.receive(2, Message::Detector(Heartbeat)), NOTHING);
    }
}

#[test]
fn a_bully_coordinator_that_owes_heartbeats_is_asked_by_the_election_itself() {
    let mut bench = established(Algorithm::Bully, 1);
    let lines = silent(&mut bench, 3);
    assert_eq!(lines, ["called", "send n2 AreYouUp", "send n3 AreYouUp", "set answers 25ms"]);
    assert_eq!(bench.machine.state().status, Status::Normal);
    // It was slow and has not failed: nothing changes.
    let lines = without_timers(bench.receive(3, bully(bully::Message::AyuAnswer { leads: false })));
    assert_eq!(lines, ["ended Yielded"]);
    assert_eq!(bench.machine.state().status, Status::Normal);
}

#[test]
fn a_bully_checks_at_once_when_a_member_is_silent() {
    let mut bench = established(Algorithm::Bully, 3);
    let lines = silent(&mut bench, 1);
    assert_eq!(lines, ["send n1 AreYouNormal", "send n2 AreYouNormal", "set answers 25ms"]);
    // The check in progress is enough.
    assert_eq!(silent(&mut bench, 2), NOTHING);
}

#[test]
fn a_lecture_coordinator_does_nothing_about_silent_followers() {
    let mut bench = established(Algorithm::BullyLecture, 3);
    assert_eq!(silent(&mut bench, 1), NOTHING);
}

#[test]
fn a_silent_lecture_coordinator_causes_an_election() {
    let mut bench = established(Algorithm::BullyLecture, 2);
    let lines = without_timers(silent(&mut bench, 3));
    assert_eq!(lines, ["called", "stop", "send n3 election"]);
}

#[test]
fn a_lecture_coordinator_beats_everybody_to_whom_it_announces_itself() {
    for (announce, expected) in [
        ("lower", &["send n1 heartbeat"][..]),
        ("all", &["send n1 heartbeat", "send n3 heartbeat"]),
    ] {
        let config = group(Algorithm::BullyLecture, &[("announce", announce)]);
        let mut bench = Bench::<Node>::coming_up(config, 2, None);
        let answers = election::Timer::BullyLecture(bully_lecture::Timer::Answers);
        let lines = bench.ring(Timer::Election(answers));
        assert_eq!(beats(&lines), expected, "announce={announce}");
    }
}

#[test]
fn a_silent_invitation_coordinator_is_asked_whether_it_is_there() {
    let mut bench = established(Algorithm::Invitation, 1);
    assert_eq!(silent(&mut bench, 3), ["send n3 AreYouThere 1.n3", "set answers 25ms"]);
}

#[test]
fn an_invitation_coordinator_forms_its_group_again_when_a_member_is_silent() {
    let mut bench = established(Algorithm::Invitation, 3);
    let lines = without_timers(silent(&mut bench, 1));
    assert_eq!(lines, ["called", "save 2", "send n2 Invitation 2.n3", "stop"]);
    let mut literal = standing_with(Algorithm::Invitation, 3, &[("silence", "literal")]);
    assert_eq!(silent(&mut literal, 1), NOTHING);
}
