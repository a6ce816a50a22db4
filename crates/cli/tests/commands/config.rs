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

    /// One where hooks may be: below /tmp other users could replace them.
    fn for_hooks() -> Self {
        let home = Self(tempfile::tempdir_in(std::env::var_os("HOME").unwrap()).unwrap());
        home.write("tanist.toml", FILE);
        home.runs(&["keygen", "group.key"]);
        home
    }

    fn set_mode(&self, name: &str, mode: u32) {
        let path = self.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
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
    let home = Home::for_hooks();
    let (code, stderr) = home.checked(&[]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    home.write("hook", "#!/bin/sh\n");
    home.set_mode("hook", 0o644);
    home.write("token", "a-secret-of-16-bytes-or-more\n");
    home.set_mode("token", 0o644);
    home.set_mode("group.key", 0o640);
    let hook = home.path().join("hook");
    let hook = hook.to_str().unwrap();
    let leader = format!("hooks.leader={hook}");
    let sets = [
        leader.as_str(),
        "hooks.stop=/no hook here",
        "hooks.member=hook",
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
        "--set: data_dir: could not list hook/data",
        "--set: http.token_file: the token of HTTP (token_file): others can read or change token",
        "--set: warning: socket: the directory nowhere does not exist; make it",
        &format!("--set: hooks.leader: {hook} is not executable; run chmod +x {hook}"),
        "--set: hooks.stop: /no hook here is not run: ",
        "not a command line",
        "--set: hooks.member: hook is not run: it is no absolute path",
        "--set: health.command: no-such-program-here is not run: it is no absolute path",
    ] {
        assert!(stderr.contains(part), "no {part} in\n{stderr}");
    }
    home.set_mode("hook", 0o755);
    home.set_mode("token", 0o600);
    home.set_mode("group.key", 0o600);
    let sets = ["--set", leader.as_str(), "--set", "http.listen=127.0.0.1:7480"];
    let token = ["--set", "http.token_file=token", "--set", "health.command=/bin/sh,-c,true"];
    let (code, stderr) = home.checked(&[&sets[..], &token[..]].concat());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

/// What the check says with exit code 6, an agent says too, and does not start.
#[test]
fn what_a_check_refuses_no_agent_starts_with() {
    let home = Home::for_hooks();
    home.write("hook", "#!/bin/sh\n");
    home.set_mode("hook", 0o777);
    let hook = home.path().join("hook");
    let node = tanist_core::NodeId(1);
    let original = home.path().join("original");
    drop(tanist::store::Store::open(&original, node, "billing").unwrap());
    fs::create_dir(home.path().join("copy")).unwrap();
    home.set_mode("copy", 0o700);
    for name in ["lock", "identity", "counter"] {
        fs::copy(original.join(name), home.path().join("copy").join(name)).unwrap();
    }
    let leader = format!("hooks.leader={}", hook.display());
    let cases: [(&[&str], &str); 5] = [
        (&["preempt=never", "options.policy=only-lower"], "preempt: "),
        (&["data_dir=missing/data"], "data_dir: could not make missing/data"),
        (&["data_dir=copy"], "data_dir: copy is a copy of a store"),
        (&[&leader], "can write to it (mode 777)"),
        (&["trace=missing/trace.jsonl"], "trace: the directory missing does not exist"),
    ];
    for (sets, words) in cases {
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", *set]).collect();
        let (code, stderr) = home.checked(&sets);
        assert_eq!(code, Some(6), "{stderr}");
        assert!(stderr.contains(words), "{words}: {stderr}");
        let agent = [&["agent", "-c", "tanist.toml", "--listen", "127.0.0.1:0"], &sets[..]];
        let (code, told) = told(&home.tanist(&agent.concat()).output().unwrap());
        assert_eq!(code, Some(6), "{told}");
        assert!(told.contains(stderr.trim_end()), "{told}\nand not\n{stderr}");
    }
}

/// Every line of the sample that is a comment with a value, and every other value that its words
/// name, as a check of the whole configuration sees it.
#[test]
fn every_comment_of_the_sample_is_accepted_when_it_is_uncommented() {
    let home = Home::for_hooks();
    for (name, text, mode) in
        [("hook", "#!/bin/sh\n", 0o755), ("token", "a-secret-of-16-bytes-or-more\n", 0o600)]
    {
        home.write(name, text);
        home.set_mode(name, mode);
    }
    let printed = home.runs(&["keygen", "--node", "n1", "node.key"]);
    let sample = home.runs(&["config", "init"]);
    let place = home.path().to_str().unwrap();
    let here = |text: &str| {
        let places = ["/etc/tanist/", "/var/lib/tanist/", "/run/tanist/", "/var/log/"];
        let text = places.iter().fold(text.to_owned(), |text, from| {
            text.replace(&format!("\"{from}"), &format!("\"{place}/"))
        });
        text.replace("\"/usr/bin/check\"", &format!("\"{place}/hook\""))
            .replace("n1 = \"tanist-node-1:…\"", printed.lines().next().unwrap())
    };
    let mut count = 0;
    let is_value = |line: &str| {
        let name = line.strip_prefix("# ").and_then(|rest| rest.split_once(" = "));
        name.is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
    };
    let check = |text: &str, what: &str| {
        home.write("sample.toml", &here(text));
        let (code, stderr) =
            told(&home.tanist(&["config", "check", "-c", "sample.toml"]).output().unwrap());
        // A table of keys needs the file of the own one, and the other way round.
        let is_pair = what.starts_with("identity");
        assert!(code == Some(0) || is_pair, "{what}: {stderr}");
    };
    let lines: Vec<&str> = sample.lines().collect();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| is_value(line)) {
        let mut text = lines.clone();
        text[at] = &line[2..];
        let table = lines[..at].iter().rev().find(|line| line.starts_with('['));
        let table = table.map_or("", |table| table.trim_matches(['[', ']']));
        check(&text.join("\n"), &format!("{table} {line}"));
        count += 1;
    }
    assert!(count > 30, "only {count} values");
    let all: Vec<&str> =
        lines.iter().map(|line| if is_value(line) { &line[2..] } else { line }).collect();
    let (all, before) = (all.join("\n"), "preempt = \"never\"");
    check(&all, "all of them");
    for other in ["always", "after 30s", "30s"] {
        let text = all.replace(before, &format!("preempt = \"{other}\""));
        assert!(text != all, "no {before} in\n{all}");
        check(&text, other);
    }
    check(&all.replace("require = true", "require = false"), "to migrate");
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
