//! Datagrams: small, sealed, and never repeated.
//!
//! ```text
//! [version u8] [session 8 bytes] [sequence u64, big-endian] [sealed payload]      1200 bytes at most
//! ```
//!
//! They use the keys of the link between the two processes, so without a link there are none. A
//! damaged header names another key or nonce, and then the seal does not open. What is lost is
//! lost; nothing is sent again. The source address is not looked at: the session says who it is.
//! Where datagrams do not arrive at all, the link carries them (carrying.rs).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tanist_core::membership::NodeId;

use super::Incoming;
use super::fallback;
use super::hub::{Hub, Route};
use super::session::{OpenError, SEAL_LENGTH, SealError, Session, SessionId};
use super::version::Versions;
use crate::clock;

/// The parts of a datagram, the payload still sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The version of the wire.
    pub version: u8,
    /// Under whose keys it was sealed.
    pub session: SessionId,
    /// Its number in that session and direction.
    pub sequence: u64,
    /// The sealed payload.
    pub ciphertext: &'a [u8],
}

/// Takes a datagram apart.
pub fn decode(bytes: &[u8]) -> Result<Datagram<'_>, DatagramError> {
    if bytes.len() > DATAGRAM_MAX {
        return Err(DatagramError::TooLong);
    }
    let (version, rest) = bytes.split_first().ok_or(DatagramError::Malformed)?;
    if !(Versions::KNOWN.min..=Versions::KNOWN.max).contains(version) {
        return Err(DatagramError::Version { found: *version });
    }
    let (session, rest) = rest.split_first_chunk().ok_or(DatagramError::Malformed)?;
    let (sequence, ciphertext) = rest.split_first_chunk().ok_or(DatagramError::Malformed)?;
    Ok(Datagram {
        version: *version,
        session: SessionId(*session),
        sequence: u64::from_be_bytes(*sequence),
        ciphertext,
    })
}

/// Seals a payload into the session's next datagram.
pub fn encode(session: &Session, payload: &[u8]) -> Result<Vec<u8>, SealError> {
    if payload.len() > PAYLOAD_MAX {
        return Err(SealError::TooLong);
    }
    session.seal_datagram(payload, |sequence| {
        let mut bytes = Vec::with_capacity(HEADER_LENGTH + payload.len() + SEAL_LENGTH);
        bytes.push(session.version());
        bytes.extend_from_slice(&session.id().0);
        bytes.extend_from_slice(&sequence.to_be_bytes());
        bytes
    })
}

/// Why bytes are not a datagram of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatagramError {
    /// A version that is not ours.
    #[error(
        "the datagram has version {found}, which this node does not know, so it is dropped; run \
         the same version of tanist on all nodes"
    )]
    Version {
        /// What the datagram says.
        found: u8,
    },
    /// Over the limit.
    #[error(
        "the datagram is longer than any of ours, so it is dropped; no node of this group sent it"
    )]
    TooLong,
    /// Too short for its header.
    #[error("the datagram is too short, so it is dropped; no node of this group sent it")]
    Malformed,
}

/// Sends a datagram to a peer with a link; counts what happens.
pub(super) fn send(hub: &Hub, to: NodeId, payload: &[u8]) {
    let Some(peer) = hub.peers.get(&to) else {
        hub.counters.refused_unknown_peer.bump();
        return;
    };
    if peer.is_blocked() {
        hub.counters.discarded_blocked.bump();
        return;
    }
    let Some(route) = peer.route() else {
        hub.counters.datagrams_dropped.bump();
        return;
    };
    if payload.len() > PAYLOAD_MAX {
        hub.counters.refused_too_long.bump();
        return;
    }
    let sending = peer.carrying().send(clock::now());
    fallback::tell(hub, peer, sending.change);
    if sending.by_link {
        fallback::carry(hub, peer, payload);
    }
    if sending.by_datagram {
        send_to(hub, &route, payload);
    }
}

fn send_to(hub: &Hub, route: &Route, payload: &[u8]) {
    match encode(&route.session, payload) {
        // A socket without room loses the datagram; so may the network.
        Ok(bytes) => match hub.udp.try_send_to(&bytes, hub.datagram_address(route.address)) {
            Ok(length) => {
                hub.counters.datagrams_out.bump();
                hub.counters.bytes_out.add(length);
            }
            Err(_) => hub.counters.datagrams_dropped.bump(),
        },
        Err(SealError::TooLong) => hub.counters.refused_too_long.bump(),
        Err(SealError::Exhausted) => hub.counters.datagrams_dropped.bump(),
    }
}

