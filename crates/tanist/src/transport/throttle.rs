//! A warning that cannot flood the log.
//!
//! Whoever can reach the port could otherwise fill the disk.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Lets one warning pass per interval and counts the others.
#[derive(Debug, Default)]
pub(super) struct Throttle(Mutex<Passed>);

#[derive(Debug, Default)]
struct Passed {
    last: Option<Instant>,
    held_back: u64,
}

impl Throttle {
    /// Whether to warn: if so, how many warnings were held back since the last one.
    pub(super) fn pass(&self) -> Option<u64> {
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
