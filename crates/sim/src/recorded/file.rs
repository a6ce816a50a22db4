//! One trace file as its writer left it: one header for each incarnation of the process, and lines
//! up to the point where it was killed.
//!
//! A process that is killed may leave half a line, and its successor continues right behind it.
//! Such a half line is counted and left out. Any other line that is not an entry is an error: a run
//! that is not understood must not be judged. Verdicts in the file are left out, too, since they
//! are computed again.

use std::io::{self, BufRead};
use std::ops::RangeInclusive;

use serde::Deserialize;
use tanist_core::trace::{Entry, Event, Header, SCHEMA};
use tanist_core::{NodeId, Time};

use super::{Source, own};
use crate::observe::recording::Recording;

/// A trace file that was read.
#[derive(Clone, Debug)]
pub struct TraceFile {
    pub(super) name: String,
    pub(super) header: Header,
    /// The line of the header, from 1.
    pub(super) header_line: usize,
    pub(super) lines: Vec<Line>,
    pub(super) half_lines: usize,
    /// The headers of later incarnations, and their lines.
    further: Vec<(Header, usize)>,
}

/// An entry and its line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) entry: Entry,
    /// From 1. An inferred entry has the number of the line before it.
    pub(super) number: usize,
    pub(super) by: Source,
}

impl TraceFile {
    /// Reads a file; errors name it as given here.
    pub fn read(name: impl Into<String>, mut from: impl BufRead) -> Result<Self, FileError> {
        let mut reader = Reader { name: name.into(), headers: Vec::new(), lines: Vec::new() };
        let mut half_lines = 0;
        let mut odd: Option<Odd> = None;
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            let fail = |source| FileError::Io { file: reader.name.clone(), source };
            if from.read_until(b'\n', &mut bytes).map_err(fail)? == 0 {
                break;
            }
            let is_whole = bytes.ends_with(b"\n");
            let text = bytes.trim_ascii();
            if text.is_empty() {
                continue;
            }
            // The successor of a killed process may write its header right behind half a line.
            let header_at = find(text, HEADER);
            let (half, text) = text.split_at(header_at.unwrap_or(0));
            half_lines += usize::from(!half.is_empty());
            if let Some(odd) = odd.take() {
                if header_at != Some(0) {
                    return Err(reader.bad(odd));
                }
                half_lines += 1;
            }
            if let Err(source) = reader.take(text, number)? {
                odd = Some(Odd { number, source, is_whole });
            }
        }
        if let Some(odd) = odd {
            if odd.is_whole || reader.headers.is_empty() {
                return Err(reader.bad(odd));
            }
            half_lines += 1;
        }
        reader.finish(half_lines)
    }

    /// A trace that is in memory already.
    #[must_use]
    pub fn of(name: impl Into<String>, recording: Recording) -> Self {
        let numbered = recording.entries.into_iter().zip(2..);
        let lines = numbered
            .filter(|(entry, _)| !matches!(entry.event, Event::Violation { .. }))
            .map(|(entry, number)| Line { entry, number, by: Source::Recorded });
        let (name, header, lines) = (name.into(), recording.header, lines.collect());
        Self { name, header, header_line: 1, lines, half_lines: 0, further: Vec::new() }
    }

    /// Every header in it, and its line.
    pub(super) fn headers(&self) -> impl Iterator<Item = (&Header, usize)> + '_ {
        let further = self.further.iter().map(|(header, line)| (header, *line));
        std::iter::once((&self.header, self.header_line)).chain(further)
    }

    /// The node with the lowest id that has lines of its own here; none in a harness's file.
    pub(super) fn first_node(&self) -> Option<NodeId> {
        self.lines.iter().filter_map(|line| own(&line.entry.event)).min()
    }

    /// Where a line is, for an error message.
    pub(super) fn place(&self, at: usize) -> String {
        format!("{}:{}", self.name, self.lines[at].number)
    }

    pub(super) fn at(&self, index: usize) -> Time {
        self.lines[index].entry.at
    }
}

