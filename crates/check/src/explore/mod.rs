//! Breadth first over all situations, level by level, on all cores.
//!
//! Of a visited situation the number that stands for it is kept, where it was first reached from, and
//! where it leads: some forty bytes. Only those whose successors are still to be visited are kept in
//! full, as a snapshot. The run to a situation is found again by taking it: the steps of a situation are
//! tried until one leads to the next number.
//!
//! The result does not depend on the number of threads: they only expand, and what they find is
//! taken in the order of one.

mod expansion;
mod frontier;
mod memo;
mod random_walk;
mod reachability;
mod segments;
mod visited;

use std::num::NonZeroUsize;
use std::thread;

use tanist_sim::Scenario;
use tanist_sim::explore::snapshot::Store;
use tanist_sim::observe::observers::Violated;
use tanist_sim::observe::recording::Recording;

use crate::assumption::Assumption;
use crate::explore::expansion::{Block, Crew, New, Successor};
use crate::explore::frontier::{Batch, Frontier};
use crate::explore::reachability::{Bits, Steps};
use crate::explore::segments::Segments;
use crate::explore::visited::{Arrived, Visited};
use crate::model::{Bounds, KeepsTrace, Model, Step};

/// What came of an exploration.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// How many different situations were visited.
    pub states: usize,
    /// How many steps were taken between them.
    pub transitions: usize,
    /// How many steps the longest shortest run has.
    pub depth: u32,
    /// Whether everything within the bounds was visited.
    pub is_complete: bool,
    /// How many situations were not followed further because a counter had reached its bound.
    pub at_bound: usize,
    /// The assertions that broke, each with a shortest run.
    pub found: Vec<Found>,
    /// A situation from which nothing good can be reached without further failures, if there is one.
    pub stuck: Option<Vec<Step>>,
    /// How many situations are not known to lead to anything good below a bound: what should come
    /// true is hoped for there only because the runs that go on were not followed.
    pub unsure: usize,
    /// How many situations are good: what should come true eventually is true.
    pub good: usize,
    /// Whether some run decided an election: an empty model would hold everything.
    pub has_elections: bool,
    /// Whether in some run a higher node unseated a lower coordinator.
    pub has_preemption: bool,
    /// Every assertion that was watched, with whether it speaks of the end.
    pub watched: Vec<(&'static str, bool)>,
}

/// The trace of a run that an exploration found.
#[must_use]
pub fn replay(
    scenario: &Scenario,
    assumption: Assumption,
    bounds: &Bounds,
    run: &[Step],
) -> Option<Recording> {
    let mut model = Model::new(scenario, assumption, bounds, KeepsTrace::Yes);
    for step in run {
        model.take(*step);
    }
    model.world.observers.into_recording()
}

/// A broken assertion.
#[derive(Clone, Debug)]
pub struct Found {
    /// What broke.
    pub violated: Violated,
    /// A shortest run to it.
    pub run: Vec<Step>,
    /// How many situations were known when it was found.
    pub states: usize,
}

/// How far an exploration has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Situations visited.
    pub states: usize,
    /// Steps taken between them.
    pub transitions: usize,
    /// Length of the runs that are being looked at.
    pub depth: u32,
    /// Situations whose successors are still to be visited.
    pub frontier: usize,
    /// Bytes that the visited situations take: what grows with them and is kept.
    pub bytes_kept: usize,
    /// Bytes that the situations take whose successors are still to be visited.
    pub bytes_frontier: usize,
}

/// Visits every situation within the bounds, on all cores.
pub fn explore(
    scenario: &Scenario,
    assumption: Assumption,
    bounds: &Bounds,
    on_progress: &mut dyn FnMut(Progress),
) -> Exploration {
    let jobs = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    explore_on(jobs, scenario, assumption, bounds, on_progress)
}

/// Visits every situation within the bounds on so many threads, which changes nothing but the time
/// that it takes.
pub fn explore_on(
    jobs: NonZeroUsize,
    scenario: &Scenario,
    assumption: Assumption,
    bounds: &Bounds,
    on_progress: &mut dyn FnMut(Progress),
) -> Exploration {
    let first = Model::new(scenario, assumption, bounds, KeepsTrace::No);
    let mut search = Search::new(first, jobs, bounds);
    while !search.frontier.is_empty() && search.depth < bounds.depth && !search.is_full() {
        search.level(on_progress);
    }
    search.conclude(on_progress)
}

struct Search {
    bounds: Bounds,
    first: Model,
    crew: Crew,
    store: Store,
    visited: Visited,
    /// From where each situation was first reached.
    parents: Segments<u32>,
    frontier: Frontier,
    /// Situations that are not followed because a counter is too high.
    beyond: Frontier,
    steps: Steps,
    good: Bits,
    /// Situations that are not followed: at a bound, or with something broken.
    ends: Bits,
    transitions: usize,
    depth: u32,
    found: Vec<Found>,
    has_elections: bool,
    has_preemption: bool,
    is_cut_short: bool,
}

impl Search {
    fn new(first: Model, jobs: NonZeroUsize, bounds: &Bounds) -> Self {
        let mut search = Self {
            bounds: *bounds,
            crew: Crew::new(&first, jobs),
            store: Store::new(first.clock()),
            visited: Visited::new(),
            parents: Segments::new(),
            frontier: Frontier::new(),
            beyond: Frontier::new(),
            steps: Steps::new(),
            good: Bits::new(),
            ends: Bits::new(),
            transitions: 0,
            depth: 0,
            found: Vec::new(),
            has_elections: false,
            has_preemption: false,
            is_cut_short: false,
            first,
        };
        let mut snapshot = Vec::new();
        search.first.save(&search.store, &mut snapshot);
        search.visited.insert(search.first.fingerprint());
        search.parents.push(0);
        if search.first.world.observers.is_settled() {
            search.good.set(0);
        }
        for violated in search.first.broken(bounds) {
            search.found.push(Found { violated, run: Vec::new(), states: 1 });
        }
        if search.found.is_empty() {
            search.frontier.push(0, &snapshot);
        }
        search
    }

