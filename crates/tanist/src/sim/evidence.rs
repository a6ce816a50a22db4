//! What is left of a run for people: what broke, the story, the picture, the trace, and files of
//! them.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tanist_core::{NodeId, Time};
use tanist_sim::observe::observers;
use tanist_sim::observe::recording::Recording;
use tanist_sim::pictures::diagram;
use tanist_sim::pictures::story;

use super::expected_panics;
use super::world::World;
use crate::task::GroupTask;

/// Something that must never be, and was seen.
///
/// An assertion of the algorithm: that is a bug in tanist, since the world stays within the model
/// of the algorithm. Or a [`LeaderCheck`](super::LeaderCheck).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violated {
    /// Its id in tanist's list of assertions, or `leader-check`.
    pub assertion: &'static str,
    /// When.
    pub at: Duration,
    /// Between whom.
    pub nodes: Vec<NodeId>,
    /// What was seen.
    pub why: String,
}

impl Violated {
    pub(super) fn of(violated: observers::Violated) -> Self {
        Self {
            assertion: violated.assertion,
            at: violated.at.since(Time::ZERO),
            nodes: violated.violation.nodes,
            why: violated.violation.why,
        }
    }
}

impl fmt::Display for Violated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was violated at {:?}: {}", self.assertion, self.at, self.why)
    }
}

/// Files with the story, the picture and the trace of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// Who did what when, one line each.
    pub story: PathBuf,
    /// The space-time diagram.
    pub picture: PathBuf,
    /// The trace: what `tanist trace check` and `tanist trace story` read.
    pub trace: PathBuf,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { story, picture, trace } = self;
        let (story, picture, trace) = (story.display(), picture.display(), trace.display());
        write!(f, "Its story is in {story}, its picture in {picture}, its trace in {trace}")
    }
}

/// Something did not come true in the time that it had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "with seed {seed} the condition had not come true after {limit:?}, at {now:?}; groups then: \
     {groups}. The same seed gives the same run. {whereabouts}"
)]
pub struct NeverError {
    /// The seed of the world.
    pub seed: u64,
    /// How long it was waited for.
    pub limit: Duration,
    /// When the wait ended.
    pub now: Duration,
    /// The groups at that time, in words.
    pub groups: Box<str>,
    /// The story and the picture; none if they could not be written.
    pub evidence: Option<Box<Evidence>>,
    whereabouts: Box<str>,
}

/// Something that must never be was seen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("with seed {seed}: {}. The same seed gives the same run. {whereabouts}", in_short(.violations))]
#[non_exhaustive]
pub struct ViolationError {
    /// The seed of the world.
    pub seed: u64,
    /// What was violated, at least one.
    pub violations: Vec<Violated>,
    /// The story and the picture; none if they could not be written.
    pub evidence: Option<Box<Evidence>>,
    whereabouts: Box<str>,
}

fn in_short(violations: &[Violated]) -> String {
    let first = violations.first().map(ToString::to_string).unwrap_or_default();
    match violations.len() {
        0 | 1 => first,
        count => format!("{first} ({} more violations follow)", count - 1),
    }
}

impl<T: GroupTask> World<T> {
    /// Whether everything held so far: the assertions of the algorithm, and the checks that the
    /// world was given.
    ///
    /// # Errors
    /// With all violations, the seed, and the files with the story and the picture of the run.
    pub fn verdict(&self) -> Result<(), ViolationError> {
        let violations = self.violations();
        if violations.is_empty() {
            return Ok(());
        }
        let (evidence, whereabouts) = self.whereabouts();
        let whereabouts = whereabouts.into();
        Err(ViolationError { seed: self.seed(), violations, evidence, whereabouts })
    }

    /// The assertions of the algorithm and the checks that were violated so far; none in a correct
    /// run.
    #[must_use]
    pub fn violations(&self) -> Vec<Violated> {
        let judgements = self.inner.observers.judgements().into_iter();
        let violated = judgements.filter_map(|judged| judged.violated);
        violated.map(Violated::of).chain(self.found.iter().cloned()).collect()
    }

