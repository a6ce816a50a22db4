//! The table of faults in docs/operations.md: each row is produced by a real group, and the command
//! that it names prints its line and ends with its code.
//!
//! The document has addresses, paths and a version of its own; what a command prints is brought to
//! those before it is compared, and blanks and line breaks count as one.

use std::cell::RefCell;
use std::fs;
use std::process::Output;
use std::thread;

use tanist::store::Store;
use tanist_core::NodeId;

use crate::support::agent::Agent;
use crate::support::fleet::{Fleet, peers, set_mode};
use crate::support::wait::{LIMIT, within};

#[test]
fn every_fault_of_the_table_is_named_with_its_line_and_its_exit_code() {
    let rows = rows();
    let known = |name: &str| rows.iter().any(|row| row.fault == name);
    assert!(ODD.iter().all(|(name, ..)| known(name)), "a fault is missing in the table");
    assert!(rows.len() >= ODD.len() + 10, "only {} rows", rows.len());
    // A few groups at a time.
    for rows in rows.chunks(4) {
        thread::scope(|scope| {
            for row in rows {
                scope.spawn(|| produce(row));
            }
        });
    }
}

/// What one row of the document says.
struct Row {
    fault: String,
    line: String,
    code: i32,
}

fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
    let page = fs::read_to_string(path).unwrap();
    let (_, table) = page.split_once("## Every fault, and what is said of it").unwrap();
    let rows = table.lines().skip_while(|line| !line.starts_with("|---"));
    let rows = rows.skip(1).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [fault, line, code] = cells[..] else { panic!("not three cells: {line}") };
        let line = line.trim_start_matches("`` ").trim_end_matches(" ``").to_owned();
        Row { fault: fault.to_owned(), line, code: code.parse().unwrap() }
    };
    rows.map(row).collect()
}

type Line = (&'static str, &'static str);

/// Faults of n2 that the doctor of n1 names: a line of its file, and a variable of its environment.
const ODD: [(&str, Line, Line); 10] = [
    ("another algorithm", ("algorithm", "\"bully\""), NOTHING),
    ("another option of it", ("options", "{ waits = \"full\" }"), NOTHING),
    ("another timing", ("timing", "{ suspect_after = \"7s\" }"), NOTHING),
    ("other priorities", ("priorities", "{ n1 = 30 }"), NOTHING),
    ("another `preempt`", ("preempt", "\"never\""), NOTHING),
    ("another version of the member list", ("peers_version", "2"), NOTHING),
    ("another group name", ("group", "\"sales\""), NOTHING),
    ("wall clocks apart", ALIKE, ("TANIST_DEV_CLOCK_AHEAD", "90s")),
    ("another release", ALIKE, ("TANIST_DEV_PROGRAM_VERSION", "0.0.9")),
    ("no common version of the wire", ALIKE, ("TANIST_DEV_WIRE_VERSIONS", "3")),
];
const ALIKE: Line = ("preempt", "\"always\"");
const NOTHING: Line = ("TANIST_DEV_CLOCK_AHEAD", "0s");

fn produce(row: &Row) {
    if let Some((_, (key, value), variable)) = ODD.iter().find(|(name, ..)| *name == row.fault) {
        return odd(row, &[(key, (*value).to_owned())], *variable);
    }
    match row.fault.as_str() {
        "another member list" => odd_list(row, &[1, 2, 3]),
        "a peer that does not list this node" => odd_list(row, &[2, 3]),
        "a wrong port of a peer" => wrong_port(row),
        "an elected leader that does not act" => {
            odd(row, &[("algorithm", "\"bully\"".to_owned())], NOTHING);
        }
        "no leader while elections are paused" => paused(row),
        "a node that has withdrawn" => withdrawn(row),
        "settings that contradict each other" => refused(row, |_| {
            let options = ("options", "{ policy = \"only-lower\" }".to_owned());
            vec![options, ("preempt", "\"never\"".to_owned())]
        }),
        "a missing parent of `data_dir`" => {
            refused(row, |fleet| vec![("data_dir", quoted(fleet, "disk/data"))]);
        }
        "a copied store" => refused(row, |fleet| {
            copy_store(fleet);
            vec![("data_dir", quoted(fleet, "copy"))]
        }),
        "a hook that others can write to" => refused(row, |fleet| {
            set_mode(&fleet.script("hook", "true"), 0o777);
            vec![("hooks", format!("{{ leader = {} }}", quoted(fleet, "hook")))]
        }),
        fault => panic!("no test produces `{fault}`"),
    }
}

