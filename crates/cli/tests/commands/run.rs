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
fn what_did_not_happen_is_told_and_fails_only_where_that_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    let fault = "[[fault]]\nwhen = { node = 1, sends = \"Recall\" }\ndo = \"crash\"\nnode = 1\n";
    let base = "name = \"quiet\"\nalgorithm = \"bully\"\nnodes = 3\nend = \"100ms\"\n";
    let path = folder.path().join("quiet.toml");
    let path = path.to_str().unwrap();
    let quiet = fault.replace("Recall", "New_State");
    fs::write(path, format!("{base}{quiet}")).unwrap();
    let output = run(&[path]);
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    assert!(stdout.contains("Did not happen:\n  [[fault]] when = { node = 1, sends"), "{stdout}");
    let told = json(&[path])["not_happened"].clone();
    assert!(told[0].as_str().unwrap().ends_with(": its condition was never met"), "{told}");
    assert_eq!(json(&[SHIPPED])["not_happened"], Value::Array(Vec::new()));

    fs::write(path, format!("{base}{quiet}[expect]\nall_faults = true\n")).unwrap();
    let output = run(&[path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("not as expected: faults: "));

    fs::write(path, format!("{base}{fault}")).unwrap();
    let output = run(&[path]);
    assert_eq!(output.status.code(), Some(6));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("quiet.toml:6: no node sends \"Recall\" without"), "{stderr}");
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

#[test]
fn a_part_of_a_run_is_told_and_its_figures_are_those_of_all() {
    let ring = "ring-list-six-processes";
    let output = run(&[ring, "--from", "5ms", "--to", "9ms", "--hide", "acks,checks"]);
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    for part in [
        "    5.000  1    is Normal, coordinator 6, group 1.n6",
        "    5.000  6    is down\n",
        "    8.500  4    sends election with the list [3 5 0 1 4] to 3 (group 2.n3)\n",
        "Shown: 5ms to 9ms of 60ms; hidden: checks (none), acks (5 events).\n\
         The figures below are of the whole run.\n",
        "ack            10\n",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    let story = stdout.split("Shown:").next().expect("there is a story");
    for gone in ["ack", "    4.000", "    9.500", "starts"] {
        assert!(!story.contains(gone), "{gone}: {story}");
    }
}

#[test]
fn the_diagram_of_a_part_says_what_it_leaves_out() {
    let args = ["ring-list-six-processes", "--from", "5ms", "--hide", "timers", "--svg", "-"];
    let svg = text(&run(&args).stdout);
    assert!(svg.contains(">5ms to 60ms of 60ms; hidden: timers (2 events)</text>"), "{svg}");
    assert!(svg.contains(">election [3 5 0 1 4]</text>"), "{svg}");
    assert!(!svg.contains("gives up"), "{svg}");
}

#[test]
fn a_part_of_nothing_is_refused() {
    for (args, why) in [
        (&["--from", "50ms", "--to", "4ms"][..], "there is nothing of the run from 50ms to 4ms"),
        (&["--from", "2s"], "The run lasts"),
        (&["--hide", "acks", "-o", "json"], "Add --svg FILE"),
        (&["--hide", "noise"], "expected one of: checks, acks, hand-over, timers, saves"),
    ] {
        let output = run(&[&[SHIPPED], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(why), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_mistake_in_the_ring_is_told_with_its_line() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("ring.toml");
    let text_of =
        "name = \"ring\"\nalgorithm = \"ring-list\"\nend = \"1s\"\nnodes = 3\nring = [1, 3]\n";
    fs::write(&path, text_of).expect("a temporary folder can be written to");
    let output = run(&[path.to_str().expect("temporary folders have plain names")]);
    assert_eq!(output.status.code(), Some(6));
    let told = text(&output.stderr);
    assert!(told.contains("ring.toml:5: n2 is not in the ring"), "{told}");
}
