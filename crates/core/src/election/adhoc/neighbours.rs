//! The neighbours of a node: known by their messages, forgotten after a while without one.
//!
//! Every node passes heartbeats on, so every neighbour sends something once in a period. A
//! neighbour is forgotten when nothing came from it for one whole [`pace`](super::pace)-given span;
//! no time is kept.

use crate::membership::{NodeId, NodeSet};

/// The nodes in range, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Neighbours {
    /// Nodes that sent something in the span before this one.
    before: NodeSet,
    /// Nodes that sent something in this span.
    lately: NodeSet,
}

impl Neighbours {
    pub(super) fn note(&mut self, node: NodeId) {
        self.lately.insert(node);
    }

    /// There is evidence that a node has failed or is out of range.
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
