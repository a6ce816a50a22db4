//! `tanist config`: what is read from where, what is written, and what is refused how.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use assert_cmd::cargo_bin_cmd;
use serde_json::Value;

const FILE: &str = r#"group = "billing"
node = "n1"
peers = ["n1=10.0.0.1:7400", "n2=10.0.0.2:7400"]
data_dir = "data"
key_file = "group.key"

[timing]
heartbeat = "300ms"
"#;

/// A directory with a valid configuration.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        home.write("tanist.toml", FILE);
        home.runs(&["keygen", "group.key"]);
        home
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn tanist(&self, arguments: &[&str]) -> Command {
        let mut command = cargo_bin_cmd!("tanist");
        command.args(arguments).current_dir(self.path());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TANIST_") {
                command.env_remove(name);
            }
        }
        command
    }

    /// What a successful command prints.
    fn runs(&self, arguments: &[&str]) -> String {
        let output = self.tanist(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The complaints of a check, with its exit code.
    fn checked(&self, more: &[&str]) -> (Option<i32>, String) {
        let check = ["config", "check", "-c", "tanist.toml"];
        told(&self.tanist(&[&check, more].concat()).output().unwrap())
    }
}

fn told(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_file_that_is_written_is_good_once_the_key_is_made() {
    let home = Home::new();
    let init = ["config", "init", "--group", "billing", "--node", "n2", "--out", "new.toml"];
    home.runs(&[&init[..], &["--nodes", "n1=a:7400,n2=b:7400"]].concat());
    let here = ["--set", "key_file=group.key", "--data-dir", "data", "--set", "socket=n2.sock"];
    let said = home.runs(&[&["config", "check", "-c", "new.toml"], &here[..]].concat());
    assert_eq!(said, "new.toml is good: n2 of 2 in group billing, invitation\n");
    // Through a pipe, too.
    let text = home.runs(&["config", "init"]);
    let piped = [&["config", "check", "-c", "-"], &here[..]].concat();
    let output = home.tanist(&piped).write_stdin(text).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("stdin is good: n1 of 3"));
}

#[test]
fn a_file_that_is_there_is_kept_unless_forced() {
    let home = Home::new();
    let init = ["config", "init", "--out", "tanist.toml"];
    let (code, stderr) = told(&home.tanist(&init).output().unwrap());
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("--force"), "{stderr}");
    assert_eq!(fs::read_to_string(home.path().join("tanist.toml")).unwrap(), FILE);
    home.runs(&[&init[..], &["--force"]].concat());
    assert!(fs::read_to_string(home.path().join("tanist.toml")).unwrap().contains("[hooks]"));
}

