//! Durations that people type, with one error for all that are wrong.

use std::time::Duration;

use tanist_core::duration;

/// Reads a duration such as `250ms`, `2s` or `5m`.
pub(crate) fn read(text: &str) -> Result<Duration, String> {
    let is_number = !text.is_empty() && text.parse::<f64>().is_ok();
    duration::parse(text).ok_or_else(|| {
        if is_number {
            format!("`{text}` has no unit; write {text}ms or {text}s")
        } else {
            format!(
                "`{text}` is not a duration; write a number with a unit, such as 250ms, 2s or 5m"
            )
        }
    })
}
