//! The tables of a scenario file with durations: `[timing]` and `[application]`.

use std::fmt::{self, Write};
use std::time::Duration;

use serde::Deserialize;
use tanist_core::duration;
use tanist_core::timing::{TimingConfig, TimingError};

use super::Scenario;
use super::parse::{Reader, ScenarioError, Text};
use crate::world::application::Pace;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimingTable {
    pub(super) message: Option<Text>,
    pub(super) processing: Option<Text>,
    pub(super) answer: Option<Text>,
    pub(super) announcement: Option<Text>,
    pub(super) merge: Option<Text>,
    pub(super) suspect_after: Option<Text>,
    /// The old name of `suspect_after`.
    pub(super) silence: Option<Text>,
    pub(super) heartbeat: Option<Text>,
    pub(super) check: Option<Text>,
    pub(super) timeout: Option<Text>,
    pub(super) first_check: Option<Text>,
    pub(super) delay_unit: Option<Text>,
    pub(super) jitter: Option<Text>,
    pub(super) stop_within: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApplicationTable {
    pub(super) stop: Option<Text>,
    pub(super) plan: Option<Text>,
}

impl Reader<'_> {
    pub(super) fn timing(
        &self,
        table: Option<&TimingTable>,
    ) -> Result<TimingConfig, ScenarioError> {
        let base = TimingConfig::bounded_by(Duration::from_millis(1), Duration::ZERO);
        let Some(table) = table else { return Ok(base) };
        if let Some(old) = &table.silence {
            let what = "`silence` is called `suspect_after`; write that".to_owned();
            return Err(self.error(&old.span(), what));
        }
        let given = |text: &Option<Text>| text.as_ref().map(|t| self.duration(t)).transpose();
        let message_max = given(&table.message)?.unwrap_or(base.message_max);
        let processing_max = given(&table.processing)?.unwrap_or(base.processing_max);
        let base = TimingConfig::bounded_by(message_max, processing_max);
        Ok(TimingConfig {
            answer: given(&table.answer)?,
            announcement: given(&table.announcement)?,
            merge: given(&table.merge)?,
            suspect_after: given(&table.suspect_after)?,
            heartbeat: given(&table.heartbeat)?,
            check_every: given(&table.check)?.unwrap_or(base.check_every),
            timeout_every: given(&table.timeout)?.unwrap_or(base.timeout_every),
            first_check: given(&table.first_check)?.unwrap_or(base.first_check),
            delay_unit: given(&table.delay_unit)?,
            jitter: given(&table.jitter)?,
            stop_within: given(&table.stop_within)?.unwrap_or(base.stop_within),
            ..base
        })
    }

    /// An error of the timing, at the line of the key that it is about.
    pub(super) fn timing_error(
        &self,
        table: Option<&TimingTable>,
        error: TimingError,
    ) -> ScenarioError {
        let (TimingError::Zero { what } | TimingError::TooShort { what, .. }) = error;
        let key = table.and_then(|table| {
            let key = match what {
                "the check period" => &table.check,
                "the timeout period" => &table.timeout,
                "the time in which an application must stop" => &table.stop_within,
                "the heartbeat period" => &table.heartbeat,
                "answer (T)" => &table.answer,
                "announcement (T')" => &table.announcement,
                "merge (T_merge)" => &table.merge,
                "suspect_after (S)" => &table.suspect_after,
                // Everything else follows from the bound of messages.
                _ => &table.message,
            };
            key.as_ref()
        });
        self.error(&key.map_or(0..0, Text::span), format!("[timing]: {error}"))
    }

    pub(super) fn pace(&self, table: Option<&ApplicationTable>) -> Result<Pace, ScenarioError> {
        let given = |text: Option<&Text>| text.map_or(Ok(Duration::ZERO), |t| self.duration(t));
        Ok(Pace {
            stop: given(table.and_then(|table| table.stop.as_ref()))?,
            plan: given(table.and_then(|table| table.plan.as_ref()))?,
        })
    }
}

impl Scenario {
    pub(super) fn write_timing(&self, to: &mut String) -> fmt::Result {
        let timing = &self.timing;
        writeln!(to, "\n[timing]")?;
        let usual = TimingConfig::bounded_by(timing.message_max, timing.processing_max);
        let stop_within = timing.stop_within;
        for (name, value) in [
            ("message", Some(timing.message_max)),
            ("processing", Some(timing.processing_max)),
            ("answer", timing.answer),
            ("announcement", timing.announcement),
            ("merge", timing.merge),
            ("suspect_after", timing.suspect_after),
            ("heartbeat", timing.heartbeat),
            ("check", Some(timing.check_every)),
            ("timeout", Some(timing.timeout_every)),
            ("first_check", Some(timing.first_check)),
            ("delay_unit", timing.delay_unit),
            ("jitter", timing.jitter),
            ("stop_within", (stop_within != usual.stop_within).then_some(stop_within)),
        ] {
            if let Some(value) = value {
                writeln!(to, "{name} = {:?}", duration::print(value))?;
            }
        }
        Ok(())
    }

    pub(super) fn write_pace(&self, to: &mut String) -> fmt::Result {
        if self.pace.stop + self.pace.plan > Duration::ZERO {
            let (stop, plan) = (duration::print(self.pace.stop), duration::print(self.pace.plan));
            writeln!(to, "\n[application]\nstop = {stop:?}\nplan = {plan:?}")?;
        }
        Ok(())
    }
}
