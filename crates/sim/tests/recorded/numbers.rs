//! The largest and the smallest number in every field: a file may be refused, and never panics.

use std::collections::BTreeMap;

use serde_json::Value;
use tanist_core::trace::Source;
use tanist_sim::monitors::Selection;
use tanist_sim::pictures::{diagram, story};
use tanist_sim::recorded::{Recorded, TOLERANCE, TraceFile, Window};

use crate::split::{lines, read, simulate};

/// Runs that have every kind of event between them.
const RUNS: &[&str] = &[
    "bully-figure-10-8",
    "invitation-partition-and-merge",
    "ring-hangs-in-its-plan",
    "adhoc-diffusing-line",
    "adhoc-expanding-ring-line",
    "super-peer-two-apart",
];

#[test]
fn no_number_in_a_header_makes_a_reader_panic() {
    for (name, lines) in RUNS.iter().map(|name| (name, recorded(name))) {
        let mut spoiled = 0;
        for line in spoilings(&lines[0]) {
            let mut lines = lines.clone();
            lines[0] = line;
            show(&lines);
            spoiled += 1;
        }
        assert!(spoiled > 40, "{name}: only {spoiled}");
    }
}

#[test]
fn no_number_in_an_event_makes_a_reader_panic() {
    let mut seen = BTreeMap::new();
    for lines in RUNS.iter().map(|name| recorded(name)) {
        for at in 1..lines.len() {
            let entry: Value = serde_json::from_str(&lines[at]).unwrap();
            let kind = (entry["event"].to_string(), entry["kind"].to_string());
            if seen.insert(kind, ()).is_some() {
                continue;
            }
            for line in spoilings(&lines[at]) {
                let mut lines = lines.clone();
                lines[at] = line;
                show(&lines);
            }
        }
    }
    let events: Vec<&str> = seen.keys().map(|(event, _)| event.as_str()).collect();
    for event in ["start", "send", "broadcast", "receive", "lose", "timer", "save", "state", "cut"]
    {
        assert!(events.contains(&format!("{event:?}").as_str()), "{event} is in no run");
    }
}

#[test]
fn no_number_in_the_rate_of_a_clock_makes_a_reader_panic() {
    for name in ["bully-figure-10-8", "adhoc-diffusing-line"] {
        let lines = recorded(name);
        for rate in [0, 1, 9_999, 10_000, 1_000_000, 100_000_000, 100_000_001, u32::MAX] {
            let mut lines = lines.clone();
            let node = serde_json::from_str::<Value>(&lines[0]).unwrap()["nodes"][0]["id"].clone();
            let clock = format!(r#"{{"at_us":0,"event":"clock","node":{node},"rate_ppm":{rate}}}"#);
            lines.insert(1, clock);
            for header in spoilings(&lines[0]) {
                let mut lines = lines.clone();
                lines[0] = header;
                show(&lines);
            }
            let is_possible = (10_000..=100_000_000).contains(&rate);
            let refused = read(&lines.join("\n")).err().map(|error| error.to_string());
            assert_eq!(refused.is_none(), is_possible, "{rate}: {refused:?}");
            let place = refused.is_none_or(|error| error.starts_with("n1.jsonl:2: "));
            assert!(place, "{rate}");
        }
    }
}

#[test]
fn a_stamp_that_no_clock_shows_is_refused_with_its_line() {
    let mut lines = recorded("bully-figure-10-8");
    let last = lines.len() - 1;
    let mut entry: Value = serde_json::from_str(&lines[last]).unwrap();
    entry["at_us"] = u64::MAX.into();
    lines[last] = entry.to_string();
    let error = read(&lines.join("\n")).unwrap_err().to_string();
    assert!(error.starts_with(&format!("n1.jsonl:{}: at_us ", last + 1)), "{error}");
}

/// A run as lines of text.
fn recorded(name: &str) -> Vec<String> {
    lines(&simulate(name).1.recording)
}

/// Everything that commands do with a trace, as one of the simulator and as one of live nodes.
fn show(lines: &[String]) {
    for source in [Source::Sim, Source::Live] {
        let mut lines = lines.to_vec();
        if source == Source::Live {
            lines[0] = lines[0].replace(r#""source":"sim""#, r#""source":"live""#);
        }
        let Ok(file) = TraceFile::read("run.jsonl", lines.join("\n").as_bytes()) else { continue };
        let Ok(run) = Recorded::merge(vec![file], TOLERANCE) else { continue };
        let entries = run.judge(Selection::STANDARD).recording.entries;
        let _ = diagram::space_time(&run.header, &entries);
        if let Some(window) = Window::around_crash(&run, 1) {
            let _ = diagram::space_time(&run.header, &window.picture(&run, &entries));
        }
        story::story(&run.header, &entries, &mut String::new()).expect("memory takes everything");
    }
}

/// The line with each of its numbers replaced by each of the extremes.
fn spoilings(line: &str) -> Vec<String> {
    let whole: Value = serde_json::from_str(line).expect("a line is JSON");
    let mut places = Vec::new();
    numbers(&whole, "", &mut places);
    if whole.get("answer_us").is_some() {
        places.push("/stop_within_us".to_owned());
    }
    let mut spoiled = Vec::new();
    for place in places {
        for extreme in [0, 1, u64::from(u32::MAX), i64::MAX as u64, u64::MAX - 1, u64::MAX] {
            let mut changed = whole.clone();
            match changed.pointer_mut(&place) {
                Some(number) => *number = extreme.into(),
                None => changed[&place[1..]] = extreme.into(),
            }
            let text = changed.to_string();
            // A header begins with its version.
            let rest = text.replacen(r#","tanist_trace":2"#, "", 1);
            let is_header = rest != text;
            let line = format!(r#"{{"tanist_trace":2,{}"#, &rest[1..]);
            spoiled.push(if is_header { line } else { text });
        }
    }
    spoiled
}

/// Where the numbers are, as JSON pointers.
fn numbers(value: &Value, here: &str, places: &mut Vec<String>) {
    if value.is_number() {
        places.push(here.to_owned());
    } else if let Some(fields) = value.as_object() {
        fields.iter().for_each(|(name, value)| numbers(value, &format!("{here}/{name}"), places));
    } else if let Some(items) = value.as_array() {
        let items = items.iter().enumerate();
        items.for_each(|(at, value)| numbers(value, &format!("{here}/{at}"), places));
    }
}
