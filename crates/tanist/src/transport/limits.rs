//! How much of everything the transport allows.
//!
//! Every bound that protects a node from its network is here. The defaults suit a group of up to
//! about a hundred nodes on one site; tests and far-apart sites choose their own.

use std::time::Duration;

/// Bounds of one transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest payload of a frame, in bytes.
    pub frame_max: usize,
    /// How many frames may wait for one peer.
    pub queue_frames_max: usize,
    /// How many bytes may wait for one peer.
    pub queue_bytes_max: usize,
    /// How many connections may exist at once.
    pub connections_max: usize,
    /// How many of them may be without a finished handshake.
    pub unauthenticated_max: usize,
    /// How many links one peer may have at once: one, and those that it replaces.
    pub links_per_peer_max: usize,
    /// How long a handshake may take.
    pub handshake: Duration,
    /// How long it may take to look up a name, and how long to connect to what was found.
    pub dial: Duration,
    /// How long written bytes may stay unacknowledged before the link is given up
    /// (`TCP_USER_TIMEOUT`). It bounds how late a frame can arrive after a partition.
    pub unacknowledged: Duration,
    /// How long a link may be silent before the kernel asks whether the other side is there.
    pub keepalive_idle: Duration,
    /// How long the kernel waits between such questions.
    pub keepalive_interval: Duration,
    /// For how long a peer is left alone after the first dial that failed.
    pub backoff_min: Duration,
    /// For how long at most.
    pub backoff_max: Duration,
    /// How long a replaced link may be silent before it is closed.
    pub drain: Duration,
    /// How long datagrams of a replaced link are still taken.
    pub linger: Duration,
    /// How old a link may be before a new one with new keys takes its place.
    pub rekey: Duration,
    /// How many records it may carry in one direction before that.
    pub rekey_records: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_max: 1 << 20,
            queue_frames_max: 1024,
            queue_bytes_max: 8 << 20,
            connections_max: 1024,
            unauthenticated_max: 64,
            links_per_peer_max: 8,
            handshake: Duration::from_secs(2),
            dial: Duration::from_secs(2),
            unacknowledged: Duration::from_secs(5),
            keepalive_idle: Duration::from_secs(15),
            keepalive_interval: Duration::from_secs(5),
            backoff_min: Duration::from_millis(50),
            backoff_max: Duration::from_secs(5),
            drain: Duration::from_secs(1),
            linger: Duration::from_secs(2),
            rekey: Duration::from_secs(3600),
            rekey_records: 1 << 32,
        }
    }
}
