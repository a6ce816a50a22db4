//! "Eventually", for a run that ends: true at the end, and not only between two relapses.

use std::time::Duration;

use tanist_core::Time;
use tanist_core::trace::{Event, Header};

use super::{Interest, Monitor, Violation};
use crate::observe::global_state::GlobalState;

/// A property that must hold eventually.
pub(crate) trait Eventual: Clone + Send + Sync + 'static {
    /// The assertion's id in the conformance list.
    const ID: &'static str;

    /// Where the property does not hold, if anywhere.
    fn violation(&self, global: &GlobalState) -> Option<Violation>;

    /// What is reported if the property was reached again and again and never lasted.
    fn relapse(&self, global: &GlobalState) -> Violation;

    /// Whether the assertion says anything about a run that ends in this global state.
    fn is_applicable(&self, global: &GlobalState) -> bool;
}

/// The monitor of an eventual property: it must hold at the end, and have lasted.
#[derive(Clone)]
pub(crate) struct Eventually<P> {
    property: P,
    settled: Settled,
}

impl<P: Eventual> Eventually<P> {
    pub(crate) fn new(property: P, header: &Header) -> Self {
        Self { property, settled: Settled::new(header) }
    }
}

impl<P: Eventual> Monitor for Eventually<P> {
    fn id(&self) -> &'static str {
        P::ID
    }

    fn interest(&self) -> Interest {
        Interest::STATE.and(Interest::FAULT)
    }

    fn see(&mut self, global: &GlobalState, at: Time, _event: &Event) -> Option<Violation> {
        let is_good = self.property.violation(global).is_none();
        self.settled.note(at, global.disturbed_at, is_good);
        None
    }

    fn finish(&mut self, global: &GlobalState, at: Time) -> Option<Violation> {
        if !self.is_applicable(global) {
            return None;
        }
        let relapse = || self.property.relapse(global);
        let violation = self.property.violation(global);
        violation.or_else(|| self.settled.is_relapsing(at).then(relapse))
    }

    fn is_about_the_end(&self) -> bool {
        true
    }

    fn is_settled(&self, global: &GlobalState) -> bool {
        self.property.violation(global).is_none()
    }

    fn is_applicable(&self, global: &GlobalState) -> bool {
        self.property.is_applicable(global)
    }
}

/// Tracks whether a condition has become permanent.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    since: Option<Time>,
    longest: Duration,
    /// One round of the periodic activities: a check and its answers.
    round: Duration,
    disturbed_at: Time,
}

impl Settled {
    pub(super) fn new(header: &Header) -> Self {
        Self {
            since: None,
            longest: Duration::ZERO,
            round: round(header),
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

    /// Whether the condition never lasted a round, although no fault happened for several rounds.
    pub(super) fn is_relapsing(&self, at: Time) -> bool {
        let longest = self.since.map_or(self.longest, |since| self.longest.max(at.since(since)));
        at.since(self.disturbed_at) > self.round * PATIENCE && longest < self.round
    }
}

/// One round of the periodic activities: a check and its answers. Durations are long enough for any
/// number of microseconds in a header.
fn round(header: &Header) -> Duration {
    Duration::from_micros(header.check_every_us) + Duration::from_micros(header.answer_us) * 2
}

/// How many rounds without a fault pass before a condition that relapses counts as violated.
const PATIENCE: u32 = 4;
