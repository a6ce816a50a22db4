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
    let incarnation = now[0]["incarnation"].as_u64().unwrap();
    dev.act(&["kill", "n3"]);
    assert_eq!(dev.agree("2 of 3 nodes"), "n2");
    dev.status_when("n2", |status| status["active"] == true);
    // Every change while no client watched.
    let all = dev.json(&["history", "--node", "n2"]);
    let index = |line: &Value| line["index"].as_u64().unwrap();
    let later: Vec<Value> =
        all.as_array().unwrap().iter().filter(|line| index(line) > seen).cloned().collect();
    assert!(later.len() >= 2, "{all}");
    let since = format!("{incarnation}.{seen}");
    let read = ["watch", "--node", "n2", "--since", &since, "-o", "ndjson"];
    assert_eq!(lines(&dev, &read, later.len()), later);
    // An index of an earlier incarnation, though there is one like it in this: what is now comes.
    let earlier = format!("{}.{seen}", incarnation - 1);
    let read = ["watch", "--node", "n2", "--since", &earlier, "-o", "ndjson"];
    assert_eq!(lines(&dev, &read, 1)[0], *later.last().unwrap());
    let bare = dev.run(&["watch", "--node", "n2", "--since", "4"]);
    assert_eq!(bare.status.code(), Some(2), "{bare:?}");
    assert!(String::from_utf8_lossy(&bare.stderr).contains("INCARNATION.INDEX"), "{bare:?}");
    let last = later.iter().rfind(|line| line["event"] == "role").unwrap();
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

#[test]
fn that_a_leader_becomes_active_is_a_change_of_its_own() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    assert_eq!(dev.run(&["wait", "active", "--node", "n3"]).status.code(), Some(0));
    let late = dev.run(&["wait", "active", "--node", "n1", "--timeout", "100ms"]);
    assert_eq!(late.status.code(), Some(4), "{late:?}");
    let history = dev.json(&["history", "--node", "n3"]);
    let all = history.as_array().unwrap();
    assert_eq!((&all[0]["role"], &all[0]["reason"]), (&"suspended".into(), &"start".into()));
    let joined = all.iter().find(|line| line["role"] != "suspended").unwrap();
    assert!(joined["gap_ms"].is_u64(), "the first group has a gap from the start on: {history}");
    let active = all.iter().position(|line| line["event"] == "activity").expect("it is active");
    let (before, line) = (&all[active - 1], &all[active]);
    assert_eq!((&line["active"], &line["gap_ms"]), (&true.into(), &Value::Null), "{history}");
    assert_eq!((&before["active"], &before["role"]), (&false.into(), &"leader".into()));
    assert_eq!(line["group_number"], before["group_number"]);
    let newest = lines(&dev, &["watch", "--node", "n3", "-o", "ndjson"], 1);
    assert_eq!(newest[0]["active"], true);
    let table = String::from_utf8(dev.run(&["members", "--node", "n3"]).stdout).unwrap();
    let row = table.lines().find(|line| line.starts_with("n3")).unwrap();
    assert!(table.contains("ACTIVE") && row.contains("★ leader  yes"), "{table}");
    // A leader that steps down is not active any more, which its next role says.
    assert!(dev.run(&["step-down", "--node", "n3", "--for", "10m"]).status.success());
    let now = dev.json(&["history", "--node", "n3", "-n", "1"]);
    assert_eq!((&now[0]["role"], &now[0]["active"]), (&"suspended".into(), &false.into()));
}

#[test]
fn a_killed_leader_is_named_with_its_refused_connection() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    dev.act(&["kill", "n3"]);
    assert_eq!(dev.agree("2 of 3 nodes"), "n2");
    let told = dev.json(&["why", "--node", "n2"]);
    let lost = &told["elections"][0]["lost"][0];
    assert_eq!(lost["node"], "n3", "{told}");
    assert_eq!(lost["evidence"], "connection-refused", "{told}");
    let text = String::from_utf8(dev.run(&["why", "--node", "n2"]).stdout).unwrap();
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("n2 finds: n3 is dead: connection refused, last heard"), "{text}");
    let wide =
        String::from_utf8(dev.run(&["history", "--node", "n2", "-o", "wide"]).stdout).unwrap();
    let words: Vec<&str> = wide.split_whitespace().collect();
    assert!(words.windows(2).any(|pair| pair == ["n3", "connection-refused"]), "{wide}");
    let log = std::fs::read_to_string(dev.directory().join("n2.log")).unwrap();
    let line = log.lines().rfind(|line| line.contains("leader changed")).expect("it is logged");
    for words in ["INFO", "old_leader=\"n3\"", "new_leader=n2", "failure: n3 is dead", "gap="] {
        assert!(line.contains(words), "{words} in {line}");
    }
    assert!(line.contains("group_number="), "{line}");
}

#[test]
fn the_gap_of_a_cut_counts_from_the_last_sign_of_life_of_the_old_leader() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "bully"]);
    dev.agree("all 3 nodes");
    dev.act(&["cut", "n3"]);
    let status = |status: &Value| status["leader"]["node"] == "n2";
    dev.status_when("n2", status);
    let history = dev.json(&["history", "--node", "n2"]);
    let all = history.as_array().unwrap();
    let joined = all.iter().rposition(|line| line["gap_ms"].is_u64()).unwrap();
    let left = all[..joined].iter().rposition(|line| line["role"] != "suspended").unwrap() + 1;
    let (left, joined) = (&all[left], &all[joined]);
    let lost = &joined["lost"][0];
    assert_eq!((&lost["node"], &lost["evidence"]), (&"n3".into(), &"silence".into()), "{history}");
    let at = |line: &Value| line["at_us"].as_u64().unwrap() / 1000;
    let (silent, gap) = (lost["silent_ms"].as_u64().unwrap(), joined["gap_ms"].as_u64().unwrap());
    let without = at(joined) - at(left);
    assert!(silent > 0, "{lost}");
    // Each of the three is rounded down to a millisecond.
    assert!(gap + 2 >= without + silent, "{gap} ms after {silent} ms and {without} ms: {history}");
}
