//! What an agent reports, in every output format.

use serde_json::Value;

use crate::support::dev::Dev;
use crate::support::fleet::tanist;

/// What a command prints about a group.
fn shown(dev: &Dev, arguments: &[&str]) -> String {
    let output = dev.run(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_form_says_the_same() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    let json: Value = serde_json::from_str(&shown(&dev, &["members", "-o", "json"])).unwrap();
    let yaml: Value = serde_norway::from_str(&shown(&dev, &["members", "-o", "yaml"])).unwrap();
    let names = |value: &Value| -> Vec<String> {
        let members = value["members"].as_array().unwrap().iter();
        members.map(|member| member["node"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&json), ["n1", "n2", "n3"]);
    assert_eq!(names(&yaml), names(&json));
    let lines = shown(&dev, &["members", "-o", "ndjson"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[2]["role"], "leader");
    assert_eq!(shown(&dev, &["members", "-o", "name"]), "n1\nn2\nn3\n");
    assert_eq!(shown(&dev, &["leader", "-o", "name"]), "n3\n");
    assert_eq!(shown(&dev, &["status", "--node", "n2", "-o", "name"]), "n2\n");
    let wide = shown(&dev, &["members", "-o", "wide"]);
    assert!(wide.contains("PRIORITY") && wide.contains("SEEN"), "{wide}");
    let status = shown(&dev, &["status", "-o", "ndjson"]);
    assert_eq!(status.lines().count(), 1, "{status}");
    assert_eq!(shown(&dev, &["completion", "nodes"]), "n1\nn2\nn3\n");
}

#[test]
fn colour_is_for_those_who_ask_and_says_nothing_new() {
    let mut dev = Dev::start(&["--nodes", "2", "--algorithm", "bully"]);
    dev.agree("all 2 nodes");
    let plain = shown(&dev, &["members"]);
    assert!(plain.contains("★ leader") && !plain.contains('\u{1b}'), "{plain}");
    let coloured = shown(&dev, &["members", "--color", "always"]);
    assert!(coloured.contains("\u{1b}[32m★ leader\u{1b}[0m"), "{coloured}");
    // The same text without colour; the times at the end of a line go on.
    let words = |text: &str| -> Vec<String> {
        let text = text.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
        text.lines().flat_map(|line| line.split_whitespace().take(4)).map(str::to_owned).collect()
    };
    assert_eq!(words(&coloured), words(&plain));
}

#[test]
fn a_group_of_dev_does_not_listen_to_the_shell_around_it() {
    let home = tempfile::tempdir().unwrap();
    let mut command = tanist(home.path());
    command.env("TANIST_NODE", "n7").env("TANIST_SOCKET", "/nowhere/agent.sock");
    command.env("TANIST_TIMING_HEARTBEAT", "nonsense");
    let output = command.args(["dev", "--nodes", "2", "--once"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
