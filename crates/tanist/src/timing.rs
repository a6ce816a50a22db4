//! Bounds and periods as a program gives them.
//!
//! The rules are in [`tanist_core::timing`]; a wait that is not given follows from the two bounds.
//! Fields are private, so that a later release can have more of them.

use std::time::Duration;

use tanist_core::timing::TimingConfig;

/// Bounds and periods of a group, the same on all nodes.
///
/// The default suits one data centre or one machine: a process that crashes is noticed by its closed
/// connection at once, one that hangs after a second.
///
/// | what | how long |
/// |---|---|
/// | a message arrives within (Tm) | 50 ms |
/// | and is answered within (Tp) | 50 ms |
/// | heartbeats | every 250 ms |
/// | a silent node is suspected after (S) | 1 s |
/// | a coordinator looks for other groups | every 2 s |
/// | a task and a leader's job stop within | 30 s |
///
/// ```
/// use std::time::Duration;
/// use tanist::{Group, Timing};
///
/// let patient = Timing::default().suspect_after(Duration::from_secs(3));
/// let described = Group::builder("billing").node("n1").peers(["n1=10.0.0.1:7400"]).timing(patient);
/// described.check().unwrap();
/// // A wait that is too short is refused with the arithmetic.
/// let hurried = Timing::default().suspect_after(Duration::from_millis(1));
/// let refused = described.timing(hurried).check().unwrap_err();
/// assert!(refused.to_string().contains("it must be at least heartbeat period + Tm + Tp"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "timing does nothing until a builder has it"]
pub struct Timing(TimingConfig);

impl Timing {
    /// Another network: a message arrives within the first (Tm) and is answered within the second
    /// (Tp). All else is derived from these two, without heartbeats.
    pub fn bounded_by(message_max: Duration, processing_max: Duration) -> Self {
        Self(TimingConfig::bounded_by(message_max, processing_max))
    }

    /// Tm: the longest time from sending to delivery.
    pub const fn message_max(mut self, bound: Duration) -> Self {
        self.0.message_max = bound;
        self
    }

    /// Tp: the longest time from delivery to the answer's sending.
    pub const fn processing_max(mut self, bound: Duration) -> Self {
        self.0.processing_max = bound;
        self
    }

    /// How often a coordinator and its members send each other a heartbeat.
    pub const fn heartbeat(mut self, every: Duration) -> Self {
        self.0.heartbeat = Some(every);
        self
    }

    /// S: how long a node is silent before it is suspected. At least a heartbeat period + Tm + Tp;
    /// two periods + Tm + Tp if not given, so that one heartbeat may be lost.
    pub const fn suspect_after(mut self, silence: Duration) -> Self {
        self.0.suspect_after = Some(silence);
        self
    }

    /// How often a coordinator looks for other groups, and a member asks its coordinator.
    pub const fn check_every(mut self, every: Duration) -> Self {
        self.0.check_every = every;
        self.0.timeout_every = every;
        self
    }

    /// T: how long an answer is waited for. At least 2Tm + Tp, which it is if not given.
    pub const fn answer(mut self, wait: Duration) -> Self {
        self.0.answer = Some(wait);
        self
    }

    /// T': how long an announcement is waited for. At least 4Tm + 2Tp, which it is if not given.
    pub const fn announcement(mut self, wait: Duration) -> Self {
        self.0.announcement = Some(wait);
        self
    }

    /// How long a coordinator collects the accepts of other groups. At least 3Tm + 2Tp, which it is
    /// if not given.
    pub const fn merge(mut self, wait: Duration) -> Self {
        self.0.merge = Some(wait);
        self
    }

    /// How long a task and a leader's job may take to stop; see
    /// [`Builder::stop_within`](crate::Builder::stop_within).
    pub const fn stop_within(mut self, within: Duration) -> Self {
        self.0.stop_within = within;
        self
    }
}

impl Default for Timing {
    fn default() -> Self {
        let bound = Duration::from_millis(50);
        Self::bounded_by(bound, bound)
            .heartbeat(Duration::from_millis(250))
            .suspect_after(Duration::from_secs(1))
            .check_every(Duration::from_secs(2))
    }
}

#[doc(hidden)]
impl From<TimingConfig> for Timing {
    fn from(config: TimingConfig) -> Self {
        Self(config)
    }
}

#[doc(hidden)]
impl From<Timing> for TimingConfig {
    fn from(timing: Timing) -> Self {
        timing.0
    }
}
