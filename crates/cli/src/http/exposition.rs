//! Prometheus' text format, version 0.0.4: families with help and type, samples with labels.

use std::fmt::{Display, Write};
use std::time::Duration;

/// A page of metrics as it is written. Every sample has the label `group`.
#[derive(Debug)]
pub(super) struct Exposition {
    group: String,
    text: String,
}

impl Exposition {
    /// An empty page.
    pub(super) fn new(group: &str) -> Self {
        Self { group: group.to_owned(), text: String::new() }
    }

    /// The page.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// A metric with one sample.
    pub(super) fn single(&mut self, name: &str, kind: Kind, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    /// Begins a metric; its samples follow.
    pub(super) fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    /// One sample of the metric that was begun.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let mut text = format!("{name}{{group=\"{}\"", escape(&self.group));
        for (label, of) in labels {
            text.push_str(&format!(",{label}=\"{}\"", escape(of)));
        }
        self.line(format_args!("{text}}} {value}"));
    }

    /// A whole histogram.
    pub(super) fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.family(name, Kind::Histogram, help);
        let bucket = format!("{name}_bucket");
        let mut below = 0;
        for (bound, count) in BOUNDS_MS.iter().zip(&histogram.buckets) {
            below += count;
            self.sample(&bucket, &[("le", &seconds(*bound).to_string())], below);
        }
        self.sample(&bucket, &[("le", "+Inf")], histogram.count);
        self.sample(&format!("{name}_sum"), &[], seconds(histogram.sum_ms));
        self.sample(&format!("{name}_count"), &[], histogram.count);
    }

    fn line(&mut self, line: impl Display) {
        // Writing into memory cannot fail.
        let _ = writeln!(self.text, "{line}");
    }
}

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Only grows.
    Counter,
    /// Comes and goes.
    Gauge,
    /// Counts by size.
    Histogram,
}

/// Spans of time, counted by length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Histogram {
    buckets: [u64; BOUNDS_MS.len()],
    sum_ms: u64,
    count: u64,
}

impl Histogram {
    /// Nothing was counted yet.
    pub(super) const fn new() -> Self {
        Self { buckets: [0; BOUNDS_MS.len()], sum_ms: 0, count: 0 }
    }

    /// Counts a span.
    pub(super) fn add(&mut self, span: Duration) {
        let span = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        if let Some(at) = BOUNDS_MS.iter().position(|bound| span <= *bound) {
            self.buckets[at] += 1;
        }
        self.sum_ms = self.sum_ms.saturating_add(span);
        self.count += 1;
    }

    /// How many were counted.
    #[cfg(test)]
    pub(super) const fn count(&self) -> u64 {
        self.count
    }
}

#[expect(clippy::cast_precision_loss, reason = "a sum of milliseconds is far below 2^53")]
fn seconds(millis: u64) -> f64 {
    millis as f64 / 1000.0
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// From an election in one room to one that should have paged a person.
const BOUNDS_MS: [u64; 14] =
    [5, 10, 25, 50, 100, 250, 500, 1000, 1500, 2500, 5000, 10_000, 30_000, 60_000];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_quotes_stays_one_label() {
        let mut page = Exposition::new("a\"b\\c");
        page.single("x", Kind::Gauge, "X.", 1);
        assert_eq!(page.into_text(), "# HELP x X.\n# TYPE x gauge\nx{group=\"a\\\"b\\\\c\"} 1\n");
    }

    #[test]
    fn buckets_add_up_and_a_bound_belongs_to_its_bucket() {
        let mut histogram = Histogram::new();
        for span in [5, 6, 70_000] {
            histogram.add(Duration::from_millis(span));
        }
        let mut page = Exposition::new("g");
        page.histogram("h", "H.", &histogram);
        let text = page.into_text();
        assert!(text.contains("h_bucket{group=\"g\",le=\"0.005\"} 1\n"), "{text}");
        assert!(text.contains("h_bucket{group=\"g\",le=\"60\"} 2\n"), "{text}");
        assert!(text.contains("h_bucket{group=\"g\",le=\"+Inf\"} 3\n"), "{text}");
        assert!(text.contains("h_sum{group=\"g\"} 70.011\n"), "{text}");
    }
}
