//! `tanist sim run --frames`: which files it writes, and which folders it leaves alone.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::cargo_bin_cmd;

fn frames(scenario: &str, folder: &Path) -> Output {
    let run = ["sim", "run", scenario, "-o", "json", "--frames"];
    cargo_bin_cmd!("tanist").args(run).arg(folder).output().expect("tanist can be started")
}

fn files(folder: &Path) -> Vec<String> {
    let listed = fs::read_dir(folder).expect("it is there");
    let mut names: Vec<String> =
        listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("tanist writes text")
}

#[test]
fn every_stage_is_a_file_and_a_shorter_run_leaves_none_of_a_longer_one() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("new").join("stages");
    let output = frames("bully-figure-10-8", &folder);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).starts_with("6 stages written to "), "{}", stderr(&output));
    serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("stdout is for the report");
    let six = (1..=6).map(|number| format!("stage-{number:02}.svg"));
    let expected: Vec<String> = ["index.html".to_owned()].into_iter().chain(six).collect();
    assert_eq!(files(&folder), expected);
    let page = fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(page.contains("<b>Stage 1 of 6: crash.</b> n4 and n5 crash."), "{page}");
    assert_eq!(page.matches("<img ").count(), 6);

    let output = frames("lecture-worst", &folder);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(files(&folder).len(), 5, "the index and four stages");
}

#[test]
fn a_folder_with_anything_else_in_it_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    for other in ["notes.txt", "stage-one.svg", "index.html"] {
        let folder = place.path().join(other.replace('.', "-"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(other), "mine").unwrap();
        let output = frames("lecture-worst", &folder);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(&format!("holds {other}")), "{}", stderr(&output));
        assert_eq!(files(&folder), [other]);
        assert_eq!(fs::read_to_string(folder.join(other)).unwrap(), "mine");
    }
    let file = place.path().join("file");
    fs::write(&file, "mine").unwrap();
    let output = frames("lecture-worst", &file);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("is a file"), "{}", stderr(&output));
}
