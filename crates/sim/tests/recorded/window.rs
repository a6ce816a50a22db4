//! A part of a run.

use std::time::Duration;

use tanist_core::Time;
use tanist_core::trace::{Entry, Event, Link};
use tanist_sim::recorded::Window;

use crate::split::{merge, simulate, split};

#[test]
fn the_window_around_a_crash_ends_when_the_survivors_are_normal() {
    let (_, report) = simulate("bully-figure-10-8");
    let merged = merge(&split(&report.recording)).unwrap();
    assert_eq!(Window::crashes(&merged), 2);
    assert_eq!(Window::around_crash(&merged, 3), None);
    let window = Window::around_crash(&merged, 1).unwrap();
    assert_eq!(window.from, Time::ZERO);
    assert!(window.to >= Time::from_micros(16_000), "{window:?}");

    let entries: Vec<Entry> = merged.entries().cloned().collect();
    let window = Window { from: Time::from_micros(8_000), to: Time::from_micros(12_000) };
    let drawn = window.picture(&merged, &entries);
    assert!(drawn.iter().all(|entry| window.from <= entry.at && entry.at <= window.to));
    let is_start = |entry: &&Entry| matches!(entry.event, Event::Start { .. });
    assert_eq!(drawn.iter().filter(is_start).count(), 3, "the survivors are up where it begins");
}

#[test]
fn a_window_in_a_partition_begins_with_the_cut() {
    let (_, report) = simulate("invitation-partition-and-merge");
    let merged = merge(&split(&report.recording)).unwrap();
    let entries: Vec<Entry> = merged.entries().cloned().collect();
    let cut = entries.iter().find_map(|entry| {
        let Event::Cut { links } = &entry.event else { return None };
        Some((entry.at, links.clone()))
    });
    let (at, mut links) = cut.expect("there is a partition");
    let window = Window { from: at + Duration::from_micros(1), to: at + Duration::from_millis(5) };
    let drawn = window.picture(&merged, &entries);
    let shown: Vec<Link> = drawn
        .iter()
        .find_map(|entry| {
            let Event::Cut { links } = &entry.event else { return None };
            Some(links.clone())
        })
        .expect("the picture shows the cut");
    links.sort_unstable();
    assert_eq!(shown, links);
}
