//! Breadth-first search over all global states, level by level, on all cores.
//!
//! Of a visited state its fingerprint is kept, the state from which it was first reached, and its
//! successors: some forty bytes. Only states whose successors are still to be visited are kept in
//! full, as snapshots. The run to a state is recovered by executing it: in each state the steps are
//! taken in turn until one leads to the next fingerprint.
//!
//! The result does not depend on the number of threads: they only expand states, and the successors
//! are entered in the order of a single thread.

mod expansion;
mod frontier;
mod memo;
mod memory;
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

/// The result of an exploration.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// How many different states were visited.
    pub states: usize,
    /// How many steps were taken between them.
    pub transitions: usize,
    /// How many steps the longest shortest run has.
    pub depth: u32,
    /// Whether everything within the bounds was visited.
    pub is_complete: bool,
    /// What ended the exploration before everything was visited, if anything did.
    pub limit: Option<Limit>,
    /// Every state that so many steps reach was visited.
    pub depth_complete: u32,
    /// How many states were not expanded because a counter is above its bound, or because an
    /// assertion is violated.
    pub at_bound: usize,
    /// The violated assertions, each with a shortest run.
    pub found: Vec<Found>,
    /// A run to a state from which no good state can be reached without further failures, if any.
    pub stuck: Option<Vec<Step>>,
    /// How many states are not known to reach a good state: they lead to a bound, and no walk
    /// beyond it reached a good state.
    pub unsure: usize,
    /// How many states are good: every assertion about the end is true.
    pub good: usize,
    /// Whether some run decided an election: in an empty model every assertion holds.
    pub has_elections: bool,
    /// Whether in some run a higher node replaced a lower coordinator.
    pub has_preemption: bool,
    /// Every assertion that was checked, with whether it is about the end.
    pub watched: Vec<(&'static str, bool)>,
}

/// What ends an exploration before everything is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Bounds::depth`].
    Depth,
    /// [`Bounds::states`].
    States,
    /// [`Bounds::memory`].
    Memory,
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

/// A violated assertion.
#[derive(Clone, Debug)]
pub struct Found {
    /// What was violated.
    pub violated: Violated,
    /// A shortest run to it.
    pub run: Vec<Step>,
    /// How many states had been visited when it was found.
    pub states: usize,
}

/// The progress of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// States visited.
    pub states: usize,
    /// Steps taken between them.
    pub transitions: usize,
    /// Length of the runs that are being explored.
    pub depth: u32,
    /// States whose successors are still to be visited.
    pub frontier: usize,
    /// Bytes that the visited states occupy until the end.
    pub bytes_kept: usize,
    /// Bytes that the states occupy whose successors are still to be visited.
    pub bytes_frontier: usize,
    /// Bytes that the whole process occupies, where the system tells.
    pub bytes_process: Option<u64>,
}

/// Visits every state within the bounds, on all cores.
pub fn explore(
    scenario: &Scenario,
    assumption: Assumption,
    bounds: &Bounds,
    on_progress: &mut dyn FnMut(Progress),
) -> Exploration {
    let jobs = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    explore_on(jobs, scenario, assumption, bounds, on_progress)
}

/// Visits every state within the bounds on so many threads; their number changes nothing but the
/// time that it takes.
pub fn explore_on(
    jobs: NonZeroUsize,
    scenario: &Scenario,
    assumption: Assumption,
    bounds: &Bounds,
    on_progress: &mut dyn FnMut(Progress),
) -> Exploration {
    let first = Model::new(scenario, assumption, bounds, KeepsTrace::No);
    let mut search = Search::new(first, jobs, bounds);
    while !search.frontier.is_empty() && search.depth < bounds.depth && search.limit.is_none() {
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
    /// The state from which each state was first reached.
    parents: Segments<u32>,
    frontier: Frontier,
    /// States that are not expanded because a counter is too high.
    beyond: Frontier,
    steps: Steps,
    good: Bits,
    /// States that are not expanded: beyond a bound, or with a violated assertion.
    ends: Bits,
    transitions: usize,
    depth: u32,
    found: Vec<Found>,
    has_elections: bool,
    has_preemption: bool,
    /// What ends the search early, if anything does.
    limit: Option<Limit>,
    depth_complete: u32,
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
            limit: None,
            depth_complete: 0,
            first,
        };
        let mut snapshot = Vec::new();
        search.first.save(&search.store, &mut snapshot);
        search.visited.insert(search.first.fingerprint());
        search.parents.push(0);
        if search.first.world.observers.is_settled() {
            search.good.set(0);
        }
        for violated in search.first.violated(bounds) {
            search.found.push(Found { violated, run: Vec::new(), states: 1 });
        }
        if search.found.is_empty() {
            search.frontier.push(0, &snapshot);
        }
        search
    }

    /// The limit that is reached, if any.
    fn reached(&self, progress: &Progress) -> Option<Limit> {
        if self.visited.len() > self.bounds.states {
            return Some(Limit::States);
        }
        let needed = self.bytes_needed(progress);
        self.bounds.memory.is_some_and(|limit| needed > limit).then_some(Limit::Memory)
    }

    /// The bytes that the process occupies, and those that the next batch may add.
    fn bytes_needed(&self, progress: &Progress) -> u64 {
        let own = progress.bytes_kept + progress.bytes_frontier;
        let occupied = progress.bytes_process.unwrap_or(own as u64);
        occupied + self.visited.bytes_of_growth(STATES_OF_BATCH) as u64
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
            let progress = self.progress(left);
            on_progress(progress);
            self.limit = self.reached(&progress);
            if self.limit.is_some() {
                break;
            }
        }
        // The batches that are left were not expanded.
        self.depth_complete = self.depth - u32::from(batches.len() > 0);
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

    /// Enters a step; returns the index of the state that it leads to.
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
        // A run ends where it violates an assertion.
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
            bytes_frontier: self.frontier.bytes() + self.beyond.bytes(),
            bytes_process: memory::occupied(),
        }
    }

    fn conclude(mut self, on_progress: &mut dyn FnMut(Progress)) -> Exploration {
        let is_complete = self.frontier.is_empty() && self.depth_complete == self.depth;
        let unsure = if is_complete { self.unsure(on_progress) } else { 0 };
        let stuck = is_complete.then(|| self.stuck().map(|place| self.run_to(place))).flatten();
        Exploration {
            states: self.visited.len(),
            transitions: self.transitions,
            depth: self.depth,
            is_complete,
            limit: (!is_complete).then_some(self.limit.unwrap_or(Limit::Depth)),
            depth_complete: self.depth_complete,
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

    /// How many expanded states are not known to reach a good state: within the bound they reach
    /// none, and beyond it no random walk did.
    fn unsure(&mut self, on_progress: &mut dyn FnMut(Progress)) -> usize {
        let mut sure = self.good.clone();
        self.steps.spread(&mut sure);
        let asked = self.steps.successors_of_others(&sure);
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

    /// A state from which no good state, and no bound, can be reached.
    fn stuck(&self) -> Option<u32> {
        let mut reaching = self.good.clone().or(&self.ends);
        self.steps.spread(&mut reaching);
        reaching.first_without(self.visited.len())
    }
}

/// More states than the successors of a batch are.
const STATES_OF_BATCH: usize = 1 << 18;
