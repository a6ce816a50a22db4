//! Mistakes in a configuration: each is reported with its place and what to write instead.

use std::fs;

use assert_cmd::cargo_bin_cmd;

/// Six valid lines; what follows begins on line 7.
const GOOD: &str = r#"group = "billing"
node = "n1"
peers = ["n1=10.0.0.1:7400", "n2=10.0.0.2:7400"]
data_dir = "data"
key_file = "group.key"
# The rest is the test's.
"#;

/// The error of an agent with this configuration; it never starts.
fn complaint(text: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("a.toml"), text).unwrap();
    let mut command = cargo_bin_cmd!("tanist");
    command.args(["agent", "-c", "a.toml"]).current_dir(home.path());
    for name in ["TANIST_NODE", "TANIST_GROUP", "TANIST_PEERS"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{text}\n{stderr}");
    stderr
}

#[test]
fn a_mistake_is_told_with_its_line_and_the_remedy() {
    for (line, what, place, words) in [
        (7, "algorythm = \"bully\"", "algorythm", "did you mean `algorithm`?"),
        (8, "[timing]\nheartbeet = \"1s\"", "timing.heartbeet", "did you mean `heartbeat`?"),
        (7, "hooks = { leder = \"/x\" }", "hooks.leder", "did you mean `leader`?"),
        (8, "[timing]\nsocket = \"x\"", "timing.socket", "above [timing]"),
        (7, "heartbeat = \"1s\"", "heartbeat", "belongs into [timing]"),
        (8, "[timing]\nheartbeat = 250", "timing.heartbeat", "write \"250ms\" or \"250s\""),
        (8, "[timing]\nheartbeat = \"250\"", "timing.heartbeat", "`250` has no unit"),
        (8, "[timing]\nheartbeat = \"soon\"", "timing.heartbeat", "such as 250ms, 2s or 5m"),
        (8, "[timing]\nheartbeat = \"0s\"", "timing.heartbeat", "longer than zero"),
        (7, "timing = \"fast\"", "timing", "it must be a table, not string; write [timing]"),
        (7, "priority = \"high\"", "priority", "a whole number without quotes, not string"),
        (7, "priority = -1", "priority", "`-1` is not a whole number between 0 and"),
        (7, "peers_version = 1.5", "peers_version", "not float"),
        (7, "socket = 5", "socket", "it must be a text, not integer"),
        (7, "listen = \"n1\"", "listen", "`n1` is not an address to listen on"),
        (7, "algorithm = \"raft\"", "algorithm", "expected one of: bully"),
        (8, "[options]\nwaitz = \"x\"", "options.waitz", "has no option \"waitz\""),
        (7, "options = { x = 1 }", "options.x", "it must be a text"),
        (7, "priorities = { n7 = 1 }", "priorities.n7", "not one of the peers n1, n2"),
        (7, "preempt = \"sometimes\"", "preempt", "neither always nor never nor a duration"),
        (8, "algorithm = \"super-peer\"\npreempt = \"30s\"", "preempt", "takes over"),
        (8, "options = { policy = \"only-lower\" }\npreempt = \"never\"", "preempt", "`policy`"),
        (8, "options = { policy = \"only-lower\" }\npriority = 9", "priority", "`policy`"),
        (8, "algorithm = \"bully\"\npriority = 9", "priority", "all nodes must know all"),
        (7, "log = { level = \"loud\" }", "log.level", "none of error, warn, info"),
        (7, "log = { format = \"xml\" }", "log.format", "none of text, json"),
        (7, "health = { command = \"sh -c true\" }", "health.command", "a list of texts"),
        (7, "health = { command = [] }", "health.command", "it is empty"),
        (
            7,
            "health = { command = [\"a\"], fail_after = 0 }",
            "health.fail_after",
            "more than zero",
        ),
        (7, "hooks = { timeout = \"0s\" }", "hooks.timeout", "more than zero"),
        (7, "trace = \"\"", "trace", "it must not be empty"),
        (7, "socket = x", "", "string values must be quoted"),
        (8, "socket = \"a\"\nsocket = \"b\"", "", "duplicate key"),
    ] {
        let stderr = complaint(&format!("{GOOD}{what}\n"));
        let first = stderr.lines().next().unwrap();
        assert!(first.starts_with(&format!("a.toml:{line}: ")), "{what}\n{stderr}");
        assert!(first.contains(place) && first.contains(words), "{what}\n{stderr}");
        assert_eq!(stderr.lines().count(), 1, "one mistake is one line: {stderr}");
    }
}

