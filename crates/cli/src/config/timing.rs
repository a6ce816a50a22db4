//! Bounds and periods of a configuration.

use std::time::Duration;

use tanist::{TimingConfig, default_timing};

use super::draft::Settings;
use super::value::Value;

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
}

impl TimingTable {
    /// What the settings say.
    pub(crate) fn of(settings: &Settings) -> Self {
        let span = |name: &str| match settings.get(name).map(|setting| &setting.value) {
            Some(Value::Duration(span)) => Some(*span),
            _ => None,
        };
        Self {
            message_max: span("timing.message_max"),
            processing_max: span("timing.processing_max"),
            heartbeat: span("timing.heartbeat"),
            suspect_after: span("timing.suspect_after"),
            check_every: span("timing.check_every"),
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
            silence: self.suspect_after.or(base.silence),
            check_every,
            timeout_every: check_every,
            ..base
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::draft::Draft;
    use super::*;

    #[test]
    fn the_defaults_of_the_keys_are_those_of_the_crate() {
        let mut draft = Draft::default();
        draft.put_defaults();
        assert_eq!(TimingTable::of(&draft.settings).config(), default_timing());
        assert_eq!(TimingTable::default().config(), default_timing());
    }
}
