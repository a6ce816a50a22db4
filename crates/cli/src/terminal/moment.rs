//! Points and spans of time as people read them.
//!
//! Stamps of the wall clock are shown in UTC, so that what several machines say can be compared.

use std::time::{Duration, SystemTime};

/// `2026-11-16 02:13:24.123Z`, from milliseconds since 1970.
pub(crate) fn utc(millis: u64) -> String {
    let (seconds, fraction) = (millis / 1000, millis % 1000);
    let (days, second) = (seconds / DAY, seconds % DAY);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{fraction:03}Z")
}

/// Milliseconds since 1970.
pub(crate) fn unix_millis(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// How long ago a moment was.
pub(crate) fn ago(millis: u64) -> Duration {
    let then = Duration::from_millis(millis);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(then)
}

/// A span in the unit that suits it: `0.4 ms`, `1.2 s`, `3 min`, `5 h`, `2 days`.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 => format!("{:.1} ms", span.as_secs_f64() * 1000.0),
        1..60 => format!("{:.1} s", span.as_secs_f64()),
        60..3600 => format!("{} min", seconds / 60),
        3600..DAY => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} days {} h", seconds / DAY, seconds % DAY / 3600),
    }
}

/// A span as it is typed: `250ms`, `10s`, `5m`, with the unit that needs no fraction.
pub(crate) fn short(span: Duration) -> String {
    let millis = span.as_millis();
    match (millis % 1000, millis / 1000) {
        (0, seconds) if seconds > 0 && seconds % 60 == 0 => format!("{}m", seconds / 60),
        (0, seconds) => format!("{seconds}s"),
        (_, _) => format!("{millis}ms"),
    }
}

/// A span in milliseconds, likewise.
pub(crate) fn millis(millis: f64) -> String {
    span(Duration::try_from_secs_f64(millis / 1000.0).unwrap_or_default())
}

/// The date so many days after 1970-01-01. Years begin in March here, so that the leap day is the
/// last of its year: 400 such years are 146097 days, whichever they are.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + MARCH_0000;
    let (era, day) = (days / ERA, days % ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

const DAY: u64 = 86_400;
const ERA: u64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const MARCH_0000: u64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00.000Z");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00.000Z");
        assert_eq!(utc(1_794_795_204_007), "2026-11-16 02:13:24.007Z");
        assert_eq!(utc(4_107_542_399_999), "2100-02-28 23:59:59.999Z");
        assert_eq!(utc(4_107_542_400_000), "2100-03-01 00:00:00.000Z");
    }

    #[test]
    fn spans_have_the_unit_that_suits_them() {
        assert_eq!(span(Duration::from_micros(412)), "0.4 ms");
        assert_eq!(span(Duration::from_millis(1234)), "1.2 s");
        assert_eq!(span(Duration::from_secs(11_580)), "3 h 13 min");
        assert_eq!(span(Duration::from_secs(200_000)), "2 days 7 h");
    }
}
