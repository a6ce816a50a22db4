//! Metrics: they parse, they only grow where they should, and the documents know their names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::client::get;
use crate::support::dev::Dev;
use crate::support::wait::until;

/// A page of metrics, parsed strictly.
#[derive(Debug, Default)]
struct Page {
    /// Kinds by name of the family.
    kinds: BTreeMap<String, String>,
    /// Values by name and labels.
    samples: BTreeMap<String, f64>,
}

impl Page {
    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut helped = String::new();
        assert!(text.ends_with('\n'));
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap();
                assert!(help.ends_with('.'), "{line}");
                helped = name.to_owned();
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                assert_eq!(name, helped, "help comes first");
                let old = page.kinds.insert(name.to_owned(), kind.to_owned());
                assert_eq!(old, None, "{name} comes twice");
            } else {
                let (series, value) = line.rsplit_once(' ').unwrap();
                let (name, labels) = series.split_once('{').unwrap();
                let kind = &page.kinds[&helped];
                let ends =
                    if kind == "histogram" { &["_bucket", "_sum", "_count"][..] } else { &[""] };
                let is_its = ends.iter().any(|end| name == format!("{helped}{end}"));
                assert!(is_its, "{line} is not of {helped}");
                assert_eq!(kind == "counter", helped.ends_with("_total"), "{helped} is a {kind}");
                assert!(labels.starts_with("group=\"dev\"") && labels.ends_with("\"}"), "{line}");
                let value: f64 = value.parse().unwrap();
                assert!(value.is_finite() && value >= 0.0, "{line}");
                assert_eq!(page.samples.insert(series.to_owned(), value), None, "{line} twice");
            }
        }
        page
    }

    fn value(&self, series: &str) -> f64 {
        *self.samples.get(series).unwrap_or_else(|| panic!("no {series} in {:#?}", self.samples))
    }

    fn grows(&self, series: &str) -> bool {
        let name = series.split('{').next().unwrap();
        name.ends_with("_total") || name.ends_with("_bucket") || name.ends_with("_count")
    }
}

#[test]
fn metrics_parse_and_counters_never_fall_while_leaders_come_and_go() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    let line = dev.tells("http://");
    let to = line.split("http://").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    dev.agree("all 3 nodes");
    let read = || Page::parse(&get(to, "/metrics").body);
    let mut before = read();
    let failures = "tanist_leader_changes_total{group=\"dev\",reason=\"failure\"}";
    let failovers = "tanist_failover_duration_seconds_count{group=\"dev\"}";
    for round in 1..=3 {
        let old = before.value(failures);
        dev.act(&["kill", "n3"]);
        assert_eq!(dev.agree("2 of 3 nodes"), "n2");
        let now = until("the failure is counted", || {
            let now = read();
            (now.value(failures) > old).then_some(now)
        });
        for (series, value) in before.samples.iter().filter(|(series, _)| before.grows(series)) {
            assert!(now.value(series) >= *value, "{series} fell from {value}");
        }
        assert!(now.value(failovers) >= f64::from(round), "{failovers}");
        assert_eq!(now.value("tanist_group_members{group=\"dev\"}"), 2.0);
        before = now;
        dev.act(&["restart", "n3"]);
        assert_eq!(dev.agree("all 3 nodes"), "n3");
    }
    let infinite = "tanist_failover_duration_seconds_bucket{group=\"dev\",le=\"+Inf\"}";
    assert_eq!(before.value(infinite), before.value(failovers));
    documented(&before);
    judged_by_promtool(&get(to, "/metrics").body);
}

/// Every name is in the document, and every name in the document exists; dashboard and alerts use
/// no others.
fn documented(page: &Page) {
    let there: BTreeSet<&str> = page.kinds.keys().map(String::as_str).collect();
    let text = std::fs::read_to_string(root().join("docs/http.md")).unwrap();
    let written = names(&text);
    let written: BTreeSet<&str> = written.iter().map(String::as_str).collect();
    assert_eq!(written, there);
    let rules = std::fs::read_to_string(root().join("deploy/prometheus/tanist.rules.yml")).unwrap();
    let board = std::fs::read_to_string(root().join("deploy/grafana/tanist.json")).unwrap();
    let board: serde_json::Value = serde_json::from_str(&board).unwrap();
    for (file, text) in [("rules", rules), ("dashboard", board.to_string())] {
        let used = names(&text);
        assert!(used.len() >= 4, "{file}: {used:?}");
        for name in used {
            let family =
                ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            let is_there =
                there.contains(name.as_str()) || family.is_some_and(|f| there.contains(f));
            assert!(is_there, "{file}: there is no {name}");
        }
    }
}

/// Words that are names of metrics.
fn names(text: &str) -> BTreeSet<String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = text.split(|letter| !is_part(letter));
    words.filter(|word| word.starts_with("tanist_")).map(str::to_owned).collect()
}

/// Prometheus' own tool, where it is installed.
fn judged_by_promtool(page: &str) {
    use std::io::Write;
    let Some(tool) = find("promtool") else {
        eprintln!("skipped: there is no promtool; Debian has it in the package prometheus");
        return;
    };
    let rules = root().join("deploy/prometheus/tanist.rules.yml");
    let output = Command::new(&tool).args(["check", "rules"]).arg(rules).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut child = Command::new(&tool)
        .args(["check", "metrics"])
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// A program by its name, or where the environment says that it is.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
