//! `tanist trace`: recorded runs of live nodes: judged, drawn, told, merged.
//!
//! Files are read by [`tanist_sim::recorded`]; this is what people type, and [`report`] is what they
//! get to read.

mod report;

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tanist_core::Time;
use tanist_core::trace::Entry;
use tanist_sim::monitors::Selection;
use tanist_sim::pictures::diagram;
use tanist_sim::pictures::story;
use tanist_sim::recorded::{Judged, Recorded, TOLERANCE, TraceFile, Window};

use crate::exit::Exit;
use crate::problem::Problem;
use crate::terminal::output::{self, Format, Target};
use crate::terminal::violation;

/// What can be done with the traces that nodes wrote.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Trace {
    Check(CheckArgs),
    Story(StoryArgs),
    Merge(MergeArgs),
}

impl Trace {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        match self {
            Self::Check(args) => args.run(),
            Self::Story(args) => args.run(),
            Self::Merge(args) => args.run(),
        }
    }
}

/// Judge a recorded run by the assertions that simulated runs are judged by.
#[derive(Debug, clap::Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    files: Files,
    /// How to write the result [default: table].
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Format>,
    /// Draw the space-time diagram; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    svg: Option<Target>,
    #[command(flatten)]
    part: Part,
}

/// Tell a recorded run in sentences.
#[derive(Debug, clap::Args)]
#[command(after_help = STORY_EXAMPLES)]
pub(crate) struct StoryArgs {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    part: Part,
}

/// Make one trace file of several.
#[derive(Debug, clap::Args)]
#[command(after_help = MERGE_EXAMPLES)]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    files: Files,
    /// Where to write the merged trace; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    out: Target,
}

/// The files of one run.
#[derive(Debug, clap::Args)]
struct Files {
    /// Trace files of one run, or folders of them (all their *.jsonl).
    #[arg(required = true, value_name = "FILE|DIR")]
    files: Vec<PathBuf>,
    /// By how much stamps of one machine may contradict each other [default: 10ms].
    #[arg(long, value_name = "TIME", value_parser = crate::duration::read)]
    tolerance: Option<Duration>,
}

/// Which part of the run is shown; all of it is judged.
#[derive(Debug, clap::Args)]
struct Part {
    /// Show it from here on, counted from the start of the run (250us, 1.5ms, 2s).
    #[arg(long, value_name = "TIME", value_parser = crate::duration::read)]
    from: Option<Duration>,
    /// Show it up to here.
    #[arg(long, value_name = "TIME", value_parser = crate::duration::read)]
    to: Option<Duration>,
    /// Show the K-th crash, from a little before to when all survivors are Normal again.
    #[arg(long, value_name = "K", conflicts_with_all = ["from", "to"])]
    around_crash: Option<usize>,
}

impl CheckArgs {
    fn run(&self) -> anyhow::Result<Exit> {
        let is_report_wanted = output::is_report_wanted(self.output, &[self.svg.as_ref()])?;
        if self.svg.is_none() && self.part.is_given() {
            let what = "--from, --to and --around-crash choose a part of the picture, and no \
                        picture was asked for; nothing was judged. Add --svg FILE";
            return Err(Problem::Usage(what.to_owned()).into());
        }
        let run = self.files.read()?;
        let window = self.part.window(&run)?;
        let judged = run.judge(Selection::STANDARD);
        if let Some(target) = &self.svg {
            let entries = &judged.recording.entries;
            let part = window.map(|window| window.picture(&run, entries));
            let picture = diagram::space_time(&run.header, part.as_ref().unwrap_or(entries));
            target.fill(|to| to.write_all(picture.as_bytes()))?;
        }
        if is_report_wanted {
            match self.output.unwrap_or(Format::Table) {
                Format::Table => output::print(&report::text(&run, &judged)?)?,
                Format::Json => output::print_json(&report::json(&run, &judged))?,
            }
        }
        Ok(verdict(&judged))
    }
}

impl StoryArgs {
    fn run(&self) -> anyhow::Result<Exit> {
        let run = self.files.read()?;
        let window = self.part.window(&run)?;
        let entries = run.judge(Selection::STANDARD).recording.entries;
        let entries: Vec<Entry> = match window {
            Some(window) => window.entries(&entries),
            None => entries,
        };
        let mut text = String::new();
        story::story(&run.header, &entries, &mut text)?;
        text.push_str(&report::remarks(&run));
        output::print(&text)?;
        Ok(Exit::Well)
    }
}

impl MergeArgs {
    fn run(&self) -> anyhow::Result<Exit> {
        let run = self.files.read()?;
        self.out.fill(|mut to| run.write(&mut to))?;
        Ok(Exit::Well)
    }
}

