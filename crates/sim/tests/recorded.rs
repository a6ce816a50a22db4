//! A run that is split into the files that live nodes would have written, and put together again.

use std::collections::BTreeMap;
use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_core::trace::{Entry, Event, Link, Loss, Source};
use tanist_core::{GroupNumber, NodeId, NodeSet, Time};
use tanist_sim::monitors::{Selection, Verdict};
use tanist_sim::record::Recording;
use tanist_sim::recorded::{FileError, Judged, MergeError, Recorded, TOLERANCE, TraceFile, Window};
use tanist_sim::{Report, Scenario, library, run};

/// What a machine's clock shows when the run begins.
const BOOTED: Duration = Duration::from_secs(4711);

/// The files of a run: one per node by its id, and the harness's under 0.
type Files = BTreeMap<u32, Recording>;

fn simulate(name: &str) -> (Scenario, Report) {
    let text = library::find(name).unwrap_or_else(|| panic!("no scenario {name}"));
    let scenario = Scenario::parse(text).unwrap();
    let report = run(&scenario, scenario.seed);
    (scenario, report)
}

/// Whose own line it is.
fn writer(event: &Event) -> Option<u32> {
    let text = serde_json::to_value(event).unwrap();
    let is_harness = ["crash", "pause", "resume", "cut", "heal"];
    match text["event"].as_str().unwrap() {
        "lose" | "broken" => None,
        name if is_harness.contains(&name) => Some(0),
        _ => Some(u32::try_from(text["node"].as_u64().unwrap()).unwrap()),
    }
}

/// The files that the nodes and a harness would have written.
fn split(recording: &Recording) -> Files {
    let mut header = recording.header.clone();
    header.source = Source::Live;
    let mut files = Files::new();
    for entry in &recording.entries {
        let Some(writer) = writer(&entry.event) else { continue };
        let file = files
            .entry(writer)
            .or_insert_with(|| Recording { header: header.clone(), entries: Vec::new() });
        file.entries.push(Entry { at: entry.at + BOOTED, event: entry.event.clone() });
    }
    files
}

fn merge(files: &Files) -> Result<Recorded, MergeError> {
    let named = files.iter().map(|(id, file)| TraceFile::of(format!("n{id}.jsonl"), file.clone()));
    Recorded::merge(named.collect(), TOLERANCE)
}

fn judge(files: &Files) -> Judged {
    merge(files).unwrap().judge(Selection::STANDARD)
}

fn verdicts(judged: &Judged) -> BTreeMap<&'static str, Verdict> {
    let judgements = judged.rulings.iter().map(|ruling| &ruling.judgement);
    judgements.map(|judgement| (judgement.assertion, judgement.verdict)).collect()
}

fn broken(judged: &Judged) -> Vec<&'static str> {
    judged.broken().map(|judgement| judgement.assertion).collect()
}

fn reason(judged: &Judged, assertion: &str) -> String {
    let ruling = judged.rulings.iter().find(|ruling| ruling.judgement.assertion == assertion);
    ruling.unwrap().reason.clone().unwrap_or_default()
}

fn text(recorded: &Recorded) -> Vec<u8> {
    let mut bytes = Vec::new();
    recorded.write(&mut bytes).unwrap();
    bytes
}

fn read(text: &str) -> Result<TraceFile, FileError> {
    TraceFile::read("n1.jsonl", text.as_bytes())
}

/// A file as text, one line each.
fn lines(file: &Recording) -> Vec<String> {
    let mut bytes = Vec::new();
    file.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

/// What one writer wrote, as it comes out of a trace.
fn told_by(id: u32, entries: &[Entry]) -> Vec<&Entry> {
    entries.iter().filter(|entry| writer(&entry.event) == Some(id)).collect()
}

#[test]
fn every_shipped_run_is_the_same_after_splitting_and_merging() {
    let mut count = 0;
    for (name, _) in library::all() {
        let (scenario, report) = simulate(name);
        if scenario.stops_at_break && report.broken().next().is_some() {
            continue;
        }
        let files = split(&report.recording);
        let recorded = merge(&files).unwrap_or_else(|error| panic!("{name}: {error}"));
        let entries: Vec<Entry> = recorded.entries().cloned().collect();
        for id in files.keys() {
            assert_eq!(
                told_by(*id, &entries),
                told_by(*id, &report.recording.entries),
                "{name}: the file of {id}"
            );
        }
        let judged = recorded.judge(scenario.selection);
        let expected: Vec<_> =
            report.assertions.iter().map(|judged| (judged.assertion, judged.verdict)).collect();
        let found: Vec<_> = judged
            .rulings
            .iter()
            .map(|ruling| (ruling.judgement.assertion, ruling.judgement.verdict))
            .collect();
        for (found, expected) in found.iter().zip(&expected) {
            // A short run may end before it can be said to have settled.
            let is_left_open = !reason(&judged, found.0).is_empty();
            assert!(found == expected || is_left_open, "{name}: {found:?}, not {expected:?}");
        }
        assert_eq!(found.len(), expected.len(), "{name}");
        count += 1;
    }
    assert!(count > 30, "only {count} runs");
}
