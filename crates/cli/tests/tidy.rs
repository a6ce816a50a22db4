//! What no compiler checks: the words of the project, and the length of its files.
//!
//! `docs/glossary.md` has one word for each idea. A word that was given up must not return, in code,
//! comments, errors, help or documents. Words are whole: `_` and `-` belong to a word, so the names
//! of tests, scenarios and decisions may keep an old one.
#![allow(clippy::unwrap_used, reason = "a test ends where something is missing")]

use std::fs;
use std::path::{Path, PathBuf};

/// Words that were given up, and what is written instead.
const OLD_WORDS: &[(&str, &str)] = &[
    ("whoever", "the node that, a peer that"),
    ("whomever", "the node that, a peer that"),
    ("under way", "in flight, in progress"),
    ("doubled", "duplicated"),
    ("doubling", "duplication"),
    ("situation", "state, global state"),
    ("situations", "states, global states"),
    ("hasty", "early"),
    ("epoch", "group number"),
    ("epochs", "group numbers"),
    ("aside", "withdrawn"),
    ("anew", "again"),
    ("for ever", "forever"),
];

/// Where an old word is right: a file, and the text around the word.
const KEPT: &[(&str, &str)] = &[("crates/cli/src/dev/work.rs", "#[serde(rename = \"doubled\")]")];

/// A longer file is split where a noun offers itself.
const LINES_MAX: usize = 500;
/// Longer files, to be split.
const LONGER: &[&str] = &[];

#[test]
fn no_old_word_returns() {
    let mut found = Vec::new();
    for path in texts() {
        let name = name(&path);
        let text = without_kept(&name, read(&path));
        for (number, word, instead) in old_words(&text) {
            found.push(format!("{name}:{number}: `{word}`; write: {instead}"));
        }
    }
    assert!(found.is_empty(), "{} old words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn every_exception_is_needed() {
    for (name, text) in KEPT {
        let all = read(&root().join(name));
        assert!(all.contains(text), "{name} has no longer: {text}");
        assert!(!old_words(text).is_empty(), "{name}: no old word in: {text}");
    }
}

#[test]
fn old_words_are_found_whole_and_across_lines() {
    let words = |text| old_words(text).into_iter().map(|(line, word, _)| (line, word)).collect();
    let found: Vec<_> = words("A message\n// is under\n// way.");
    assert_eq!(found, [(2, "under way")]);
    let found: Vec<_> = words("Whoever asks, asks anew.");
    assert_eq!(found, [(1, "whoever"), (1, "anew")]);
    let found: Vec<_> = words("fn whoever_asks_again() for-ever TANIST_EPOCH besides");
    assert_eq!(found, []);
}

#[test]
fn no_source_file_is_too_long() {
    let mut found = Vec::new();
    for path in texts().into_iter().filter(|path| is_rust(path)) {
        let (name, lines) = (name(&path), read(&path).lines().count());
        let is_known = LONGER.contains(&name.as_str());
        if (lines > LINES_MAX) != is_known {
            found.push(format!("{name}: {lines} lines"));
        }
    }
    assert!(found.is_empty(), "above {LINES_MAX}, or no longer above it:\n{}", found.join("\n"));
}

/// Old words with the line where each begins, and what to write instead.
fn old_words(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut words: Vec<(usize, &str)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let parts = line.split(|c| !is_part(c)).filter(|part| !part.is_empty());
        words.extend(parts.map(|part| (number, part)));
    }
    let mut found = Vec::new();
    for (at, (number, _)) in words.iter().enumerate() {
        for (old, instead) in OLD_WORDS {
            let mut rest = words[at..].iter().map(|(_, word)| word);
            let mut parts = old.split(' ');
            if parts.all(|part| rest.next().is_some_and(|word| word.eq_ignore_ascii_case(part))) {
                found.push((*number, *old, *instead));
            }
        }
    }
    found
}

/// The text without the places where an old word is right; lines stay where they are.
fn without_kept(name: &str, text: String) -> String {
    let kept = KEPT.iter().filter(|(file, _)| *file == name);
    kept.fold(text, |text, (_, kept)| text.replace(kept, ""))
}

/// Every file that people read: sources, documents, scripts, scenarios, deployment. CHANGELOG is
/// history, recorded results are data, the list of files repeats sources, and this file names the
/// old words.
fn texts() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["crates", "docs", "scenarios", ".ci", "deploy", "fuzz"] {
        collect(&root().join(folder), &mut found);
    }
    found.extend(
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"]
            .iter()
            .map(|name| root().join(name)),
    );
    found.retain(|path| !path.ends_with("cli/tests/tidy.rs") && !path.ends_with("docs/files.md"));
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_data = ["target", "corpus", "golden", "img", "artifacts"]
            .iter()
            .any(|name| path.file_name().is_some_and(|file| file == *name));
        // A link leads to what is read elsewhere: the library of scenarios is in the package of the
        // simulator, too.
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            if !is_data {
                collect(&path, found);
            }
        } else if is_text(&path) {
            found.push(path);
        }
    }
}

fn is_text(path: &Path) -> bool {
    match path.extension().map(|end| end.to_string_lossy()) {
        None => true,
        Some(end) => {
            matches!(&*end, "rs" | "md" | "toml" | "json" | "yml" | "cfg" | "service" | "patch")
        }
    }
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "rs")
}

/// The path from the root of the repository.
fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().and_then(Path::parent).unwrap()
}
