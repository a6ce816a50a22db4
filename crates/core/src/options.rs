//! The options of every algorithm, each with a name, its values, and the default.
//!
//! A faithful variant and a hardened variant of an algorithm are one state machine with a checked
//! option. Values marked *literal* behave as the printed listing does where a resolution E-nn
//! departs from it; they are there to show what goes wrong, and no default is literal.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::election::Algorithm;
pub use crate::election::Options;

/// One option, as the catalogue, the help and error messages describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// Its values; the first is the default.
    pub values: &'static [ValueInfo],
    /// What it decides.
    pub about: &'static str,
}

/// One value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueInfo {
    /// Its name.
    pub name: &'static str,
    /// Whether it is the printed listing's behaviour that a resolution corrects, or unsafe
    /// otherwise.
    pub is_literal: bool,
}

impl Options {
    /// Sets one option of an algorithm by name.
    pub fn set(
        &mut self,
        algorithm: Algorithm,
        name: &str,
        value: &str,
    ) -> Result<(), OptionError> {
        if self.set_by_name(algorithm, name, value) {
            return Ok(());
        }
        let known = algorithm.options();
        let Some(info) = known.iter().find(|info| info.name == name) else {
            return Err(OptionError::UnknownName {
                algorithm: algorithm.name(),
                name: name.to_string(),
                known: known.iter().map(|info| info.name).collect(),
            });
        };
        Err(OptionError::UnknownValue {
            name: name.to_string(),
            value: value.to_string(),
            known: info.values.iter().map(|value| value.name).collect(),
        })
    }

    /// The options of an algorithm that are not at their default.
    #[must_use]
    pub fn changed(&self, algorithm: Algorithm) -> Vec<(&'static str, &'static str)> {
        let defaults = Self::default().of(algorithm);
        self.of(algorithm).into_iter().filter(|pair| !defaults.contains(pair)).collect()
    }
}

/// Why an option could not be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// No such option.
    #[error("{algorithm} has no option {name:?}; it has {known:?}")]
    UnknownName {
        /// Of which algorithm.
        algorithm: &'static str,
        /// What was given.
        name: String,
        /// The valid ones.
        known: Vec<&'static str>,
    },
    /// No such value.
    #[error("{name} cannot be {value:?}; it can be one of {known:?}")]
    UnknownValue {
        /// Of which option.
        name: String,
        /// What was given.
        value: String,
        /// The valid ones.
        known: Vec<&'static str>,
    },
}

/// Declares an algorithm's options: one enum per option, the struct of all, and their names.
///
/// The first value of each option is the default. A value followed by `[literal]` is literal or
/// unsafe.
macro_rules! options {
    (
        $(
            $(#[doc = $about:literal])+
            $field:ident / $name:literal : $enum:ident {
                $( $(#[$doc:meta])* $variant:ident = $text:literal $([$literal:ident])? ),+ $(,)?
            }
        ),+ $(,)?
    ) => {
        $(
            $(#[doc = $about])+
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            pub enum $enum {
                $( $(#[$doc])* $variant ),+
            }
        )+

        /// The options of this algorithm; the defaults are safe.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Options {
            $( $(#[doc = $about])+ pub $field: $enum ),+
        }

        /// Names, values and meaning of the options.
        pub const OPTIONS: &[$crate::options::OptionInfo] = &[
            $( $crate::options::OptionInfo {
                name: $name,
                values: &[ $( $crate::options::ValueInfo {
                    name: $text,
                    is_literal: $crate::options::options!(@literal $($literal)?),
                } ),+ ],
                about: concat!($($about),+),
            } ),+
        ];

        impl Options {
            pub(crate) fn set(&mut self, name: &str, value: &str) -> bool {
                match (name, value) {
                    $( $( ($name, $text) => self.$field = $enum::$variant, )+ )+
                    _ => return false,
                }
                true
            }

            pub(crate) fn values(&self) -> alloc::vec::Vec<(&'static str, &'static str)> {
                alloc::vec![ $( ($name, match self.$field { $( $enum::$variant => $text ),+ }) ),+ ]
            }
        }
    };
    (@literal) => { false };
    (@literal literal) => { true };
}
pub(crate) use options;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_every_option_can_be_set_and_read_back() {
        for algorithm in Algorithm::ALL.iter().copied() {
            for option in algorithm.options() {
                for (position, value) in option.values.iter().enumerate() {
                    let mut options = Options::default();
                    options.set(algorithm, option.name, value.name).unwrap();
                    assert!(options.of(algorithm).contains(&(option.name, value.name)));
                    let is_default = position == 0;
                    assert_eq!(options.changed(algorithm).is_empty(), is_default);
                }
            }
        }
    }

    #[test]
    fn an_option_of_one_algorithm_leaves_the_others_alone() {
        let mut options = Options::default();
        options.set(Algorithm::Bully, "waits", "full").unwrap();
        assert_eq!(options.changed(Algorithm::Bully), [("waits", "full")]);
        assert_eq!(options.changed(Algorithm::Invitation), []);
    }

    #[test]
    fn an_unknown_name_or_value_is_refused_with_what_there_is() {
        let mut options = Options::default();
        let error = options.set(Algorithm::BullyLecture, "waits", "full").unwrap_err();
        assert!(error.to_string().contains("shortcut"), "{error}");
        let error = options.set(Algorithm::Bully, "waits", "maybe").unwrap_err();
        assert!(error.to_string().contains("early"), "{error}");
        assert_eq!(options, Options::default());
    }
}