    /// Everything that happened: who did what when, one line each.
    ///
    /// ```
    /// use tanist::sim::{Idle, World};
    ///
    /// let mut world = World::new(7, 2, |_| Idle);
    /// world.run_until(World::is_one_group).expect("two nodes find each other");
    /// assert!(world.story().contains("Invitation"), "{}", world.story());
    /// ```
    #[must_use]
    pub fn story(&self) -> String {
        let recording = self.recording();
        let mut text = String::new();
        let told = story::story(&recording.header, &recording.entries, &mut text);
        told.expect("a string takes everything that is written to it");
        text
    }

    /// The run as a space-time diagram.
    #[must_use]
    pub fn svg(&self) -> String {
        let recording = self.recording();
        diagram::space_time(&recording.header, &recording.entries)
    }

    /// Writes the trace as JSON lines, in the schema of live nodes: `tanist trace check` and
    /// `tanist trace story` read it.
    ///
    /// ```
    /// use tanist::sim::{Idle, World};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::new(7, 2, |_| Idle);
    /// world.run_until(World::is_one_group)?;
    /// let mut trace = Vec::new();
    /// world.write_trace(&mut trace)?;
    /// assert!(trace.starts_with(b"{\"tanist_trace\":"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If nothing more can be written there.
    pub fn write_trace(&self, mut to: impl io::Write) -> io::Result<()> {
        self.recording().write(&mut to)
    }

    /// Writes story, picture and trace of the run so far, named after the seed and after what
    /// happened, so that another run leaves them alone.
    ///
    /// # Errors
    /// If the directory cannot be written to.
    pub fn save(&self) -> io::Result<Evidence> {
        let hash = self.recording().hash();
        let name = format!("tanist-sim-seed-{}-{}", self.seed(), &hash[..8]);
        let story = self.save_to.join(format!("{name}.txt"));
        let picture = self.save_to.join(format!("{name}.svg"));
        write_new(&story, &self.story())?;
        write_new(&picture, &self.svg())?;
        let trace = self.save_to.join(format!("{name}.jsonl"));
        let mut lines = Vec::new();
        self.write_trace(&mut lines)?;
        write_new(&trace, &String::from_utf8_lossy(&lines))?;
        Ok(Evidence { story, picture, trace })
    }

    pub(super) fn never(&self) -> NeverError {
        let (evidence, whereabouts) = self.whereabouts();
        let groups: Vec<String> = self.groups().iter().map(ToString::to_string).collect();
        NeverError {
            seed: self.seed(),
            limit: self.scenario.end,
            now: self.now(),
            groups: if groups.is_empty() { "none".into() } else { groups.join(", ").into() },
            evidence,
            whereabouts: whereabouts.into(),
        }
    }

    /// Saves the evidence, and says where it is.
    fn whereabouts(&self) -> (Option<Box<Evidence>>, String) {
        if self.trial.is_some() && expected_panics::is_quiet() {
            return (None, "Its story is below".to_owned());
        }
        match self.save() {
            Ok(evidence) => {
                let text = evidence.to_string();
                (Some(Box::new(evidence)), text)
            }
            Err(error) => {
                let directory = self.save_to.display();
                let text = format!(
                    "Its story and picture could not be written to {directory}: {error}; name \
                     another place with `save_to`"
                );
                (None, text)
            }
        }
    }

    fn recording(&self) -> &Recording {
        self.inner.observers.recording().expect("these worlds are made with a recorder")
    }
}

impl<T: GroupTask> Drop for World<T> {
    /// A test that fails while it holds a world says how to have the same run again.
    fn drop(&mut self) {
        if let Some(trial) = &self.trial {
            if trial.keeps_end() {
                trial.end(self.story(), self.save().ok());
            }
        } else if std::thread::panicking() {
            let (seed, now) = (self.seed(), self.now());
            let (_, whereabouts) = self.whereabouts();
            // Into the captured output of the test that is failing: a panic cannot carry it.
            eprintln!("tanist::sim: seed {seed}, at {now:?} of the simulation. {whereabouts}");
        }
    }
}

/// Writes a file that did not exist. One that does has the same content, for it has the same name.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
