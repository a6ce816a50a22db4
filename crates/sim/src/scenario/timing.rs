//! The tables of a scenario file with durations: `[timing]` and `[application]`.

use std::fmt::{self, Write};
use std::time::Duration;

use serde::Deserialize;
use tanist_core::duration;
use tanist_core::timing::TimingConfig;

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
    pub(super) silence: Option<Text>,
    pub(super) heartbeat: Option<Text>,
    pub(super) check: Option<Text>,
    pub(super) timeout: Option<Text>,
    pub(super) first_check: Option<Text>,
    pub(super) delay_unit: Option<Text>,
    pub(super) jitter: Option<Text>,
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
        let given = |text: &Option<Text>| text.as_ref().map(|t| self.duration(t)).transpose();
        let message_max = given(&table.message)?.unwrap_or(base.message_max);
        let processing_max = given(&table.processing)?.unwrap_or(base.processing_max);
        let base = TimingConfig::bounded_by(message_max, processing_max);
        Ok(TimingConfig {
            answer: given(&table.answer)?,
            announcement: given(&table.announcement)?,
            merge: given(&table.merge)?,
            silence: given(&table.silence)?,
            heartbeat: given(&table.heartbeat)?,
            check_every: given(&table.check)?.unwrap_or(base.check_every),
            timeout_every: given(&table.timeout)?.unwrap_or(base.timeout_every),
            first_check: given(&table.first_check)?.unwrap_or(base.first_check),
            delay_unit: given(&table.delay_unit)?,
            jitter: given(&table.jitter)?,
            ..base
        })
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
        for (name, value) in [
            ("message", Some(timing.message_max)),
            ("processing", Some(timing.processing_max)),
            ("answer", timing.answer),
            ("announcement", timing.announcement),
            ("merge", timing.merge),
            ("silence", timing.silence),
            ("heartbeat", timing.heartbeat),
            ("check", Some(timing.check_every)),
            ("timeout", Some(timing.timeout_every)),
            ("first_check", Some(timing.first_check)),
            ("delay_unit", timing.delay_unit),
            ("jitter", timing.jitter),
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
