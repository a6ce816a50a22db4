//! Output formats for programs: each is valid.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::dev::Dev;
use crate::support::wait::until;

/// Whether jq reads a text, if it is installed.
fn is_read_by_jq(text: &[u8]) -> bool {
    let spawned = Command::new("jq")
        .arg("-e")
        .arg("type")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let Ok(mut child) = spawned else {
        eprintln!("jq is not installed");
        return true;
    };
    child.stdin.take().unwrap().write_all(text).unwrap();
    child.wait().unwrap().success()
}

#[test]
fn every_command_writes_json_that_parses() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    assert_eq!(dev.agree("all 3 nodes"), "n3");
    for (arguments, field) in [
        (&["status"][..], "/group_number"),
        (&["members", "--node", "n1"], "/members/0/priority"),
        (&["leader"], "/leader"),
        (&["is-leader", "--node", "n3"], "/is_leader"),
        (&["history"], "/0/reason"),
        (&["why"], "/elections/0/result"),
        (&["doctor"], "/findings/0/what"),
        (&["wait", "merged"], "/members/2"),
        (&["step-down", "--node", "n1", "--for", "1ms"], "/text"),
        (&["rejoin", "--node", "n1"], "/text"),
    ] {
        let output = dev.run(&[arguments, &["-o", "json"]].concat());
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(value.pointer(field).is_some(), "{arguments:?}: no {field} in {value}");
        assert!(is_read_by_jq(&output.stdout), "{arguments:?}");
    }
}

#[test]
fn lists_in_lines_are_a_line_for_each_and_yaml_says_the_same() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    for (arguments, least) in [(&["members"][..], 3), (&["history"], 2), (&["doctor"], 5)] {
        let output = dev.run(&[arguments, &["-o", "ndjson"]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.len() >= least && lines.iter().all(Value::is_object), "{text}");
    }
    let names = dev.run(&["members", "-o", "name"]);
    assert_eq!(names.stdout, b"n1\nn2\nn3\n");
    for command in ["history", "why"] {
        let names = dev.run(&[command, "--node", "n2", "-o", "name"]);
        let names = String::from_utf8(names.stdout).unwrap();
        assert!(names.lines().all(|name| ["n1", "n2", "n3"].contains(&name)), "{command}: {names}");
        assert_eq!(names.lines().last(), Some("n3"), "{command}: {names}");
    }
    for arguments in [&["leader"][..], &["history", "--node", "n2"]] {
        let json = dev.json(arguments);
        let yaml = dev.run(&[arguments, &["-o", "yaml"]].concat());
        let yaml: Value = serde_norway::from_slice(&yaml.stdout).unwrap();
        assert_eq!(yaml, json, "{arguments:?}");
    }
}

#[test]
fn a_table_shows_what_the_node_knows_of_each() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    dev.act(&["kill", "n1"]);
    dev.agree("2 of 3 nodes");
    let is_down = |seen: &Value| seen["members"][0]["is_refused"] == true;
    until("n1 to refuse dials", || is_down(&dev.json(&["members", "--node", "n3"])).then_some(()));
    let table = String::from_utf8(dev.run(&["members", "--node", "n3"]).stdout).unwrap();
    for header in ["NODE", "ROLE", "STATE", "ADDRESS", "PRIORITY", "RTT", "SEEN"] {
        assert!(table.contains(header), "{table}");
    }
    let row = |node: &str| table.lines().find(|line| line.starts_with(node)).unwrap().to_owned();
    assert!(row("n1").contains("down"), "{table}");
    assert!(row("n2").contains("member") && row("n2").contains(" ago"), "{table}");
    assert!(row("n3").contains("★ leader") && row("n3").contains("now"), "{table}");
    let report = dev.json(&["doctor", "--node", "n3"]);
    assert!(report.to_string().contains("n1: no process listens at"), "{report}");
}
