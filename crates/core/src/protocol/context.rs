//! What a step may know of its environment: the node, the time, random numbers, the configuration.

use crate::config::GroupConfig;
use crate::dice::{Dice, Fixed};
use crate::membership::{Membership, NodeId};
use crate::mutant::Mutant;
use crate::time::Time;

/// What a protocol may know of its environment during a step.
pub struct Context<'a> {
    /// This node.
    pub me: NodeId,
    /// This node's clock. Only differences mean anything, and only on this node.
    pub now: Time,
    /// The only source of random numbers.
    pub dice: &'a mut dyn Dice,
    /// What all nodes of the group were configured with.
    pub config: &'a GroupConfig,
    /// Who may take part, with the priorities in force.
    pub members: &'a Membership,
}

impl Context<'_> {
    /// Whether a seeded fault is switched on. Always false without the `mutants` feature.
    #[must_use]
    #[inline]
    pub fn is_mutated(&self, mutant: Mutant) -> bool {
        Mutant::ARE_COMPILED && self.config.mutant() == Some(mutant)
    }

    /// Runs `work` at the same node and time, with another configuration and other members.
    pub(crate) fn within<R>(
        &mut self,
        config: &GroupConfig,
        members: &Membership,
        work: impl FnOnce(&mut Context<'_>) -> R,
    ) -> R {
        let dice = &mut *self.dice;
        work(&mut Context { me: self.me, now: self.now, dice, config, members })
    }

    /// The same for work that only reads, and draws no random number.
    pub(crate) fn looking_within<R>(
        &self,
        config: &GroupConfig,
        members: &Membership,
        look: impl FnOnce(&Context<'_>) -> R,
    ) -> R {
        look(&Context { me: self.me, now: self.now, dice: &mut Fixed(0), config, members })
    }
}
