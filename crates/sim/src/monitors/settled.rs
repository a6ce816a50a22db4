//! "Eventually", for a run that ends: true at the end, and not just between two relapses.

use std::time::Duration;

use tanist_core::Time;
use tanist_core::trace::Header;

/// How many check periods without a fault it takes before relapsing counts as never settling.
const PATIENCE: u32 = 4;

/// Follows whether a condition has come to stay.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    since: Option<Time>,
    longest: Duration,
    /// One round of whatever happens periodically.
    round: Duration,
    disturbed_at: Time,
}

impl Settled {
    pub(super) fn new(header: &Header) -> Self {
        Self {
            since: None,
            longest: Duration::ZERO,
            round: Duration::from_micros(header.check_every_us + 2 * header.answer_us),
            disturbed_at: Time::ZERO,
        }
    }

    pub(super) fn note(&mut self, at: Time, disturbed_at: Time, is_good: bool) {
        if disturbed_at > self.disturbed_at {
            self.disturbed_at = disturbed_at;
            self.longest = Duration::ZERO;
            self.since = None;
        }
        match (self.since, is_good) {
            (None, true) => self.since = Some(at),
            (Some(since), false) => {
                self.longest = self.longest.max(at.since(since));
                self.since = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }

    /// Whether it was reached but never lasted a round, although nothing disturbed it for long.
    pub(super) fn is_relapsing(&self, at: Time) -> bool {
        let longest = self.since.map_or(self.longest, |since| self.longest.max(at.since(since)));
        at.since(self.disturbed_at) > self.round * PATIENCE && longest < self.round
    }
}
