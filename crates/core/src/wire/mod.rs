//! Messages as bytes: CBOR, with a number for every kind and every field.
//!
//! ```text
//!   message = [kind, [field 0, field 1, ...]]       nested by layer and algorithm
//! ```
//!
//! The core's own types are what is encoded; the numbers stand beside them as `#[n(..)]`. A number
//! is never changed and never used again. A message may get a field at its end, optional or with a
//! default: an older reader skips it. A new kind is refused by an older reader as [`Unknown`], so a
//! driver can drop it and count it separately from invalid bytes.
//!
//! Assumes that the transport separates messages, and vouches for the sender. Leaves out: frames,
//! checksums, which peer may send what.
//!
//! [`Unknown`]: DecodeError::Unknown

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use minicbor::Decoder;

use crate::node::Message;

/// The bytes of a message.
#[must_use]
pub fn encode(message: &Message) -> Vec<u8> {
    minicbor::to_vec(message).expect("writing to memory cannot fail, and no field refuses itself")
}

/// The message in these bytes, which must contain nothing else. Memory stays within a small
/// multiple of the input, whatever lengths it claims.
pub fn decode(bytes: &[u8]) -> Result<Message, DecodeError> {
    let mut decoder = Decoder::new(bytes);
    match decoder.decode() {
        Ok(message) => {
            let trailing = bytes.len() - decoder.position();
            if trailing > 0 { Err(DecodeError::Trailing { trailing }) } else { Ok(message) }
        }
        Err(error) if error.is_unknown_variant() && is_well_formed(bytes) => {
            Err(DecodeError::Unknown)
        }
        Err(error) => {
            let at = error.position().unwrap_or_else(|| decoder.position());
            Err(DecodeError::Malformed { at })
        }
    }
}

/// Whether the bytes are one value of CBOR, whatever it means.
fn is_well_formed(bytes: &[u8]) -> bool {
    let mut decoder = Decoder::new(bytes);
    decoder.skip().is_ok() && decoder.position() == bytes.len()
}

/// Why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A kind of message that this version has no number for.
    #[error(
        "the peer sent a kind of message that this version does not know, so it was dropped; \
         run the same version on all nodes"
    )]
    Unknown,
    /// Not CBOR, cut short, or not the fields that a message of its kind has.
    #[error(
        "the bytes from {at} on are no part of a message, so it was dropped; \
         look for another program on this port, or a peer of an incompatible version"
    )]
    Malformed {
        /// Where reading ended.
        at: usize,
    },
    /// A message, and then more.
    #[error(
        "a message was followed by {trailing} bytes that belong to nothing, so it was dropped; \
         look for a peer of an incompatible version"
    )]
    Trailing {
        /// How many bytes are too many.
        trailing: usize,
    },
}
