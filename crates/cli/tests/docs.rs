//! What the documents show works: commands run, scenarios exist, links lead somewhere.
//!
//! Commands are the lines of `sh` blocks that call tanist. They run in a folder of their own, where
//! a `toml` block that begins with `# name.toml` is a file. What takes long is cut down to a few
//! nodes, seeds or runs, and a local group ends when it has agreed; `# exits with N` after a command
//! is its exit code. Commands for a group that runs elsewhere are in `console` blocks and are
//! tested in `agents/live`.

#[path = "docs/generated.rs"]
mod generated;

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::cargo_bin_cmd;
use tanist_sim::Scenario;
use tanist_sim::scenario::library;
use tanist_sim::studies::sweep::{self, Formula};

/// Enough to run the command; the tests of the simulator go further.
const NODES: &str = "2..9";
const SCALE_NODES: &str = "100,200";
const SEEDS: &str = "10";

#[test]
fn every_command_in_the_documents_does_what_they_say() {
    let mut count = 0;
    for path in documents() {
        let text = read(&path);
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files(&text) {
            fs::write(folder.path().join(name), text).unwrap();
        }
        for command in commands(&text) {
            let output = cargo_bin_cmd!("tanist")
                .args(&command.args)
                .current_dir(folder.path())
                .env("XDG_RUNTIME_DIR", folder.path())
                .output()
                .unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            let place = format!("{}: tanist {}", path.display(), command.args.join(" "));
            assert_eq!(output.status.code(), Some(command.exit), "{place}\n{stderr}");
            count += 1;
        }
    }
    assert!(count > 20, "only {count} commands found");
}

#[test]
fn the_readme_begins_with_the_two_commands() {
    let text = read(&root().join("README.md"));
    let first = blocks(&text).find(|block| block.language == "sh").unwrap();
    assert!(first.text.starts_with("cargo run --release -- dev "), "{}", first.text);
    assert!(first.text.contains("\ncargo test --workspace "), "{}", first.text);
}

#[test]
fn every_file_in_the_documents_is_a_scenario() {
    for path in documents() {
        let all = files(&read(&path)).into_iter();
        for (name, text) in all.filter(|(name, _)| !name.starts_with("agent")) {
            if let Err(error) = Scenario::parse(&text) {
                panic!("{}: {name}: {error}", path.display());
            }
        }
    }
}

#[test]
fn every_scenario_that_is_named_exists() {
    for path in documents() {
        let text = read(&path);
        for name in scenario_names(&text) {
            let place = path.display();
            assert!(library::find(&name).is_some(), "{place}: there is no scenario {name}");
        }
    }
}

#[test]
fn every_relative_link_leads_to_a_file() {
    for path in documents() {
        let folder = path.parent().expect("a document is in a folder");
        for link in links(&read(&path)) {
            let target = link.split('#').next().unwrap_or_default();
            let is_elsewhere = target.contains("://") || target.is_empty();
            let place = path.display();
            assert!(is_elsewhere || folder.join(target).exists(), "{place}: {link} leads nowhere");
        }
    }
}

#[test]
fn every_heading_that_is_linked_exists() {
    for path in documents() {
        let folder = path.parent().expect("a document is in a folder");
        for link in links(&read(&path)) {
            let Some((target, anchor)) = link.split_once('#') else { continue };
            if target.contains("://") {
                continue;
            }
            let page = if target.is_empty() { path.clone() } else { folder.join(target) };
            let known: Vec<String> = headings(&read(&page)).collect();
            let place = path.display();
            assert!(known.iter().any(|known| known == anchor), "{place}: {link}: {known:?}");
        }
    }
}

#[test]
fn the_formulas_of_plots_are_those_of_the_tables() {
    let text = read(&root().join("docs/simulator.md"));
    for algorithm in tanist_core::election::Algorithm::ALL {
        for case in sweep::cases(*algorithm) {
            let Formula { messages, time } = sweep::formula(*algorithm, case).expect("a formula");
            let end = format!(" | {messages} | {time} |");
            let is_row = |line: &&str| line.starts_with(&format!("| `{case}` | "));
            let found = text.lines().filter(is_row).any(|line| line.ends_with(&end));
            assert!(found, "docs/simulator.md has no row of {case} that ends with {end}");
        }
    }
}

#[test]
fn every_test_that_answers_a_complaint_exists() {
    let known: String = sources(&root().join("crates")).iter().map(|path| read(path)).collect();
    let page = read(&root().join("docs/complaints.md"));
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let names: Vec<&str> = rows
        .filter_map(|row| row.split('|').nth(3))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|name| name.contains('_'))
        .collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        assert!(known.contains(&format!("fn {name}(")), "there is no test {name}");
    }
}

