//! One session: the keys that a handshake left, and what may be sealed with them.
//!
//! Records of the link and datagrams share the keys and never a nonce: a record's nonce is its
//! number on the link, a datagram's has the top bit set. Records come in order, so their numbers
//! are not sent; datagrams carry theirs, and a sliding window refuses what was seen before. Pure:
//! no socket and no clock. New keys come with a new link, which the dialling side makes after an
//! hour.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use snow::StatelessTransportState;

use crate::key::PublicKey;

/// The name of a session: the first bytes of the handshake's hash. Both sides know it, and neither
/// can choose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(pub [u8; 8]);

/// Keys for both directions between two processes.
pub struct Session {
    id: SessionId,
    version: u8,
    noise: StatelessTransportState,
    datagrams_sealed: AtomicU64,
    window: Mutex<ReplayWindow>,
}

impl Session {
    pub(super) fn new(id: SessionId, version: u8, noise: StatelessTransportState) -> Self {
        Self { id, version, noise, datagrams_sealed: AtomicU64::new(0), window: Mutex::default() }
    }

    /// The version of the wire that both sides have agreed on.
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.version
    }

    /// The name of this session.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// The key that the other side has shown in the handshake.
    #[must_use]
    pub fn remote_identity(&self) -> Option<PublicKey> {
        self.noise.get_remote_static().and_then(|key| key.try_into().ok()).map(PublicKey)
    }

    /// Appends the sealed form of a link's record number `sequence` to `out`.
    pub fn seal_record(
        &self,
        sequence: u64,
        plaintext: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), SealError> {
        if sequence >= DATAGRAM_NONCE {
            return Err(SealError::Exhausted);
        }
        self.seal(sequence, plaintext, out)
    }

    /// Appends the plaintext of a link's record number `sequence` to `out`.
    pub fn open_record(
        &self,
        sequence: u64,
        ciphertext: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), OpenError> {
        if sequence >= DATAGRAM_NONCE {
            return Err(OpenError::Seal);
        }
        self.open(sequence, ciphertext, out)
    }

    /// Appends the sealed form of the next datagram to `out`, by its number.
    pub fn seal_datagram(
        &self,
        payload: &[u8],
        out: impl FnOnce(u64) -> Vec<u8>,
    ) -> Result<Vec<u8>, SealError> {
        let sequence = self.datagrams_sealed.fetch_add(1, Ordering::Relaxed);
        if sequence >= DATAGRAMS_MAX {
            return Err(SealError::Exhausted);
        }
        let mut bytes = out(sequence);
        self.seal(DATAGRAM_NONCE | sequence, payload, &mut bytes)?;
        Ok(bytes)
    }

    /// The payload of datagram number `sequence`, which is taken once only.
    pub fn open_datagram(&self, sequence: u64, ciphertext: &[u8]) -> Result<Vec<u8>, OpenError> {
        if sequence >= DATAGRAMS_MAX {
            return Err(OpenError::Seal);
        }
        let mut payload = Vec::new();
        self.open(DATAGRAM_NONCE | sequence, ciphertext, &mut payload)?;
        // Only what is authentic may move the window, or any sender could push it ahead.
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if window.take(sequence) { Ok(payload) } else { Err(OpenError::Replayed) }
    }

    fn seal(&self, nonce: u64, plaintext: &[u8], out: &mut Vec<u8>) -> Result<(), SealError> {
        let start = out.len();
        out.resize(start + plaintext.len() + SEAL_LENGTH, 0);
        let sealed = self.noise.write_message(nonce, plaintext, &mut out[start..]);
        sealed.map(|_| ()).map_err(|_| {
            out.truncate(start);
            SealError::TooLong
        })
    }

    fn open(&self, nonce: u64, ciphertext: &[u8], out: &mut Vec<u8>) -> Result<(), OpenError> {
        let start = out.len();
        out.resize(start + ciphertext.len().saturating_sub(SEAL_LENGTH), 0);
        let opened = self.noise.read_message(nonce, ciphertext, &mut out[start..]);
        opened.map(|_| ()).map_err(|_| {
            out.truncate(start);
            OpenError::Seal
        })
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why something was not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The session has no nonce left.
    #[error("the session has used all its nonces, so nothing more is sent on it; make a new link")]
    Exhausted,
    /// Longer than one message of Noise.
    #[error("more bytes than one sealed message can hold, so it is not sent; split it")]
    TooLong,
}

/// Why something was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Forged, damaged, or of another session.
    #[error("the seal does not open, so the bytes are dropped; they were damaged or forged")]
    Seal,
    /// Taken before, or too old to tell.
    #[error("the datagram was seen before or is too old, so it is dropped; nothing needs doing")]
    Replayed,
}

