//! One batch of states expanded on several threads; its successors are in the order in which a
//! single thread would find them.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tanist_core::NodeId;
use tanist_sim::explore::choices::Order;
use tanist_sim::explore::digest::digest;
use tanist_sim::explore::outline::{Change, Event, Outline};
use tanist_sim::explore::snapshot::Store;
use tanist_sim::observe::observers::Violated;

use crate::enabled::Scene;
use crate::explore::memo::{Finding, Memo};
use crate::explore::random_walk::RandomWalks;
use crate::explore::visited::Visited;
use crate::model::{Bounds, Budgets, Model, Step};

/// Threads, each with a world of its own that it reuses.
pub(crate) struct Crew {
    workers: Vec<Worker>,
}

struct Worker {
    model: Model,
    nodes: Vec<NodeId>,
    memo: Memo,
}

/// The successors of some states of a batch.
pub(crate) struct Block {
    /// Every state with its successors.
    pub(crate) sources: Vec<(u32, Range<usize>)>,
    pub(crate) successors: Vec<Successor>,
    bytes: Vec<u8>,
}

/// What a step leads to.
pub(crate) struct Successor {
    /// Whether a path to a good state may use this step.
    pub(crate) counts_as_progress: bool,
    /// Whether an election was decided by this step.
    pub(crate) has_election: bool,
    /// Whether a higher node replaces a lower coordinator by this step.
    pub(crate) has_preempted: bool,
    pub(crate) what: Found,
}

/// A state that a step leads to.
pub(crate) enum Found {
    /// A state that was visited before this batch, at this index.
    Visited(u32),
    /// Any other state.
    New(Box<New>),
}

/// A state that was not visited before this batch.
pub(crate) struct New {
    pub(crate) fingerprint: u128,
    pub(crate) is_good: bool,
    /// Whether a counter is beyond its bound.
    pub(crate) is_beyond: bool,
    /// The assertions that it violates.
    pub(crate) violated: Vec<Violated>,
    snapshot: Range<usize>,
}

/// Data that all threads read.
pub(crate) struct Aids<'a> {
    visited: &'a Visited,
    pub(crate) store: &'a Store,
    pub(crate) bounds: &'a Bounds,
}

impl Block {
    /// The snapshot of a state; empty for one that violates an assertion.
    pub(crate) fn snapshot(&self, new: &New) -> &[u8] {
        &self.bytes[new.snapshot.clone()]
    }
}

impl Crew {
    pub(crate) fn new(first: &Model, jobs: NonZeroUsize) -> Self {
        let mut nodes: Vec<NodeId> =
            first.world.observers.global.views().iter().map(|view| view.id).collect();
        nodes.sort_unstable();
        let worker = |_| Worker { model: first.clone(), nodes: nodes.clone(), memo: Memo::new() };
        Self { workers: (0..jobs.get()).map(worker).collect() }
    }

    /// Expands states, in order.
    pub(crate) fn expand(
        &mut self,
        batch: &[(u32, &[u8])],
        visited: &Visited,
        store: &Store,
        bounds: &Bounds,
    ) -> Vec<Block> {
        let aids = Aids { visited, store, bounds };
        self.share(batch, |states, worker| {
            let mut block = Block::new();
            for (place, snapshot) in states {
                block.expand(*place, snapshot, worker, &aids);
            }
            block
        })
    }

    /// Those states from which a random walk reached a good state.
    pub(crate) fn can_progress(&mut self, batch: &[(u32, &[u8])], store: &Store) -> Vec<u32> {
        let found = self.share(batch, |states, worker| {
            let mut walks = RandomWalks::new();
            let model = &mut worker.model;
            let mut succeeds =
                |snapshot: &[u8]| walks.succeed(model, &|model| model.restore(store, snapshot));
            let can_progress = states.iter().filter(|(_, snapshot)| succeeds(snapshot));
            can_progress.map(|(place, _)| *place).collect::<Vec<u32>>()
        });
        found.concat()
    }

    /// Distributes blocks of states over the threads; the results are in the order of the blocks.
    fn share<T: Send>(
        &mut self,
        batch: &[(u32, &[u8])],
        work: impl Fn(&[(u32, &[u8])], &mut Worker) -> T + Sync,
    ) -> Vec<T> {
        let blocks: Vec<&[(u32, &[u8])]> = batch.chunks(BLOCK).collect();
        let next = AtomicUsize::new(0);
        let take = |worker: &mut Worker| {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(block) = blocks.get(number) else { return done };
                done.push((number, work(block, worker)));
            }
        };
        let mut all: Vec<(usize, T)> = if blocks.len() == 1 || self.workers.len() == 1 {
            self.workers.first_mut().map(take).unwrap_or_default()
        } else {
            thread::scope(|scope| {
                let workers: Vec<_> =
                    self.workers.iter_mut().map(|worker| scope.spawn(|| take(worker))).collect();
                // A worker that panicked must not look like one that found nothing.
                let done = workers.into_iter();
                done.flat_map(|worker| worker.join().expect("expansion works")).collect()
            })
        };
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, done)| done).collect()
    }
}

impl Block {
    const fn new() -> Self {
        Self { sources: Vec::new(), successors: Vec::new(), bytes: Vec::new() }
    }

    fn expand(&mut self, place: u32, snapshot: &[u8], worker: &mut Worker, aids: &Aids<'_>) {
        let first = self.successors.len();
        if worker.model.assumption.has_clock() {
            self.expand_by_clock(snapshot, &mut worker.model, aids);
        } else {
            self.expand_by_memo(snapshot, worker, aids);
        }
        self.sources.push((place, first..self.successors.len()));
    }

