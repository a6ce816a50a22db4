use core::time::Duration;

use super::*;
use crate::election::Algorithm;
use crate::testing::{Bench, NOTHING, group_of, nodes};
use crate::timing::{Timing, TimingConfig};

fn watching<const N: usize>(peers: [u32; N]) -> Bench<Detector> {
    let mut bench = Bench::coming_up(group_of(Algorithm::Bully, 3, &[]), 1, None);
    bench.tell(Command::Watch(nodes(peers)));
    bench
}

/// With heartbeats every 20 ms, so S = 55 ms.
fn beating() -> Bench<Detector> {
    let mut config = group_of(Algorithm::Bully, 3, &[]);
    let (tm, tp) = (config.settings.timing.message_max(), config.settings.timing.processing_max());
    let heartbeat = Some(Duration::from_millis(20));
    let timing = TimingConfig { heartbeat, ..TimingConfig::bounded_by(tm, tp) };
    config.settings.timing = Timing::new(timing).unwrap();
    Bench::coming_up(config, 1, None)
}

const fn silence(node: u32) -> Timer {
    Timer::Silence(NodeId(node))
}

#[test]
fn silence_is_reported_and_reported_again_while_it_lasts() {
    let mut bench = watching([2]);
    let lines = ["set silence of n2 515ms", "silent n2"];
    assert_eq!(bench.ring(silence(2)), lines);
    assert_eq!(bench.ring(silence(2)), lines);
}

#[test]
fn any_message_of_a_watched_peer_is_a_sign_of_life() {
    let mut bench = watching([2]);
    assert_eq!(bench.tell(Command::Received(NodeId(2))), ["set silence of n2 515ms"]);
    assert_eq!(bench.tell(Command::Received(NodeId(3))), NOTHING);
}

#[test]
fn watching_others_leaves_running_waits_alone() {
    let mut bench = watching([2]);
    assert_eq!(bench.tell(Command::Watch(nodes([2, 3]))), ["set silence of n3 515ms"]);
    assert_eq!(bench.tell(Command::Watch(nodes([3]))), ["cancel silence of n2"]);
    assert_eq!(bench.tell(Command::Watch(nodes([]))), ["cancel silence of n3"]);
}

#[test]
fn evidence_of_the_transport_is_passed_on_at_once() {
    let mut bench = watching([2]);
    assert_eq!(bench.tell(Command::Refused(NodeId(3))), ["failed n3"]);
}

#[test]
fn a_new_tie_is_beaten_at_once_and_watched() {
    let mut bench = beating();
    assert_eq!(bench.began, NOTHING);
    assert_eq!(
        bench.tell(Command::HeartbeatPeers(nodes([2]))),
        ["send n2 heartbeat", "set heartbeat 20ms", "set silence of n2 55ms"]
    );
    assert_eq!(bench.tell(Command::HeartbeatPeers(nodes([2]))), NOTHING);
    assert_eq!(
        bench.tell(Command::HeartbeatPeers(nodes([2, 3]))),
        ["send n3 heartbeat", "set silence of n3 55ms"]
    );
}

#[test]
fn ties_are_beaten_every_period_until_there_is_none() {
    let mut bench = beating();
    bench.tell(Command::HeartbeatPeers(nodes([2, 3])));
    let lines = ["send n2 heartbeat", "send n3 heartbeat", "set heartbeat 20ms"];
    assert_eq!(bench.ring(Timer::Beat), lines);
    assert_eq!(bench.ring(Timer::Beat), lines);
    assert_eq!(
        bench.tell(Command::HeartbeatPeers(nodes([]))),
        ["cancel heartbeat", "cancel silence of n2", "cancel silence of n3"]
    );
    assert!(!bench.is_running(Timer::Beat));
}

#[test]
fn a_heartbeat_is_a_sign_of_life_of_whom_this_node_is_tied_to() {
    let mut bench = beating();
    bench.tell(Command::HeartbeatPeers(nodes([2])));
    assert_eq!(bench.receive(2, Heartbeat), ["set silence of n2 55ms"]);
    assert_eq!(bench.receive(3, Heartbeat), NOTHING);
}

#[test]
fn who_is_watched_and_tied_is_watched_until_both_have_ended() {
    let mut bench = beating();
    bench.tell(Command::Watch(nodes([2])));
    let lines = bench.tell(Command::HeartbeatPeers(nodes([2])));
    assert_eq!(lines, ["send n2 heartbeat", "set heartbeat 20ms"]);
    assert_eq!(bench.tell(Command::Watch(nodes([]))), NOTHING);
    assert_eq!(
        bench.tell(Command::HeartbeatPeers(nodes([]))),
        ["cancel heartbeat", "cancel silence of n2"]
    );
}

#[test]
fn without_a_period_a_tie_means_nothing() {
    let mut bench = watching([]);
    assert_eq!(bench.tell(Command::HeartbeatPeers(nodes([2]))), NOTHING);
}
