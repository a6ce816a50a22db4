//! Whom a node hears: known by what they say, forgotten when they say nothing for a while.
//!
//! Everybody passes heartbeats on, so everybody is heard once in a period. A neighbour is forgotten
//! when nothing was heard of it for one whole [`pace`](super::pace)-given span; no time is kept.

use crate::membership::{NodeId, NodeSet};

/// The nodes in range, as far as is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Neighbours {
    /// Heard of in the span before this one.
    before: NodeSet,
    /// Heard of in this span.
    lately: NodeSet,
}

impl Neighbours {
    pub(super) fn note(&mut self, node: NodeId) {
        self.lately.insert(node);
    }

    /// There is evidence that it is gone.
    pub(super) fn forget(&mut self, node: NodeId) {
        self.before.remove(node);
        self.lately.remove(node);
    }

    /// A span is over.
    pub(super) fn age(&mut self) {
        self.before = core::mem::take(&mut self.lately);
    }

    pub(super) fn all(&self) -> NodeSet {
        self.before.iter().chain(self.lately.iter()).collect()
    }
}