type Lines = Vec<(&'static str, String)>;

fn usual() -> Lines {
    vec![("algorithm", "\"invitation\"".to_owned()), ("preempt", "\"always\"".to_owned())]
}

fn quoted(fleet: &Fleet, name: &str) -> String {
    format!("{:?}", fleet.file(name))
}

/// n1 as usual, and n2 with other lines. It runs first, so that n1 finds it.
fn odd(row: &Row, lines: &[(&'static str, String)], variable: Line) {
    let fleet = Fleet::new(2);
    let _two = start(&fleet, "n2", &[&usual(), lines].concat(), variable);
    let _one = start(&fleet, "n1", &usual(), NOTHING);
    doctor_says(&fleet, "n1", row);
}

fn odd_list(row: &Row, nodes: &[usize]) {
    let fleet = Fleet::new(2);
    let list = peers(nodes.iter().map(|node| (*node, fleet.peer(*node))));
    let _two = start(&fleet, "n2", &[usual(), vec![("peers", list)]].concat(), NOTHING);
    let _one = start(&fleet, "n1", &usual(), NOTHING);
    doctor_says(&fleet, "n1", row);
}

fn wrong_port(row: &Row) {
    let fleet = Fleet::new(2);
    let list = peers([(1, fleet.peer(1)), (2, fleet.spare(2))]);
    let _one = start(&fleet, "n1", &[usual(), vec![("peers", list)]].concat(), NOTHING);
    let _two = start(&fleet, "n2", &usual(), NOTHING);
    doctor_says(&fleet, "n1", row);
}

/// Starts an agent that takes the variables of experiments.
fn start(fleet: &Fleet, node: &str, lines: &[(&str, String)], variable: Line) -> Agent {
    fleet.configure_as(node, node, lines);
    let mut command = fleet.tanist(&["agent", "--dev", "-c", &format!("{node}.toml")]);
    fleet.spawn(node, command.env(variable.0, variable.1))
}

fn paused(row: &Row) {
    let fleet = Fleet::new(2);
    let mut agents = fleet.group(&["n1", "n2"]);
    assert_eq!(agents[0].ask("status")["leader"]["node"], "n2");
    assert!(fleet.run(&["pause", "--socket", "n1.sock"]).status.success());
    agents[1].when("status", |status| status["paused"] == true);
    agents[1].kill();
    doctor_says(&fleet, "n1", row);
}

fn withdrawn(row: &Row) {
    let fleet = Fleet::new(2);
    let agents = fleet.group(&["n1", "n2"]);
    let done = fleet.run(&["step-down", "--socket", "n2.sock", "--for", "10m"]);
    assert!(done.status.success(), "{done:?}");
    agents[0].members_are(&["n1"]);
    doctor_says(&fleet, "n2", row);
}

/// A file that `config check` refuses with the row's line. No agent starts with it and no reload
/// takes it, both with the same line.
fn refused(row: &Row, lines: impl Fn(&Fleet) -> Lines) {
    let fleet = Fleet::with_hooks(1);
    fleet.configure_as("n1", "n1", &usual());
    let agent = fleet.start("n1");
    agent.members_are(&["n1"]);
    let file = fleet.configure_as("n1", "n1", &[usual(), lines(&fleet)].concat());
    let says = |arguments: &[&str], code: i32| {
        let output = fleet.run(arguments);
        let told = told(&fleet, &output);
        assert!(told.contains(&row.line), "{}:\n{told}\nand not\n{}", row.fault, row.line);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    };
    says(&["config", "check", "-c", &file], row.code);
    says(&["reload", "--socket", "n1.sock"], 5);
    drop(agent);
    says(&["agent", "-c", &file], 6);
}

/// As `cp -a` does it.
fn copy_store(fleet: &Fleet) {
    let (from, to) = (fleet.file("original"), fleet.file("copy"));
    drop(Store::open(&from, NodeId(1), "billing").unwrap());
    fs::create_dir(&to).unwrap();
    set_mode(&to, 0o700);
    for name in ["lock", "identity", "counter"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

/// Waits until the doctor of a node says what the row says.
fn doctor_says(fleet: &Fleet, node: &str, row: &Row) {
    let last = RefCell::new(String::new());
    let look = || {
        let output = fleet.run(&["doctor", "--socket", &format!("{node}.sock")]);
        let told = told(fleet, &output);
        // That a group does not act is told before anything else.
        let is_told = match row.line.starts_with("NOT ACTING") {
            true => told.starts_with(&row.line),
            false => told.contains(&row.line),
        };
        let is_so = is_told && output.status.code() == Some(row.code);
        last.replace(format!("{told}\n{:?}", output.status));
        is_so.then_some(())
    };
    let stays = || format!("{}: {}\nand not\n{}", row.fault, last.borrow(), row.line);
    within(LIMIT, look, stays);
}

/// What a command printed, with the document's addresses, paths and version.
fn told(fleet: &Fleet, output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr].concat();
    let mut text = String::from_utf8_lossy(&both).split_whitespace().collect::<Vec<_>>().join(" ");
    for node in 1..=3 {
        let (peer, spare) = (fleet.peer(node), fleet.spare(node));
        text = text
            .replace(&peer.to_string(), &format!("10.0.0.{node}:7400"))
            .replace(&spare.to_string(), &format!("10.0.0.{node}:7444"))
            .replace(&format!("port is {}", peer.port()), "port is 7400");
    }
    text.replace(fleet.path().to_str().unwrap(), "/srv").replace(env!("CARGO_PKG_VERSION"), "0.1.0")
}
