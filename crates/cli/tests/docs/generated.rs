//! Parts of documents that are made from the code, so that they cannot differ from it.
//!
//! A part stands between `<!-- generated: NAME -->` and `<!-- end -->`. A test fails where it is
//! stale; `TANIST_BLESS=1 cargo test -p tanist-cli --test docs` writes it again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use tanist_cli::fuzzing::Bench;
use tanist_core::election::descriptor::{Model, Network, Topic};
use tanist_core::election::{Algorithm, Descriptor};
use tanist_core::node::LAYERS;
use tanist_core::trace::{Kind, TimerName};

use super::{documents, read, root, sources};

struct Part {
    file: &'static str,
    name: &'static str,
    text: fn() -> String,
}

const PARTS: &[Part] = &[
    Part { file: "README.md", name: "algorithms", text: algorithms },
    Part { file: "docs/trace.md", name: "kinds", text: kinds },
    Part { file: "docs/trace.md", name: "timers", text: timers },
    Part { file: "docs/http.md", name: "metrics", text: metrics },
    Part { file: "docs/files.md", name: "files", text: files },
];

#[test]
fn every_generated_part_is_up_to_date() {
    let is_blessed = std::env::var_os("TANIST_BLESS").is_some_and(|value| value == "1");
    let mut stale = Vec::new();
    for part in PARTS {
        let path = root().join(part.file);
        let old = read(&path);
        let new = replaced(&old, part);
        if old == new {
            continue;
        }
        if is_blessed {
            fs::write(&path, new).unwrap();
        } else {
            stale.push(format!("{}, {}: {}", part.file, part.name, difference(&old, &new)));
        }
    }
    assert!(
        stale.is_empty(),
        "stale; renew with TANIST_BLESS=1 cargo test -p tanist-cli --test docs\n{}",
        stale.join("\n")
    );
}

#[test]
fn every_marked_part_is_generated() {
    for path in documents() {
        for mark in read(&path).lines().filter_map(|line| line.strip_prefix("<!-- generated: ")) {
            let is_its = |part: &Part| {
                path == root().join(part.file) && mark == format!("{} -->", part.name)
            };
            assert!(PARTS.iter().any(is_its), "{}: nothing generates {mark}", path.display());
        }
    }
}

/// ARCHITECTURE says what each folder of sources is for; the first cell of a row links to it.
#[test]
fn every_folder_of_sources_has_a_row_in_the_architecture() {
    let page = read(&root().join("ARCHITECTURE.md"));
    let cells = page.lines().filter_map(|line| line.strip_prefix("| [")?.split(" |").next());
    let links = cells.flat_map(|cell| cell.split("](").skip(1));
    let targets = links.filter_map(|link| link.split(')').next());
    let mut described: Vec<&str> = targets.filter(|target| target.contains("/src")).collect();
    described.sort_unstable();
    let all = folders().into_iter().filter(|(folder, files)| !is_for_tests(folder, files));
    let all: Vec<String> = all.map(|(folder, _)| folder).collect();
    assert_eq!(described, all, "left: rows of ARCHITECTURE.md, right: folders of crates/*/src");
}

/// The document with one part made again.
fn replaced(document: &str, part: &Part) -> String {
    let Part { file, name, text } = part;
    let mark = format!("<!-- generated: {name} -->\n");
    let (before, rest) =
        document.split_once(&mark).unwrap_or_else(|| panic!("{file} has no line {mark}"));
    let (_, after) =
        rest.split_once("<!-- end -->").unwrap_or_else(|| panic!("{file}: {name} has no end"));
    format!("{before}{mark}\n{}\n<!-- end -->{after}", text())
}

/// The first line that differs.
fn difference(old: &str, new: &str) -> String {
    let (mut old, mut new) = (old.lines(), new.lines());
    loop {
        match (old.next(), new.next()) {
            (old, new) if old == new => {}
            (old, new) => {
                let (old, new) = (old.unwrap_or("no line"), new.unwrap_or("no line"));
                return format!("\n  is     {old}\n  should {new}");
            }
        }
    }
}

/// README's table of algorithms.
fn algorithms() -> String {
    let mut text = table(&["algorithm", "network", "timing", "guarantee"]);
    for algorithm in Algorithm::ALL {
        let Descriptor { name, network, model, summary, .. } = algorithm.descriptor();
        let link = format!("[`{name}`](docs/algorithms/{name}.md)");
        let network = match network {
            Network::Links => "every node reaches every other",
            Network::Partitions => "with partitions",
            Network::Ring => "logical ring",
            Network::Radio => "radio",
            Network::Hierarchy => "very large, in groups",
        };
        let timing = match model {
            Model::Synchronous => "synchronous",
            Model::Asynchronous | Model::Roaming => "asynchronous",
            Model::Inner => "that of the inner algorithm",
        };
        row(&mut text, &[&link, network, timing, summary]);
    }
    text
}