    fn is_full(&self) -> bool {
        self.visited.len() > self.bounds.states
    }

    /// Visits everything that is one step further away.
    fn level(&mut self, on_progress: &mut dyn FnMut(Progress)) {
        self.depth += 1;
        let level = std::mem::replace(&mut self.frontier, Frontier::new());
        let mut left = level.len();
        let mut batches = level.into_batches();
        for batch in &mut batches {
            self.visit(&batch);
            left -= batch.len();
            on_progress(self.progress(left));
            if self.is_full() {
                break;
            }
        }
        // What was not expanded any more is still to be visited.
        self.is_cut_short |= batches.len() > 0;
    }

    fn visit(&mut self, batch: &Batch) {
        let blocks = self.crew.expand(&batch.entries(), &self.visited, &self.store, &self.bounds);
        let mut leads_to = Vec::new();
        for block in &blocks {
            for (place, successors) in &block.sources {
                leads_to.clear();
                for successor in &block.successors[successors.clone()] {
                    let to = self.arrive(*place, successor, block);
                    self.has_elections |= successor.has_election;
                    self.has_preemption |= successor.has_preempted;
                    if successor.counts_as_progress {
                        leads_to.push(to);
                    }
                }
                if !self.good.has(*place) {
                    self.steps.push(*place, &mut leads_to);
                }
            }
        }
    }

    /// Takes note of a step; tells where the situation is that it leads to.
    fn arrive(&mut self, parent: u32, successor: &Successor, block: &Block) -> u32 {
        self.transitions += 1;
        let new = match &successor.what {
            expansion::Found::Visited(place) => return *place,
            expansion::Found::New(new) => new,
        };
        match self.visited.insert(new.fingerprint) {
            Arrived::Again(place) => place,
            Arrived::Fresh(place) => {
                self.parents.push(parent);
                self.note(place, new, block.snapshot(new));
                place
            }
        }
    }

    fn note(&mut self, place: u32, new: &New, snapshot: &[u8]) {
        if new.is_good {
            self.good.set(place);
        }
        for violated in &new.violated {
            if self.found.iter().all(|found| found.violated.assertion != violated.assertion) {
                let (violated, states) = (violated.clone(), self.visited.len());
                self.found.push(Found { violated, run: self.run_to(place), states });
            }
        }
        // A run ends where it breaks something.
        if new.violated.is_empty() && !new.is_beyond {
            self.frontier.push(place, snapshot);
            return;
        }
        self.ends.set(place);
        if new.violated.is_empty() && !new.is_good {
            self.beyond.push(place, snapshot);
        }
    }

    fn run_to(&self, place: u32) -> Vec<Step> {
        let mut path = Vec::new();
        let mut at = place;
        while at != 0 {
            path.push(self.visited.fingerprint(at));
            at = self.parents.get(at as usize);
        }
        expansion::retrace(&self.first, path.into_iter().rev())
    }

    fn progress(&self, left: usize) -> Progress {
        Progress {
            states: self.visited.len(),
            transitions: self.transitions,
            depth: self.depth,
            frontier: left + self.frontier.len(),
            bytes_kept: self.visited.bytes() + self.parents.bytes() + self.steps.bytes(),
            bytes_frontier: self.frontier.bytes(),
        }
    }

    fn conclude(mut self, on_progress: &mut dyn FnMut(Progress)) -> Exploration {
        let is_complete = self.frontier.is_empty() && !self.is_cut_short;
        let unsure = if is_complete { self.unsure(on_progress) } else { 0 };
        let stuck = is_complete.then(|| self.stuck().map(|place| self.run_to(place))).flatten();
        Exploration {
            states: self.visited.len(),
            transitions: self.transitions,
            depth: self.depth,
            is_complete,
            at_bound: self.ends.count(),
            unsure,
            good: self.good.count(),
            watched: self.first.world.observers.assertions(),
            found: self.found,
            has_elections: self.has_elections,
            has_preemption: self.has_preemption,
            stuck,
        }
    }

    /// How many situations that were followed are not known to lead to anything good: below the bound
    /// they lead to nothing good, and beyond it none of the runs that were tried does.
    fn unsure(&mut self, on_progress: &mut dyn FnMut(Progress)) -> usize {
        let mut sure = self.good.clone();
        self.steps.spread(&mut sure);
        let asked = self.steps.targets_of_those_without(&sure);
        let beyond = std::mem::replace(&mut self.beyond, Frontier::new());
        for batch in beyond.into_batches() {
            let mut entries = batch.entries();
            entries.retain(|(place, _)| asked.has(*place));
            let can_progress = self.crew.can_progress(&entries, &self.store);
            can_progress.into_iter().for_each(|place| sure.set(place));
            on_progress(self.progress(0));
        }
        self.steps.spread(&mut sure);
        self.visited.len() - sure.or(&self.ends).count()
    }

    /// A situation from which no good one, and no bound, can be reached.
    fn stuck(&self) -> Option<u32> {
        let mut reaching = self.good.clone().or(&self.ends);
        self.steps.spread(&mut reaching);
        reaching.first_without(self.visited.len())
    }
}
