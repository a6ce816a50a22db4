//! Seeded faults: one broken rule each, so that the checks can be shown to catch it.
//!
//! A check that never fails proves nothing. Mutants are compiled in only with the `mutants` feature
//! and are off even then; see [`crate::Context::is_mutated`]. Each mutant is declared beside the
//! rule that it breaks.

use alloc::vec::Vec;

use crate::election::{Algorithm, numbering};
use crate::node::LAYERS;
use crate::reorganization;

/// A rule broken on purpose, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mutant(pub(crate) &'static str);

impl Mutant {
    /// A mutant of this name, of a rule outside this crate.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Whether this build contains the mutants.
    pub const ARE_COMPILED: bool = cfg!(feature = "mutants");

    /// Every mutant of this crate, each once: those of the shared rules, of the algorithms, of the
    /// layers around them.
    pub fn all() -> impl Iterator<Item = Self> {
        let of_algorithms =
            Algorithm::ALL.iter().flat_map(|algorithm| algorithm.descriptor().mutants);
        let shared = [numbering::MUTANTS, reorganization::MUTANTS].into_iter();
        let layers = LAYERS.iter().flat_map(|layer| layer.mutants).copied();
        let mut found = Vec::new();
        for mutant in shared.chain(of_algorithms.copied()).chain(layers).flatten() {
            if !found.contains(mutant) {
                found.push(*mutant);
            }
        }
        found.into_iter()
    }

    /// The mutant of this crate of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|mutant| mutant.0 == name)
    }

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// Declares mutants beside the rules that they break, and the list `MUTANTS` of them.
macro_rules! mutants {
    ($($(#[$doc:meta])* $name:ident = $text:literal),+ $(,)?) => {
        impl $crate::mutant::Mutant {
            $( $(#[$doc])* pub const $name: Self = Self($text); )+
        }

        pub(crate) const MUTANTS: &[$crate::mutant::Mutant] =
            &[$($crate::mutant::Mutant::$name),+];
    };
}
pub(crate) use mutants;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutant_is_found_by_its_name() {
        assert!(Mutant::all().count() >= 42);
        for mutant in Mutant::all() {
            assert_eq!(Mutant::from_name(mutant.name()), Some(mutant));
        }
        assert_eq!(Mutant::from_name("none-such"), None);
    }
}
