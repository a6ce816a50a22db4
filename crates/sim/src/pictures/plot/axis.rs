//! An axis of a plot: where a value lies on it, and which round values are written beside it.

/// Values from `low` to `high` along a length of pixels.
pub(crate) struct Axis {
    low: f64,
    high: f64,
    /// How values are spaced.
    pub(crate) kind: Spacing,
}

/// How values lie along an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spacing {
    Linear,
    Logarithmic,
}

impl Axis {
    /// For numbers of nodes, with a little room at both ends.
    pub(crate) fn of_counts(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = range(values).unwrap_or((0.0, 1.0));
        let room = ((high - low) * 0.04).max(0.5);
        Self { low: low - room, high: high + room, kind: Spacing::Linear }
    }

    /// For values that are not negative: from nothing, or logarithmic where they span too much.
    pub(crate) fn of_values(values: impl Iterator<Item = f64> + Clone) -> Self {
        let (_, high) = range(values.clone()).unwrap_or((0.0, 1.0));
        let least = range(values.filter(|value| *value > 0.0)).map_or(1.0, |(low, _)| low);
        if high > least * LINEAR_MAX {
            let (low, high) = (least.log10().floor(), (high * 1.2).log10());
            return Self { low, high, kind: Spacing::Logarithmic };
        }
        let high = if high > 0.0 { high * 1.05 } else { 1.0 };
        Self { low: 0.0, high, kind: Spacing::Linear }
    }

    /// The position of a value on the axis, from 0 to 1. A value that a logarithm cannot show is at
    /// 0.
    pub(crate) fn part(&self, value: f64) -> f64 {
        let place = match self.kind {
            Spacing::Linear => value,
            Spacing::Logarithmic if value > 0.0 => value.log10(),
            Spacing::Logarithmic => self.low,
        };
        ((place - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Round values, about as many as asked for; every power of ten on a logarithmic axis.
    pub(crate) fn ticks(&self, about: f64) -> Vec<f64> {
        let step = match self.kind {
            Spacing::Linear => nice((self.high - self.low) / about),
            Spacing::Logarithmic => ((self.high - self.low) / 8.0).ceil().max(1.0),
        };
        let mut ticks = Vec::new();
        let mut count = (self.low / step).ceil();
        while count * step <= self.high {
            ticks.push(match self.kind {
                Spacing::Linear => count * step,
                Spacing::Logarithmic => 10_f64.powf(count * step),
            });
            count += 1.0;
        }
        ticks
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

/// The least of 1, 2, 5 times a power of ten that is not below this.
fn nice(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= least * 0.999_999).unwrap_or(power * 10.0)
}

/// A value without needless digits: `1500`, `0.25`, `1e9`.
pub(crate) fn number(value: f64) -> String {
    if value != 0.0 && (value.abs() >= 1e7 || value.abs() < 1e-3) {
        return format!("{value:e}");
    }
    // Adding zero turns minus zero, which rounding leaves behind, into zero.
    let text = format!("{:.3}", value + 0.0);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Above this ratio of the largest to the smallest value small ones could not be told from zero.
const LINEAR_MAX: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::of_values([3.0, 97.0].into_iter());
        assert_eq!(axis.ticks(6.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!([1500.0, 0.25, 1e9, 0.0].map(number), ["1500", "0.25", "1e9", "0"]);
    }
}
