//! The ledger `docs/conformance.md`: every id has one row, and everything that a row names exists.

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Ids that are a letter and a number of two digits.
const NUMBERED: &[(&str, RangeInclusive<u32>)] = &[
    ("G", 1..=27),
    ("F", 1..=18),
    ("L", 1..=24),
    ("B", 1..=47),
    ("I", 1..=53),
    ("R", 1..=11),
    ("M", 1..=9),
    ("T", 1..=12),
    ("S", 1..=8),
    ("W", 1..=6),
    ("V", 1..=5),
    ("C", 1..=5),
    ("X", 1..=7),
    ("E", 1..=39),
];

/// All others.
const IRREGULAR: &[&str] = &[
    "A-1.1", "A-1.2", "A-2.1", "A-2.2", "A-2.3", "A-3.1", "A-3.2", "A-3.3", "A-4.1", "A-4.2",
    "E-22b", "GT-1", "GT-2", "GT-3", "GT-4", "GT-5",
];

/// Sections whose rows must be shown by something, or say what they wait for.
const BINDING: &[&str] = &["G", "F", "L", "B", "A", "I"];

#[test]
fn every_id_has_exactly_one_row() {
    let mut rows: BTreeMap<String, u32> = BTreeMap::new();
    for row in ledger() {
        *rows.entry(row.id).or_default() += 1;
    }
    for id in ids() {
        match rows.remove(&id) {
            Some(1) => {}
            Some(count) => panic!("docs/conformance.md has {count} rows for {id}"),
            None => panic!("docs/conformance.md has no row for {id}"),
        }
    }
    assert!(rows.is_empty(), "docs/conformance.md has rows for unknown ids: {:?}", rows.keys());
}

#[test]
fn no_binding_row_is_empty() {
    for row in ledger() {
        let (letter, _) = row.id.split_once('-').unwrap();
        let is_shown = !row.shown_by.is_empty();
        assert!(is_shown || !BINDING.contains(&letter), "{}: shown by nothing", row.id);
    }
}

#[test]
fn everything_that_is_named_exists() {
    for row in ledger() {
        for item in row.shown_by.split("; ").filter(|item| !item.is_empty()) {
            if let Err(why) = look_up(item) {
                panic!("{}: {item}: {why}", row.id);
            }
        }
    }
}

struct Row {
    id: String,
    shown_by: String,
}

/// The rows of all tables, in order.
fn ledger() -> Vec<Row> {
    let path = root().join("docs/conformance.md");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    text.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<_> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').collect();
    let is_frame = cells[0].trim() == "id" || cells[0].starts_with("---");
    if is_frame {
        return None;
    }
    let [id, statement, shown_by] = cells[..] else { panic!("not three cells: {line}") };
    assert!(!statement.trim().is_empty(), "no statement: {line}");
    Some(Row { id: id.trim().to_string(), shown_by: shown_by.trim().to_string() })
}

fn ids() -> Vec<String> {
    let numbered = NUMBERED
        .iter()
        .flat_map(|(letter, numbers)| numbers.clone().map(move |n| format!("{letter}-{n:02}")));
    numbered.chain(IRREGULAR.iter().map(|id| (*id).to_string())).collect()
}

/// Looks up what one item names: words, a file, or a test in a file.
fn look_up(item: &str) -> Result<(), String> {
    let is_words = item == "context only"
        || item.strip_prefix("not yet: ").is_some_and(|what| !what.is_empty());
    if is_words {
        return Ok(());
    }
    let name = item
        .strip_prefix("document: ")
        .unwrap_or(item)
        .strip_prefix('`')
        .and_then(|name| name.strip_suffix('`'))
        .ok_or("neither a name in backticks, nor `not yet: …`, nor `context only`")?;
    let (path, test) = name.split_once('#').map_or((name, None), |(path, test)| (path, Some(test)));
    let text = fs::read_to_string(locate(path)).map_err(|error| error.to_string())?;
    match test {
        Some(test) if !text.contains(&format!("fn {test}(")) => Err(format!("no `fn {test}`")),
        Some(_) | None => Ok(()),
    }
}

/// `core/`, `sim/`, `check/`, `tanist/` and `cli/` are below `crates/`; everything else is below
/// the root.
fn locate(path: &str) -> PathBuf {
    let is_crate =
        ["core/", "sim/", "check/", "tanist/", "cli/"].iter().any(|name| path.starts_with(name));
    if is_crate { root().join("crates").join(path) } else { root().join(path) }
}

fn root() -> &'static Path {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("this crate is two levels below the root")
}
