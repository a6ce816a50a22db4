//! `tanist trace`: exit codes, what is read, what is shown, what is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::cargo_bin_cmd;
use serde_json::Value;
use tanist_sim::scenario::library;
use tanist_sim::{Scenario, run};

/// The events that the harness writes. Nodes write the others; `lose` is in no recording.
const HARNESS: &[&str] = &["crash", "pause", "resume", "cut", "heal"];

fn trace(args: &[&str]) -> Output {
    cargo_bin_cmd!("tanist").arg("trace").args(args).output().expect("tanist can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("tanist writes text")
}

/// The files that live nodes and a harness would have recorded of a shipped scenario.
fn record(scenario: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let shipped = library::find(scenario).expect("it is shipped");
    let scenario = Scenario::parse(shipped).expect("a shipped scenario is one");
    let mut bytes = Vec::new();
    run(&scenario, scenario.seed).recording.write(&mut bytes).expect("memory takes everything");
    let trace = text(&bytes).replace(r#""source":"sim""#, r#""source":"live""#);
    let (header, lines) = trace.split_once('\n').expect("the first line is the header");
    for line in lines.lines() {
        let entry: Value = serde_json::from_str(line).expect("a line is JSON");
        let name = match entry["event"].as_str().expect("an event has a name") {
            "lose" | "violation" => continue,
            event if HARNESS.contains(&event) => "harness.jsonl".to_owned(),
            _ => format!("n{}.jsonl", entry["node"]),
        };
        let path = folder.path().join(name);
        let before = fs::read_to_string(&path).unwrap_or_else(|_| format!("{header}\n"));
        fs::write(&path, format!("{before}{line}\n")).expect("the folder can be written to");
    }
    folder
}

fn name(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// Replaces something in a file.
fn change(folder: &tempfile::TempDir, file: &str, from: &str, to: &str) -> PathBuf {
    let path = folder.path().join(file);
    let before = fs::read_to_string(&path).expect("the file is there");
    assert!(before.contains(from), "{from} is not in {file}");
    fs::write(&path, before.replacen(from, to, 1)).expect("the file can be written to");
    path
}

#[test]
fn a_recorded_run_is_judged_and_exits_with_0() {
    let folder = record("bully-figure-10-8");
    let output = trace(&["check", name(folder.path())]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(stderr, "");
    for part in [
        "bully-figure-10-8 · bully · 5 nodes\n",
        "files: 6",
        "Enter_Election      2\n",
        "n3    Normal   n3           2.n3   n1 n2\n",
        "n5    Crashed",
        "ASSERTIONS\n  hold            A-1.1 A-1.2 A-2 A-3.1",
        "messages sent and never taken up: 3\n",
    ] {
        assert!(stdout.contains(part), "{part:?} is not in\n{stdout}");
    }
    assert!(stdout.lines().all(|line| line.chars().count() <= 100 && !line.ends_with(' ')));
}

#[test]
fn names_in_json_are_those_of_a_simulated_run() {
    let folder = record("bully-figure-10-8");
    let output = trace(&["check", name(folder.path()), "-o", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let simulated =
        cargo_bin_cmd!("tanist").args(["sim", "run", "bully-figure-10-8", "-o", "json"]).output();
    let simulated: Value = serde_json::from_slice(&simulated.unwrap().stdout).unwrap();
    for same in ["scenario", "algorithm", "nodes", "messages", "elections", "nodes_at_end"] {
        assert_eq!(report[same], simulated[same], "{same}");
    }
    let verdicts = |report: &Value| -> Vec<(Value, Value)> {
        let all = report["assertions"].as_array().unwrap().iter();
        all.map(|judged| (judged["id"].clone(), judged["verdict"].clone())).collect()
    };
    // The scenario also reports its cuts, which a recording does not contain.
    assert!(verdicts(&simulated).starts_with(&verdicts(&report)), "{report}");
    assert_eq!(verdicts(&report).len(), 27);
    assert_eq!(report["recording"]["files"], 6);
    assert_eq!(report["recording"]["gaps"], serde_json::json!([]));
}

#[test]
fn a_broken_assertion_exits_with_1_and_is_named() {
    let folder = record("bully-figure-10-8");
    change(&folder, "n1.jsonl", r#""event":"stopped""#, r#""event":"stop""#);
    let output = trace(&["check", name(folder.path())]);
    assert_eq!(output.status.code(), Some(1));
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(stderr.starts_with("B-37 violated at "), "{stderr}");
    assert!(stdout.contains("VIOLATED        B-37 at "), "{stdout}");
}

#[test]
fn a_run_without_its_harness_says_what_it_cannot_say() {
    let folder = record("bully-figure-10-8");
    fs::remove_file(folder.path().join("harness.jsonl")).unwrap();
    let output = trace(&["check", name(folder.path())]);
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    assert!(stdout.contains("A-1.1 A-1.2 G-14: it depends on when"), "{stdout}");
    assert!(stdout.contains("their crash was not recorded"), "{stdout}");
}

#[test]
fn a_merged_file_is_judged_as_its_parts() {
    let folder = record("invitation-partition-and-merge");
    let elsewhere = tempfile::tempdir().unwrap();
    let merged = elsewhere.path().join("run.jsonl");
    let done = trace(&["merge", name(folder.path()), "--out", name(&merged)]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let judged = |path: &Path| {
        let output = trace(&["check", name(path), "-o", "json"]);
        let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["recording"]["files"] = Value::Null;
        report
    };
    assert_eq!(judged(&merged), judged(folder.path()));
    let stdout = trace(&["merge", name(folder.path()), "--out", "-"]).stdout;
    assert_eq!(stdout, fs::read(&merged).unwrap());
    let inferred = text(&stdout).lines().filter(|line| line.contains(r#""inferred":true"#)).count();
    assert!(inferred > 0, "no loss is marked");
}

#[test]
fn a_simulated_trace_is_checked_like_a_recorded_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let run = ["sim", "run", "ce-i4-held", "--trace", name(&path)];
    cargo_bin_cmd!("tanist").args(run).assert().success();
    let output = trace(&["check", name(&path)]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn the_story_is_that_of_the_simulated_run() {
    let folder = record("bully-figure-10-8");
    let told = text(&trace(&["story", name(folder.path())]).stdout);
    for part in ["sends Enter_Election to n1 n2 (group 2.n3)", "CRASHES", "WINS its election"] {
        assert!(told.contains(part), "{part} is not in\n{told}");
    }
    let part = text(&trace(&["story", name(folder.path()), "--from", "12ms"]).stdout);
    assert!(part.contains("WINS") && !part.contains("CRASHES"), "{part}");
}

#[test]
fn the_picture_can_be_cut_to_a_window() {
    let folder = record("bully-figure-10-8");
    let draw = |part: &[&str]| {
        let args = [&["check", name(folder.path()), "--svg", "-"], part].concat();
        let output = trace(&args);
        assert_eq!(output.status.code(), Some(0), "{part:?}: {}", text(&output.stderr));
        let picture = text(&output.stdout);
        assert!(picture.starts_with("<svg") || picture.starts_with("<?xml"), "{picture}");
        picture.matches("class=\"arrow\"").count()
    };
    let all = draw(&[]);
    assert_eq!(all, 12);
    assert_eq!(draw(&["--around-crash", "1"]), all);
    let part = draw(&["--from", "9ms", "--to", "11ms"]);
    assert!(0 < part && part < all, "{part} of {all}");
}

#[test]
fn slips_exit_with_2_and_say_what_to_do() {
    let folder = record("bully-figure-10-8");
    let files = name(folder.path());
    for (args, hint) in [
        (&["check"][..], "<FILE|DIR>"),
        (&["merge", files], "--out"),
        (&["check", files, "--from", "5ms"], "--svg FILE"),
        (&["check", files, "--svg", "x.svg", "--from", "5"], "`5` has no unit"),
        (&["check", files, "--svg", "x.svg", "--from", "5ms", "--to", "4ms"], "16.000ms"),
        (&["check", files, "--svg", "x.svg", "--from", "1h"], "16.000ms"),
        (&["check", files, "--svg", "x.svg", "--around-crash", "3"], "2 crashes"),
        (&["check", files, "--svg", "x.svg", "--around-crash", "0"], "Count from 1"),
        (&["story", files, "--around-crash", "1", "--to", "4ms"], "cannot be used with"),
        (&["check", files, "--svg", "-", "-o", "json"], "stdout"),
    ] {
        let output = trace(args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(hint), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn files_that_make_no_run_exit_with_6_and_name_file_and_cause() {
    let refused = |spoil: fn(&tempfile::TempDir), parts: &[&str]| {
        let folder = record("bully-figure-10-8");
        spoil(&folder);
        for command in ["check", "story"] {
            let output = trace(&[command, name(folder.path())]);
            let stderr = text(&output.stderr);
            assert_eq!(output.status.code(), Some(6), "{stderr}");
            for part in parts {
                assert!(stderr.contains(part), "{part} is not in {stderr}");
            }
            assert!(output.stdout.is_empty());
        }
    };
    let change_t = |folder: &tempfile::TempDir| {
        change(folder, "n4.jsonl", r#""answer_us":2500"#, r#""answer_us":2600"#);
    };
    refused(change_t, &["n4.jsonl:1: ", "answer_us", "2600", "2500"]);
    let garbage = |folder: &tempfile::TempDir| {
        change(folder, "n2.jsonl", r#"{"at_us":0,"event":"state""#, "{oops");
    };
    refused(garbage, &["n2.jsonl:3: ", "cut it off"]);
    let empty = |folder: &tempfile::TempDir| fs::write(folder.path().join("n1.jsonl"), "").unwrap();
    refused(empty, &["n1.jsonl: ", "leave the file out"]);
    let copy = |folder: &tempfile::TempDir| {
        let path = folder.path();
        fs::copy(path.join("n1.jsonl"), path.join("old-n1.jsonl")).unwrap();
    };
    refused(copy, &["old-n1.jsonl: ", "n1"]);
}

#[test]
fn what_is_not_there_exits_with_6() {
    let folder = tempfile::tempdir().unwrap();
    let output = trace(&["check", name(folder.path())]);
    assert_eq!(output.status.code(), Some(6));
    assert!(text(&output.stderr).contains("no *.jsonl"), "{}", text(&output.stderr));
    let output = trace(&["check", name(&folder.path().join("none.jsonl"))]);
    assert_eq!(output.status.code(), Some(6));
    assert!(text(&output.stderr).contains("none.jsonl: it cannot be read"));
}

#[test]
fn every_command_has_help_with_examples() {
    for command in [&[][..], &["check"], &["story"], &["merge"]] {
        for flag in ["-h", "--help"] {
            let output = trace(&[command, &[flag]].concat());
            let stdout = text(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{command:?}");
            assert!(stdout.contains("Examples:"), "{command:?}: {stdout}");
        }
    }
}

#[test]
fn a_header_that_no_group_could_have_exits_with_6_and_says_what_to_do() {
    for (from, to, parts) in [
        (r#""ring":[6,3,5,0,1,4]"#, r#""ring":[9,9]"#, ["`ring`", "name each node"]),
        (r#""ring":[6,3,5,0,1,4]"#, r#""ring":[6,3]"#, ["`ring`", "name each node"]),
        (r#""options":[]"#, r#""options":["foo=bar"]"#, ["`options`", "no option \"foo\""]),
        (r#""names":[[0,"#, r#""names":[[7,"#, ["`names`", "the nodes are 0 1 3 4 5 6"]),
        (
            r#""answer_us""#,
            r#""preempt":"sometimes","answer_us""#,
            ["`preempt`", "or leave it out"],
        ),
    ] {
        let (folder, path) = simulated("ring-list-six-processes");
        change(&folder, "run.jsonl", from, to);
        let output = trace(&["check", name(&path)]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(6), "{to}: {stderr}");
        for part in ["run.jsonl:1: ", "othing was judged"].into_iter().chain(parts) {
            assert!(stderr.contains(part), "{part} is not in {stderr}");
        }
    }
}

#[test]
fn the_largest_spans_in_a_header_are_judged_and_do_not_panic() {
    for field in ["answer_us", "check_every_us"] {
        let (_folder, path) = simulated("bully-figure-10-8");
        let before = fs::read_to_string(&path).unwrap();
        let at = before.find(&format!("\"{field}\":")).expect("the field is there");
        let (head, tail) = before.split_at(at + field.len() + 3);
        let rest = tail.trim_start_matches(|digit: char| digit.is_ascii_digit());
        fs::write(&path, format!("{head}{}{rest}", u64::MAX)).unwrap();
        for part in [&["check"][..], &["check", "--svg", "-"], &["story"]] {
            let output = trace(&[part, &[name(&path)]].concat());
            assert_eq!(output.status.code(), Some(0), "{field}: {}", text(&output.stderr));
        }
    }
}

#[test]
fn a_ring_with_an_order_and_labels_is_checked_like_any_other() {
    for scenario in
        ["ring-list-six-processes", "tanenbaum-ring-two-elections", "ring-chang-roberts-17-24-33"]
    {
        let (_folder, path) = simulated(scenario);
        let output = trace(&["check", name(&path)]);
        assert_eq!(output.status.code(), Some(0), "{scenario}: {}", text(&output.stderr));
    }
}

/// A trace that `tanist sim run` writes of a shipped scenario.
fn simulated(scenario: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let path = folder.path().join("run.jsonl");
    let run = ["sim", "run", scenario, "--trace", name(&path)];
    cargo_bin_cmd!("tanist").args(run).assert().success();
    (folder, path)
}
