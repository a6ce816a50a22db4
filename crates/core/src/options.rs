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

/// Declares an algorithm's options: the type of each, the struct of all, and their names.
///
/// An option is declared in one of three forms; its first value is the default:
///
/// - `field / "name": Type { Value = "text", … }`: an enum; `[literal]` marks a value that is
///   literal or unsafe.
/// - `field / "name": Type = [16, 2, 3]`: one of these numbers.
/// - `field / "name": Type`: a type that [`values!`](values) declares, for options of several
///   algorithms.
macro_rules! options {
    (
        $(
            $(#[doc = $about:literal])+
            $field:ident / $name:literal : $type:ident
                $( { $($values:tt)+ } )? $( = [ $($number:literal),+ $(,)? ] )?
        ),+ $(,)?
    ) => {
        $(
            $( $crate::options::values! {
                #[doc = concat!("The option `", $name, "`.")]
                $type { $($values)+ }
            } )?
            $( $crate::options::numbers! {
                #[doc = concat!("The option `", $name, "`.")]
                $type = [ $($number),+ ]
            } )?
        )+

        /// The options of this algorithm; the defaults are safe.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Options {
            $( $(#[doc = $about])+ pub $field: $type ),+
        }

        /// Names, values and meaning of the options.
        pub const OPTIONS: &[$crate::options::OptionInfo] = &[
            $( $crate::options::OptionInfo {
                name: $name,
                values: $type::VALUES,
                about: concat!($($about),+),
            } ),+
        ];

        impl Options {
            pub(crate) fn set(&mut self, name: &str, value: &str) -> bool {
                match name {
                    $( $name => {
                        let known = $type::from_text(value);
                        self.$field = known.unwrap_or(self.$field);
                        known.is_some()
                    } )+
                    _ => false,
                }
            }

            pub(crate) fn values(&self) -> alloc::vec::Vec<(&'static str, &'static str)> {
                alloc::vec![ $( ($name, self.$field.text()) ),+ ]
            }
        }
    };
}
pub(crate) use options;

/// Declares the values of an option as an enum.
macro_rules! values {
    (
        $(#[$about:meta])+
        $type:ident {
            $( $(#[$doc:meta])* $variant:ident = $text:literal $([$literal:ident])? ),+ $(,)?
        }
    ) => {
        $(#[$about])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $type {
            $( $(#[$doc])* $variant ),+
        }

        impl $type {
            pub(crate) const VALUES: &'static [$crate::options::ValueInfo] = &[
                $( $crate::options::ValueInfo {
                    name: $text,
                    is_literal: $crate::options::values!(@literal $($literal)?),
                } ),+
            ];

            pub(crate) fn from_text(text: &str) -> Option<Self> {
                match text {
                    $( $text => Some(Self::$variant), )+
                    _ => None,
                }
            }

            pub(crate) const fn text(self) -> &'static str {
                match self {
                    $( Self::$variant => $text ),+
                }
            }
        }
    };
    (@literal) => { false };
    (@literal literal) => { true };
}
pub(crate) use values;

/// Declares an option whose value is one of a few numbers.
macro_rules! numbers {
    ($(#[$about:meta])+ $type:ident = [ $first:literal $(, $more:literal)* ]) => {
        $(#[$about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $type(usize);

        impl Default for $type {
            fn default() -> Self {
                Self($first)
            }
        }

        impl $type {
            pub(crate) const VALUES: &'static [$crate::options::ValueInfo] = &[
                $crate::options::ValueInfo { name: stringify!($first), is_literal: false },
                $( $crate::options::ValueInfo { name: stringify!($more), is_literal: false } ),*
            ];

            /// The number.
            #[must_use]
            pub const fn count(self) -> usize {
                self.0
            }

            pub(crate) fn from_text(text: &str) -> Option<Self> {
                match text {
                    stringify!($first) => Some(Self($first)),
                    $( stringify!($more) => Some(Self($more)), )*
                    _ => None,
                }
            }

            pub(crate) const fn text(self) -> &'static str {
                match self.0 {
                    $( $more => stringify!($more), )*
                    _ => stringify!($first),
                }
            }
        }
    };
}
pub(crate) use numbers;

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
