//! Bounds and periods, and every wait that follows from them (theory: timeouts that are enough).
//!
//! Two bounds are given: a message arrives within Tm of sending (F-05) and is answered within Tp of
//! arrival (F-06). From them follow
//!
//! ```text
//! T        = 2Tm + Tp                  an unanswered query means failure (F-08)
//! T'       = 4Tm + 2Tp  = 2Tm + Tp + T the announcement after the first answer (E-35)
//! T_merge  = 3Tm + 2Tp                 an invitation that an old coordinator forwards (E-21)
//! S        = P + Tm + Tp               silence, where P is the period of expected messages
//! S        = 2h + Tm + Tp              the same with heartbeats every h: one may be lost
//! ```
//!
//! A longer wait may be configured, a shorter one is refused when the value is made.

use core::time::Duration;

/// What a user gives; `None` means "derive it".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimingConfig {
    /// Tm: longest time from sending to delivery.
    pub message_max: Duration,
    /// Tp: longest time from delivery to the answer's sending.
    pub processing_max: Duration,
    /// T, at least 2Tm + Tp.
    pub answer: Option<Duration>,
    /// T', at least 4Tm + 2Tp.
    pub announcement: Option<Duration>,
    /// T_merge, at least 3Tm + 2Tp.
    pub merge: Option<Duration>,
    /// S, at least the period of expected messages + Tm + Tp: the heartbeat's, or without
    /// heartbeats the longer of the other two. With heartbeats S is 2h + Tm + Tp unless given.
    pub suspect_after: Option<Duration>,
    /// h: how often heartbeat peers send a heartbeat; `None` means never.
    pub heartbeat: Option<Duration>,
    /// How often a coordinator checks the others.
    pub check_every: Duration,
    /// How often an invitation participant asks its coordinator AreYouThere.
    pub timeout_every: Duration,
    /// How long after it formed a group alone an invitation node first checks.
    pub first_check: Duration,
    /// Merge delay for each configured node of higher rank (E-24); more than Tm + Tp.
    pub delay_unit: Option<Duration>,
    /// Random part of the merge delay; zero switches it off.
    pub jitter: Option<Duration>,
    /// How long an application may take to stop before its node takes no part until it has.
    pub stop_within: Duration,
}

impl TimingConfig {
    /// Everything derived from the two bounds, with periods that are long against them.
    #[must_use]
    pub fn bounded_by(message_max: Duration, processing_max: Duration) -> Self {
        let answer = message_max * 2 + processing_max;
        Self {
            message_max,
            processing_max,
            answer: None,
            announcement: None,
            merge: None,
            suspect_after: None,
            heartbeat: None,
            check_every: answer * 20,
            timeout_every: answer * 10,
            first_check: Duration::ZERO,
            delay_unit: None,
            jitter: None,
            stop_within: STOP_WITHIN,
        }
    }
}

/// Waits and periods that can work. Made only by [`Timing::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    message_max: Duration,
    processing_max: Duration,
    answer: Duration,
    announcement: Duration,
    merge: Duration,
    suspect_after: Duration,
    heartbeat: Option<Duration>,
    check_every: Duration,
    timeout_every: Duration,
    first_check: Duration,
    delay_unit: Duration,
    jitter: Duration,
    stop_within: Duration,
}

impl Timing {
    /// Derives what was left open and refuses what cannot work, with the arithmetic.
    pub fn new(config: TimingConfig) -> Result<Self, TimingError> {
        let (tm, tp) = (config.message_max, config.processing_max);
        if tm.is_zero() {
            return Err(TimingError::Zero { what: "the message bound Tm" });
        }
        if config.check_every.is_zero() {
            return Err(TimingError::Zero { what: "the check period" });
        }
        if config.timeout_every.is_zero() {
            return Err(TimingError::Zero { what: "the timeout period" });
        }
        if config.stop_within.is_zero() {
            return Err(TimingError::Zero { what: "the time in which an application must stop" });
        }
        if config.heartbeat.is_some_and(|period| period.is_zero()) {
            return Err(TimingError::Zero { what: "the heartbeat period" });
        }
        let at_least = |what, rule, given: Option<Duration>, least: Duration| match given {
            Some(given) if given < least => Err(TimingError::TooShort { what, rule, given, least }),
            Some(given) => Ok(given),
            None => Ok(least),
        };
        let (rule, period) = match config.heartbeat {
            Some(period) => ("heartbeat period + Tm + Tp", period),
            None => (
                "the longer of check and timeout period + Tm + Tp",
                config.check_every.max(config.timeout_every),
            ),
        };
        // A single lost heartbeat does not count as silence, unless S was configured so.
        let usual = config.heartbeat.map(|period| period * 2 + tm + tp);
        Ok(Self {
            message_max: tm,
            processing_max: tp,
            answer: at_least("answer (T)", "2 Tm + Tp", config.answer, tm * 2 + tp)?,
            announcement: at_least(
                "announcement (T')",
                "4 Tm + 2 Tp",
                config.announcement,
                tm * 4 + tp * 2,
            )?,
            merge: at_least("merge (T_merge)", "3 Tm + 2 Tp", config.merge, tm * 3 + tp * 2)?,
            suspect_after: at_least(
                "suspect_after (S)",
                rule,
                config.suspect_after.or(usual),
                period + tm + tp,
            )?,
            heartbeat: config.heartbeat,
            check_every: config.check_every,
            timeout_every: config.timeout_every,
            first_check: config.first_check,
            delay_unit: config.delay_unit.unwrap_or((tm + tp) * 3),
            jitter: config.jitter.unwrap_or((tm + tp) * 4),
            stop_within: config.stop_within,
        })
    }

    /// Tm.
    #[must_use]
    pub const fn message_max(&self) -> Duration {
        self.message_max
    }

