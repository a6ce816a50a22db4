//! Counters of what hooks did.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

/// Counters of all hooks of an agent, by the hook's name. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    counts: Arc<Mutex<BTreeMap<&'static str, Count>>>,
}

/// What one hook did so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Count {
    /// Programs that were started and have ended, in whatever way.
    pub(crate) runs: u64,
    /// Those that ended with another code than 0 or by a signal that was not ours.
    pub(crate) failures: u64,
    /// Those that ran for too long and were ended.
    pub(crate) timeouts: u64,
    /// Programs that were not started: others could have changed them, they are not there, or
    /// earlier ones hang.
    pub(crate) refused: u64,
    /// News that were old before their turn came.
    pub(crate) skipped: u64,
    /// How long all runs together took.
    pub(crate) seconds: f64,
    /// Runs by how long they took: those up to [`BOUNDS`] seconds, and the longer ones last.
    pub(crate) buckets: [u64; BOUNDS.len() + 1],
}

/// How the run of a hook ended, for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Code 0.
    Well,
    /// Anything else.
    Failed,
    /// It ran for too long.
    TimedOut,
}

impl Counters {
    /// All hooks that were ever run, refused or skipped.
    pub(crate) fn snapshot(&self) -> BTreeMap<&'static str, Count> {
        self.lock().clone()
    }

    /// Counts a run.
    pub(crate) fn ran(&self, hook: &'static str, outcome: Outcome, took: Duration) {
        let mut counts = self.lock();
        let count = counts.entry(hook).or_default();
        count.runs += 1;
        match outcome {
            Outcome::Well => {}
            Outcome::Failed => count.failures += 1,
            Outcome::TimedOut => count.timeouts += 1,
        }
        let seconds = took.as_secs_f64();
        count.seconds += seconds;
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        count.buckets[bucket] += 1;
    }

    /// Counts a program that was not started.
    pub(crate) fn refused(&self, hook: &'static str) {
        self.lock().entry(hook).or_default().refused += 1;
    }

    /// Counts a hook that was left out.
    pub(crate) fn skipped(&self, hook: &'static str) {
        self.lock().entry(hook).or_default().skipped += 1;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Count>> {
        // No holder can panic: numbers are only added.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Upper bounds of the buckets, in seconds: from a script that sets a flag to the default timeout.
pub(crate) const BOUNDS: [f64; 9] = [0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_counts_once_in_the_bucket_of_its_length() {
        let counters = Counters::default();
        counters.ran("leader", Outcome::Well, Duration::from_millis(7));
        counters.ran("leader", Outcome::TimedOut, Duration::from_secs(12));
        counters.ran("leader", Outcome::Failed, Duration::from_millis(1));
        counters.skipped("member");
        let counts = counters.snapshot();
        let leader = &counts["leader"];
        assert_eq!((leader.runs, leader.failures, leader.timeouts), (3, 1, 1));
        assert_eq!(leader.buckets, [1, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!((counts["member"].skipped, counts["member"].runs), (1, 0));
    }
}