/// Why a file is not a trace.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error(
        "{file}: it cannot be read ({source}); nothing was judged. Name a trace file or a folder \
         of them"
    )]
    Io {
        /// Which file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// There is no header.
    #[error(
        "{file}: there is no trace in it; nothing was judged. Its writer did not get to its first \
         line: leave the file out"
    )]
    Empty {
        /// Which file.
        file: String,
    },
    /// The first line with something in it is not a header.
    #[error(
        "{file}:{line}: the first line is not the header of a trace ({source}); nothing was judged. \
         Name files that tanist wrote"
    )]
    NoHeader {
        /// Which file.
        file: String,
        /// Which line.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file has another version.
    #[error(
        "{file}:{line}: the trace has schema {found}, this program reads schema {SCHEMA}; nothing \
         was judged. Use the version of tanist that wrote it"
    )]
    Schema {
        /// Which file.
        file: String,
        /// Which line.
        line: usize,
        /// Its version.
        found: u32,
    },
    /// A number that no clock shows.
    #[error(
        "{file}:{line}: {what}; nothing was judged. The file was changed or damaged: take it out, \
         or cut it off before this line"
    )]
    Number {
        /// Which file.
        file: String,
        /// Which line.
        line: usize,
        /// The field, its value, and what was expected.
        what: String,
    },
    /// A line that is not an entry.
    #[error(
        "{file}:{line}: not an entry of a trace ({source}); nothing was judged. The file was \
         changed or damaged: take it out, or cut it off before this line"
    )]
    Line {
        /// Which file.
        file: String,
        /// Which line.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// A line that is not an entry; whether that is an error depends on what follows.
struct Odd {
    number: usize,
    source: serde_json::Error,
    is_whole: bool,
}

struct Reader {
    name: String,
    headers: Vec<(Header, usize)>,
    lines: Vec<Line>,
}

impl Reader {
    /// Reads a line; the inner error says why it is not an entry.
    fn take(
        &mut self,
        text: &[u8],
        number: usize,
    ) -> Result<Result<(), serde_json::Error>, FileError> {
        if self.headers.is_empty() || text.starts_with(HEADER) {
            return Ok(match serde_json::from_slice::<Header>(text) {
                Ok(header) if header.tanist_trace != SCHEMA => {
                    let (file, found) = (self.name.clone(), header.tanist_trace);
                    return Err(FileError::Schema { file, line: number, found });
                }
                Ok(header) => {
                    self.headers.push((header, number));
                    Ok(())
                }
                Err(source) => Err(source),
            });
        }
        let entry = match serde_json::from_slice::<Entry>(text) {
            Ok(entry) => entry,
            Err(source) => return Ok(Err(source)),
        };
        if let Some(what) = impossible(&entry) {
            return Err(FileError::Number { file: self.name.clone(), line: number, what });
        }
        self.keep(entry, number, text);
        Ok(Ok(()))
    }

    /// Keeps an entry unless it is worked out again.
    fn keep(&mut self, entry: Entry, number: usize, text: &[u8]) {
        let is_repeated = matches!(entry.event, Event::Crash { .. } | Event::Lose { .. });
        let is_verdict = matches!(entry.event, Event::Violation { .. });
        let is_left_out = is_verdict || (is_repeated && is_inferred(text));
        if !is_left_out {
            self.lines.push(Line { entry, number, by: Source::Recorded });
        }
    }

    fn bad(self, odd: Odd) -> FileError {
        let Odd { number, source, .. } = odd;
        let file = self.name;
        match self.headers.is_empty() {
            true if number == 1 && source.is_eof() => FileError::Empty { file },
            true => FileError::NoHeader { file, line: number, source },
            false => FileError::Line { file, line: number, source },
        }
    }

    fn finish(self, half_lines: usize) -> Result<TraceFile, FileError> {
        let Self { name, headers, lines } = self;
        let mut headers = headers.into_iter();
        let Some((header, header_line)) = headers.next() else {
            return Err(FileError::Empty { file: name });
        };
        let further = headers.collect();
        Ok(TraceFile { name, header, header_line, lines, half_lines, further })
    }
}

/// What is wrong with the numbers of an entry, if monitors could not calculate with them.
fn impossible(entry: &Entry) -> Option<String> {
    if entry.at > STAMP_MAX {
        let (at, most) = (entry.at.as_micros(), STAMP_MAX.as_micros());
        return Some(format!("at_us is {at}, expected at most {most}, which is thirty years"));
    }
    if let Event::Clock { rate_ppm, .. } = entry.event
        && !RATES_PPM.contains(&rate_ppm)
    {
        let (least, most) = (RATES_PPM.start(), RATES_PPM.end());
        return Some(format!("rate_ppm is {rate_ppm}, expected {least} to {most}"));
    }
    None
}

/// Whether a line is marked as inferred.
fn is_inferred(text: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Mark {
        #[serde(default)]
        inferred: bool,
    }
    serde_json::from_slice::<Mark>(text).is_ok_and(|mark| mark.inferred)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// As for the durations of a configuration: about thirty years.
const STAMP_MAX: Time = Time::from_micros(1_000_000_000_000_000);
/// As for the clocks of a scenario: 0.01 to 100 times the right rate.
const RATES_PPM: RangeInclusive<u32> = 10_000..=100_000_000;
/// How a header begins.
const HEADER: &[u8] = br#"{"tanist_trace":"#;
