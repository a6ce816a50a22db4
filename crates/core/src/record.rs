//! The record: what of a node survives a crash.
//!
//! A layer saves its part; the node keeps the whole and saves the whole, so that one write holds
//! everything. Leaves out: how a record is written, which is the driver's.

use crate::group::Counter;

/// What a node puts on stable storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeRecord {
    /// The counter of the last group number that the node took, or may have taken.
    pub counter: Counter,
}

impl NodeRecord {
    /// The same with a counter that is at least this one: a save never lowers what is reserved.
    #[must_use]
    pub fn raised_to(mut self, counter: Counter) -> Self {
        self.counter = self.counter.max(counter);
        self
    }

    /// Whether a disk that holds this record need not be written to keep another one: its counter
    /// may be higher, everything else must be the same.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        *self == other.clone().raised_to(self.counter)
    }
}

impl From<Counter> for NodeRecord {
    fn from(counter: Counter) -> Self {
        Self { counter }
    }
}
