//! Finds the scenario that the user means: a file, or one that comes with the program.

use std::fs;
use std::path::Path;

use tanist_sim::Scenario;
use tanist_sim::scenario::library;

use crate::problem::Problem;

/// The scenario of a path or a name.
pub(crate) fn load(given: &str) -> Result<Scenario, Problem> {
    if is_path(given) {
        return parse(given, &read(given)?);
    }
    match library::find(given) {
        Some(text) => parse(given, text),
        None => Err(Problem::Usage(unknown(given))),
    }
}

/// Every shipped scenario with the name that [`load`] knows it by.
pub(crate) fn shipped() -> Result<Vec<(&'static str, Scenario)>, Problem> {
    library::all().iter().map(|(name, text)| Ok((*name, parse(name, text)?))).collect()
}

fn is_path(given: &str) -> bool {
    let path = Path::new(given);
    path.is_file() || given.contains('/') || path.extension().is_some_and(|end| end == "toml")
}

fn read(file: &str) -> Result<String, Problem> {
    let bytes = fs::read(file).map_err(|error| {
        let what = format!("cannot read {file}: {error}. Nothing was run.");
        Problem::Usage(format!("{what} Shipped scenarios have names: tanist sim list"))
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        bad(file, line, "expected text in UTF-8")
    })
}

fn parse(name: &str, text: &str) -> Result<Scenario, Problem> {
    Scenario::parse(text).map_err(|error| bad(name, error.line, &error.what))
}

fn bad(file: &str, line: usize, what: &str) -> Problem {
    let next = "Nothing was run. A scenario to compare with: tanist sim list";
    Problem::BadFile(format!("{file}:{line}: {}\n{next}", what.trim_end()))
}

fn unknown(given: &str) -> String {
    let names: Vec<&str> = library::all().iter().map(|(name, _)| *name).collect();
    let near = nearest(given, &names);
    let what = format!("no scenario {given:?} comes with the program; nothing was run.");
    if near.is_empty() {
        return format!("{what} See: tanist sim list");
    }
    format!("{what} Did you mean {}? All: tanist sim list", near.join(", "))
}

/// The names most like a given one, best first.
pub(crate) fn nearest<'a>(given: &str, names: &[&'a str]) -> Vec<&'a str> {
    let mut near: Vec<(usize, &str)> = names
        .iter()
        .map(|name| {
            // A part of a name is as good as a slip of the finger.
            let is_part = given.len() >= PART_MIN && name.contains(given);
            (if is_part { 1 } else { distance(given, name) }, *name)
        })
        .filter(|(distance, name)| *distance <= name.len().max(given.len()) / 2)
        .collect();
    near.sort_unstable();
    near.into_iter().take(NEAREST_MAX).map(|(_, name)| name).collect()
}

/// How many letters must be put in, left out or changed to get from one name to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut costs: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.chars().enumerate() {
        let mut diagonal = costs[0];
        costs[0] = row + 1;
        for (at, other) in to.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = costs[at + 1];
            costs[at + 1] = changed.min(costs[at] + 1).min(diagonal + 1);
        }
    }
    costs[to.len()]
}

/// More names than this are no help.
const NEAREST_MAX: usize = 3;
/// A shorter part is in too many names.
const PART_MIN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_letters() {
        assert_eq!(distance("bully", "bully"), 0);
        assert_eq!(distance("buly", "bully"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn the_nearest_names_are_suggested() {
        let names = ["bully-figure-10-8", "invitation-merge", "bully-crash"];
        assert_eq!(nearest("bully-figure-10-9", &names)[0], "bully-figure-10-8");
        assert_eq!(nearest("merge", &names), ["invitation-merge"]);
        assert!(nearest("zzzzzzzzzzzzzzzzzzz", &names).is_empty());
    }
}