/// The kinds of message, and which algorithm or layer sends each.
fn kinds() -> String {
    let mut text = table(&["kind", "about", "answers", "sent by"]);
    for kind in Kind::ALL {
        let info = kind.info();
        let about = match info.topic {
            Topic::Discovery => "which nodes there are",
            Topic::Liveness => "whether a known node is alive",
            Topic::Election => "which node should coordinate",
            Topic::Announcement => "which node coordinates",
            Topic::Handover => "the definition of a group",
            Topic::Operation => "what an operator or a group has decided",
            Topic::Levels => "an election above the peer groups",
        };
        let answers: Vec<String> = info.answers.iter().map(|kind| code(kind.name())).collect();
        let senders = users(
            |descriptor| descriptor.messages.iter().any(|info| info.kind == *kind),
            LAYERS.iter().filter(|layer| layer.messages.iter().any(|info| info.kind == *kind)),
        );
        row(&mut text, &[&code(kind.name()), about, &answers.join(", "), &senders]);
    }
    text
}

/// The timers, and what a node does when each fires.
fn timers() -> String {
    let mut text = table(&["timer", "when it fires, the node", "set by"]);
    for timer in TimerName::ALL {
        let users = users(
            |descriptor| descriptor.timers.iter().any(|info| info.name == *timer),
            LAYERS.iter().filter(|layer| layer.timers.iter().any(|info| info.name == *timer)),
        );
        row(&mut text, &[&code(timer.name()), timer.info().text, &users]);
    }
    text
}

/// The algorithms for which this is so, then the layers.
fn users<'a>(
    is_user: impl Fn(&Descriptor) -> bool,
    layers: impl Iterator<Item = &'a tanist_core::election::LayerInfo>,
) -> String {
    let algorithms = Algorithm::ALL.iter().map(|algorithm| algorithm.descriptor());
    let algorithms = algorithms.filter(|found| is_user(found)).map(|found| code(found.name));
    let layers = layers.map(|layer| format!("{} (layer)", layer.name));
    algorithms.chain(layers).collect::<Vec<_>>().join(", ")
}

/// The metrics of an agent, as `/metrics` describes them itself.
fn metrics() -> String {
    let mut text = table(&["metric", "kind", "meaning"]);
    let page = Bench::start().expect("an agent starts").metrics().expect("it answers");
    let help = page.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' '));
    let kinds = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    for ((name, help), (same, kind)) in help.zip(kinds) {
        assert_eq!(name, same);
        row(&mut text, &[&code(name), kind, help]);
    }
    text
}

/// Every source file but tests with the first sentence of its documentation, a table for each folder.
fn files() -> String {
    let mut text = String::new();
    for (folder, files) in folders() {
        if is_for_tests(&folder, &files) {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "## {folder}\n");
        text.push_str(&table(&["file", "what it is"]));
        for path in files.into_iter().filter(|path| !path.ends_with("tests.rs")) {
            let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            let link = format!("[{name}](../{folder}/{name})");
            row(&mut text, &[&link, &first_sentence(&path)]);
        }
    }
    text
}

/// The folders of all crates' sources that hold source files, by their path from the root.
fn folders() -> BTreeMap<String, Vec<PathBuf>> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in sources(&root().join("crates")) {
        let below = path.strip_prefix(root()).expect("a source is below the root");
        let folder = below.parent().expect("a source is in a folder").to_string_lossy();
        if below.components().nth(2).is_some_and(|part| part.as_os_str() == "src") {
            found.entry(folder.into_owned()).or_default().push(path);
        }
    }
    for files in found.values_mut() {
        files.sort();
    }
    found
}

fn is_for_tests(folder: &str, files: &[PathBuf]) -> bool {
    let mut parts = folder.split('/');
    parts.any(|part| part == "tests" || part == "testing")
        || files.iter().all(|path| path.ends_with("tests.rs"))
}

/// The first sentence of a module's documentation, links as plain code.
fn first_sentence(path: &Path) -> String {
    let text = read(path);
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ").replace("[`", "`").replace("`]", "`");
    assert!(!paragraph.is_empty(), "{}: no documentation at the top", path.display());
    let end = paragraph.find(". ").or_else(|| paragraph.find("? "));
    let end = end.map_or(paragraph.len(), |at| at + 1);
    paragraph[..end].trim_end_matches('.').to_owned()
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

/// The head of a table.
fn table(columns: &[&str]) -> String {
    let mut text = String::new();
    row(&mut text, columns);
    text.push_str(&"|---".repeat(columns.len()));
    text.push_str("|\n");
    text
}

fn row(text: &mut String, cells: &[&str]) {
    for cell in cells {
        let _ = write!(
            text,
            "| {}{}",
            cell.replace('|', "\\|"),
            if cell.is_empty() { "" } else { " " }
        );
    }
    text.push_str("|\n");
}
