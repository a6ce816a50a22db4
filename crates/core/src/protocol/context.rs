//! What a step may know of the world: who takes it, when, by which configuration, with which luck.

use crate::config::GroupConfig;
use crate::dice::Dice;
use crate::membership::NodeId;
use crate::mutant::Mutant;
use crate::time::Time;

/// What a protocol may know of the world while it takes a step.
pub struct Context<'a> {
    /// This node.
    pub me: NodeId,
    /// This node's clock. Only differences mean anything, and only on this node.
    pub now: Time,
    /// The only source of chance.
    pub dice: &'a mut dyn Dice,
    /// What all nodes of the group were configured with.
    pub config: &'a GroupConfig,
}

impl Context<'_> {
    /// Whether a seeded fault is switched on. Always false without the `mutants` feature.
    #[must_use]
    #[inline]
    pub fn is_mutated(&self, mutant: Mutant) -> bool {
        Mutant::ARE_COMPILED && self.config.mutant == Some(mutant)
    }
}
