//! Watching a node, waiting for it, and asking why it elected.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::support::agent::Process;
use crate::support::dev::{Dev, lines_of};
use crate::support::fleet::tanist;
use crate::support::wait::LIMIT;

/// The first lines that a command prints.
fn lines(dev: &Dev, arguments: &[&str], count: usize) -> Vec<Value> {
    let home = dev.home();
    let mut running = Process::start(tanist(home).args(arguments).stdout(Stdio::piped()));
    let lines = lines_of(running.child().stdout.take().unwrap());
    let next = || lines.recv_timeout(LIMIT).unwrap();
    (0..count).map(|_| serde_json::from_str(&next()).unwrap()).collect()
}

#[test]
fn a_reader_that_comes_back_misses_nothing_and_sees_nothing_twice() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    let now = lines(&dev, &["watch", "--node", "n2", "-o", "ndjson"], 1);
    let seen = now[0]["index"].as_u64().unwrap();
    dev.act(&["kill", "n3"]);
    assert_eq!(dev.agree("2 of 3 nodes"), "n2");
    // Every change while no client watched.
    let all = dev.json(&["history", "--node", "n2"]);
    let index = |line: &Value| line["index"].as_u64().unwrap();
    let later: Vec<Value> =
        all.as_array().unwrap().iter().filter(|line| index(line) > seen).cloned().collect();
    assert!(later.len() >= 2, "{all}");
    let since = seen.to_string();
    let read = ["watch", "--node", "n2", "--since", &since, "-o", "ndjson"];
    assert_eq!(lines(&dev, &read, later.len()), later);
    // An index of an earlier incarnation: the current state comes first.
    let read = ["watch", "--node", "n2", "--since", "100000", "-o", "ndjson"];
    assert_eq!(lines(&dev, &read, 1)[0], *later.last().unwrap());
    let last = later.last().unwrap();
    assert_eq!((&last["reason"], &last["old_leader"]), (&"failure".into(), &"n3".into()));
    assert!(last["gap_ms"].is_u64(), "{last}");
    let two = dev.json(&["history", "--node", "n2", "-n", "2"]);
    assert_eq!(two.as_array().unwrap().len(), 2);
    let followed = lines(&dev, &["history", "--node", "n2", "-w", "-o", "ndjson"], 3);
    assert_eq!(index(&followed[0]), 0);
}

#[test]
fn waiting_ends_when_it_is_so_and_with_4_when_it_takes_too_long() {
    let home = tempfile::tempdir().unwrap();
    let alone =
        tanist(home.path()).args(["wait", "leader", "--timeout", "100ms"]).output().unwrap();
    assert_eq!(alone.status.code(), Some(4), "{alone:?}");
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    // The group is still starting.
    assert_eq!(dev.run(&["wait", "merged", "--timeout", "60s"]).status.code(), Some(0));
    assert_eq!(dev.run(&["wait", "leader"]).status.code(), Some(0));
    assert_eq!(dev.run(&["wait", "member", "n2"]).status.code(), Some(0));
    let unknown = dev.run(&["wait", "member", "n9"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("n1 n2 n3"));
    dev.agree("all 3 nodes");
    dev.act(&["kill", "n3"]);
    dev.agree("2 of 3 nodes");
    let late = dev.run(&["wait", "merged", "--node", "n1", "--timeout", "200ms"]);
    assert_eq!(late.status.code(), Some(4));
    let stderr = String::from_utf8_lossy(&late.stderr).into_owned();
    assert!(stderr.contains("one group of all nodes") && stderr.contains("{n1 n2}"), "{stderr}");
}

#[test]
fn the_last_election_is_told_with_who_was_silent_and_who_won() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    dev.act(&["pause", "n3"]);
    assert_eq!(dev.agree("2 of 3 nodes"), "n2");
    let told = dev.json(&["why", "--node", "n2"]);
    let election = &told["elections"][0];
    assert_eq!(election["coordinator"], "n2");
    assert!(election["silent"].as_array().unwrap().contains(&"n3".into()), "{told}");
    assert!(election["took_ms"].is_f64(), "{told}");
    let text = String::from_utf8(dev.run(&["why", "--node", "n2"]).stdout).unwrap();
    // Without line breaks.
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("n3 does not answer"), "{text}");
    assert!(text.contains("=> n2 leads group"), "{text}");
    assert!(text.contains("all three look the same"), "{text}");
    let two = dev.json(&["why", "--node", "n2", "--last", "2"]);
    assert_eq!(two["elections"].as_array().unwrap().len(), 2);
    dev.act(&["resume", "n3"]);
}

#[test]
fn an_agent_that_goes_away_is_told() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    let home = dev.home();
    let mut command = tanist(home);
    command.args(["watch", "--node", "n1"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Process::start(&mut command);
    let mut lines = BufReader::new(running.child().stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("n1"));
    dev.act(&["kill", "n1"]);
    assert_eq!(running.code(), 1);
    for command in [&["status"][..], &["is-leader", "-q"], &["step-down"], &["why"], &["doctor"]] {
        let gone = dev.run(&[command, &["--node", "n1"]].concat());
        assert_eq!(gone.status.code(), Some(3), "{command:?}: {gone:?}");
    }
}
