//! Everything that can follow when a process or a machine stops: crashes, and crashes while
//! recovering from them.
//!
//! The check is stricter than the promise "old value, new value or refusal": a crash alone must not
//! lead to a refusal either.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use tanist_core::group::Counter;
use tanist_core::membership::NodeId;

use super::super::directory::Directory;
use super::super::error::OpenError;
use super::super::files::temporary;
use super::super::{Opened, Versions, opening};
use super::simulated_disk::Disk;
use super::simulated_files::{Breakage, SimulatedFiles};

/// What may be found when the store is opened again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Expected {
    /// The counters; 0 for none.
    pub(super) counters: Vec<u64>,
    /// Whether a store may be created again, because none was ever given to a caller.
    pub(super) may_be_new: bool,
}

impl Expected {
    /// A store that is there, with one of these counters.
    pub(super) fn one_of(counters: &[u64]) -> Self {
        Self { counters: counters.to_vec(), may_be_new: false }
    }

    /// A store that is there and unused, or none.
    pub(super) fn unused_or_none() -> Self {
        Self { counters: vec![0], may_be_new: true }
    }
}

/// What must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Violation {
    /// A save or a store that somebody relied on is gone.
    Lost(String),
    /// A counter that nobody saved.
    Invented(String),
    /// A crash made the store unusable.
    Refused(String),
    /// The store is there and cannot be used.
    Stuck(String),
}

/// The check of one kind of store, whole or broken.
#[derive(Debug)]
pub(super) struct CrashCheck {
    breakage: Breakage,
    /// What was looked at already.
    seen: BTreeSet<(Disk, Expected, u32)>,
}

impl CrashCheck {
    pub(super) fn new(breakage: Breakage) -> Self {
        Self { breakage, seen: BTreeSet::new() }
    }

    /// How many different disks were opened.
    pub(super) fn disks(&self) -> usize {
        self.seen.iter().map(|(disk, ..)| disk).collect::<BTreeSet<_>>().len()
    }

    /// The process is killed, or the power is lost; then the store is opened. `crashes` more may
    /// come while it is being opened or afterwards.
    pub(super) fn stop(
        &mut self,
        disk: &Disk,
        expected: &Expected,
        crashes: u32,
    ) -> ControlFlow<Violation> {
        self.reopen(disk.clone(), expected, crashes)?;
        disk.lose_power(&mut |left| self.reopen(left, expected, crashes))
    }

    fn reopen(&mut self, disk: Disk, expected: &Expected, crashes: u32) -> ControlFlow<Violation> {
        if !self.seen.insert((disk.clone(), expected.clone(), crashes)) {
            return ControlFlow::Continue(());
        }
        let files = SimulatedFiles::new(disk.clone(), self.breakage);
        let opened = open(&files);
        let (found, is_new) = judge(opened, &disk, &files, expected)?;
        if crashes == 0 {
            return ControlFlow::Continue(());
        }
        // What would survive cannot change again; else another crash may leave another of them.
        let during = if disk.is_settled() {
            Expected { counters: vec![found], may_be_new: is_new }
        } else {
            expected.clone()
        };
        // Opened again, because `judge` went on to save.
        let (opening, opened) = split_at_open(&disk, self.breakage);
        for disk in opening {
            self.stop(&disk, &during, crashes - 1)?;
        }
        self.stop(&opened, &Expected::one_of(&[found]), crashes - 1)
    }
}

/// The disk before each operation of opening, and after the last one.
fn split_at_open(disk: &Disk, breakage: Breakage) -> (Vec<Disk>, Disk) {
    let files = SimulatedFiles::new(disk.clone(), breakage);
    let opened = open(&files);
    assert!(opened.is_ok(), "it was opened before");
    (files.take_history(), files.disk())
}

/// Compares what was found with what may be, and tries whether the store can be used.
fn judge(
    opened: Result<Opened, OpenError>,
    disk: &Disk,
    files: &SimulatedFiles,
    expected: &Expected,
) -> ControlFlow<Violation, (u64, bool)> {
    let place = || format!("expected {expected:?} on {disk:?}");
    let Opened { mut store, is_new } = match opened {
        Ok(opened) => opened,
        Err(error) => {
            return ControlFlow::Break(Violation::Refused(format!("{error}; {}", place())));
        }
    };
    let found = store.counter().map_or(0, |counter| counter.0);
    if is_new && !expected.may_be_new {
        return ControlFlow::Break(Violation::Lost(format!("a new store; {}", place())));
    }
    if !expected.counters.contains(&found) {
        let text = format!("found {found}; {}", place());
        let is_lower = expected.counters.iter().all(|counter| found < *counter);
        return ControlFlow::Break(if is_lower {
            Violation::Lost(text)
        } else {
            Violation::Invented(text)
        });
    }
    let names = files.disk().names();
    let has_leftover = ["identity", "counter"].map(temporary).iter().any(|n| names.contains(n));
    if has_leftover || store.save(Counter(found + 1)).is_err() {
        return ControlFlow::Break(Violation::Stuck(format!("{names:?}; {}", place())));
    }
    ControlFlow::Continue((found, is_new))
}

/// Opens the store of the tests.
pub(super) fn open(files: &SimulatedFiles) -> Result<Opened, OpenError> {
    let directory = Directory::new(Path::new("/simulated"), files.clone());
    opening::open(directory, NodeId(3), "billing", Versions::RELEASE)
}
