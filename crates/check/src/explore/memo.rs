//! Results of events, by state of the nodes and the monitors: if these are equal, the same event
//! has the same result, whatever else is in flight. Most steps of an exploration differ in that
//! only.

#![expect(clippy::disallowed_types, reason = "the table is only looked up, never iterated")]

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use tanist_core::NodeId;
use tanist_sim::explore::outline::{Change, Event, Outline};
use tanist_sim::observe::observers::Violated;

use crate::explore::expansion::Aids;
use crate::model::Model;

/// The results that one thread has found.
pub(crate) struct Memo {
    findings: HashMap<u128, Finding, BuildHasherDefault<Low>>,
}

/// What an event does, and the properties of the state that it leads to.
pub(crate) struct Finding {
    pub(crate) change: Change,
    /// Whether every assertion about the end is true.
    pub(crate) is_good: bool,
    /// Whether an election was won.
    pub(crate) has_election: bool,
    /// Whether a counter is beyond its bound.
    pub(crate) is_beyond: bool,
    /// The assertions that it violates.
    pub(crate) violated: Vec<Violated>,
    /// The assertions that are violated if nothing is in flight then.
    pub(crate) violated_at_rest: Vec<Violated>,
    /// The nodes that then are in status Normal and their own coordinators.
    pub(crate) leaders: Box<[NodeId]>,
}

impl Memo {
    pub(crate) fn new() -> Self {
        Self { findings: HashMap::default() }
    }

    /// What an event does: looked up, or else executed in the world of this model.
    pub(crate) fn recall(
        &mut self,
        outline: &Outline,
        event: Event,
        model: &mut Model,
        aids: &Aids<'_>,
    ) -> &Finding {
        if self.findings.len() > FINDINGS_MAX {
            self.findings.clear();
        }
        self.findings.entry(outline.key(event)).or_insert_with(|| {
            let change = aids.store.change(outline, event, &mut model.world);
            let observers = &model.world.observers;
            let violated_at_rest = match model.has_waits() {
                true => Vec::new(),
                false => observers.violated_at_rest(model.world.now()),
            };
            let views = observers.global.views().iter().map(|view| view.id);
            Finding {
                leaders: views.filter(|id| model.leads(*id)).collect(),
                change,
                is_good: observers.is_settled(),
                has_election: observers.counts.elections_won > 0,
                is_beyond: model.is_beyond(aids.bounds.counter),
                violated: model.violated_by_step(aids.bounds),
                violated_at_rest,
            }
        })
    }
}

/// Some hundred bytes each: a gigabyte at most.
const FINDINGS_MAX: usize = 4_000_000;

/// The keys are fingerprints of 128 bits, which are uniformly distributed already.
#[derive(Default)]
struct Low(u64);

impl Hasher for Low {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, value: u128) {
        self.0 = value as u64;
    }
}