/// Which of the last 128 numbers were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayWindow {
    /// One above the highest number taken.
    next: u64,
    /// Bit i stands for `next - 1 - i`.
    taken: u128,
}

impl ReplayWindow {
    /// Takes a number; tells whether it was new. What lies below the window counts as seen.
    pub fn take(&mut self, sequence: u64) -> bool {
        if sequence >= self.next {
            let ahead = sequence - self.next + 1;
            let moved = u32::try_from(ahead).ok().and_then(|ahead| self.taken.checked_shl(ahead));
            self.taken = moved.unwrap_or(0) | 1;
            self.next = sequence + 1;
            return true;
        }
        let back = self.next - 1 - sequence;
        if back >= u64::from(u128::BITS) {
            return false;
        }
        let is_new = self.taken & (1 << back) == 0;
        self.taken |= 1 << back;
        is_new
    }
}

/// How much longer the sealed form is.
pub const SEAL_LENGTH: usize = 16;
/// The top bit keeps the nonces of datagrams apart from those of records.
const DATAGRAM_NONCE: u64 = 1 << 63;
/// Noise reserves the nonce of all ones.
const DATAGRAMS_MAX: u64 = (1 << 63) - 1;

#[cfg(test)]
mod tests {
    use super::super::handshake::tests::session_pair;
    use super::*;

    #[test]
    fn a_record_opens_at_the_other_side_under_its_number_only() {
        let (ours, theirs) = session_pair();
        let mut sealed = Vec::new();
        ours.seal_record(7, b"hello", &mut sealed).unwrap();
        let mut opened = Vec::new();
        assert_eq!(theirs.open_record(8, &sealed, &mut opened), Err(OpenError::Seal));
        assert_eq!(ours.open_record(7, &sealed, &mut opened), Err(OpenError::Seal));
        assert_eq!(opened, b"");
        theirs.open_record(7, &sealed, &mut opened).unwrap();
        assert_eq!(opened, b"hello");
    }

    #[test]
    fn every_flipped_bit_and_every_cut_of_a_record_is_refused() {
        let (ours, theirs) = session_pair();
        let mut sealed = Vec::new();
        ours.seal_record(0, b"a record of some length", &mut sealed).unwrap();
        for bit in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let opened = theirs.open_record(0, &flipped, &mut Vec::new());
            assert_eq!(opened, Err(OpenError::Seal), "bit {bit}");
        }
        for length in 0..sealed.len() {
            let opened = theirs.open_record(0, &sealed[..length], &mut Vec::new());
            assert_eq!(opened, Err(OpenError::Seal), "length {length}");
        }
    }

    #[test]
    fn a_datagram_is_never_a_record_of_the_same_number() {
        let (ours, theirs) = session_pair();
        let sealed = ours.seal_datagram(b"beat", |_| Vec::new()).unwrap();
        assert_eq!(theirs.open_record(0, &sealed, &mut Vec::new()), Err(OpenError::Seal));
        let beyond = theirs.open_record(DATAGRAM_NONCE, &sealed, &mut Vec::new());
        assert_eq!(beyond, Err(OpenError::Seal));
        assert_eq!(theirs.open_datagram(0, &sealed).unwrap(), b"beat");
        assert_eq!(theirs.open_datagram(u64::MAX, &sealed), Err(OpenError::Seal));
    }

    #[test]
    fn forged_datagrams_do_not_move_the_window() {
        let (ours, theirs) = session_pair();
        let sealed = ours.seal_datagram(b"beat", |_| Vec::new()).unwrap();
        assert_eq!(theirs.open_datagram(1_000_000, &sealed), Err(OpenError::Seal));
        assert_eq!(theirs.open_datagram(0, &sealed).unwrap(), b"beat");
        assert_eq!(theirs.open_datagram(0, &sealed), Err(OpenError::Replayed));
    }

    #[test]
    fn the_window_agrees_with_a_plain_list_of_what_was_taken() {
        let mut chance = 0x9e37_79b9_7f4a_7c15_u64;
        for round in 0..50 {
            let mut window = ReplayWindow::default();
            let mut taken: Vec<u64> = Vec::new();
            let mut base = 0;
            for _ in 0..400 {
                chance ^= chance << 13;
                chance ^= chance >> 7;
                chance ^= chance << 17;
                base += chance % 3;
                let sequence = match chance >> 60 {
                    0 => base + 300,
                    _ => (base + (chance >> 32) % 140).saturating_sub(139),
                };
                let highest = taken.iter().max().copied();
                let is_old = highest.is_some_and(|highest| sequence + 128 <= highest);
                let expected = !is_old && !taken.contains(&sequence);
                assert_eq!(window.take(sequence), expected, "round {round}, {sequence}");
                if expected {
                    taken.push(sequence);
                }
            }
        }
    }
}
