//! Durations as text: a number with a unit, such as `250us`, `1.5ms`, `2s` or `5m`.
//!
//! Scenario files, configuration files, the command line and HTTP all read and write durations in
//! this one form. Leaves out: durations for people to read, which are rounded.

use alloc::format;
use alloc::string::String;
use core::time::Duration;

use crate::time::micros;

/// Reads a duration; none if the text is not one. Fractions are rounded to whole microseconds.
#[must_use]
pub fn parse(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let number: f64 = number.trim().parse().ok()?;
    let in_micros = match unit {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "m" => 60e6,
        "h" => 3600e6,
        _ => return None,
    };
    let micros = number * in_micros;
    (0.0..=MICROS_MAX).contains(&micros).then(|| Duration::from_micros(rounded(micros)))
}

/// Writes a duration in the largest unit of `s`, `ms` and `us` that needs no fraction.
#[must_use]
pub fn print(span: Duration) -> String {
    let micros = micros(span);
    if micros.is_multiple_of(1_000_000) {
        format!("{}s", micros / 1_000_000)
    } else if micros.is_multiple_of(1000) {
        format!("{}ms", micros / 1000)
    } else {
        format!("{micros}us")
    }
}

/// The nearest whole number; `f64::round` needs the standard library.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "between 0 and 10^15, where every whole number has a float of its own"
)]
fn rounded(value: f64) -> u64 {
    let whole = value as u64;
    if value - whole as f64 >= 0.5 { whole + 1 } else { whole }
}

/// About thirty years.
const MICROS_MAX: f64 = 1e15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_written_so_that_it_is_read_again() {
        for text in ["0s", "250us", "1ms", "250ms", "1500ms", "2s", "90s"] {
            assert_eq!(parse(text).map(print).as_deref(), Some(text));
        }
        assert_eq!(parse("1.5s").map(print).as_deref(), Some("1500ms"));
        assert_eq!(parse("2m").map(print).as_deref(), Some("120s"));
        assert_eq!(parse("0.5us"), Some(Duration::from_micros(1)));
        assert_eq!(parse("1h"), Some(Duration::from_secs(3600)));
    }

    #[test]
    fn a_text_without_a_number_or_a_unit_is_refused() {
        for text in ["", "soon", "5", "s", "-1s", "1d", "1 week", "1e300s", "NaNs"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
