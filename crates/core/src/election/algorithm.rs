//! The methods of [`Algorithm`]: its descriptor, its name, its options.

use super::{Algorithm, DESCRIPTORS, Descriptor};
use crate::options::OptionInfo;

impl Algorithm {
    /// Everything that is known of it.
    #[must_use]
    pub const fn descriptor(self) -> &'static Descriptor {
        &DESCRIPTORS[self as usize]
    }

    /// The name in scenarios, configuration and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.descriptor().name
    }

    /// The algorithm of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }

    /// Its options.
    #[must_use]
    pub const fn options(self) -> &'static [OptionInfo] {
        self.descriptor().options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_is_found_by_its_name() {
        for algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::from_name(algorithm.name()), Some(*algorithm));
        }
        assert_eq!(Algorithm::from_name("none-such"), None);
    }

    #[test]
    fn no_default_is_literal() {
        for algorithm in Algorithm::ALL {
            for option in algorithm.options() {
                assert!(!option.values[0].is_literal, "{} {}", algorithm.name(), option.name);
            }
        }
    }
}