impl Files {
    fn read(&self) -> Result<Recorded, Problem> {
        let mut files = Vec::new();
        for path in self.paths()? {
            let name = path.display().to_string();
            let file = File::open(&path).map_err(|error| unreadable(&path, &error))?;
            let file = TraceFile::read(name, BufReader::new(file));
            files.push(file.map_err(|error| Problem::BadFile(error.to_string()))?);
        }
        let tolerance = self.tolerance.unwrap_or(TOLERANCE);
        Recorded::merge(files, tolerance).map_err(|error| Problem::BadFile(error.to_string()))
    }

    /// The files that are meant, folders opened, in order of name.
    fn paths(&self) -> Result<Vec<PathBuf>, Problem> {
        let mut paths = Vec::new();
        for given in &self.files {
            if !given.is_dir() {
                paths.push(given.clone());
                continue;
            }
            let entries = fs::read_dir(given).map_err(|error| unreadable(given, &error))?;
            let mut found = Vec::new();
            for entry in entries {
                found.push(entry.map_err(|error| unreadable(given, &error))?.path());
            }
            found.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
            if found.is_empty() {
                let given = given.display();
                let what = format!("{given}: there is no *.jsonl in it; nothing was judged.");
                return Err(Problem::BadFile(format!("{what} Name the folder of a recorded run")));
            }
            found.sort();
            paths.extend(found);
        }
        Ok(paths)
    }
}

impl Part {
    fn is_given(&self) -> bool {
        self.from.is_some() || self.to.is_some() || self.around_crash.is_some()
    }

    fn window(&self, run: &Recorded) -> Result<Option<Window>, Problem> {
        if let Some(number) = self.around_crash {
            return Window::around_crash(run, number).map(Some).ok_or_else(|| {
                let count = Window::crashes(run);
                Problem::Usage(format!(
                    "--around-crash {number}: the run has {count} crashes; nothing was shown. \
                     Count from 1"
                ))
            });
        }
        if !self.is_given() {
            return Ok(None);
        }
        let from = self.from.map_or(Time::ZERO, |from| Time::ZERO + from);
        let to = self.to.map_or(Time::NEVER, |to| Time::ZERO + to);
        let end = run.end();
        if from > to || from > end {
            return Err(Problem::Usage(format!(
                "there is nothing of the run from {from} to {}; nothing was shown. The run lasts \
                 {end}",
                to.min(end),
            )));
        }
        Ok(Some(Window { from, to }))
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    let path = path.display();
    let what = format!("{path}: it cannot be read ({error}); nothing was judged.");
    Problem::BadFile(format!("{what} Name trace files, or a folder of them"))
}

/// The exit code of a judgement, and on stderr the reason if it is not 0.
fn verdict(judged: &Judged) -> Exit {
    let breaks: Vec<String> = judged
        .violated()
        .filter_map(|judgement| judgement.violated.as_ref())
        .map(violation::line)
        .collect();
    breaks.iter().for_each(|line| output::complain(line));
    if breaks.is_empty() { Exit::Well } else { Exit::Violated }
}

/// Examples of the whole family.
pub(crate) const EXAMPLES: &str = "\
Examples:
  tanist trace check traces/
  tanist trace check traces/ --svg run.svg --around-crash 1
  tanist trace story n1.jsonl n2.jsonl n3.jsonl harness.jsonl
  tanist trace merge traces/ --out run.jsonl";

const CHECK_EXAMPLES: &str = "\
Files of one machine are merged by their common clock. Clocks of several machines differ: files
that contradict each other are refused, and each can be checked alone.

Examples:
  tanist trace check traces/
  tanist trace check n1.jsonl n2.jsonl n3.jsonl harness.jsonl -o json | jq .assertions
  tanist trace check traces/ --svg run.svg --from 1.5s --to 2s
  tanist trace check traces/ --svg crash.svg --around-crash 1

Exit codes:
  0 every assertion holds or is not applicable, 1 one is violated, 2 usage, 6 files that are no
  traces, or not of one run";

const STORY_EXAMPLES: &str = "\
Examples:
  tanist trace story traces/
  tanist trace story traces/ --around-crash 2
  tanist trace story run.jsonl --from 1s --to 1200ms | grep WINS

Exit codes:
  0 the story was told, 2 usage, 6 files that are no traces, or not of one run";

const MERGE_EXAMPLES: &str = "\
What was not recorded but follows (a death, a lost message) is marked \"inferred\":true.

Examples:
  tanist trace merge traces/ --out run.jsonl
  tanist trace merge traces/ --out - | grep '\"event\":\"state\"'

Exit codes:
  0 the file was written, 2 usage, 6 files that are no traces, or not of one run";
