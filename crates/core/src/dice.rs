//! Random numbers, passed in by the driver: seeded in the simulator, enumerated in the checker.

use core::time::Duration;

use crate::time::micros;

/// A source of random numbers.
pub trait Dice {
    /// One of `0..faces`, all equally likely. `faces` is at least 1.
    fn roll(&mut self, faces: u32) -> u32;
}

/// A die that always shows the same face (or the highest there is).
#[derive(Clone, Copy, Debug)]
pub struct Fixed(pub u32);

impl Dice for Fixed {
    fn roll(&mut self, faces: u32) -> u32 {
        self.0.min(faces.saturating_sub(1))
    }
}

/// How finely a span of jitter is divided. Few faces, so that a checker can try them all.
pub const JITTER_FACES: u32 = 16;

/// A random part of `span`, from nothing to just under all of it.
pub fn jitter(dice: &mut dyn Dice, span: Duration) -> Duration {
    if span.is_zero() {
        return Duration::ZERO;
    }
    let face = u64::from(dice.roll(JITTER_FACES));
    Duration::from_micros(micros(span) * face / u64::from(JITTER_FACES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_stays_below_its_span_and_costs_no_roll_when_there_is_none() {
        struct Loaded;
        impl Dice for Loaded {
            fn roll(&mut self, _faces: u32) -> u32 {
                panic!("no span, no roll")
            }
        }
        assert_eq!(jitter(&mut Loaded, Duration::ZERO), Duration::ZERO);
        let span = Duration::from_millis(16);
        assert_eq!(jitter(&mut Fixed(0), span), Duration::ZERO);
        assert_eq!(jitter(&mut Fixed(99), span), Duration::from_millis(15));
    }
}
