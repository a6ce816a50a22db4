//! The scenarios that come with the program: the sources' worked examples and every counterexample.

/// Name and text of every shipped scenario, in order of name.
#[must_use]
pub const fn all() -> &'static [(&'static str, &'static str)] {
    include!(concat!(env!("OUT_DIR"), "/scenarios.rs"))
}

/// The text of the scenario of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static str> {
    all().iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
