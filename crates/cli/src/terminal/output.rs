//! Where results go: stdout, files, and who may use stdout when several things want it.
//!
//! A reader that goes away (`tanist … | head`) is not an error: the rest is not written, and the
//! exit code stays what the command found.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::PathBuf;

use anyhow::Context;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use serde_json::Value;

use crate::problem::Problem;
use crate::terminal::yaml;

/// How a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people; may change.
    Table,
    /// For programs; names stay as they are.
    Json,
}

/// How what an agent sees is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LookFormat {
    /// For people; may change.
    Table,
    /// The same with everything that is known.
    Wide,
    /// For programs; names stay as they are.
    Json,
    /// The same in lines: one for each thing of a list.
    Ndjson,
    /// The same as YAML.
    Yaml,
    /// Names only, one on a line.
    Name,
}

/// A form that programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    /// Over many lines.
    Json,
    /// One line for each item of a list, or one for all.
    Ndjson,
    Yaml,
}

impl LookFormat {
    /// The form that programs read, if it is one.
    pub(crate) const fn machine(self) -> Option<Machine> {
        match self {
            Self::Json => Some(Machine::Json),
            Self::Ndjson => Some(Machine::Ndjson),
            Self::Yaml => Some(Machine::Yaml),
            Self::Table | Self::Wide | Self::Name => None,
        }
    }
}

/// A file that the user named; `-` is stdout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// `-`.
    Stdout,
    /// Anything else.
    File(PathBuf),
}

impl From<OsString> for Target {
    fn from(name: OsString) -> Self {
        if name == "-" { Self::Stdout } else { Self::File(PathBuf::from(name)) }
    }
}

impl Target {
    /// Has something written to it.
    pub(crate) fn fill(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        match self {
            Self::Stdout => Ok(to_stdout(write)?),
            Self::File(path) => {
                let fail = || {
                    let path = path.display();
                    format!("error: cannot write {path}; name a file where you may write")
                };
                let mut file = BufWriter::new(File::create(path).with_context(fail)?);
                write(&mut file).and_then(|()| file.flush()).with_context(fail)
            }
        }
    }
}

/// Whether a report is printed: not if a file takes stdout, which only one may do.
pub(crate) fn is_report_wanted(
    format: Option<Format>,
    files: &[Option<&Target>],
) -> Result<bool, Problem> {
    let takers = files.iter().filter(|file| **file == Some(&Target::Stdout)).count();
    if takers + usize::from(format.is_some()) > 1 && takers > 0 {
        let what = "several results would go to stdout and mix there; nothing was run. \
                    Give all but one of them a file name instead of `-`";
        return Err(Problem::Usage(what.to_owned()));
    }
    Ok(takers == 0)
}

/// Prints text.
pub(crate) fn print(text: &str) -> io::Result<()> {
    to_stdout(|to| to.write_all(text.as_bytes()))
}

/// Prints a value as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    Ok(print(&format!("{text}\n"))?)
}

/// Prints a value in a form that programs read.
pub(crate) fn print_value(value: &Value, machine: Machine) -> anyhow::Result<()> {
    match machine {
        Machine::Json => print_json(value),
        Machine::Ndjson => Ok(print(&lines(value)?)?),
        Machine::Yaml => Ok(print(&yaml::text(value))?),
    }
}

fn lines(value: &Value) -> serde_json::Result<String> {
    let items = value.as_array().map_or_else(|| vec![value], |items| items.iter().collect());
    let lines = items.into_iter().map(|item| Ok(serde_json::to_string(item)? + "\n"));
    lines.collect()
}

/// Writes a line to stderr; an agent does not wait for it. If it cannot be written, there is no
/// other place to write it.
pub(crate) fn complain(text: &str) {
    if let Some(lines) = crate::terminal::log::stderr() {
        return lines.put(format!("{text}\n").into_bytes());
    }
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether stdout still has a reader; a pipe whose reader has ended has none. Asked without a write, since a command that waits may write nothing for hours.
pub(crate) fn has_reader() -> bool {
    let stdout = io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    // What cannot be asked is taken to be there; the next write tells.
    let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    !fds.iter().any(|fd| fd.revents().intersects(PollFlags::ERR | PollFlags::HUP))
}

fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    let written = write(&mut stdout).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            // What is still in the buffer would fail again, and louder, when it is dropped.
            let _ = stdout.into_parts();
            Ok(())
        }
        Ok(()) | Err(_) => written,
    }
}

/// Text from elsewhere that cannot break a table or steer the terminal.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// An argument as a shell reads it.
pub(crate) fn quoted(argument: &str) -> String {
    let is_simple = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(is_simple) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_result_goes_to_stdout() {
        let (stdout, file) = (Target::Stdout, Target::File(PathBuf::from("x")));
        assert_eq!(is_report_wanted(None, &[None, Some(&file)]), Ok(true));
        assert_eq!(is_report_wanted(None, &[Some(&stdout), Some(&file)]), Ok(false));
        assert!(is_report_wanted(None, &[Some(&stdout), Some(&stdout)]).is_err());
        assert!(is_report_wanted(Some(Format::Json), &[Some(&stdout)]).is_err());
    }

    #[test]
    fn a_list_is_a_line_for_each_item_and_anything_else_one() {
        let list = serde_json::json!([{ "a": "1\n2" }, 3]);
        assert_eq!(lines(&list).unwrap(), "{\"a\":\"1\\n2\"}\n3\n");
        assert_eq!(lines(&serde_json::json!({ "b": [1] })).unwrap(), "{\"b\":[1]}\n");
    }

    #[test]
    fn a_path_with_blanks_is_quoted() {
        assert_eq!(quoted("a/b-1.toml"), "a/b-1.toml");
        assert_eq!(quoted("it's here"), r"'it'\''s here'");
    }
}
