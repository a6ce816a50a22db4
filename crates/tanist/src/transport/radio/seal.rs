//! Keys for radio packets.
//!
//! There is no handshake with nodes that are not known yet, so each incarnation of a node has a key
//! of its own, made from the group's key, the group's name, the node and a random name of the
//! incarnation. No two incarnations share a key, so each can count its nonces from zero without
//! remembering anything. The cipher and the hash are those of the links' handshake.
//!
//! Assumes that every process with the group's key may send as any node, as with links.

use std::fmt;

use snow::params::{CipherChoice, HashChoice};
use snow::resolvers::{CryptoResolver as _, DefaultResolver};
use snow::types::Cipher;
use tanist_core::membership::NodeId;
use zeroize::Zeroizing;

use super::super::session::{OpenError, SEAL_LENGTH, SealError};
use crate::key::GroupKey;

/// The random name of one incarnation of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IncarnationId(pub(super) [u8; INCARNATION_LENGTH]);

impl IncarnationId {
    pub(super) fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; INCARNATION_LENGTH];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// A shorter name of the same incarnation, for the driver.
    pub(super) fn short(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

/// The key of one incarnation of one node in one group.
pub(super) struct Seal(Box<dyn Cipher>);

impl Seal {
    pub(super) fn new(
        key: &GroupKey,
        group: &str,
        node: NodeId,
        incarnation: IncarnationId,
    ) -> Self {
        let found = "the features of snow that this crate asks for hold it";
        let mut hash = DefaultResolver.resolve_hash(&HashChoice::Blake2s).expect(found);
        let mut cipher = DefaultResolver.resolve_cipher(&CipherChoice::ChaChaPoly).expect(found);
        // The name comes last, since it is the one part whose length varies.
        let mut context = Vec::with_capacity(LABEL.len() + 4 + INCARNATION_LENGTH + group.len());
        context.extend_from_slice(LABEL);
        context.extend_from_slice(&node.0.to_be_bytes());
        context.extend_from_slice(&incarnation.0);
        context.extend_from_slice(group.as_bytes());
        let mut secret = Zeroizing::new([0; 32]);
        hash.hmac(key.secret(), &context, secret.as_mut_slice());
        cipher.set(&secret);
        Self(cipher)
    }

    /// Appends the sealed form to a header, which the seal covers.
    pub(super) fn close(
        &self,
        sequence: u64,
        plaintext: &[u8],
        mut header: Vec<u8>,
    ) -> Result<Vec<u8>, SealError> {
        if sequence == u64::MAX {
            return Err(SealError::Exhausted);
        }
        let start = header.len();
        header.resize(start + plaintext.len() + SEAL_LENGTH, 0);
        let (header_bytes, sealed) = header.split_at_mut(start);
        self.0.encrypt(sequence, header_bytes, plaintext, sealed);
        Ok(header)
    }

    /// What was sealed under this header.
    pub(super) fn open(
        &self,
        sequence: u64,
        header: &[u8],
        sealed: &[u8],
    ) -> Result<Vec<u8>, OpenError> {
        let length = sealed.len().checked_sub(SEAL_LENGTH).ok_or(OpenError::Seal)?;
        if sequence == u64::MAX {
            return Err(OpenError::Seal);
        }
        let mut plaintext = vec![0; length];
        let opened = self.0.decrypt(sequence, header, sealed, &mut plaintext);
        opened.map(|_| plaintext).map_err(|_| OpenError::Seal)
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal(hidden)")
    }
}

/// The length of an incarnation's name: two incarnations never choose the same one.
pub(super) const INCARNATION_LENGTH: usize = 16;
const LABEL: &[u8] = b"tanist radio 1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_group_node_and_life_open_a_seal() {
        let (key, incarnation) = (GroupKey::generate().unwrap(), IncarnationId::new().unwrap());
        let ours = Seal::new(&key, "jobs", NodeId(1), incarnation);
        let bytes = ours.close(7, b"hello", b"head".to_vec()).unwrap();
        let (header, sealed) = bytes.split_at(4);
        let again = Seal::new(&key, "jobs", NodeId(1), incarnation);
        assert_eq!(again.open(7, header, sealed).unwrap(), b"hello");
        let others = [
            Seal::new(&GroupKey::generate().unwrap(), "jobs", NodeId(1), incarnation),
            Seal::new(&key, "mail", NodeId(1), incarnation),
            Seal::new(&key, "jobs", NodeId(2), incarnation),
            Seal::new(&key, "jobs", NodeId(1), IncarnationId::new().unwrap()),
        ];
        for other in others {
            assert_eq!(other.open(7, header, sealed), Err(OpenError::Seal));
        }
        assert_eq!(again.open(8, header, sealed), Err(OpenError::Seal));
        assert_eq!(again.open(7, b"heat", sealed), Err(OpenError::Seal));
        for length in 0..sealed.len() {
            assert_eq!(again.open(7, header, &sealed[..length]), Err(OpenError::Seal));
        }
    }

    #[test]
    fn the_last_nonce_is_never_used() {
        let key = GroupKey::generate().unwrap();
        let seal = Seal::new(&key, "jobs", NodeId(1), IncarnationId::new().unwrap());
        assert_eq!(seal.close(u64::MAX, b"x", Vec::new()), Err(SealError::Exhausted));
        assert_eq!(seal.open(u64::MAX, b"", &[0; 20]), Err(OpenError::Seal));
    }
}
