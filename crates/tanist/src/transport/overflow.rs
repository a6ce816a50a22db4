//! A queue without room.
//!
//! Everything that waited is dropped, so the frames after it must not follow on the same link: the
//! peer would take them for all that was said. The link is dropped too, and what comes later goes
//! over a new one.

use super::hub::{Hub, PeerState};

/// Counts an overflow, drops the link and tells the operator.
pub(super) fn note(hub: &Hub, peer: &PeerState, dropped: usize) {
    hub.counters.queue_overflows.bump();
    hub.counters.frames_dropped.add(dropped);
    peer.drop_link();
    if let Some(held_back) = peer.warning.pass() {
        tracing::warn!(
            peer = peer.name,
            dropped,
            held_back,
            "the queue for this peer is full, so it is dropped together with the link; the peer \
             reads too slowly or the network is too slow: look at the load of that node"
        );
    }
}
