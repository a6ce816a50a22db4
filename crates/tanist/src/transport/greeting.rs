//! What a listener says first on every connection: a fresh challenge, and which keys it accepts.
//!
//! ```text
//! greeting    [formats min u8] [max u8] [count u8] [key id: 4 bytes] * count [challenge: 32 bytes]
//! message 1   [format u8] [key id: 4 bytes] [reserved: 3 bytes] [Noise message 1]
//! ```
//!
//! Both are hashed into the handshake as its prologue. So a recorded message 1 opens nowhere else,
//! which the listener finds out with a hash and one symmetric operation, before any arithmetic on
//! curves. Bytes that a later version adds to the end of the greeting, or writes into the reserved
//! ones, are hashed and otherwise ignored. Pure: bytes in, values out.

use super::handshake::HandshakeError;
use crate::key::{GroupKey, KEYS_MAX, KeyId, Keyring};

/// The first message on a connection, from the listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    bytes: Vec<u8>,
    keys: Vec<KeyId>,
}

impl Greeting {
    /// A greeting that was never said before, of a listener with these keys.
    pub fn fresh(keyring: &Keyring) -> Result<Self, getrandom::Error> {
        let mut challenge = [0; CHALLENGE_LENGTH];
        getrandom::fill(&mut challenge)?;
        let keys: Vec<KeyId> = keyring.keys().iter().map(GroupKey::id).collect();
        let mut bytes = vec![FORMAT, FORMAT, u8::try_from(keys.len()).unwrap_or(u8::MAX)];
        for key in &keys {
            bytes.extend_from_slice(&key.0);
        }
        bytes.extend_from_slice(&challenge);
        Ok(Self { bytes, keys })
    }

    /// Takes the bytes of a greeting.
    pub fn decode(bytes: &[u8]) -> Result<Self, HandshakeError> {
        let [min, max, count, rest @ ..] = bytes else { return Err(HandshakeError::Greeting) };
        if !(*min..=*max).contains(&FORMAT) {
            return Err(HandshakeError::Format);
        }
        let (ids, rest) = rest
            .split_at_checked(usize::from(*count) * KEY_ID_LENGTH)
            .ok_or(HandshakeError::Greeting)?;
        if usize::from(*count) > KEYS_MAX || rest.len() < CHALLENGE_LENGTH {
            return Err(HandshakeError::Greeting);
        }
        let ids = ids.chunks_exact(KEY_ID_LENGTH);
        let keys = ids.filter_map(|id| id.try_into().ok().map(KeyId)).collect();
        Ok(Self { bytes: bytes.to_vec(), keys })
    }

    /// The bytes of this greeting.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The key to dial with: the one that this node uses if the listener accepts it, else the first
    /// that both have.
    #[must_use]
    pub fn choose<'a>(&self, keyring: &'a Keyring) -> Option<&'a GroupKey> {
        keyring.keys().iter().find(|key| self.keys.contains(&key.id()))
    }

    /// What is hashed before message 1, for both sides.
    pub(super) fn prologue(&self, header: &[u8; HEADER_LENGTH]) -> Vec<u8> {
        [PROLOGUE, header, &self.bytes].concat()
    }
}

/// What stands before Noise's own message 1.
pub(super) fn header(key: KeyId) -> [u8; HEADER_LENGTH] {
    let [a, b, c, d] = key.0;
    [FORMAT, a, b, c, d, 0, 0, 0]
}

/// The header and the rest of message 1, and which key it names.
pub(super) fn split(
    message: &[u8],
) -> Result<(&[u8; HEADER_LENGTH], KeyId, &[u8]), HandshakeError> {
    let (header, rest) =
        message.split_first_chunk::<HEADER_LENGTH>().ok_or(HandshakeError::Seal)?;
    let [format, a, b, c, d, ..] = *header;
    if format == FORMAT {
        Ok((header, KeyId([a, b, c, d]), rest))
    } else {
        Err(HandshakeError::Format)
    }
}

/// The format of greeting and handshake. The first one had neither greeting nor header.
const FORMAT: u8 = 2;
const CHALLENGE_LENGTH: usize = 32;
const KEY_ID_LENGTH: usize = 4;
pub(super) const HEADER_LENGTH: usize = 8;
const PROLOGUE: &[u8] = b"tanist transport 2";

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(keys: &[&GroupKey]) -> Keyring {
        let mut ring = Keyring::of(keys[0].clone());
        for key in &keys[1..] {
            ring.add((*key).clone()).unwrap();
        }
        ring
    }

    #[test]
    fn a_greeting_survives_its_bytes_and_is_never_the_same() {
        let ring = Keyring::of(GroupKey::generate().unwrap());
        let greeting = Greeting::fresh(&ring).unwrap();
        assert_eq!(Greeting::decode(greeting.bytes()), Ok(greeting.clone()));
        assert_ne!(Greeting::fresh(&ring).unwrap(), greeting);
    }

    #[test]
    fn the_key_in_use_is_preferred_and_any_common_one_is_found() {
        let [a, b, c] = std::array::from_fn(|_| GroupKey::generate().unwrap());
        let chosen = |listener: &[&GroupKey], dialler: &[&GroupKey]| {
            let greeting = Greeting::fresh(&ring(listener)).unwrap();
            greeting.choose(&ring(dialler)).map(GroupKey::id)
        };
        assert_eq!(chosen(&[&a, &b], &[&b, &a]), Some(b.id()));
        assert_eq!(chosen(&[&a, &b], &[&c, &a]), Some(a.id()));
        assert_eq!(chosen(&[&a, &b], &[&c]), None);
    }

    #[test]
    fn every_cut_is_refused_and_more_at_the_end_is_not() {
        let greeting = Greeting::fresh(&Keyring::of(GroupKey::generate().unwrap())).unwrap();
        for length in 0..greeting.bytes().len() {
            assert!(Greeting::decode(&greeting.bytes()[..length]).is_err(), "length {length}");
        }
        let longer = [greeting.bytes(), b"later"].concat();
        assert!(Greeting::decode(&longer).is_ok());
        assert_eq!(Greeting::decode(&[3, 4, 0]), Err(HandshakeError::Format));
    }
}