#[test]
fn peers_are_told_apart_each_on_its_own_line() {
    let stderr = complaint(
        "group = \"g\"\nnode = \"n3\"\ndata_dir = \"d\"\nkey_file = \"k\"\npeers = [\n\
         \"n1=a:1\",\n\"n1=b:1\",\n\"n2=a:1\",\n\"First=c:1\",\n\"n4=d\",\n]\n",
    );
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(
        lines[..5],
        [
            "a.toml:7: peers: n1 is listed twice; every node needs an id of its own",
            "a.toml:8: peers: n2 has the address of n1, a:1; give it its own",
            "a.toml:9: peers: `First=c:1` is not a peer; a name has letters a to z, digits and \
             hyphens, and no hyphen at either end",
            "a.toml:10: peers: `n4=d` is not a peer; expected NODE=HOST:PORT, such as \
             db-east-1=10.0.0.1:7400",
            "a.toml:2: node: `n3` is not one of the peers n1, n2; add it there. No agent starts \
             with this.",
        ]
    );
}

#[test]
fn nodes_with_names_have_each_name_number_and_entry_once() {
    let stderr = complaint(
        "group = \"g\"\nnode = \"db-3\"\ndata_dir = \"d\"\nkey_file = \"k\"\n\
         priorities = { db-1 = 3, n1 = 4, db-9 = 5 }\npeers = [\n\
         \"db-1=a:1\",\n\"db-1=b:1\",\n\"n1:db-2=c:1\",\n]\n",
    );
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "a.toml:8: peers: n1 and n2 are both called db-1; give each node a name of its own",
            "a.toml:9: peers: db-1 and db-2 both have the number n1, because a name without a \
             number has its place in the list; write a number that no other node has, as in \
             n9:db-2=HOST:PORT",
            "a.toml:2: node: `db-3` is not one of the peers db-1; add it there",
            "a.toml:5: priorities.db-9: db-9 is not one of the peers db-1",
            "a.toml:5: priorities.n1: n1 and db-1 are the same node; write one of them. No agent \
             starts with this.",
        ]
    );
}

#[test]
fn all_mistakes_are_told_and_what_is_missing_is_told_with_an_example() {
    let stderr = complaint("peers = []\nalgorythm = 1\n[timing]\nheartbeat = 5\n");
    for part in [
        "a.toml:2: there is no key `algorythm`",
        "a.toml:4: timing.heartbeat: 5 has no unit",
        "a.toml:1: peers: it is empty",
        "a.toml: group: it is missing: the name of the group, the same on all nodes; write \
         group = \"billing\", or set TANIST_GROUP",
        "a.toml: data_dir: it is missing",
        "a.toml: key_file: it is missing",
        "a.toml: node: it is missing, and the host's name",
        "No agent starts with this.",
    ] {
        assert!(stderr.contains(part), "no {part} in\n{stderr}");
    }
    assert_eq!(stderr.lines().count(), 7, "{stderr}");
}

#[test]
fn timings_that_cannot_work_are_refused_with_the_arithmetic() {
    let sum = "heartbeat 250ms + message_max 50ms + processing_max 50ms = 350ms";
    for (text, line, words) in [
        ("suspect_after = \"200ms\"", 8, format!("suspect_after = 200ms, but {sum}")),
        (
            "heartbeat = \"2s\"",
            8,
            "suspect_after = 1s, but heartbeat 2s + message_max 50ms".to_owned(),
        ),
        ("suspect_after = \"200ms\"", 8, "at least 350ms, better 600ms".to_owned()),
        ("check_every = \"0s\"", 8, "longer than zero".to_owned()),
    ] {
        let stderr = complaint(&format!("{GOOD}[timing]\n{text}\n"));
        assert!(stderr.starts_with(&format!("a.toml:{line}: timing.")), "{stderr}");
        assert!(stderr.contains(&words), "{words}\n{stderr}");
    }
}

#[test]
fn a_file_that_is_no_text_is_refused_with_its_line() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.toml");
    fs::write(&path, b"group = \"a\"\nnode = \"\xff\"\n").unwrap();
    let output = cargo_bin_cmd!("tanist").args(["agent", "-c"]).arg(&path).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6));
    assert!(stderr.contains("a.toml:2: ") && stderr.contains("UTF-8"), "{stderr}");
}
