//! The programs that the documents show are those that are compiled and run here.
//!
//! The documents are those of the repository; where the crate was unpacked by itself there are none,
//! and nothing to compare.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail as the test itself may")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository, if this is one.
fn root() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let is_there = root.join("docs/testing.md").exists();
    is_there.then_some(root)
}

/// The code blocks in Rust of a part of a document.
fn rust_blocks(text: &str) -> Vec<String> {
    let blocks = text.split("```rust\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// The part of a document below a heading.
fn part<'a>(text: &'a str, heading: &str) -> &'a str {
    let from = text.find(heading).unwrap_or_else(|| panic!("there is no {heading}"));
    let part = &text[from + heading.len()..];
    part.split("\n## ").next().unwrap()
}

#[test]
fn the_page_about_tests_shows_the_test_that_is_run() {
    let Some(root) = root() else { return };
    let page = fs::read_to_string(root.join("docs/testing.md")).unwrap();
    let test = include_str!("failover.rs");
    let (_, program) = test.split_once("\n\n").unwrap();
    assert_eq!(rust_blocks(&page)[0].trim(), program.trim());
    // The crate's README shows its middle.
    let readme = fs::read_to_string(root.join("crates/tanist/README.md")).unwrap();
    let shown = rust_blocks(&readme).pop().unwrap();
    for line in shown.lines() {
        let line = line.split("//").next().unwrap().trim();
        assert!(program.lines().any(|known| known.trim() == line), "not in failover.rs: {line}");
    }
}

/// A project of its own, which has nothing but what a user's `Cargo.toml` would have.
#[test]
fn the_program_of_the_readme_compiles_in_a_new_project() {
    let Some(root) = root() else { return };
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let program = rust_blocks(part(&readme, "## Embed it")).remove(0);
    assert!(program.contains("async fn main()"), "{program}");
    let project = tempfile::tempdir().unwrap();
    let manifest = format!(
        "[package]\nname = \"billing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\ntanist = {{ path = {:?} }}\n\
         tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::create_dir(project.path().join("src")).unwrap();
    fs::write(project.path().join("Cargo.toml"), manifest).unwrap();
    fs::write(project.path().join("src/main.rs"), &program).unwrap();
    // The versions that are here already: nothing is fetched.
    fs::copy(root.join("Cargo.lock"), project.path().join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-project"))
        .current_dir(project.path())
        .env_remove("CARGO_TARGET_DIR")
        .env("RUSTFLAGS", "-D warnings")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}\n{program}");
}

/// What tests use of tokio must not be in production: its clock could be stopped there.
#[test]
fn paused_time_is_in_no_production_build() {
    let tree = |features: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--offline", "-e", "features,normal", "-p", "tanist", "-i", "tokio"])
            .args(features)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).contains("test-util")
    };
    assert!(!tree(&[]));
    assert!(tree(&["--features", "sim"]), "this test sees what it looks for");
}
