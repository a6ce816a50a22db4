//! `tanist check`: exit codes, JSON, a counterexample that replays from its file, and the table in
//! the documents.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::cargo_bin_cmd;
use serde_json::Value;

fn tanist(args: &[&str]) -> Output {
    cargo_bin_cmd!("tanist").args(args).output().expect("tanist can be started")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_small_group_holds_everything_and_says_so_in_json() {
    let output = tanist(&["check", "bully", "--assume", "AS1", "-o", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for name in ["algorithm", "options", "assume", "nodes", "crashes", "recoveries", "states"] {
        assert!(!report[name].is_null(), "{name}");
    }
    assert_eq!(report["complete"], true);
    let properties = report["properties"].as_array().unwrap();
    let verdict = |id: &str| {
        let property = properties.iter().find(|property| property["id"] == id);
        property.unwrap_or_else(|| panic!("{id}"))["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict("A-1.1"), "holds");
    assert_eq!(verdict("A-2"), "holds");
    assert_eq!(verdict("election-succeeds"), "reached");
    assert_eq!(verdict("higher-preempts"), "reached");
}

#[test]
fn what_never_happens_and_what_was_not_visited_exit_with_4() {
    // A node in a group of one never calls an election.
    assert_eq!(tanist(&["check", "bully", "--nodes", "1"]).status.code(), Some(4));
    assert_eq!(tanist(&["check", "bully", "--depth", "2"]).status.code(), Some(4));
}

#[test]
fn an_exploration_ends_at_its_memory_with_what_it_found() {
    let group = ["check", "bully", "--nodes", "3", "--assume", "AS1"];
    let output = tanist(&[&group[..], &["--memory", "24MiB"]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
    assert!(said.contains("bounded: ") && said.contains(" states explored, depth "), "{said}");
    let output = tanist(&[&group[..], &["--memory", "24MiB", "-o", "json"]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["complete"], false);
    let output = tanist(&[&group[..], &["--memory", "much"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("10GiB"), "{}", stderr(&output));
}

#[test]
fn slips_exit_with_2_and_say_what_there_is() {
    for (args, hint) in [
        (&["check"][..], "ALGORITHM"),
        (&["check", "bully", "--assume", "AS9"], "AS1r"),
        (&["check", "bully", "--cut", "1"], "1-3"),
        (&["check", "bully", "--cut", "1-7"], "no link 1-7"),
        (&["check", "bully", "--apart"], "invitation"),
        (&["check", "bully", "--option", "waits=never"], "early"),
        (&["check", "bully", "--losses", "1"], "--losses has no meaning under AS0"),
        (&["check", "bully", "--assume", "AS1", "--duplicates", "1"], "no meaning under AS1"),
        (&["check", "bully", "--recoveries", "2"], "--recoveries has no meaning under AS0"),
        (&["check", "bully", "--priorities", "1,2,3"], "3 numbers for 2 nodes"),
        (&["check", "bully", "--nodes", "3", "--priorities", "1,2"], "2 numbers for 3 nodes"),
    ] {
        let output = tanist(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(hint), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_counterexample_replays_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("found.toml");
    let file = file.to_str().unwrap();
    for (args, assertion) in [
        (&["bully", "--assume", "AS2", "--crashes", "0", "--counter", "2"][..], "A-1.1"),
        (&["bully", "--assume", "AS1", "--crashes", "2", "--option", "timeout=literal"], "A-2"),
        (&["bully-lecture", "--nodes", "3", "--crashes", "0", "--cut", "1-3"], "G-16"),
    ] {
        let found = tanist(&[&["check"], args, &["--scenario", file]].concat());
        assert_eq!(found.status.code(), Some(1), "{}", stderr(&found));
        let replayed = tanist(&["sim", "run", file]);
        assert_eq!(replayed.status.code(), Some(1));
        let said = stderr(&replayed);
        assert!(said.starts_with(assertion) && !said.contains("not as expected"), "{said}");
    }
}

#[test]
fn a_step_that_cannot_happen_is_told_with_those_that_can() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.toml");
    let path = file.to_str().unwrap();
    let text = |step: &str| {
        format!(
            "name = \"wrong\"\nalgorithm = \"bully\"\nnodes = 2\nend = \"1s\"\n\
             steps = [\n  \"timer silence at 1\",\n  \"{step}\",\n]\n\
             [[group]]\ncoordinator = 2\nmembers = [1]\n"
        )
    };
    fs::write(&file, text("deliver Enter_Election from 2 to 1")).unwrap();
    let output = tanist(&["sim", "run", path]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("step 2: `deliver Enter_Election from 2 to 1` cannot happen"), "{said}");
    assert!(said.contains("`deliver AreYouUp from 1 to 2`"), "{said}");
    for (step, hint) in [
        ("wait a while", "`deliver KIND from A to B`"),
        ("deliver Hello from 1 to 2", "no message \"Hello\""),
        ("timer dinner at 1", "no timer \"dinner\""),
        ("crash 7", "no node 7"),
    ] {
        fs::write(&file, text(step)).unwrap();
        let output = tanist(&["sim", "run", path]);
        assert_eq!(output.status.code(), Some(6), "{step}");
        let said = stderr(&output);
        assert!(said.contains(":7: ") || said.contains("line 7"), "{step}: {said}");
        assert!(said.contains(hint), "{step}: {said}");
    }
}

/// Rows with fewer states are explored by this test; the others take too long for it.
const SMALL: &str = "6000";

#[test]
fn the_small_rows_of_the_table_in_the_documents_are_up_to_date() {
    let document = root().join("docs/verification.md");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("verification.md");
    fs::copy(&document, &copy).unwrap();
    let args = ["check", "--table", copy.to_str().unwrap(), "--below", SMALL];
    let output = tanist(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (kept, made) = (fs::read_to_string(&document).unwrap(), fs::read_to_string(&copy).unwrap());
    for (kept, made) in kept.lines().zip(made.lines()) {
        assert_eq!(kept, made, "run: tanist check --table docs/verification.md");
    }
    assert_eq!(kept, made);
    let (_, table) = kept.split_once("<!-- explorations: ").unwrap();
    let (table, _) = table.split_once("<!-- end of explorations -->").unwrap();
    for row in table.lines().filter(|line| line.contains("| `tanist check ")) {
        let states = row.split('|').rev().nth(3).unwrap().trim();
        assert!(
            states.parse::<u64>().is_ok(),
            "run: tanist check --table docs/verification.md\n{row}"
        );
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
