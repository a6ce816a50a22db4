//! Spreads many cases over threads, and finds the first that fails.
//!
//! Cases are numbered and handed out in order. A failure ends the campaign for later cases but not
//! for earlier ones that are in progress, so which failure is first does not depend on the threads.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tanist_sim::studies::fuzz::Outcome;

use crate::process::interrupt;
use crate::terminal::violation;

/// Many cases, on how many threads and until when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Campaign {
    /// On how many threads.
    pub(crate) jobs: usize,
    /// How many cases there are.
    pub(crate) cases: u64,
    /// When it is over.
    pub(crate) until: Until,
}

/// When a campaign is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// When the first failure is known.
    Failure,
    /// When every case was judged.
    End,
}

/// What a campaign found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    /// How many cases were judged.
    pub(crate) judged: u64,
    /// Steps that nodes took.
    pub(crate) events: u64,
    /// Time that passed in the worlds.
    pub(crate) simulated: Duration,
    /// Elections that were decided.
    pub(crate) elections: u64,
    /// Time that passed outside.
    pub(crate) took: Duration,
    /// The cases that failed, in order; only the first if one ends the campaign.
    pub(crate) failures: Vec<Failure>,
}

/// A case that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Its number.
    pub(crate) case: u64,
    /// Which assertion broke, or that the code panicked.
    pub(crate) assertion: &'static str,
    /// How it failed, in a line.
    pub(crate) what: String,
}

impl Campaign {
    /// Judges the cases; `on_case` hears of each as it is done.
    pub(crate) fn run(
        self,
        judge: &(dyn Fn(u64) -> Outcome + Sync),
        on_case: &(dyn Fn(Option<&Failure>) + Sync),
    ) -> Summary {
        let began = Instant::now();
        let next = AtomicU64::new(0);
        let end = AtomicU64::new(self.cases);
        let shared = Mutex::new(Summary::default());
        thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(|| {
                    let part = self.work(&next, &end, judge, on_case);
                    // A worker catches panics, so no thread leaves the lock poisoned.
                    let mut summary = shared.lock().expect("no thread panics while it adds up");
                    summary.add(part);
                });
            }
        });
        let mut summary = shared.into_inner().expect("no thread panics while it adds up");
        summary.took = began.elapsed();
        summary.failures.sort_by_key(|failure| failure.case);
        if self.until == Until::Failure {
            summary.failures.truncate(1);
        }
        summary
    }

    /// What one thread does.
    fn work(
        self,
        next: &AtomicU64,
        end: &AtomicU64,
        judge: &(dyn Fn(u64) -> Outcome + Sync),
        on_case: &(dyn Fn(Option<&Failure>) + Sync),
    ) -> Summary {
        let mut summary = Summary::default();
        while !interrupt::is_asked() {
            let case = next.fetch_add(1, Ordering::Relaxed);
            if case >= end.load(Ordering::Relaxed) {
                break;
            }
            let failure = summary.note(case, catch_unwind(AssertUnwindSafe(|| judge(case))));
            on_case(failure);
            if failure.is_some() && self.until == Until::Failure {
                end.fetch_min(case, Ordering::Relaxed);
            }
        }
        summary
    }
}

impl Summary {
    /// How many of something there were in a second of real time.
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    pub(crate) fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.took.as_secs_f64().max(f64::EPSILON)
    }

    /// Adds what came of a case. A panic is a failure like any other: an assertion of the code.
    fn note(
        &mut self,
        case: u64,
        outcome: Result<Outcome, Box<dyn Any + Send>>,
    ) -> Option<&Failure> {
        self.judged += 1;
        let (assertion, what) = match outcome {
            Ok(outcome) => {
                self.events += outcome.events;
                self.simulated += outcome.simulated;
                self.elections += outcome.elections;
                let violated = outcome.failure?;
                (violated.assertion, violation::line(&violated))
            }
            Err(panic) => ("panic", format!("panicked: {}", words(panic.as_ref()))),
        };
        self.failures.push(Failure { case, assertion, what });
        self.failures.last()
    }

    fn add(&mut self, part: Self) {
        self.judged += part.judged;
        self.events += part.events;
        self.simulated += part.simulated;
        self.elections += part.elections;
        self.failures.extend(part.failures);
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use tanist_core::{NodeId, Time};
    use tanist_sim::monitors::Violation;
    use tanist_sim::observe::observers::Violated;

    use super::*;

    fn outcome(failure: Option<Violated>) -> Outcome {
        Outcome { events: 1, simulated: Duration::from_secs(1), elections: 2, failure }
    }

    fn fails_from(first: u64) -> impl Fn(u64) -> Outcome + Sync {
        move |case| {
            let violation = Violation { nodes: vec![NodeId(3)], why: "two of them".to_owned() };
            let violated = Violated { assertion: "A-1.1", at: Time::from_micros(case), violation };
            outcome((case >= first).then_some(violated))
        }
    }

    #[test]
    fn the_first_failure_is_found_whatever_the_threads_do() {
        for jobs in [1, 2, 7] {
            let campaign = Campaign { jobs, cases: 1000, until: Until::Failure };
            let summary = campaign.run(&fails_from(42), &|_| {});
            let what = "A-1.1 violated at 0.042ms, n3: two of them".to_owned();
            assert_eq!(summary.failures, [Failure { case: 42, assertion: "A-1.1", what }]);
            assert!(summary.judged >= 43, "{}", summary.judged);
        }
    }

    #[test]
    fn every_case_is_judged_once() {
        let campaign = Campaign { jobs: 3, cases: 100, until: Until::End };
        let summary = campaign.run(&fails_from(90), &|_| {});
        assert_eq!((summary.judged, summary.events, summary.elections), (100, 100, 200));
        assert_eq!(summary.simulated, Duration::from_secs(100));
        let cases: Vec<u64> = summary.failures.iter().map(|failure| failure.case).collect();
        assert_eq!(cases, (90..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_panic_is_a_failure() {
        let campaign = Campaign { jobs: 2, cases: 3, until: Until::End };
        let judge = |case| if case == 1 { panic!("on purpose") } else { outcome(None) };
        let summary = campaign.run(&judge, &|_| {});
        let what = "panicked: on purpose".to_owned();
        assert_eq!(summary.failures, [Failure { case: 1, assertion: "panic", what }]);
    }
}
