//! `tanist sim run`: exit codes, the names in JSON, the same bytes for the same seed.

use std::fs;
use std::process::Output;

use assert_cmd::cargo_bin_cmd;
use serde_json::Value;

const SHIPPED: &str = "bully-figure-10-8";

fn run(args: &[&str]) -> Output {
    cargo_bin_cmd!("tanist")
        .args(["sim", "run"])
        .args(args)
        .output()
        .expect("tanist can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("tanist writes text")
}

fn json(args: &[&str]) -> Value {
    let output = run(&[args, &["-o", "json"]].concat());
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn names(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// The shipped scenario as a file, with something replaced.
fn file(folder: &tempfile::TempDir, from: &str, to: &str) -> String {
    let shipped = tanist_sim::scenario::library::find(SHIPPED).expect("it is shipped");
    assert!(shipped.contains(from), "{from}");
    let path = folder.path().join("changed.toml");
    fs::write(&path, shipped.replace(from, to)).expect("a temporary folder can be written to");
    path.to_str().expect("temporary folders have plain names").to_owned()
}

#[test]
fn a_shipped_scenario_tells_its_story_and_exits_with_0() {
    let output = run(&[SHIPPED]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(stderr, "");
    for part in [
        "sends Enter_Election to n1 n2",
        "MESSAGES ",
        "NODE  STATUS   COORDINATOR  GROUP",
        "ASSERTIONS\n  hold ",
        "Replay: tanist sim run bully-figure-10-8 --seed 1\n",
    ] {
        assert!(stdout.contains(part), "{part:?} is not in\n{stdout}");
    }
}

#[test]
fn names_in_json_stay_as_they_are() {
    let report = json(&[SHIPPED]);
    for name in [
        "scenario",
        "algorithm",
        "options",
        "nodes",
        "seed",
        "messages",
        "time",
        "nodes_at_end",
        "assertions",
        "trace_hash",
    ] {
        assert!(names(&report).contains(&name), "{name} is not in {report}");
    }
    assert_eq!(names(&report["messages"]), ["by_kind", "delivered", "dropped", "sent"]);
    assert!(report["messages"]["by_kind"]["AreYouUp"].is_u64());
    assert!(report["time"]["end_us"].is_u64());
    let node = &report["nodes_at_end"][0];
    assert_eq!(names(node), ["coordinator", "definition", "group", "id", "status", "up"]);
    assert_eq!(names(&node["group"]), ["counter", "node"]);
    assert!(node["up"].is_array());
    for name in ["id", "verdict", "at_us"] {
        assert!(names(&report["assertions"][0]).contains(&name), "{name}");
    }
    assert_eq!(report["trace_hash"].as_str().unwrap().len(), 64);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in ["one", "two"] {
        let (trace, svg) = (path(&format!("{name}.jsonl")), path(&format!("{name}.svg")));
        let output = run(&[SHIPPED, "--seed", "7", "--trace", &trace, "--svg", &svg]);
        assert_eq!(output.status.code(), Some(0));
    }
    for end in ["jsonl", "svg"] {
        let read = |name: &str| fs::read(path(&format!("{name}.{end}"))).unwrap();
        assert!(!read("one").is_empty());
        assert_eq!(read("one"), read("two"));
    }
    let printed = run(&[SHIPPED, "--seed", "7", "--trace", "-"]).stdout;
    assert_eq!(printed, fs::read(path("one.jsonl")).unwrap());
}

#[test]
fn an_option_replaces_the_scenarios() {
    let report = json(&[SHIPPED, "--option", "waits=full"]);
    assert_eq!(report["options"]["waits"], "full");
    assert_eq!(json(&[SHIPPED])["options"]["waits"], "early");
}

#[test]
fn a_run_that_is_not_as_expected_exits_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "messages = 15", "messages = 14");
    let output = run(&[&path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("Not as the scenario expects:\n  messages: expected 14"));
    assert_eq!(text(&output.stderr), "not as expected: messages: expected 14, got 15\n");
}

#[test]
fn a_broken_assertion_is_named_with_time_and_nodes_and_exits_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("split.toml");
    fs::write(&path, SPLIT).unwrap();
    let output = run(&[path.to_str().unwrap()]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{stdout}\n{stderr}");
    assert!(stderr.starts_with("A-1.1 violated at "), "{stderr}");
    assert!(stderr.contains("ms, n2 n3: "), "{stderr}");
    assert!(stdout.contains("This scenario is there to show A-1.1 violated: it is."), "{stdout}");
    let report = json(&[path.to_str().unwrap()]);
    let judged = report["assertions"].as_array().unwrap();
    let violated = judged.iter().find(|judged| judged["id"] == "A-1.1").unwrap();
    assert_eq!(violated["verdict"], "violated");
    assert!(violated["at_us"].is_u64());
}

/// Two halves that cannot reach each other elect one coordinator each; Bully does not survive that.
const SPLIT: &str = r#"
name = "split"
about = "A partition, which Bully's model excludes."
algorithm = "bully"
nodes = 4
end = "50ms"
stop_at_break = true

[[group]]
coordinator = 4
members = [1, 2, 3]

[[fault]]
at = "1ms"
do = "cut"
sides = [[1, 2], [3, 4]]

[[fault]]
at = "2ms"
do = "timeout"
node = 2

[expect]
breaks = ["A-1.1"]
"#;

/// What is replaced in the shipped scenario, which line is then wrong, and the message.
const BAD: &[(&str, &str, usize, &str)] = &[
    ("end = ", "ende = ", 5, "unknown field `ende`"),
    ("end = \"30ms\"", "end = \"30 parsecs\"", 5, "not a duration"),
    ("algorithm = \"bully\"", "algorithm = \"paxos\"", 3, "no algorithm \"paxos\""),
    ("nodes = 5", "nodes = = 5", 4, ""),
    ("waits = \"early\"", "waits = \"never\"", 8, "waits cannot be \"never\""),
    ("members = [1, 2, 3, 4]", "members = [1, 2, 3, 9]", 15, "there is no node 9"),
];

#[test]
fn a_bad_file_is_refused_with_its_line_and_exits_with_6() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to, line, what) in BAD {
        let path = file(&folder, from, to);
        let output = run(&[&path]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(6), "{to}: {stderr}");
        assert!(stderr.starts_with(&format!("{path}:{line}: ")), "{to}: {stderr}");
        assert!(stderr.contains(what), "{to}: {stderr}");
        assert!(output.stdout.is_empty(), "{to}");
    }
}

#[test]
fn a_file_that_is_not_text_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("binary.toml");
    fs::write(&path, b"name = \"x\"\nabout = \"\xff\"\n").unwrap();
    let output = run(&[path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(6));
    assert!(text(&output.stderr).contains("binary.toml:2: expected text in UTF-8"));
}

#[test]
fn every_shipped_scenario_runs_as_it_expects() {
    let listed = cargo_bin_cmd!("tanist").args(["sim", "list", "-o", "json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    for scenario in listed.as_array().unwrap() {
        assert_eq!(names(scenario), ["about", "algorithm", "name"]);
        let name = scenario["name"].as_str().unwrap();
        let report = json(&[name]);
        assert_eq!(report["surprises"], Value::Array(Vec::new()), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("tanist"))
        .args(["sim", "run", SHIPPED, "--trace", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}
