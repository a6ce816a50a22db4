//! Mutants of the world itself: one broken rule each, so that monitors can be shown to notice a
//! world that does not do what it says.

use tanist_core::mutant::Mutant;

/// Carries out the rest of a step although the node crashed in it.
pub const ACTS_AFTER_CRASH: Mutant = Mutant::new("world-acts-after-crash");

/// Delivers messages to nodes that are down.
pub const DELIVERS_TO_CRASHED: Mutant = Mutant::new("world-delivers-to-crashed");

/// Every mutant: those of the protocols, then those of the world.
pub fn all() -> impl Iterator<Item = Mutant> {
    Mutant::all().chain([ACTS_AFTER_CRASH, DELIVERS_TO_CRASHED])
}

/// The mutant of this name.
#[must_use]
pub fn from_name(name: &str) -> Option<Mutant> {
    all().find(|mutant| mutant.name() == name)
}