#[test]
fn the_patches_that_show_how_to_extend_tanist_apply() {
    let folder = root().join("docs/extending");
    let patches: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "patch"))
        .collect();
    assert!(!patches.is_empty(), "no patch");
    for patch in patches {
        let mut check = std::process::Command::new("git");
        check.args(["apply", "--check"]).arg(&patch).current_dir(root());
        let Ok(output) = check.output() else {
            eprintln!("skipped: there is no git; install the package of that name");
            return;
        };
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {why}", patch.display());
    }
}

struct Block {
    language: String,
    text: String,
}

struct Command {
    args: Vec<String>,
    exit: i32,
}

/// All documents of the repository, in order of path.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/algorithms", "docs/decisions"] {
        let entries = fs::read_dir(root().join(folder)).expect("the folder is there");
        let paths = entries.map(|entry| entry.expect("the folder can be read").path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    found.sort();
    found
}

/// All source files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    found
}

/// The commands of a document that run tanist.
fn commands(text: &str) -> Vec<Command> {
    let shell = blocks(text).filter(|block| block.language == "sh");
    let lines: Vec<String> =
        shell.flat_map(|block| block.text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.iter().filter_map(|line| command(line)).collect()
}

fn command(line: &str) -> Option<Command> {
    let (line, comment) = line.split_once(" #").unwrap_or((line, ""));
    // The build of this test has no mutants, and their campaign takes minutes.
    let rest = ["tanist ", "cargo run --release -- "]
        .iter()
        .find_map(|start| line.strip_prefix(*start))?;
    let mut args: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
    let shorter: &[(&str, &str)] = match args.first().map(String::as_str) {
        Some("sim") if args.get(1).is_some_and(|command| command == "scale") => {
            &[("--nodes", SCALE_NODES)]
        }
        Some("sim" | "compare") => &[("--nodes", NODES), ("--seeds", SEEDS)],
        Some("bench") => &[("--runs", "2"), ("--for", "1s")],
        Some(_) | None => &[],
    };
    for (flag, few) in shorter {
        let value = args.iter().position(|arg| arg == flag).map(|at| at + 1);
        if let Some(value) = value.and_then(|at| args.get_mut(at)) {
            (*few).clone_into(value);
        }
    }
    if args.first().is_some_and(|command| command == "dev") {
        args.push("--once".to_owned());
    }
    let exit = comment.trim().strip_prefix("exits with ").and_then(|code| code.parse().ok());
    Some(Command { args, exit: exit.unwrap_or(0) })
}

/// Scenario files that a document shows whole, by name.
fn files(text: &str) -> Vec<(String, String)> {
    let files = blocks(text).filter(|block| block.language == "toml");
    files
        .filter_map(|block| {
            let first = block.text.lines().next()?.strip_prefix("# ")?;
            first.ends_with(".toml").then(|| (first.to_owned(), block.text.clone()))
        })
        .collect()
}

/// Every word that looks like the name of a counterexample, and every `scenarios/<name>.toml`.
fn scenario_names(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let words = text.split(|c: char| !is_part(c)).filter(|word| {
        let mut parts = word.split('-');
        let id = (parts.next(), parts.next().map(str::as_bytes));
        matches!(id, (Some("ce"), Some([b'a'..=b'z', b'0'..=b'9'])))
    });
    let paths = text.split("scenarios/").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !is_part(c))?;
        rest[end..].starts_with(".toml").then(|| &rest[..end])
    });
    words.chain(paths).map(str::to_owned).collect()
}

/// The targets of links and pictures, outside of code.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets = prose.split("](").skip(1);
    targets.filter_map(|rest| rest.split_once(')').map(|(target, _)| target.to_owned())).collect()
}

/// The anchors of a page: headings in lower case, spaces as hyphens, without punctuation.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let prose = prose(text);
    let titles: Vec<String> = prose
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim().to_lowercase())
        .collect();
    titles.into_iter().map(|title| {
        let kept = title.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            prose.extend([line, "\n"]);
        }
    }
    prose
}

/// The fenced blocks of a document.
fn blocks(text: &str) -> impl Iterator<Item = Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                open = Some(Block { language: language.to_owned(), text: String::new() });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some(block)) => block.text.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    found.into_iter()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root() -> &'static Path {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("this crate is two levels below the root")
}
