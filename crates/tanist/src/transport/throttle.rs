//! A warning that cannot flood the log.
//!
//! Everyone who can reach a port can cause its warnings, and could otherwise fill the disk.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Lets one warning pass in ten seconds and counts the others.
///
/// ```
/// static REFUSED: tanist::transport::Throttle = tanist::transport::Throttle::new();
/// if let Some(held_back) = REFUSED.pass() {
///     eprintln!("refused a client; {held_back} such lines were held back");
/// }
/// assert_eq!(REFUSED.pass(), None);
/// ```
#[derive(Debug, Default)]
pub struct Throttle(Mutex<Passed>);

#[derive(Debug, Default)]
struct Passed {
    last: Option<Instant>,
    held_back: u64,
}

impl Throttle {
    /// The first warning passes.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(Passed { last: None, held_back: 0 }))
    }

    /// Whether to warn: if so, how many warnings were held back since the last one.
    pub fn pass(&self) -> Option<u64> {
        let mut passed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if passed.last.is_some_and(|last| last.elapsed() < INTERVAL) {
            passed.held_back += 1;
            return None;
        }
        passed.last = Some(Instant::now());
        Some(std::mem::take(&mut passed.held_back))
    }
}

const INTERVAL: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_warning_passes_and_the_next_are_held_back() {
        let throttle = Throttle::default();
        assert_eq!(throttle.pass(), Some(0));
        assert_eq!(throttle.pass(), None);
        assert_eq!(throttle.pass(), None);
        throttle.0.lock().unwrap().last = None;
        assert_eq!(throttle.pass(), Some(2));
    }
}
