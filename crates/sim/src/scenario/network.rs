//! The table of a scenario file that describes the network: `[network]`.

use std::fmt::{self, Write};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use tanist_core::duration;

use super::Scenario;
use super::parse::{Reader, ScenarioError, Text, share};
use crate::world::network::{Conditions, Delay};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkTable {
    pub(super) delay: Option<Text>,
    pub(super) delay_min: Option<Text>,
    pub(super) delay_max: Option<Text>,
    pub(super) spike: Option<Text>,
    #[serde(default)]
    pub(super) spikes: Option<Spanned<f64>>,
    #[serde(default = "yes")]
    pub(super) fifo: bool,
    pub(super) loss: Option<Spanned<f64>>,
    pub(super) duplicate: Option<Spanned<f64>>,
    #[serde(default)]
    pub(super) refusals: bool,
}

const fn yes() -> bool {
    true
}

impl Reader<'_> {
    pub(super) fn conditions(
        &self,
        table: Option<&NetworkTable>,
        message_max: Duration,
    ) -> Result<Conditions, ScenarioError> {
        let mut conditions = Conditions {
            delay: Delay::Fixed(message_max),
            is_fifo: true,
            loss_ppm: 0,
            duplicate_ppm: 0,
            has_refusals: false,
        };
        let Some(table) = table else { return Ok(conditions) };
        conditions.is_fifo = table.fifo;
        conditions.has_refusals = table.refusals;
        let share = |given: &Option<Spanned<f64>>| {
            given.as_ref().map_or(Ok(0), |given| self.millionths(given))
        };
        self.check_spikes(table)?;
        conditions.loss_ppm = share(&table.loss)?;
        conditions.duplicate_ppm = share(&table.duplicate)?;
        conditions.delay = match (&table.delay, &table.delay_min, &table.delay_max) {
            (Some(delay), None, None) => Delay::Fixed(self.duration(delay)?),
            (None, Some(min), Some(max)) => {
                let (least, most) = (self.duration(min)?, self.duration(max)?);
                if most < least {
                    let what = "delay_max is shorter than delay_min".to_owned();
                    return Err(self.error(&max.span(), what));
                }
                match &table.spike {
                    Some(text) => Delay::Spiky {
                        min: least,
                        max: most,
                        spike: self.spike(text, most)?,
                        spike_ppm: share(&table.spikes)?,
                    },
                    None => Delay::Uniform { min: least, max: most },
                }
            }
            (None, None, None) => conditions.delay,
            (Some(text), _, _) | (None, Some(text), None) | (None, None, Some(text)) => {
                let what = "expected either `delay`, or `delay_min` and `delay_max`".to_owned();
                return Err(self.error(&text.span(), what));
            }
        };
        Ok(conditions)
    }

    /// `spike` and `spikes` mean something only together, and beside a range of delays.
    fn check_spikes(&self, table: &NetworkTable) -> Result<(), ScenarioError> {
        let has_range = table.delay_min.is_some() && table.delay_max.is_some();
        let (span, what) = match (&table.spike, &table.spikes) {
            (None, None) => return Ok(()),
            (Some(_), Some(_)) if has_range => return Ok(()),
            (Some(spike), None) => {
                (spike.span(), "`spike` needs `spikes`, the share of messages that take so long")
            }
            (None, Some(spikes)) => {
                (spikes.span(), "`spikes` needs `spike`, which such messages take at most")
            }
            (Some(spike), Some(_)) => {
                (spike.span(), "`spike` needs `delay_min` and `delay_max`; without, nothing spikes")
            }
        };
        Err(self.error(&span, what.to_owned()))
    }

    fn spike(&self, text: &Text, delay_max: Duration) -> Result<Duration, ScenarioError> {
        let spike = self.duration(text)?;
        if spike < delay_max {
            let what = "`spike` is shorter than delay_max; expected a longer delay".to_owned();
            return Err(self.error(&text.span(), what));
        }
        Ok(spike)
    }
}

impl Scenario {
    pub(super) fn write_network(&self, to: &mut String) -> fmt::Result {
        writeln!(to, "\n[network]")?;
        match self.conditions.delay {
            Delay::Fixed(delay) => writeln!(to, "delay = {:?}", duration::print(delay))?,
            Delay::Uniform { min, max } => {
                writeln!(
                    to,
                    "delay_min = {:?}\ndelay_max = {:?}",
                    duration::print(min),
                    duration::print(max)
                )?;
            }
            Delay::Spiky { min, max, spike, spike_ppm } => {
                writeln!(
                    to,
                    "delay_min = {:?}\ndelay_max = {:?}",
                    duration::print(min),
                    duration::print(max)
                )?;
                writeln!(
                    to,
                    "spike = {:?}\nspikes = {}",
                    duration::print(spike),
                    share(spike_ppm)
                )?;
            }
        }
        writeln!(to, "fifo = {}", self.conditions.is_fifo)?;
        writeln!(to, "refusals = {}", self.conditions.has_refusals)?;
        writeln!(to, "loss = {}", share(self.conditions.loss_ppm))?;
        writeln!(to, "duplicate = {}", share(self.conditions.duplicate_ppm))
    }
}