/// Takes datagrams from the socket, until the task is dropped.
pub(super) async fn receive(hub: Arc<Hub>) {
    // One byte more than allowed, so that a longer datagram shows.
    let mut buffer = [0; DATAGRAM_MAX + 1];
    loop {
        match hub.udp.recv_from(&mut buffer).await {
            Ok((length, _)) => take(&hub, &buffer[..length]),
            // Errors of a socket without a connection are about datagrams sent earlier.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(error) => {
                tracing::debug!(%error, "cannot receive datagrams; trying again");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

fn take(hub: &Hub, bytes: &[u8]) {
    let counters = &hub.counters;
    let datagram = match decode(bytes) {
        Ok(datagram) => datagram,
        Err(DatagramError::Version { .. }) => return counters.refused_version.bump(),
        Err(DatagramError::TooLong) => return counters.refused_too_long.bump(),
        Err(DatagramError::Malformed) => return counters.refused_malformed.bump(),
    };
    let Some((from, session)) = hub.sessions.find(datagram.session) else {
        return counters.refused_unknown_session.bump();
    };
    if datagram.version != session.version() {
        return counters.refused_version.bump();
    }
    let payload = match session.open_datagram(datagram.sequence, datagram.ciphertext) {
        Ok(payload) => payload,
        Err(OpenError::Seal) => return counters.refused_seal.bump(),
        Err(OpenError::Replayed) => return counters.refused_replay.bump(),
    };
    if let Some(peer) = hub.peers.get(&from) {
        if peer.is_blocked() {
            return counters.discarded_blocked.bump();
        }
        peer.note_heard();
        let change = peer.carrying().came(clock::now());
        fallback::tell(hub, peer, change);
    }
    match hub.incoming.try_send(Incoming::Datagram { from, payload }) {
        Ok(()) => {
            counters.datagrams_in.bump();
            counters.bytes_in.add(bytes.len());
        }
        Err(_) => counters.datagrams_dropped.bump(),
    }
}

/// The longest datagram; it fits into one packet on every usual network.
pub const DATAGRAM_MAX: usize = 1200;
/// The longest payload.
pub const PAYLOAD_MAX: usize = DATAGRAM_MAX - HEADER_LENGTH - SEAL_LENGTH;
const HEADER_LENGTH: usize = 17;
const RETRY: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::super::handshake::tests::session_pair;
    use super::*;

    fn open(session: &Session, bytes: &[u8]) -> Option<Vec<u8>> {
        let is_ours = |found: &Datagram<'_>| {
            found.session == session.id() && found.version == session.version()
        };
        let datagram = decode(bytes).ok().filter(is_ours)?;
        session.open_datagram(datagram.sequence, datagram.ciphertext).ok()
    }

    #[test]
    fn datagrams_arrive_in_any_order_and_once_each() {
        let (ours, theirs) = session_pair();
        let sealed: Vec<_> = (0..5).map(|number| encode(&ours, &[number]).unwrap()).collect();
        for number in [4, 0, 2, 1, 3] {
            assert_eq!(open(&theirs, &sealed[number]), Some(vec![number as u8]));
        }
        for again in &sealed {
            assert_eq!(open(&theirs, again), None);
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_refused() {
        let (ours, theirs) = session_pair();
        let sealed = encode(&ours, b"beat").unwrap();
        for bit in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(&theirs, &flipped), None, "bit {bit}");
        }
        for length in 0..sealed.len() {
            assert_eq!(open(&theirs, &sealed[..length]), None, "length {length}");
        }
        assert_eq!(open(&theirs, &sealed), Some(b"beat".to_vec()));
    }

    #[test]
    fn the_longest_payload_fits_and_one_byte_more_does_not() {
        let (ours, theirs) = session_pair();
        let longest = vec![7; PAYLOAD_MAX];
        let sealed = encode(&ours, &longest).unwrap();
        assert_eq!(sealed.len(), DATAGRAM_MAX);
        assert_eq!(open(&theirs, &sealed), Some(longest));
        assert_eq!(encode(&ours, &vec![7; PAYLOAD_MAX + 1]), Err(SealError::TooLong));
        assert_eq!(decode(&vec![2; DATAGRAM_MAX + 1]), Err(DatagramError::TooLong));
    }
}
