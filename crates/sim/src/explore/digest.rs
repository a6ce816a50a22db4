//! A digest of 128 bits: two values with the same digest are taken for equal.
//!
//! Two lanes of multiply-and-fold, as in wyhash and foldhash, each with its own constants. It is
//! made for millions of small values and is not safe against values chosen to collide. The standard
//! library's hasher is several times slower and has 64 bits only. The same value gives the same
//! digest on every 64-bit machine and in every run.

use std::hash::{Hash, Hasher};

/// The digest of a value.
#[must_use]
pub fn digest(value: &impl Hash) -> u128 {
    let mut digester = Digester::new();
    value.hash(&mut digester);
    digester.wide()
}

/// Computes a digest piece by piece.
#[derive(Clone, Debug)]
pub struct Digester {
    one: u64,
    other: u64,
}

impl Digester {
    /// A digest of nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { one: ONE, other: OTHER }
    }

    /// The digest of everything so far.
    #[must_use]
    pub fn wide(&self) -> u128 {
        let one = fold(self.one ^ self.other.rotate_left(32), ONE);
        let other = fold(self.other ^ self.one.rotate_left(23), OTHER);
        (u128::from(one) << 64) | u128::from(other)
    }
}

impl Default for Digester {
    fn default() -> Self {
        Self::new()
    }
}

impl Hasher for Digester {
    fn finish(&self) -> u64 {
        fold(self.one ^ self.other.rotate_left(32), ONE)
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.write_u64(chunk.iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte)));
        }
        let rest = chunks.remainder();
        if !rest.is_empty() {
            let length = bytes.len() as u64;
            let rest = rest.iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
            // A remainder has at most seven bytes; the eighth holds the length.
            self.write_u64(rest | (length << 56));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.one = fold(self.one ^ value, ONE_STEP);
        self.other = fold(self.other.rotate_left(29) ^ value, OTHER_STEP).wrapping_add(value);
    }

    fn write_u128(&mut self, value: u128) {
        self.write_u64((value >> 64) as u64);
        self.write_u64(value as u64);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// Combines both halves of a product, so that every bit of the factors affects every bit of the
/// result.
const fn fold(value: u64, by: u64) -> u64 {
    let product = (value as u128) * (by as u128);
    ((product >> 64) as u64) ^ (product as u64)
}

// Digits of pi: constants without a hidden purpose.
const ONE: u64 = 0x243f_6a88_85a3_08d3;
const OTHER: u64 = 0x1319_8a2e_0370_7344;
const ONE_STEP: u64 = 0xa409_3822_299f_31d1;
const OTHER_STEP: u64 = 0x082e_fa98_ec4e_6c89;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_million_near_values_differ_in_either_half() {
        let numbers: Vec<u128> = (0..1_000_000_u32).map(|value| digest(&(7_u8, value))).collect();
        let high: BTreeSet<u64> = numbers.iter().map(|number| (number >> 64) as u64).collect();
        let low: BTreeSet<u64> = numbers.iter().map(|number| *number as u64).collect();
        assert_eq!((high.len(), low.len()), (1_000_000, 1_000_000));
    }

    #[test]
    fn bytes_that_end_in_zeros_differ_from_shorter_ones() {
        let all: BTreeSet<u128> = (0..40).map(|length| digest(&vec![0_u8; length])).collect();
        assert_eq!(all.len(), 40);
    }

    #[test]
    fn the_order_of_pieces_counts() {
        assert_ne!(digest(&(1_u32, 2_u32)), digest(&(2_u32, 1_u32)));
    }
}
