//! Splits a simulated run into the files that live nodes and a harness would have written.

use std::collections::BTreeMap;
use std::time::Duration;

use tanist_core::trace::{Entry, Event, Source};
use tanist_sim::monitors::{Selection, Verdict};
use tanist_sim::observe::recording::Recording;
use tanist_sim::recorded::{FileError, Judged, MergeError, Recorded, TOLERANCE, TraceFile};
use tanist_sim::scenario::library;
use tanist_sim::{Report, Scenario, run};

/// The time on a machine's clock when the run begins.
pub(crate) const BOOTED: Duration = Duration::from_secs(4711);

/// The files of a run: one per node by its id, and that of the harness under 0.
pub(crate) type Files = BTreeMap<u32, Recording>;

pub(crate) fn simulate(name: &str) -> (Scenario, Report) {
    let text = library::find(name).unwrap_or_else(|| panic!("no scenario {name}"));
    let scenario = Scenario::parse(text).expect("a shipped scenario is one");
    let report = run(&scenario, scenario.seed);
    (scenario, report)
}

/// The writer of an event: a node, the harness (0), or none.
pub(crate) fn writer(event: &Event) -> Option<u32> {
    if event.is_from_outside() {
        return Some(0);
    }
    event.actor().map(|node| node.0)
}

/// The files that the nodes and a harness would have written.
pub(crate) fn split(recording: &Recording) -> Files {
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

pub(crate) fn merge(files: &Files) -> Result<Recorded, MergeError> {
    let named = files.iter().map(|(id, file)| TraceFile::of(format!("n{id}.jsonl"), file.clone()));
    Recorded::merge(named.collect(), TOLERANCE)
}

pub(crate) fn judge(files: &Files) -> Judged {
    merge(files).expect("the files are of one run").judge(Selection::STANDARD)
}

pub(crate) fn verdicts(judged: &Judged) -> BTreeMap<&'static str, Verdict> {
    let judgements = judged.rulings.iter().map(|ruling| &ruling.judgement);
    judgements.map(|judgement| (judgement.assertion, judgement.verdict)).collect()
}

pub(crate) fn broken(judged: &Judged) -> Vec<&'static str> {
    judged.violated().map(|judgement| judgement.assertion).collect()
}

pub(crate) fn reason(judged: &Judged, assertion: &str) -> String {
    let ruling = judged.rulings.iter().find(|ruling| ruling.judgement.assertion == assertion);
    ruling.expect("every assertion has a ruling").reason.clone().unwrap_or_default()
}

pub(crate) fn text(recorded: &Recorded) -> Vec<u8> {
    let mut bytes = Vec::new();
    recorded.write(&mut bytes).expect("memory takes everything");
    bytes
}

pub(crate) fn read(text: &str) -> Result<TraceFile, FileError> {
    TraceFile::read("n1.jsonl", text.as_bytes())
}

/// A file as text, one line each.
pub(crate) fn lines(file: &Recording) -> Vec<String> {
    let mut bytes = Vec::new();
    file.write(&mut bytes).expect("memory takes everything");
    String::from_utf8(bytes).expect("a trace is text").lines().map(str::to_owned).collect()
}

/// The entries of one writer in a trace.
pub(crate) fn told_by(id: u32, entries: &[Entry]) -> Vec<&Entry> {
    entries.iter().filter(|entry| writer(&entry.event) == Some(id)).collect()
}