    fn expand_by_memo(&mut self, snapshot: &[u8], worker: &mut Worker, aids: &Aids<'_>) {
        let Worker { model, nodes, memo } = worker;
        let (left, world) = Budgets::read(snapshot);
        let outline = aids.store.outline(world, nodes.len());
        let before = memo.recall(&outline, Event::Nothing, model, aids).leaders.clone();
        let steps = model.enabled_steps_in(&Scene {
            choices: &aids.store.choices(&outline, nodes),
            is_up: &|node| {
                nodes.iter().position(|id| *id == node).is_some_and(|at| outline.is_up(at))
            },
            leads: &|node| before.contains(&node),
            left,
        });
        for enabled in steps {
            let mut step = Some(enabled.step);
            while let Some(current) = step {
                let result = memo.recall(&outline, event(current), model, aids);
                let is_taken = !matches!(current, Step::TakeAndCrash(..)) || !result.change.is_up();
                if is_taken {
                    let left = left.after_timer(enabled.is_early).after(current);
                    let next = next(&outline, current, &result.change, left);
                    let what = self.look(&next, left, result, model.order, aids);
                    let still_leads = |node| result.leaders.contains(&node);
                    self.successors.push(Successor {
                        counts_as_progress: enabled.counts_as_progress,
                        has_election: result.has_election,
                        has_preempted: enabled.unseats.is_some_and(|node| !still_leads(node)),
                        what,
                    });
                }
                step = current.next().filter(|_| is_taken);
            }
        }
    }

    /// With a clock the time matters, so every step is executed in every state.
    fn expand_by_clock(&mut self, snapshot: &[u8], model: &mut Model, aids: &Aids<'_>) {
        let store = aids.store;
        model.restore(store, snapshot);
        model.expand(&mut |model| model.restore(store, snapshot), &mut |enabled, model| {
            let fingerprint = model.fingerprint();
            let what = match aids.visited.find(fingerprint) {
                Some(place) => Found::Visited(place),
                None => Found::New(Box::new(self.look_at(fingerprint, model, aids))),
            };
            self.successors.push(Successor {
                counts_as_progress: enabled.counts_as_progress,
                has_election: model.world.observers.counts.elections_won > 0,
                has_preempted: enabled.unseats.is_some_and(|node| !model.leads(node)),
                what,
            });
        });
    }

    fn look_at(&mut self, fingerprint: u128, model: &Model, aids: &Aids<'_>) -> New {
        let violated = model.violated(aids.bounds);
        let begin = self.bytes.len();
        if violated.is_empty() {
            model.save(aids.store, &mut self.bytes);
        }
        New {
            fingerprint,
            is_good: model.world.observers.is_settled(),
            is_beyond: model.is_beyond(aids.bounds.counter),
            violated,
            snapshot: begin..self.bytes.len(),
        }
    }

    fn look(
        &mut self,
        next: &Outline,
        left: Budgets,
        result: &Finding,
        order: Order,
        aids: &Aids<'_>,
    ) -> Found {
        let fingerprint = digest(&(next.fingerprint(order), left));
        if let Some(place) = aids.visited.find(fingerprint) {
            return Found::Visited(place);
        }
        let mut violated = result.violated.clone();
        if !next.has_messages_to_live_nodes() {
            violated.extend_from_slice(&result.violated_at_rest);
        }
        let begin = self.bytes.len();
        if violated.is_empty() {
            left.write(&mut self.bytes);
            next.write(&mut self.bytes);
        }
        Found::New(Box::new(New {
            fingerprint,
            is_good: result.is_good,
            is_beyond: result.is_beyond,
            violated,
            snapshot: begin..self.bytes.len(),
        }))
    }
}

/// The event that a step causes at a node.
const fn event(step: Step) -> Event {
    match step {
        Step::Take(number) | Step::Duplicate(number) => Event::Take { number, crash_after: None },
        Step::TakeAndCrash(number, effects) => Event::Take { number, crash_after: Some(effects) },
        Step::Lose(_) | Step::Tick => Event::Nothing,
        Step::Crash(node) => Event::Crash(node),
        Step::Recover(node) => Event::Recover(node),
    }
}

/// The state that a step leads to.
fn next(outline: &Outline, step: Step, change: &Change, left: Budgets) -> Outline {
    let mut before = outline.clone();
    match step {
        Step::Take(number) | Step::TakeAndCrash(number, _) | Step::Lose(number) => {
            before.lose(number);
        }
        Step::Duplicate(_) | Step::Crash(_) | Step::Recover(_) | Step::Tick => {}
    }
    let mut next = before.after(change);
    if left.is_final() {
        next.drop_messages_to_crashed_nodes();
    }
    next
}

/// How many states a thread takes at a time.
const BLOCK: usize = 64;

/// The steps from the first state to the one with the last of these fingerprints.
pub(crate) fn retrace(first: &Model, fingerprints: impl Iterator<Item = u128>) -> Vec<Step> {
    let mut at = first.clone();
    fingerprints
        .map(|fingerprint| {
            let successors = at.successors().into_iter();
            let mut fitting = successors.filter(|(_, next)| next.fingerprint() == fingerprint);
            let (step, next) =
                fitting.next().expect("a state that was reached once is reached again");
            at = next;
            step
        })
        .collect()
}
