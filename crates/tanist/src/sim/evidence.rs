//! What is left of a run for people: what broke, the story, the picture, and files of both.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tanist_core::{NodeId, Time};
use tanist_sim::observe::recording::Recording;
use tanist_sim::pictures::diagram;
use tanist_sim::pictures::story;

use super::world::World;
use crate::task::GroupTask;

/// An assertion of the algorithm that was violated: a bug in tanist, since the world stays within the
/// model of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violated {
    /// Its id in tanist's list of assertions.
    pub assertion: &'static str,
    /// When.
    pub at: Duration,
    /// Between whom.
    pub nodes: Vec<NodeId>,
    /// What was seen.
    pub why: String,
}

impl fmt::Display for Violated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was violated at {:?}: {}", self.assertion, self.at, self.why)
    }
}

/// Files with the story and the picture of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Who did what when, one line each.
    pub story: PathBuf,
    /// The space-time diagram.
    pub picture: PathBuf,
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
    pub evidence: Option<Evidence>,
    whereabouts: Box<str>,
}

impl<T: GroupTask> World<T> {
    /// The assertions of the algorithm that were violated so far; none in a correct run.
    #[must_use]
    pub fn violations(&self) -> Vec<Violated> {
        let judgements = self.inner.observers.judgements().into_iter();
        let violated = judgements.filter_map(|judged| judged.violated);
        violated
            .map(|violated| Violated {
                assertion: violated.assertion,
                at: violated.at.since(Time::ZERO),
                nodes: violated.violation.nodes,
                why: violated.violation.why,
            })
            .collect()
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

    /// Writes story and picture of the run so far, named after the seed and after what happened, so
    /// that another run leaves them alone.
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
        Ok(Evidence { story, picture })
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
    fn whereabouts(&self) -> (Option<Evidence>, String) {
        match self.save() {
            Ok(evidence) => {
                let (story, picture) = (evidence.story.display(), evidence.picture.display());
                let text = format!("Its story is in {story}, its picture in {picture}");
                (Some(evidence), text)
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

    fn recording(&self) -> Recording {
        let kept = self.inner.observers.clone().into_recording();
        kept.expect("these worlds are made with a recorder")
    }
}

impl<T: GroupTask> Drop for World<T> {
    /// A test that fails while it holds a world says how to have the same run again.
    fn drop(&mut self) {
        if std::thread::panicking() {
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
