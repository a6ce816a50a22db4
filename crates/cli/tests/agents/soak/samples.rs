//! Resource usage of a process, sampled once a second, and whether it grows.
//!
//! A bound is on the growth over the whole run: usage that fluctuates (connections open and close,
//! buffers are kept) fluctuates as much in a short run as in a long one, and a leak does not. The
//! attacks make some 10 000 connections a second here, so that in a minute a leak of 64 bytes in
//! each would be 37 MiB, and one lost descriptor, thread or task in a thousand connections would be
//! 600.

use std::fs;

use super::slope;

/// What a process uses at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) rss_kib: f64,
    pub(crate) threads: f64,
    pub(crate) files: f64,
}

impl Usage {
    pub(crate) fn of(process: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let field = |name: &str| -> f64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().next().unwrap().parse().unwrap()
        };
        let files = fs::read_dir(format!("/proc/{process}/fd")).unwrap().count();
        Self {
            rss_kib: field("VmRSS:"),
            threads: field("Threads:"),
            files: f64::from(u32::try_from(files).unwrap()),
        }
    }
}

/// A resource of a process, and the growth that counts as a leak.
pub(crate) struct Resource {
    pub(crate) name: &'static str,
    pub(crate) of: fn(&Usage) -> f64,
    /// The growth over a run that is still no leak.
    pub(crate) growth_max: f64,
}

pub(crate) const RESOURCES: [Resource; 3] = [
    // Buffers of all connections that are allowed at once come and go within this.
    Resource { name: "RSS, KiB", of: |usage| usage.rss_kib, growth_max: 16.0 * 1024.0 },
    // A thread pool may grow by one, and a hook or a name lookup may add another.
    Resource { name: "threads", of: |usage| usage.threads, growth_max: 4.0 },
    // The number of open connections differs by so many from second to second.
    Resource { name: "open files", of: |usage| usage.files, growth_max: 128.0 },
];

/// Usage of one process over time.
#[derive(Debug, Default)]
pub(crate) struct Samples(Vec<(f64, Usage)>);

/// How one resource grows.
pub(crate) struct Growth {
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) per_hour: f64,
    pub(crate) in_all: f64,
}

impl Samples {
    pub(crate) fn push(&mut self, seconds: f64, usage: Usage) {
        self.0.push((seconds, usage));
    }

    /// Growth after the first quarter, in which limits fill up for the first time.
    pub(crate) fn growth(&self, resource: &Resource) -> Growth {
        let later = &self.0[self.0.len() / 4..];
        let points: Vec<(f64, f64)> =
            later.iter().map(|(at, usage)| (*at, (resource.of)(usage))).collect();
        let seconds = points[points.len() - 1].0 - points[0].0;
        let per_second = slope::per_second(&points).unwrap_or_default();
        let values = || points.iter().map(|(_, value)| *value);
        Growth {
            least: values().fold(f64::INFINITY, f64::min),
            most: values().fold(0.0, f64::max),
            per_hour: per_second * 3600.0,
            in_all: per_second * seconds,
        }
    }
}

#[test]
fn a_leak_is_found_among_what_swings_and_a_swing_is_none() {
    let files = &RESOURCES[2];
    let grown = |lost_per_second: f64| {
        let mut samples = Samples::default();
        for second in 0..20 {
            let at = f64::from(second);
            let swing = if second % 2 == 0 { 100.0 } else { 0.0 };
            let files = 400.0 + swing + lost_per_second * at;
            samples.push(at, Usage { rss_kib: 20_000.0, threads: 7.0, files });
        }
        samples.growth(files).in_all
    };
    assert!(grown(0.0) < files.growth_max);
    // One descriptor in a thousand of 10 000 connections a second.
    assert!(grown(10.0) > files.growth_max);
}
