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

impl From<Counter> for NodeRecord {
    fn from(counter: Counter) -> Self {
        Self { counter }
    }
}
