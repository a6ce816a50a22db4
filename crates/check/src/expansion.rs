//! One batch of situations expanded on several threads, its successors in the order that one thread
//! would have found them in.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tanist_sim::frozen::Store;
use tanist_sim::watch::Broken;

use crate::known::Known;
use crate::model::{Model, Step};

/// Threads, each with a situation of its own that is used again and again.
pub(crate) struct Crew {
    models: Vec<Model>,
}

/// What some situations of a batch lead to.
pub(crate) struct Block {
    number: usize,
    /// Every situation with its successors.
    pub(crate) sources: Vec<(u32, Range<usize>)>,
    pub(crate) successors: Vec<Successor>,
    bytes: Vec<u8>,
}

/// What a step leads to.
pub(crate) struct Successor {
    pub(crate) is_fault: bool,
    pub(crate) what: Found,
}

/// A situation that a step leads to.
pub(crate) enum Found {
    /// One that was visited before this batch, at this place.
    Known(u32),
    /// One that was not.
    New(Box<New>),
}

/// A situation that was not visited before this batch.
pub(crate) struct New {
    pub(crate) fingerprint: u128,
    pub(crate) is_good: bool,
    pub(crate) has_election: bool,
    /// Whether a counter is beyond its bound.
    pub(crate) is_beyond: bool,
    /// The assertions that are broken in it.
    pub(crate) broken: Vec<Broken>,
    frozen: Range<usize>,
}

impl Block {
    /// The situation, written down; nothing for one that is not followed.
    pub(crate) fn frozen(&self, new: &New) -> &[u8] {
        &self.bytes[new.frozen.clone()]
    }
}

impl Crew {
    pub(crate) fn new(first: &Model, jobs: NonZeroUsize) -> Self {
        Self { models: vec![first.clone(); jobs.get()] }
    }

    /// Expands situations, in order.
    pub(crate) fn expand(
        &mut self,
        batch: &[(u32, &[u8])],
        known: &Known,
        store: &Store,
        counter: u64,
    ) -> Vec<Block> {
        let blocks: Vec<&[(u32, &[u8])]> = batch.chunks(BLOCK).collect();
        let next = AtomicUsize::new(0);
        let work = |model: &mut Model| {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(sources) = blocks.get(number) else { return done };
                let mut block = Block::new(number);
                for (place, frozen) in *sources {
                    block.expand(*place, frozen, model, known, store, counter);
                }
                done.push(block);
            }
        };
        let mut all: Vec<Block> = if blocks.len() == 1 || self.models.len() == 1 {
            self.models.first_mut().map(work).unwrap_or_default()
        } else {
            thread::scope(|scope| {
                let workers: Vec<_> =
                    self.models.iter_mut().map(|model| scope.spawn(|| work(model))).collect();
                // A worker that panicked must not look like one that found nothing.
                let done = workers.into_iter();
                done.flat_map(|worker| worker.join().expect("expansion works")).collect()
            })
        };
        all.sort_unstable_by_key(|block| block.number);
        all
    }
}

impl Block {
    const fn new(number: usize) -> Self {
        Self { number, sources: Vec::new(), successors: Vec::new(), bytes: Vec::new() }
    }

    fn expand(
        &mut self,
        place: u32,
        frozen: &[u8],
        model: &mut Model,
        known: &Known,
        store: &Store,
        counter: u64,
    ) {
        let first = self.successors.len();
        model.thaw(store, frozen);
        model.expand(&mut |model| model.thaw(store, frozen), &mut |step, model| {
            let fingerprint = model.fingerprint();
            let what = match known.find(fingerprint) {
                Some(place) => Found::Known(place),
                None => Found::New(Box::new(self.look(fingerprint, model, store, counter))),
            };
            self.successors.push(Successor { is_fault: step.is_fault(), what });
        });
        self.sources.push((place, first..self.successors.len()));
    }

    fn look(&mut self, fingerprint: u128, model: &Model, store: &Store, counter: u64) -> New {
        let watch = &model.world.watch;
        let broken: Vec<Broken> = match watch.first_broken() {
            Some(_) => watch.judgements().into_iter().filter_map(|judged| judged.broken).collect(),
            None => Vec::new(),
        };
        let is_beyond = model.is_beyond(counter);
        let begin = self.bytes.len();
        if broken.is_empty() && !is_beyond {
            model.freeze(store, &mut self.bytes);
        }
        New {
            fingerprint,
            is_good: watch.is_settled(),
            has_election: watch.counts.elections_won > 0,
            is_beyond,
            broken,
            frozen: begin..self.bytes.len(),
        }
    }
}

/// How many situations a thread takes at a time.
const BLOCK: usize = 64;

/// The steps from the first situation to the one with the last of these numbers.
pub(crate) fn retrace(first: &Model, fingerprints: impl Iterator<Item = u128>) -> Vec<Step> {
    let mut at = first.clone();
    fingerprints
        .map(|fingerprint| {
            let successors = at.successors().into_iter();
            let mut fitting = successors.filter(|(_, next)| next.fingerprint() == fingerprint);
            let (step, next) = fitting.next().expect("what was found once is found again");
            at = next;
            step
        })
        .collect()
}
