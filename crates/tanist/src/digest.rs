//! BLAKE2s, the hash of the handshake, for everything else in this crate that needs a digest.

use snow::params::HashChoice;
use snow::resolvers::{CryptoResolver as _, DefaultResolver};

/// The digest of some parts. Each part's length is hashed before it, so that no two lists of parts
/// have the same digest by moving bytes from one part to the next.
pub(crate) fn blake2s(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = DefaultResolver
        .resolve_hash(&HashChoice::Blake2s)
        .expect("the features of snow that this crate asks for hold it");
    for part in parts {
        hash.input(&(part.len() as u64).to_be_bytes());
        hash.input(part);
    }
    let mut digest = [0; 32];
    hash.result(&mut digest);
    digest
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Fills `bytes` from twice as many hexadecimal digits. The error says where the first character is
/// that is not one, counted from one, or how many digits there are.
pub(crate) fn unhex(digits: &str, bytes: &mut [u8]) -> Result<(), HexError> {
    if let Some(position) = digits.bytes().position(|digit| !digit.is_ascii_hexdigit()) {
        return Err(HexError::Digit { position: position + 1 });
    }
    if digits.len() != 2 * bytes.len() {
        return Err(HexError::Length { found: digits.len() });
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        *byte = (value_of(pair[0]) << 4) | value_of(pair[1]);
    }
    Ok(())
}

/// Why digits are not the bytes that were wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HexError {
    /// Not a digit, at this position.
    Digit { position: usize },
    /// Too few or too many.
    Length { found: usize },
}

/// The value of a hexadecimal digit; the caller has checked that it is one.
const fn value_of(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => 0,
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_differ_in_their_borders_have_different_digests() {
        assert_ne!(blake2s(&[b"ab", b"c"]), blake2s(&[b"a", b"bc"]));
        assert_ne!(blake2s(&[b"abc"]), blake2s(&[b"abc", b""]));
        assert_eq!(blake2s(&[b"abc"]), blake2s(&[b"abc"]));
    }

    #[test]
    fn bytes_survive_their_digits() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut again = vec![0; 256];
        unhex(&hex(&bytes), &mut again).unwrap();
        assert_eq!(again, bytes);
        assert_eq!(unhex("0g", &mut [0]), Err(HexError::Digit { position: 2 }));
        assert_eq!(unhex("012", &mut [0]), Err(HexError::Length { found: 3 }));
    }
}
