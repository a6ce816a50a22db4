//! What is done about datagrams that do not arrive: reports to the peer, heartbeats over the link,
//! and a line in the log. When it is done [`super::carrying`] decides.

use super::carrying::{Change, Report};
use super::hub::{Hub, PeerState};
use super::overflow;
use super::queue::Pushed;
use crate::clock;

/// Hands a datagram to the link. One that still waits there says as much as this one would.
pub(super) fn carry(hub: &Hub, peer: &PeerState, payload: &[u8]) {
    if peer.queue.offer(CARRIED, payload) {
        hub.counters.heartbeats_carried_out.bump();
    } else {
        hub.counters.datagrams_dropped.bump();
    }
}

/// A datagram has come over the link.
pub(super) fn take(hub: &Hub, peer: &PeerState) {
    hub.counters.heartbeats_carried_in.bump();
    let change = peer.carrying().came_by_link(clock::now());
    tell(hub, peer, change);
}

/// Tells the peer what has changed about its datagrams, and the operator.
pub(super) fn tell(hub: &Hub, peer: &PeerState, change: Option<Change>) {
    let Some(change) = change else { return };
    push(hub, peer, change.to);
    let name = &peer.name;
    let ip = peer.linked().map(|(_, address)| address.ip().to_string()).unwrap_or_default();
    let port = hub.udp.local_addr().map_or(0, |own| own.port());
    match change {
        Change { to: Report::Missing, .. } => {
            if let Some(held_back) = peer.missing_in.pass() {
                tracing::warn!(
                    peer = %name, direction = "in", held_back,
                    "no UDP packet from {name} arrives here, so its heartbeats come over the link; \
                     allow UDP port {port} from {ip}"
                );
            }
        }
        Change { from: Report::Missing, to: Report::Arriving | Report::Asked } => {
            tracing::info!(peer = %name, direction = "in", "UDP packets from {name} arrive again");
        }
        Change { from: Report::Arriving | Report::Asked, to: Report::Arriving | Report::Asked } => {
        }
    }
}

/// Tells the peer on a new link what it may not know.
pub(super) fn remind(hub: &Hub, peer: &PeerState) {
    let reminder = peer.carrying().reminder();
    if let Some(report) = reminder {
        push(hub, peer, report);
    }
}

/// The peer has told about this node's datagrams.
pub(super) fn told(peer: &PeerState, report: Report) {
    let change = peer.carrying().told(report);
    let Some(change) = change else { return };
    let name = &peer.name;
    let address = peer.linked().map(|(_, address)| address);
    let (ip, port) = address.map_or_else(Default::default, |at| (at.ip().to_string(), at.port()));
    match change {
        Change { to: Report::Missing, .. } => {
            if let Some(held_back) = peer.missing_out.pass() {
                tracing::warn!(
                    peer = %name, direction = "out", held_back,
                    "no UDP packet from this node arrives at {name}, so heartbeats go over the \
                     link; allow UDP to port {port} of {ip}"
                );
            }
        }
        Change { from: Report::Missing, to: Report::Arriving | Report::Asked } => {
            tracing::info!(
                peer = %name, direction = "out", "UDP packets from this node arrive at {name} again"
            );
        }
        Change { from: Report::Arriving | Report::Asked, to: Report::Arriving | Report::Asked } => {
        }
    }
}

fn push(hub: &Hub, peer: &PeerState, report: Report) {
    match peer.queue.push(REPORT, vec![report.number()]).1 {
        Pushed::Queued => {}
        Pushed::Overflowed { dropped } => overflow::note(hub, peer, dropped),
    }
}

/// The number of a frame that carries a datagram; only a peer that asked for it gets one.
pub(super) const CARRIED: u64 = u64::MAX - 2;
/// Marks a report among the frames that wait: it goes out as a record of its own kind.
pub(super) const REPORT: u64 = u64::MAX - 3;
