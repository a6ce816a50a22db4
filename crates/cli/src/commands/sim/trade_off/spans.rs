//! Timeouts, delays and shares as they are typed.

use std::str::FromStr;
use std::time::Duration;

use crate::duration;

/// Several timeouts, the shortest first, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Timeouts(pub(super) Vec<Duration>);

impl FromStr for Timeouts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut timeouts = if text.contains("..") {
            let Between { least, most } = text.parse()?;
            spread(least, most)
        } else {
            text.split(',').map(|each| span(each.trim())).collect::<Result<Vec<_>, _>>()?
        };
        timeouts.sort_unstable();
        timeouts.dedup();
        if timeouts.len() > TIMEOUTS_MAX {
            let count = timeouts.len();
            return Err(format!("{count} timeouts: expected at most {TIMEOUTS_MAX}"));
        }
        Ok(Self(timeouts))
    }
}

/// `STEPS` timeouts from one to the other, both included, in whole microseconds.
fn spread(least: Duration, most: Duration) -> Vec<Duration> {
    let micros = |span: Duration| u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
    let (least, most) = (micros(least), micros(most));
    let part = |step| u128::from(most - least) * step / (STEPS - 1);
    let at = |step| least.saturating_add(u64::try_from(part(step)).unwrap_or(u64::MAX));
    (0..STEPS).map(|step| Duration::from_micros(at(step))).collect()
}

/// Two spans, the shorter first, or one for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Between {
    pub(super) least: Duration,
    pub(super) most: Duration,
}

impl FromStr for Between {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (least, most) = text.split_once("..").unwrap_or((text, text));
        let (least, most) = (span(least.trim())?, span(most.trim())?);
        if most < least {
            return Err(format!("{text} is empty: the shorter one comes first"));
        }
        Ok(Self { least, most })
    }
}

/// A span in whole microseconds.
pub(super) fn span(text: &str) -> Result<Duration, String> {
    let span = duration::read(text)?;
    if span.is_zero() || !span.subsec_nanos().is_multiple_of(1000) {
        return Err(format!("{text} is not a whole number of microseconds, at least one"));
    }
    Ok(span)
}

/// A share from 0 to 1, in millionths.
pub(super) fn share_ppm(text: &str) -> Result<u32, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(millionths(share)),
        Ok(_) | Err(_) => Err(format!("{text:?} is not a share: expected a number from 0 to 1")),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1")]
fn millionths(share: f64) -> u32 {
    (share * 1e6).round() as u32
}

/// How many timeouts a range has.
const STEPS: u128 = 20;

/// More than anyone looks at.
const TIMEOUTS_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn a_range_has_both_ends_and_even_steps() {
        let Timeouts(timeouts) = "1ms..20ms".parse().unwrap();
        assert_eq!(timeouts, (1..=20).map(ms).collect::<Vec<_>>());
        let Timeouts(timeouts) = "3ms..3ms".parse().unwrap();
        assert_eq!(timeouts, [ms(3)]);
    }

    #[test]
    fn a_list_is_sorted_and_has_each_once() {
        assert_eq!("8ms, 2ms,8ms".parse(), Ok(Timeouts(vec![ms(2), ms(8)])));
        assert_eq!("5ms".parse(), Ok(Timeouts(vec![ms(5)])));
        assert_eq!("1ms".parse(), Ok(Between { least: ms(1), most: ms(1) }));
    }

    #[test]
    fn what_is_no_span_is_refused() {
        for text in ["", "..", "1ms..", "2ms..1ms", "3", "1ms,,2ms", "0ms", "x"] {
            assert!(text.parse::<Timeouts>().is_err(), "{text}");
        }
        let many: Vec<String> = (1..=201).map(|count| format!("{count}ms")).collect();
        let error = many.join(",").parse::<Timeouts>().unwrap_err();
        assert_eq!(error, "201 timeouts: expected at most 200");
        for text in ["-0.1", "1.1", "NaN", "half"] {
            assert!(share_ppm(text).is_err(), "{text}");
        }
        assert_eq!(share_ppm("0.25"), Ok(250_000));
    }
}
