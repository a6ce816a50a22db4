//! The configuration of a group: everything that all of its nodes must have in common.

use alloc::sync::Arc;

use crate::election::Algorithm;
use crate::membership::{Hierarchy, Membership, NodeId};
use crate::mutant::Mutant;
use crate::options::Options;
use crate::policy::Preempt;
use crate::recall::Recall;
use crate::timing::Timing;

/// The configuration that all nodes of a group share. Checked when it is made; nobody checks again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupConfig {
    /// Who may take part, with priorities.
    pub members: Membership,
    /// Bounds and periods.
    pub timing: Timing,
    /// Which algorithm elects.
    pub algorithm: Algorithm,
    /// The options of every algorithm; only those of `algorithm` are read.
    pub options: Options,
    /// Whether a node that comes up asks the others for the highest group number of its own.
    pub recall: Recall,
    /// Whether a node of higher rank takes over from an established coordinator.
    pub preempt: Preempt,
    /// A fault seeded on purpose; ignored without the `mutants` feature.
    pub mutant: Option<Mutant>,
    /// Who is grouped with whom; made by [`GroupConfig::arranged`] for `super-peer`, none for all
    /// others.
    pub hierarchy: Option<Arc<Hierarchy>>,
}

impl GroupConfig {
    /// Those among whom a node is elected and to whom it tells what concerns everybody: its own
    /// group where there is a hierarchy, else all.
    #[must_use]
    pub fn fellows(&self, me: NodeId) -> &Membership {
        let hierarchy = self.hierarchy.as_ref();
        let own = hierarchy.and_then(|hierarchy| hierarchy.peers(hierarchy.place(me, 0)?));
        own.map_or(&self.members, |own| &own.members)
    }
}
