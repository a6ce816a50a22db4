//! Merges the lines of several files into one order.
//!
//! Lines are ordered by their stamps, and the lines of one file keep their order. A cause comes
//! before its effect: the sending before the receipt, the last line of an incarnation before its
//! crash, the crash before the next start. Where stamps contradict this, the effect is moved behind
//! its cause and gets its time, so that the result is ordered by time, too.

use std::collections::BTreeMap;
use std::time::Duration;

use tanist_core::Time;
use tanist_core::trace::{Entry, Event};

use super::file::TraceFile;
use super::incarnations::{Incarnations, Place};
use super::{Known, MergeError};

/// How many lines were moved.
#[derive(Default)]
pub(super) struct Nudges {
    /// Receipts that were stamped before their sendings.
    pub(super) count: usize,
    /// The largest of these differences.
    pub(super) longest: Duration,
}

/// Merges all lines into one order.
pub(super) fn order(
    files: &[TraceFile],
    incarnations: &Incarnations,
    tolerance: Duration,
) -> Result<(Vec<Known>, Nudges), MergeError> {
    forward(files, tolerance)?;
    let (mut causes, nudges) = sendings(files, tolerance)?;
    for incarnations in incarnations.all() {
        for incarnation in incarnations {
            // Within one file the order of lines is the truth: a line of the node after its crash is
            // for the monitors.
            if let Some(crash) =
                incarnation.crash.filter(|crash| crash.file != incarnation.last.file)
            {
                causes.entry(crash).or_default().push(incarnation.last);
            }
        }
        for pair in incarnations.windows(2) {
            causes.entry(pair[1].start).or_default().extend(pair[0].crash);
        }
    }
    let mut done = vec![0; files.len()];
    let mut ordered: Vec<Known> = Vec::with_capacity(files.iter().map(|f| f.lines.len()).sum());
    let mut now = Time::ZERO;
    while let Some(file) = next(files, &causes, &done, now)? {
        let line = &files[file].lines[done[file]];
        now = now.max(line.entry.at);
        let entry = Entry { at: now, event: line.entry.event.clone() };
        ordered.push(Known { entry, by: line.by });
        done[file] += 1;
    }
    Ok((ordered, nudges))
}

/// The file whose next line is due; none at the end.
fn next(
    files: &[TraceFile],
    causes: &BTreeMap<Place, Vec<Place>>,
    done: &[usize],
    now: Time,
) -> Result<Option<usize>, MergeError> {
    let mut best: Option<(Time, Time, usize)> = None;
    let mut waiting: Option<(Place, Place)> = None;
    for (file, text) in files.iter().enumerate() {
        let here = Place { file, line: done[file] };
        let Some(line) = text.lines.get(here.line) else { continue };
        let missing = causes.get(&here).into_iter().flatten();
        let missing = missing.copied().find(|cause| done[cause.file] <= cause.line);
        if let Some(cause) = missing {
            waiting.get_or_insert((here, cause));
            continue;
        }
        let key = (line.entry.at.max(now), line.entry.at, file);
        best = Some(best.map_or(key, |best| best.min(key)));
    }
    match (best, waiting) {
        (Some((_, _, file)), _) => Ok(Some(file)),
        (None, None) => Ok(None),
        (None, Some((effect, cause))) => Err(contradiction(files, effect, cause)),
    }
}

/// Refuses a file whose clock runs backwards.
fn forward(files: &[TraceFile], tolerance: Duration) -> Result<(), MergeError> {
    for file in files {
        for (at, pair) in file.lines.windows(2).enumerate() {
            let by = pair[0].entry.at.since(pair[1].entry.at);
            if by > tolerance {
                let line = file.lines[at + 1].number;
                return Err(MergeError::Backwards { file: file.name.clone(), line, by });
            }
        }
    }
    Ok(())
}

/// The sending of every receipt, where a file has it.
fn sendings(
    files: &[TraceFile],
    tolerance: Duration,
) -> Result<(BTreeMap<Place, Vec<Place>>, Nudges), MergeError> {
    let mut sent = BTreeMap::new();
    for (here, entry) in places(files) {
        if let Event::Send { node, to, id, .. } = entry.event {
            sent.insert((node, Some(to), id), here);
        } else if let Event::Broadcast { node, id, .. } = entry.event {
            sent.insert((node, None, id), here);
        }
    }
    let (mut causes, mut nudges) = (BTreeMap::new(), Nudges::default());
    for (here, entry) in places(files) {
        let Event::Receive { node, from, id, .. } = entry.event else { continue };
        let Some(cause) = sent.get(&(from, Some(node), id)).or(sent.get(&(from, None, id))) else {
            continue;
        };
        let cause = *cause;
        let by = files[cause.file].at(cause.line).since(entry.at);
        if by > tolerance {
            return Err(contradiction(files, here, cause));
        }
        if by > Duration::ZERO {
            nudges.count += 1;
            nudges.longest = nudges.longest.max(by);
        }
        causes.insert(here, vec![cause]);
    }
    Ok((causes, nudges))
}

fn places(files: &[TraceFile]) -> impl Iterator<Item = (Place, &Entry)> {
    files.iter().enumerate().flat_map(|(file, text)| {
        let lines = text.lines.iter().enumerate();
        lines.map(move |(line, text)| (Place { file, line }, &text.entry))
    })
}

fn contradiction(files: &[TraceFile], effect: Place, cause: Place) -> MergeError {
    let words = |place: Place| {
        let file = &files[place.file];
        format!("{} ({})", file.place(place.line), name(&file.lines[place.line].entry.event))
    };
    let by = files[cause.file].at(cause.line).since(files[effect.file].at(effect.line));
    MergeError::Contradiction { effect: words(effect), cause: words(cause), by }
}

/// The name of an event in an error message.
fn name(event: &Event) -> String {
    let of = |verb: &str| event.actor().map_or_else(String::new, |node| format!("{node} {verb}"));
    let said = event.message().map_or_else(String::new, |message| message.kind.to_string());
    if let Event::Send { to, id, .. } = event {
        format!("{} {said} to {to}, id {id}", of("sends"))
    } else if let Event::Broadcast { id, .. } = event {
        format!("{} {said}, id {id}", of("broadcasts"))
    } else if let Event::Receive { from, id, .. } = event {
        format!("{} {said} from {from}, id {id}", of("receives"))
    } else if matches!(event, Event::Crash { .. }) {
        of("crashes")
    } else if matches!(event, Event::Start { .. }) {
        of("starts")
    } else {
        "the last line of an incarnation".to_owned()
    }
}
