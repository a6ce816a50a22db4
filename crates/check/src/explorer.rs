//! Breadth first over all situations, level by level, on all cores.

#![expect(
    clippy::disallowed_types,
    reason = "the sets of situations are only asked, never iterated"
)]

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::thread;

use tanist_sim::Scenario;
use tanist_sim::record::Recording;
use tanist_sim::watch::Broken;

use crate::assumption::Assumption;
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
    /// How many situations are good: what should come true eventually is true.
    pub good: usize,
    /// Whether some run decided an election: an empty model would hold everything.
    pub has_elections: bool,
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
        model.replay(*step);
    }
    model.world.watch.into_recording()
}

/// A broken assertion.
#[derive(Clone, Debug)]
pub struct Found {
    /// What broke.
    pub broken: Broken,
    /// A shortest run to it.
    pub run: Vec<Step>,
}

/// How far an exploration has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Situations visited.
    pub states: usize,
    /// Length of the runs that are being looked at.
    pub depth: u32,
    /// Situations whose successors are still to be visited.
    pub frontier: usize,
}

struct Visit {
    parent: u32,
    step: Step,
}

/// Visits every situation within the bounds.
pub fn explore(
    scenario: &Scenario,
    assumption: Assumption,
    bounds: &Bounds,
    on_level: &mut dyn FnMut(Progress),
) -> Exploration {
    let mut search = Search::new(Model::new(scenario, assumption, bounds, KeepsTrace::No));
    while !search.frontier.is_empty() && search.depth < bounds.depth {
        on_level(Progress {
            states: search.visits.len(),
            depth: search.depth,
            frontier: search.frontier.len(),
        });
        if search.visits.len() > bounds.states {
            break;
        }
        search.level(bounds);
    }
    search.conclude()
}

struct Search {
    known: HashMap<u64, u32>,
    visits: Vec<Visit>,
    frontier: Vec<(u32, Model)>,
    /// Edges that are no faults, for reachability of good situations.
    edges: Vec<(u32, u32)>,
    good: Vec<bool>,
    transitions: usize,
    depth: u32,
    at_bound: Vec<u32>,
    found: Vec<Found>,
    has_elections: bool,
    watched: Vec<(&'static str, bool)>,
}

impl Search {
    fn new(first: Model) -> Self {
        let mut known = HashMap::new();
        known.insert(first.fingerprint(), 0);
        Self {
            known,
            good: vec![first.world.watch.is_settled()],
            watched: first.world.watch.assertions(),
            has_elections: false,
            visits: vec![Visit { parent: 0, step: Step::Take(0) }],
            frontier: vec![(0, first)],
            edges: Vec::new(),
            transitions: 0,
            depth: 0,
            at_bound: Vec::new(),
            found: Vec::new(),
        }
    }

    fn level(&mut self, bounds: &Bounds) {
        self.depth += 1;
        let frontier = std::mem::take(&mut self.frontier);
        // Successors are many and most are known: they are sorted out before more are made.
        for batch in frontier.chunks(BATCH) {
            for (parent, successors) in expand_all(batch) {
                for (step, fingerprint, next) in successors {
                    self.arrive(parent, step, fingerprint, next, bounds);
                }
            }
        }
    }

    fn arrive(&mut self, parent: u32, step: Step, fingerprint: u64, next: Model, bounds: &Bounds) {
        self.transitions += 1;
        let fresh = u32::try_from(self.visits.len()).unwrap_or(u32::MAX);
        let at = *self.known.entry(fingerprint).or_insert(fresh);
        if !step.is_fault() {
            self.edges.push((parent, at));
        }
        if at != fresh {
            return;
        }
        self.visits.push(Visit { parent, step });
        self.good.push(next.world.watch.is_settled());
        self.has_elections |= next.world.watch.counts.elections_won > 0;
        if next.world.watch.first_broken().is_some() {
            // A run ends where it breaks something.
            self.note_breaks(at, &next);
            self.at_bound.push(at);
            return;
        }
        if next.is_beyond(bounds.counter) {
            self.at_bound.push(at);
            return;
        }
        self.frontier.push((at, next));
    }

    fn note_breaks(&mut self, at: u32, model: &Model) {
        for broken in model.world.watch.judgements().into_iter().filter_map(|judged| judged.broken)
        {
            if self.found.iter().all(|found| found.broken.assertion != broken.assertion) {
                let run = self.run_to(at);
                self.found.push(Found { broken, run });
            }
        }
    }

    fn run_to(&self, mut at: u32) -> Vec<Step> {
        let mut run = Vec::new();
        while at != 0 {
            let visit = &self.visits[at as usize];
            run.push(visit.step);
            at = visit.parent;
        }
        run.reverse();
        run
    }

    fn conclude(self) -> Exploration {
        let is_complete = self.frontier.is_empty();
        let stuck = is_complete.then(|| self.hopeless().map(|at| self.run_to(at))).flatten();
        Exploration {
            states: self.visits.len(),
            transitions: self.transitions,
            depth: self.depth,
            is_complete,
            at_bound: self.at_bound.len(),
            good: self.good.iter().filter(|good| **good).count(),
            found: self.found,
            has_elections: self.has_elections,
            watched: self.watched,
            stuck,
        }
    }

    /// A situation from which no good one, and no bound, can be reached.
    fn hopeless(&self) -> Option<u32> {
        let count = self.visits.len();
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (from, to) in &self.edges {
            into[*to as usize].push(*from);
        }
        let mut has_hope = self.good.clone();
        for at in &self.at_bound {
            has_hope[*at as usize] = true;
        }
        let mut queue: Vec<usize> = (0..count).filter(|at| has_hope[*at]).collect();
        while let Some(at) = queue.pop() {
            for from in &into[at] {
                let from = *from as usize;
                if !has_hope[from] {
                    has_hope[from] = true;
                    queue.push(from);
                }
            }
        }
        (0..count).find(|at| !has_hope[*at]).and_then(|at| u32::try_from(at).ok())
    }
}

/// How many situations are expanded before their successors are sorted out.
const BATCH: usize = 1024;

/// Expands situations on all cores, in order.
fn expand_all(batch: &[(u32, Model)]) -> Vec<Expanded> {
    let jobs = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let share = batch.len().div_ceil(jobs).max(1);
    thread::scope(|scope| {
        let workers: Vec<_> = batch
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().map(expand).collect::<Vec<_>>()))
            .collect();
        // A worker that panicked must not look like one that found nothing.
        let done = workers.into_iter().flat_map(|worker| worker.join().expect("expansion works"));
        done.collect()
    })
}

type Expanded = (u32, Vec<(Step, u64, Model)>);

fn expand((at, model): &(u32, Model)) -> Expanded {
    let successors = model.successors();
    let with_fingerprints =
        successors.into_iter().map(|(step, next)| (step, next.fingerprint(), next)).collect();
    (*at, with_fingerprints)
}
