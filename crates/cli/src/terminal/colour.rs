//! Whether and how words are coloured for people who look at a terminal.
//!
//! Colour only repeats what a word says already. It is off in pipes and files, with `NO_COLOR` or
//! `TERM=dumb`; `--color` decides for itself. The choice is made once, when the program starts.

use std::io::IsTerminal;
use std::sync::OnceLock;

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless the environment says no.
    #[default]
    Auto,
    /// Even into a pipe.
    Always,
    /// Not at all.
    Never,
}

/// A colour, by what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Leading, or well.
    Good,
    /// Between groups, or worth a look.
    Odd,
}

impl Colour {
    const fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Odd => "33",
        }
    }
}

/// What decides, besides the flag.
#[derive(Clone, Copy, Debug, Default)]
struct Surroundings {
    is_terminal: bool,
    is_dumb: bool,
    has_no_color: bool,
    has_force_color: bool,
}

/// Makes the choice for stdout.
pub(crate) fn choose(when: When) {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let surroundings = Surroundings {
        is_terminal: std::io::stdout().is_terminal(),
        is_dumb: std::env::var_os("TERM").is_some_and(|term| term == "dumb"),
        has_no_color: is_set("NO_COLOR"),
        has_force_color: is_set("FORCE_COLOR"),
    };
    // Only the first choice counts, and there is one.
    let _ = IS_ON.set(is_wanted(when, surroundings));
}

/// Text in which some words are coloured, if colour was chosen.
pub(crate) fn words(text: &str, words: &[(&str, Colour)]) -> String {
    if IS_ON.get().copied().unwrap_or(false) { painted(text, words) } else { text.to_owned() }
}

const fn is_wanted(when: When, around: Surroundings) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto if around.has_no_color || around.is_dumb => false,
        When::Auto => around.has_force_color || around.is_terminal,
    }
}

fn painted(text: &str, words: &[(&str, Colour)]) -> String {
    let mut text = text.to_owned();
    for (word, colour) in words {
        text = text.replace(word, &format!("\u{1b}[{}m{word}\u{1b}[0m", colour.code()));
    }
    text
}

static IS_ON: OnceLock<bool> = OnceLock::new();

/// How roles are coloured in tables.
pub(crate) const ROLES: &[(&str, Colour)] =
    &[("★ leader", Colour::Good), ("suspended", Colour::Odd)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_outdoes_the_environment_and_the_environment_the_terminal() {
        let terminal = Surroundings { is_terminal: true, ..Surroundings::default() };
        let pipe = Surroundings::default();
        let mute = Surroundings { has_no_color: true, has_force_color: true, ..terminal };
        let dumb = Surroundings { is_dumb: true, ..terminal };
        let forced = Surroundings { has_force_color: true, ..pipe };
        assert!(is_wanted(When::Auto, terminal) && is_wanted(When::Auto, forced));
        for around in [pipe, mute, dumb] {
            assert!(!is_wanted(When::Auto, around), "{around:?}");
            assert!(is_wanted(When::Always, around), "{around:?}");
        }
        assert!(!is_wanted(When::Never, forced) && !is_wanted(When::Never, terminal));
    }

    #[test]
    fn a_painted_word_is_still_the_word() {
        let painted = painted("n1  ★ leader\nn2    member\n", ROLES);
        assert_eq!(painted, "n1  \u{1b}[32m★ leader\u{1b}[0m\nn2    member\n");
    }
}
