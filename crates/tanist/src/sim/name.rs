//! How tests name nodes: by number.

use tanist_core::NodeId;

/// Something that names a node: `3`, or the [`NodeId`] that a view holds.
pub trait Name {
    /// The node.
    fn node(self) -> NodeId;
}

impl Name for NodeId {
    fn node(self) -> NodeId {
        self
    }
}

impl Name for u32 {
    fn node(self) -> NodeId {
        NodeId(self)
    }
}