    /// Tp.
    #[must_use]
    pub const fn processing_max(&self) -> Duration {
        self.processing_max
    }

    /// T: a peer that has not answered a query after this has failed.
    #[must_use]
    pub const fn answer(&self) -> Duration {
        self.answer
    }

    /// T': how long after the first answer an announcement must have come.
    #[must_use]
    pub const fn announcement(&self) -> Duration {
        self.announcement
    }

    /// T_merge: how long accepts are collected.
    #[must_use]
    pub const fn merge(&self) -> Duration {
        self.merge
    }

    /// S: a node that was silent for this long is suspected.
    #[must_use]
    pub const fn suspect_after(&self) -> Duration {
        self.suspect_after
    }

    /// h: the period of heartbeats, if there are any.
    #[must_use]
    pub const fn heartbeat(&self) -> Option<Duration> {
        self.heartbeat
    }

    /// How long a node leaves the next move in an election to others: S, and at least T', since S
    /// may be shorter than an election that goes well. A node that gave up during such an election
    /// could become a second coordinator.
    #[must_use]
    pub fn stall(&self) -> Duration {
        self.suspect_after.max(self.announcement)
    }

    /// Period of Check.
    #[must_use]
    pub const fn check_every(&self) -> Duration {
        self.check_every
    }

    /// Period of Timeout (invitation).
    #[must_use]
    pub const fn timeout_every(&self) -> Duration {
        self.timeout_every
    }

    /// Delay of a lone coordinator's first check (invitation).
    #[must_use]
    pub const fn first_check(&self) -> Duration {
        self.first_check
    }

    /// Merge delay per node of higher rank.
    #[must_use]
    pub const fn delay_unit(&self) -> Duration {
        self.delay_unit
    }

    /// Random part of the merge delay.
    #[must_use]
    pub const fn jitter(&self) -> Duration {
        self.jitter
    }

    /// How long an application may take to stop before its node takes no part until it has.
    #[must_use]
    pub const fn stop_within(&self) -> Duration {
        self.stop_within
    }
}

/// Longer than an orderly stop usually takes, and short enough for a group to wait for.
pub(crate) const STOP_WITHIN: Duration = Duration::from_secs(30);

/// Why timings cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimingError {
    /// A bound or period that must be positive.
    #[error("{what} must be longer than zero")]
    Zero {
        /// Which one.
        what: &'static str,
    },
    /// A wait that ends before a correct peer must have answered.
    #[error("{what} = {given:?} is too short: it must be at least {rule} = {least:?}")]
    TooShort {
        /// Which wait.
        what: &'static str,
        /// The formula.
        rule: &'static str,
        /// What was asked for.
        given: Duration,
        /// What the formula gives.
        least: Duration,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn waits_follow_from_the_two_bounds() {
        let timing = Timing::new(TimingConfig::bounded_by(ms(10), ms(5))).unwrap();
        assert_eq!(timing.answer(), ms(25));
        assert_eq!(timing.announcement(), ms(50));
        assert_eq!(timing.merge(), ms(40));
        assert_eq!(timing.suspect_after(), timing.check_every() + ms(15));
    }

    #[test]
    fn with_heartbeats_suspicion_follows_from_their_period() {
        let base = TimingConfig::bounded_by(ms(10), ms(5));
        let beating = TimingConfig { heartbeat: Some(ms(20)), ..base };
        let timing = Timing::new(beating).unwrap();
        assert_eq!(timing.suspect_after(), ms(55));
        assert_eq!(timing.stall(), ms(55));
        let shortest = TimingConfig { suspect_after: Some(ms(35)), ..beating };
        let timing = Timing::new(shortest).unwrap();
        assert_eq!(timing.suspect_after(), ms(35));
        assert_eq!(timing.stall(), timing.announcement());
        let error =
            Timing::new(TimingConfig { suspect_after: Some(ms(34)), ..beating }).unwrap_err();
        let words = "suspect_after (S) = 34ms is too short: \
                     it must be at least heartbeat period + Tm + Tp = 35ms";
        assert_eq!(alloc::string::ToString::to_string(&error), words);
        assert!(Timing::new(TimingConfig { heartbeat: Some(ms(0)), ..base }).is_err());
    }

    #[test]
    fn an_election_that_goes_well_is_not_given_up_however_short_the_periods_are() {
        let base = TimingConfig::bounded_by(ms(10), ms(5));
        let hurried = TimingConfig { check_every: ms(1), timeout_every: ms(1), ..base };
        let timing = Timing::new(hurried).unwrap();
        assert_eq!((timing.suspect_after(), timing.stall()), (ms(16), ms(50)));
    }

    #[test]
    fn a_wait_that_is_too_short_is_refused_with_the_arithmetic() {
        let base = TimingConfig::bounded_by(ms(10), ms(5));
        for (config, what) in [
            (TimingConfig { answer: Some(ms(24)), ..base }, "answer (T)"),
            (TimingConfig { announcement: Some(ms(49)), ..base }, "announcement (T')"),
            (TimingConfig { merge: Some(ms(39)), ..base }, "merge (T_merge)"),
            (TimingConfig { suspect_after: Some(ms(514)), ..base }, "suspect_after (S)"),
        ] {
            match Timing::new(config) {
                Err(TimingError::TooShort { what: named, .. }) => assert_eq!(named, what),
                other => panic!("{what}: {other:?}"),
            }
        }
        assert!(Timing::new(TimingConfig { answer: Some(ms(25)), ..base }).is_ok());
        assert!(Timing::new(TimingConfig { message_max: ms(0), ..base }).is_err());
        assert!(Timing::new(TimingConfig { stop_within: ms(0), ..base }).is_err());
    }
}
