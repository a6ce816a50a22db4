//! What the transport has done and what it has refused, counted.
//!
//! Counting is one relaxed addition, so every refusal can afford it. A snapshot is read field by
//! field and is not one moment in time.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// Lists the counters once: the cells that are counted in, and the snapshot that is handed out.
macro_rules! counters {
    ($(#[doc = $meaning:literal] $name:ident,)+) => {
        /// A snapshot of all counters of one transport, since its start.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct Counters {
            $(#[doc = $meaning] pub $name: u64,)+
        }

        impl Counters {
            /// What a counter counts, in a sentence; none: there is no counter of that name.
            #[must_use]
            pub fn meaning(name: &str) -> Option<&'static str> {
                let all = [$((stringify!($name), $meaning)),+];
                all.into_iter().find(|(known, _)| *known == name).map(|(_, text)| text.trim())
            }
        }

        /// The cells behind [`Counters`].
        #[derive(Debug, Default)]
        pub(super) struct Cells {
            $(pub(super) $name: Cell,)+
        }

        impl Cells {
            pub(super) fn snapshot(&self) -> Counters {
                Counters { $($name: self.$name.value(),)+ }
            }
        }
    };
}

counters! {
    /// Frames written to links.
    frames_out,
    /// Frames taken from links and handed over.
    frames_in,
    /// Bytes written to links and sent as datagrams, seals included, headers of the network not.
    bytes_out,
    /// Bytes read from links and taken as datagrams, likewise.
    bytes_in,
    /// Datagrams sent.
    datagrams_out,
    /// Datagrams taken and handed over.
    datagrams_in,
    /// Heartbeats handed to a link, because the peer does not get this node's datagrams.
    heartbeats_carried_out,
    /// Heartbeats that came over a link, because the peer's datagrams do not arrive.
    heartbeats_carried_in,
    /// Connections that were tried.
    dials,
    /// Dials that were refused: no process listens there.
    dials_refused,
    /// Dials that failed in another way: no answer, no route, no such name, no handshake.
    dials_failed,
    /// Connections that were accepted.
    accepted,
    /// Links that were made, by either side.
    links_made,
    /// Links that ended without being closed here.
    links_lost,
    /// Links that gave way to a better one with the same process.
    links_superseded,
    /// Links that gave way to one with a new process of the same node.
    links_replaced,
    /// Refused: a handshake, frame or datagram of a version that is not ours.
    refused_version,
    /// Refused: a record of an unknown kind.
    refused_kind,
    /// Refused: bytes whose seal does not open, on an established link or as a datagram.
    refused_seal,
    /// Refused: a datagram that was seen before, or is too old to tell.
    refused_replay,
    /// Refused: a handshake of a node that is not configured, or a frame to one.
    refused_unknown_peer,
    /// Refused: a datagram of a session that does not exist here.
    refused_unknown_session,
    /// Refused: a handshake or frame of another group.
    refused_group,
    /// Refused: a handshake with another node than the one that was dialled.
    refused_wrong_node,
    /// Refused: a handshake of a node that uses this node's own id.
    refused_own_id,
    /// Refused: authentic bytes that cannot be decoded.
    refused_malformed,
    /// Refused: a frame or datagram over the limit, coming or going.
    refused_too_long,
    /// Refused: one link too many with the same peer.
    refused_too_busy,
    /// Refused: a handshake of a node whose settings of the group differ.
    refused_settings,
    /// Refused: a handshake of a node that does not show the key that is listed for it.
    refused_identity,
    /// Refused: a handshake of a second process with the id of a peer that is linked and answers.
    refused_twin,
    /// Refused by a peer with the right key, for whatever reason: no link, although it is there.
    refused_by_peers,
    /// Handshakes that were answered and gave way to newer ones before they were confirmed.
    handshakes_evicted,
    /// Links that were made to give new keys to an established one.
    links_rekeyed,
    /// Handshakes that failed; most often the other side has another group key.
    handshakes_failed,
    /// Handshakes that did not end in time.
    handshakes_timed_out,
    /// Connections that were closed because there were too many.
    connections_over_cap,
    /// Queues that overflowed; each time the link and everything that waited for it were dropped.
    queue_overflows,
    /// Frames dropped: of an overflowed queue, or for a peer that could not be reached.
    frames_dropped,
    /// Datagrams dropped: no session, a full socket, or no room in the driver's queue.
    datagrams_dropped,
    /// Frames and datagrams discarded because their peer was blocked.
    discarded_blocked,
}

/// One number that only grows.
#[derive(Debug, Default)]
pub(super) struct Cell(AtomicU64);

impl Cell {
    pub(super) fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(super) fn bump(&self) {
        self.add(1);
    }

    pub(super) fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
