//! Single agents, and what they refuse.

use std::process::{Command, Output};

use crate::support::fleet::Fleet;

/// The exit code and the message of an agent that is refused.
fn refused(fleet: &Fleet, file: &str) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = fleet.run(&["agent", "-c", file]);
    (status.code(), String::from_utf8(stderr).unwrap())
}

/// With bully the highest node leads, whichever started first.
const BULLY: &str = "algorithm = \"bully\"\n";

/// The counter of the group number in a line.
fn number(line: &str) -> u64 {
    let after = line.split("group ").nth(1).unwrap();
    after.split('.').next().unwrap().parse().unwrap()
}

#[test]
fn two_agents_agree_and_one_that_is_told_to_end_hands_over() {
    let fleet = Fleet::new(2);
    fleet.configure(1, BULLY);
    fleet.configure(2, BULLY);
    let mut first = fleet.start("n1");
    let mut second = fleet.start("n2");
    first.tells("of {n1 n2} under n2");
    second.tells("leads group");
    second.signal("-TERM");
    assert_eq!(second.ends(), Some(0));
    first.tells("of {n1} under n1");
}

#[test]
fn a_second_agent_of_the_same_node_is_refused() {
    let fleet = Fleet::new(2);
    let file = fleet.configure(1, "");
    let mut agent = fleet.start("n1");
    agent.tells("n1");
    // First the socket is taken. It may be free later, hence exit code 7.
    let (code, stderr) = refused(&fleet, &file);
    assert_eq!(code, Some(7), "{stderr}");
    assert!(stderr.contains("n1.sock") && stderr.contains("ss -lxp"), "{stderr}");
    let with = |socket: &str, more: &str| {
        let file = fleet.configure(1, more);
        let path = fleet.file(&file);
        let text = std::fs::read_to_string(&path).unwrap().replace("n1.sock", socket);
        std::fs::write(path, text).unwrap();
        refused(&fleet, &file)
    };
    // With another socket, the port is taken.
    let (code, stderr) = with("other.sock", "");
    assert_eq!(code, Some(7), "{stderr}");
    assert!(stderr.contains("cannot listen") && stderr.contains("ss -ltnp"), "{stderr}");
    // With another port, the store is locked.
    let (code, stderr) = with("other.sock", &format!("listen = \"{}\"\n", fleet.spare(1)));
    assert_eq!(code, Some(7), "{stderr}");
    assert!(stderr.contains("data-n1"), "{stderr}");
}

#[test]
fn a_damaged_store_is_refused_and_never_silently_new() {
    let fleet = Fleet::new(2);
    let file = fleet.configure(1, "");
    let mut agent = fleet.start("n1");
    agent.tells("leads group 1.n1");
    drop(agent);
    let counter = fleet.file("data-n1/counter");
    let whole = std::fs::read(&counter).unwrap();
    std::fs::write(&counter, &whole[..whole.len() - 1]).unwrap();
    let (code, stderr) = refused(&fleet, &file);
    assert_eq!(code, Some(6), "{stderr}");
    assert!(stderr.contains("counter"), "{stderr}");
    std::fs::remove_file(&counter).unwrap();
    let (code, stderr) = refused(&fleet, &file);
    assert_eq!(code, Some(6), "{stderr}");
    std::fs::write(&counter, &whole).unwrap();
    assert!(number(&fleet.start("n1").tells("leads group")) > 1);
}

#[test]
fn a_copied_store_is_refused_until_it_is_adopted() {
    let fleet = Fleet::new(2);
    let file = fleet.configure(1, "");
    fleet.start("n1").tells("leads group 1.n1");
    let copied =
        Command::new("cp").args(["-a", "data-n1", "copy"]).current_dir(fleet.path()).status();
    assert!(copied.unwrap().success());
    std::fs::remove_dir_all(fleet.file("data-n1")).unwrap();
    std::fs::rename(fleet.file("copy"), fleet.file("data-n1")).unwrap();
    let (code, stderr) = refused(&fleet, &file);
    assert_eq!(code, Some(6), "{stderr}");
    assert!(stderr.contains("tanist store adopt"), "{stderr}");
    let adopt = ["store", "adopt", "data-n1", "--node", "n1", "--group", "billing"];
    let adopted = fleet.run(&adopt);
    assert!(adopted.status.success(), "{adopted:?}");
    assert!(number(&fleet.start("n1").tells("leads group")) > 1);
}

#[test]
fn an_older_copy_of_the_store_does_not_reuse_a_number_that_a_peer_saw() {
    let fleet = Fleet::new(2);
    fleet.configure(1, BULLY);
    fleet.configure(2, BULLY);
    let mut second = fleet.start("n2");
    second.tells("leads group 1.n2 of {n2}");
    drop(second);
    let counter = fleet.file("data-n2/counter");
    let old = std::fs::read(&counter).unwrap();

    let mut first = fleet.start("n1");
    let mut second = fleet.start("n2");
    let line = second.tells("of {n1 n2} under n2");
    let used = number(&line);
    assert!(used > 1);
    drop(second);
    // The disk is restored to its earlier state.
    std::fs::write(&counter, old).unwrap();
    first.tells("of {n1} under n1");
    let mut second = fleet.start("n2");
    let line = second.tells("leads group");
    assert!(number(&line) > used, "{line} although {used}.n2 was used");
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let fleet = Fleet::new(2);
    let (code, stderr) = refused(&fleet, &fleet.configure(1, "algorythm = \"bully\"\n"));
    assert_eq!(code, Some(6));
    assert!(stderr.starts_with("n1.toml:8:") && stderr.contains("algorithm"), "{stderr}");
    let (code, stderr) =
        refused(&fleet, &fleet.configure(1, "[timing]\nsuspect_after = \"10ms\"\n"));
    assert_eq!(code, Some(6));
    assert!(stderr.contains("at least") && stderr.contains("heartbeat"), "{stderr}");
    let (code, stderr) = refused(&fleet, "nowhere.toml");
    assert_eq!(code, Some(6));
    assert!(stderr.contains("tanist config init"), "{stderr}");
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let fleet = Fleet::new(2);
    let file = fleet.configure(1, "");
    let opened =
        Command::new("chmod").args(["644", "group.key"]).current_dir(fleet.path()).status();
    assert!(opened.unwrap().success());
    let (code, stderr) = refused(&fleet, &file);
    assert_eq!(code, Some(6));
    assert!(stderr.contains("chmod"), "{stderr}");
}

#[test]
fn agents_with_different_keys_do_not_meet() {
    let fleet = Fleet::new(2);
    fleet.configure(1, "");
    fleet.configure(2, "");
    let mut first = fleet.start("n1");
    first.tells("leads group 1.n1 of {n1}");
    std::fs::remove_file(fleet.file("group.key")).unwrap();
    let made = fleet.run(&["keygen", "group.key"]);
    assert!(made.status.success());
    let mut second = fleet.start("n2");
    second.tells("leads group 1.n2 of {n2}");
}
