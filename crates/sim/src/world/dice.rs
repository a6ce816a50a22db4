//! The only source of randomness in a run: a named, portable generator behind the core's [`Dice`].

use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use tanist_core::Dice;
use tanist_core::time::micros;

/// Seeded randomness. Ranges are drawn by our own arithmetic, so a replay survives upgrades.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeededDice(Xoshiro256PlusPlus);

impl SeededDice {
    /// The same seed gives the same sequence, on every machine.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// One of `0..end`; 0 if `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(end);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// True with a probability of `millionths` / 1,000,000.
    pub fn happens(&mut self, millionths: u32) -> bool {
        millionths > 0 && self.below(1_000_000) < u64::from(millionths)
    }

    /// A duration between the two, both included.
    pub fn between(&mut self, least: Duration, most: Duration) -> Duration {
        let (least, most) = (micros(least), micros(most));
        if most <= least {
            return Duration::from_micros(least);
        }
        Duration::from_micros(least + self.below(most - least + 1))
    }

    /// One of the given values.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let at = usize::try_from(self.below(from.len() as u64)).ok()?;
        from.get(at).copied()
    }
}

impl Dice for SeededDice {
    fn roll(&mut self, faces: u32) -> u32 {
        u32::try_from(self.below(u64::from(faces))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_a_seed_is_pinned() {
        let mut dice = SeededDice::new(7);
        let first: Vec<u64> = (0..6).map(|_| dice.below(100)).collect();
        assert_eq!(first, PINNED, "a change here breaks every recorded seed");
    }

    const PINNED: [u64; 6] = [5, 17, 71, 42, 96, 46];
}