#[test]
fn flags_win_over_the_environment_and_the_environment_over_the_file() {
    let home = Home::new();
    let show = ["config", "show", "-c", "tanist.toml", "--origin", "-o", "json"];
    let shown = |more: &[&str], environment: &[(&str, &str)]| -> Vec<(String, String, String)> {
        let mut command = home.tanist(&[&show, more].concat());
        let output = command.envs(environment.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |value: &Value| match value.as_str() {
            Some(text) => text.to_owned(),
            None => value.to_string(),
        };
        let row = |row: &Value| (text(&row["key"]), text(&row["value"]), text(&row["origin"]));
        rows.as_array().unwrap().iter().map(row).collect()
    };
    let has = |rows: &[(String, String, String)], key: &str, value: &str, origin: &str| {
        let found = rows.iter().find(|row| row.0 == key);
        assert_eq!(found.map(|row| (row.1.as_str(), row.2.as_str())), Some((value, origin)));
    };
    let rows = shown(&[], &[]);
    has(&rows, "timing.heartbeat", "300ms", "tanist.toml:8");
    has(&rows, "timing.suspect_after", "1s", "default");
    has(&rows, "node", "n1", "tanist.toml:2");
    let environment = [
        ("TANIST_TIMING_HEARTBEAT", "400ms"),
        ("TANIST_NODE", "n2"),
        ("TANIST_PEERS", "n1=a:1, n2=b:2,n3=c:3"),
        ("TANIST_HTTP_LISTEN", "127.0.0.1:7480"),
        ("TANIST_PRIORITIES", "n1=7,n3=9"),
        ("TANIST_LOG_LEVEL", ""),
    ];
    let rows = shown(&[], &environment);
    has(&rows, "timing.heartbeat", "400ms", "TANIST_TIMING_HEARTBEAT");
    has(&rows, "node", "n2", "TANIST_NODE");
    has(&rows, "peers", r#"["n1=a:1","n2=b:2","n3=c:3"]"#, "TANIST_PEERS");
    has(&rows, "http.listen", "127.0.0.1:7480", "TANIST_HTTP_LISTEN");
    has(&rows, "priorities.n3", "9", "TANIST_PRIORITIES");
    has(&rows, "log.level", "info", "default");
    let flags = ["--node", "n3", "--set", "timing.heartbeat=500ms", "--set", "priorities.n3=10"];
    let rows = shown(&flags, &environment);
    has(&rows, "timing.heartbeat", "500ms", "--set");
    has(&rows, "node", "n3", "--node");
    has(&rows, "priorities.n1", "7", "TANIST_PRIORITIES");
    has(&rows, "priorities.n3", "10", "--set");
}

#[test]
fn the_file_may_be_named_by_the_environment_or_be_missing_altogether() {
    let home = Home::new();
    let mut named = home.tanist(&["config", "show"]);
    assert!(named.env("TANIST_CONFIG", "tanist.toml").output().unwrap().status.success());
    let output = home
        .tanist(&["config", "check", "--node", "n1", "--data-dir", "data"])
        .env("TANIST_GROUP", "billing")
        .env("TANIST_PEERS", "n1=a:1")
        .env("TANIST_KEY_FILE", "group.key")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let (code, stderr) =
        told(&home.tanist(&["config", "check", "-c", "no.toml"]).output().unwrap());
    assert_eq!(code, Some(6));
    assert!(stderr.starts_with("no.toml: ") && stderr.contains("config init"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "a missing file lacks every key: {stderr}");
}

#[test]
fn an_unknown_variable_is_a_warning_unless_it_is_meant_for_children() {
    let home = Home::new();
    let check = ["config", "check", "-c", "tanist.toml"];
    let output = home
        .tanist(&check)
        .env("TANIST_TIMING_HARTBEAT", "1s")
        .env("TANIST_GROUP_NUMBER", "42.n3")
        .env("TANIST_SOCKET", "/nowhere")
        .output()
        .unwrap();
    let (code, stderr) = told(&output);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.starts_with("TANIST_TIMING_HARTBEAT: warning: "), "{stderr}");
    assert!(stderr.contains("did you mean TANIST_TIMING_HEARTBEAT?"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn inside_a_hook_the_names_of_the_agent_around_it_are_not_taken() {
    let home = Home::new();
    let show = ["config", "show", "-c", "tanist.toml", "-o", "json"];
    let node = |event: &[(&str, &str)]| -> Value {
        let mut command = home.tanist(&show);
        command.env("TANIST_NODE", "n2").envs(event.iter().copied());
        let shown: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        shown["node"].clone()
    };
    assert_eq!(node(&[]), "n2");
    assert_eq!(node(&[("TANIST_EVENT", "leader")]), "n1");
}

#[test]
fn the_log_has_the_format_and_the_level_that_are_asked_for() {
    let home = Home::new();
    // Without its key an agent warns of the variable, and ends.
    let agent = ["agent", "-c", "tanist.toml", "--set", "key_file=nowhere", "--set"];
    let logged = |set: &str| {
        let mut command = home.tanist(&[&agent[..], &[set]].concat());
        let (code, stderr) = told(&command.env("TANIST_NODEE", "n1").output().unwrap());
        assert_eq!(code, Some(6), "{stderr}");
        stderr
    };
    let line = logged("log.format=json");
    let line: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    assert_eq!(line["level"], "WARN");
    assert!(line["message"].as_str().unwrap().contains("TANIST_NODE?"), "{line}");
    assert!(logged("log.level=warn").contains(" WARN TANIST_NODEE: "));
    assert!(!logged("log.level=error").contains("TANIST_NODEE"));
}

#[test]
fn what_is_shown_as_a_file_shows_the_same_again() {
    let home = Home::new();
    home.write("tanist.toml", &format!("priorities = {{ n1 = 4, n2 = 5 }}\n{FILE}"));
    let text = home.runs(&["config", "show", "-c", "tanist.toml", "-o", "toml"]);
    home.write("again.toml", &text);
    for format in ["toml", "json", "yaml", "table"] {
        let shown = |file| home.runs(&["config", "show", "-c", file, "-o", format]);
        assert_eq!(shown("again.toml"), shown("tanist.toml"), "{format}");
    }
    let yaml = home.runs(&["config", "show", "-c", "tanist.toml", "-o", "yaml"]);
    let json = home.runs(&["config", "show", "-c", "tanist.toml", "-o", "json"]);
    let from_yaml: Value = serde_norway::from_str(&yaml).unwrap();
    assert_eq!(from_yaml, serde_json::from_str::<Value>(&json).unwrap());
    assert_eq!(from_yaml["timing"]["heartbeat"], "300ms");
}

#[test]
fn secrets_are_named_and_not_shown() {
    let home = Home::new();
    let key = fs::read_to_string(home.path().join("group.key")).unwrap();
    let secret = key.trim().rsplit(':').next().unwrap();
    for format in ["toml", "json", "yaml", "table"] {
        let text = home.runs(&["config", "show", "-c", "tanist.toml", "--origin", "-o", format]);
        assert!(text.contains("group.key") && !text.contains(secret), "{format}: {text}");
    }
}

#[test]
fn a_check_looks_at_what_is_around() {
    let home = Home::new();
    let (code, stderr) = home.checked(&[]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let mode = |name: &str, mode| {
        let path = home.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    home.write("hook", "#!/bin/sh\n");
    mode("hook", 0o644);
    home.write("token", "secret\n");
    mode("token", 0o644);
    mode("group.key", 0o640);
    let sets = [
        "hooks.leader=hook",
        "hooks.stop=no hook here",
        "data_dir=hook/data",
        "http.listen=127.0.0.1:7480",
        "http.token_file=token",
        "health.command=no-such-program-here",
        "socket=nowhere/n1.sock",
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let (code, stderr) = home.checked(&sets);
    assert_eq!(code, Some(6));
    for part in [
        "tanist.toml:5: key_file: ",
        "--set: data_dir: hook is no directory",
        "--set: http.token_file: others can read or change token (mode 644)",
        "--set: warning: socket: the directory nowhere is not there",
        "--set: hooks.leader: hook is not executable; run chmod +x hook",
        "--set: hooks.stop: no hook here: ",
        "not a command line",
        "--set: health.command: `no-such-program-here` is not in PATH",
    ] {
        assert!(stderr.contains(part), "no {part} in\n{stderr}");
    }
    mode("hook", 0o755);
    mode("token", 0o600);
    mode("group.key", 0o600);
    let sets = ["--set", "hooks.leader=hook", "--set", "http.listen=127.0.0.1:7480"];
    let token = ["--set", "http.token_file=token", "--set", "health.command=sh,-c,true"];
    let (code, stderr) = home.checked(&[&sets[..], &token[..]].concat());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_check_tells_programs_the_same() {
    let home = Home::new();
    let check = ["config", "check", "-c", "tanist.toml", "-o", "json"];
    let output = home.tanist(&[&check[..], &["--set", "grup=a"]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(6));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["is_good"], false);
    assert_eq!(report["findings"][0]["severity"], "error");
    assert_eq!(report["findings"][0]["place"], "--set");
    let good: Value = serde_json::from_str(&home.runs(&check)).unwrap();
    assert_eq!((&good["is_good"], &good["file"]), (&true.into(), &"tanist.toml".into()));
}

#[test]
fn colour_never_reaches_a_pipe_unless_it_is_asked_for() {
    let home = Home::new();
    let plain = home.runs(&["config", "show", "-c", "tanist.toml"]);
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let (code, stderr) = told(&home.tanist(&["--color", "sometimes", "leader"]).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(stderr.contains("auto, always, never"), "{stderr}");
}
