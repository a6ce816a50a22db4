//! Waiting for a condition. Every wait of these tests is one of these, with one limit.

use std::thread;
use std::time::{Duration, Instant};

/// No wait takes longer, even on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(90);

/// Calls `look` until it returns something, and returns that.
pub(crate) fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(LIMIT, look, || what.to_owned())
}

/// The same with another limit, and a description that is made only if the wait fails.
pub(crate) fn within<T>(
    limit: Duration,
    mut look: impl FnMut() -> Option<T>,
    what: impl FnOnce() -> String,
) -> T {
    let end = Instant::now() + limit;
    loop {
        let began = Instant::now();
        if let Some(found) = look() {
            return found;
        }
        assert!(began < end, "not within {limit:?}: {}", what());
        // Leaves the processor to the agents at least half of the time.
        thread::sleep(began.elapsed().clamp(PAUSE_MIN, PAUSE_MAX));
    }
}

const PAUSE_MIN: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(200);
