//! Values of the same quantity from several runs: their mean and its confidence interval; and the
//! share of runs in which something happened, with its own.
//!
//! Assumes that the runs are independent and that there are enough for their mean to be about
//! normally distributed. Leaves out all other statistics.

use crate::studies::theory::Amount;

/// The values of several runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample(Vec<u64>);

impl Sample {
    /// Adds the value of one more run.
    pub fn add(&mut self, value: u64) {
        self.0.push(value);
    }

    /// How many runs there were.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// The mean, exactly; none without runs.
    #[must_use]
    pub fn mean(&self) -> Option<Amount> {
        let count = self.0.len() as u64;
        (count > 0).then(|| Amount::mean(self.0.iter().sum(), count))
    }

    /// Half the width of the 95 % confidence interval of the mean, after Student; none for fewer
    /// than two runs, which do not show how much runs differ.
    #[must_use]
    pub fn confidence(&self) -> Option<f64> {
        let freedom = self.0.len().checked_sub(1).filter(|freedom| *freedom > 0)?;
        Some(student(freedom) * self.standard_error())
    }

    /// The standard error of the mean.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "what is counted is far below 2^52")]
    pub fn standard_error(&self) -> f64 {
        let count = self.0.len() as f64;
        let mean = self.0.iter().sum::<u64>() as f64 / count.max(1.0);
        let squares: f64 = self.0.iter().map(|value| (*value as f64 - mean).powi(2)).sum();
        let variance = squares / (count - 1.0).max(1.0);
        (variance / count.max(1.0)).sqrt()
    }
}

impl FromIterator<u64> for Sample {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

/// In how many of several runs something happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    hits: u32,
    count: u32,
}

impl Share {
    /// Adds one more run, and whether it happened in it.
    pub const fn add(&mut self, is_hit: bool) {
        self.count += 1;
        self.hits += is_hit as u32;
    }

    /// In how many runs it happened.
    #[must_use]
    pub const fn hits(self) -> u32 {
        self.hits
    }

    /// How many runs there were.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.count
    }

    /// The share; none without runs.
    #[must_use]
    pub fn value(self) -> Option<f64> {
        (self.count > 0).then(|| f64::from(self.hits) / f64::from(self.count))
    }

    /// The ends of the 95 % confidence interval, after Wilson (1927): also where it happened in no
    /// run or in all of them, it has a width. None without runs.
    #[must_use]
    pub fn confidence(self) -> Option<(f64, f64)> {
        let share = self.value()?;
        let count = f64::from(self.count);
        let z2 = NORMAL * NORMAL;
        let middle = (share + z2 / (2.0 * count)) / (1.0 + z2 / count);
        let spread = (share * (1.0 - share) / count + z2 / (4.0 * count * count)).sqrt();
        let half = NORMAL * spread / (1.0 + z2 / count);
        Some(((middle - half).max(0.0), (middle + half).min(1.0)))
    }
}

/// The normal distribution's 95 %, two-sided.
const NORMAL: f64 = 1.959_964;

/// Student's t for 95 %, two-sided. Between two entries the smaller number of degrees of freedom is
/// used, which is on the safe side.
fn student(freedom: usize) -> f64 {
    let known = T.iter().rev().find(|(degrees, _)| *degrees <= freedom);
    known.map_or(T[0].1, |(_, t)| *t)
}

const T: [(usize, f64); 19] = [
    (1, 12.706),
    (2, 4.303),
    (3, 3.182),
    (4, 2.776),
    (5, 2.571),
    (6, 2.447),
    (7, 2.365),
    (8, 2.306),
    (9, 2.262),
    (10, 2.228),
    (12, 2.179),
    (14, 2.145),
    (16, 2.120),
    (19, 2.093),
    (24, 2.064),
    (29, 2.045),
    (39, 2.023),
    (59, 2.001),
    (99, 1.984),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        let sample: Sample = [2, 4, 4, 4, 5, 5, 7, 9].into_iter().collect();
        assert_eq!(sample.mean(), Some(Amount::whole(5)));
        // s = sqrt(32 / 7) = 2.138; s / sqrt(8) = 0.756; t with 7 degrees is 2.365.
        let half = sample.confidence().unwrap();
        assert!((half - 1.788).abs() < 1e-3, "{half}");
    }

    #[test]
    fn one_run_has_a_mean_and_no_interval() {
        let sample: Sample = [3].into_iter().collect();
        assert_eq!((sample.mean(), sample.confidence()), (Some(Amount::whole(3)), None));
        assert_eq!((Sample::default().mean(), Sample::default().confidence()), (None, None));
    }

    #[test]
    fn the_interval_of_a_share_is_wilsons() {
        let mut share = Share::default();
        assert_eq!((share.value(), share.confidence()), (None, None));
        (0..10).for_each(|run| share.add(run == 0));
        assert_eq!((share.hits(), share.count(), share.value()), (1, 10, Some(0.1)));
        let (low, high) = share.confidence().unwrap();
        assert!((low - 0.0179).abs() < 1e-4 && (high - 0.4042).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn what_never_happened_in_some_runs_may_happen_in_the_next() {
        let mut share = Share::default();
        (0..100).for_each(|_| share.add(false));
        let (low, high) = share.confidence().unwrap();
        assert!(low.abs() < 1e-12 && (high - 0.0370).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn equal_runs_leave_no_doubt() {
        assert_eq!(Sample::from_iter([7; 20]).confidence(), Some(0.0));
    }

    #[test]
    fn degrees_between_two_entries_count_as_fewer() {
        assert!((student(11) - 2.228).abs() < 1e-9);
        assert!((student(100_000) - 1.984).abs() < 1e-9);
    }
}
