//! Bounds and periods of a configuration.

use std::time::Duration;

use tanist::Timing;
use tanist_core::timing::TimingConfig;

use super::draft::{Draft, Settings};
use super::origin::Origin;
use super::value::Value;
use crate::problem::Problem;

/// Bounds and periods as the crate has them if nothing is given.
pub(crate) fn default_timing() -> TimingConfig {
    Timing::default().into()
}

/// Bounds and periods; what is not given is as in [`default_timing`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimingTable {
    /// Tm: a message arrives within this.
    pub(crate) message_max: Option<Duration>,
    /// Tp: and is answered within this.
    pub(crate) processing_max: Option<Duration>,
    pub(crate) heartbeat: Option<Duration>,
    /// S: silence that is suspicious.
    pub(crate) suspect_after: Option<Duration>,
    /// How often a coordinator looks for other groups.
    pub(crate) check_every: Option<Duration>,
    /// How long a job or task may take to stop.
    pub(crate) stop_within: Option<Duration>,
}

impl TimingTable {
    /// What the settings say.
    pub(crate) fn of(settings: &Settings) -> Self {
        let span = |name| settings.value(name).and_then(Value::as_span);
        Self {
            message_max: span("timing.message_max"),
            processing_max: span("timing.processing_max"),
            heartbeat: span("timing.heartbeat"),
            suspect_after: span("timing.suspect_after"),
            check_every: span("timing.check_every"),
            stop_within: span("timing.stop_within"),
        }
    }

    /// What pairs such as `heartbeat=250ms` say.
    pub(crate) fn from_pairs(pairs: &[(String, String)]) -> Result<Self, Problem> {
        let mut draft = Draft::default();
        for (name, value) in pairs {
            draft.put_text(&format!("timing.{name}"), value, Origin::Flag(name.clone()));
        }
        match draft.findings.first() {
            Some(finding) => Err(Problem::Usage(finding.what.clone())),
            None => Ok(Self::of(&draft.settings)),
        }
    }

    /// The whole of it.
    pub(crate) fn config(&self) -> TimingConfig {
        let base = default_timing();
        let check_every = self.check_every.unwrap_or(base.check_every);
        TimingConfig {
            message_max: self.message_max.unwrap_or(base.message_max),
            processing_max: self.processing_max.unwrap_or(base.processing_max),
            heartbeat: self.heartbeat.or(base.heartbeat),
            suspect_after: self.suspect_after.or(base.suspect_after),
            check_every,
            timeout_every: check_every,
            stop_within: self.stop_within.unwrap_or(base.stop_within),
            ..base
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_of_the_keys_are_those_of_the_crate() {
        let mut draft = Draft::default();
        draft.put_defaults();
        assert_eq!(TimingTable::of(&draft.settings).config(), default_timing());
        assert_eq!(TimingTable::default().config(), default_timing());
    }
}
