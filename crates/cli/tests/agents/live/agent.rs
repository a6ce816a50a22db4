//! One agent, and what it refuses.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Instant;

use crate::support::dev::{LIMIT, lines_of, tanist};

/// A directory with a key and files for two agents.
struct Home {
    directory: tempfile::TempDir,
    ports: [u16; 2],
}

impl Home {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = Self { directory, ports: [free_port(), free_port()] };
        let made = home.command().args(["keygen", "group.key"]).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        home
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn command(&self) -> Command {
        let mut command = tanist(self.path());
        command.current_dir(self.path());
        command
    }

    fn file(&self, node: usize, more: &str) -> String {
        let [one, two] = self.ports;
        let text = format!(
            "group = \"billing\"\nnode = \"n{node}\"\ndata_dir = \"data{node}\"\n\
             peers = [\"n1=127.0.0.1:{one}\", \"n2=127.0.0.1:{two}\"]\n\
             key_file = \"group.key\"\nsocket = \"n{node}.sock\"\n{more}"
        );
        let name = format!("n{node}.toml");
        std::fs::write(self.path().join(&name), text).unwrap();
        name
    }

    /// An agent that is refused.
    fn refused(&self, file: &str) -> (Option<i32>, String) {
        let Output { status, stderr, .. } =
            self.command().args(["agent", "-c", file]).output().unwrap();
        (status.code(), String::from_utf8(stderr).unwrap())
    }
}

/// With it the highest node leads, whoever came first.
const BULLY: &str = "algorithm = \"bully\"\n";

/// A port that nobody uses, below those that the system gives to connections.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let base = 30_000 + u16::try_from(std::process::id() % 50).unwrap() * 50;
    let mut ports = (0..50).map(|_| base + NEXT.fetch_add(1, Ordering::Relaxed) % 50);
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("one of fifty ports is free")
}

/// The counter in the number of the group that a line speaks of.
fn number(line: &str) -> u64 {
    let after = line.split("group ").nth(1).unwrap();
    after.split('.').next().unwrap().parse().unwrap()
}

struct Agent {
    child: Child,
    lines: Receiver<String>,
}

impl Agent {
    fn start(home: &Home, file: &str) -> Self {
        let mut child =
            home.command().args(["agent", "-c", file]).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        Self { child, lines: lines_of(stdout) }
    }

    fn tells(&mut self, words: &str) -> String {
        let mut told = Vec::new();
        let end = Instant::now() + LIMIT;
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            if line.contains(words) {
                return line;
            }
            told.push(line);
        }
        panic!("no `{words}` in {told:#?}")
    }

    fn signal(&self, name: &str) {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &process]).status().unwrap().success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn two_agents_agree_and_one_that_is_told_to_end_hands_over() {
    let home = Home::new();
    let (one, two) = (home.file(1, BULLY), home.file(2, BULLY));
    let mut first = Agent::start(&home, &one);
    let mut second = Agent::start(&home, &two);
    first.tells("of {n1 n2} under n2");
    second.tells("leads group");
    second.signal("-TERM");
    assert_eq!(second.child.wait().unwrap().code(), Some(0));
    first.tells("of {n1} under n1");
}

#[test]
fn a_second_agent_of_the_same_node_is_refused() {
    let home = Home::new();
    let file = home.file(1, "");
    let mut agent = Agent::start(&home, &file);
    agent.tells("n1");
    // What is in its way first is the socket of the first one; each may be gone a moment later.
    let (code, stderr) = home.refused(&file);
    assert_eq!(code, Some(7), "{stderr}");
    assert!(stderr.contains("n1.sock") && stderr.contains("ss -lxp"), "{stderr}");
    let with = |socket: &str, more: &str| {
        let file = home.file(1, more);
        let path = home.path().join(&file);
        let text = std::fs::read_to_string(&path).unwrap().replace("n1.sock", socket);
        std::fs::write(path, text).unwrap();
        home.refused(&file)
    };
    // With another socket it is the port.
    let (code, stderr) = with("other.sock", "");
    assert_eq!(code, Some(7), "{stderr}");
    assert!(stderr.contains("cannot listen") && stderr.contains("ss -ltnp"), "{stderr}");
    // With another port it is the store that refuses.
    let (code, stderr) = with("other.sock", &format!("listen = \"127.0.0.1:{}\"\n", free_port()));
    assert_eq!(code, Some(7), "{stderr}");
    assert!(stderr.contains("data1"), "{stderr}");
}

#[test]
fn a_damaged_store_is_refused_and_never_silently_new() {
    let home = Home::new();
    let file = home.file(1, "");
    let mut agent = Agent::start(&home, &file);
    agent.tells("leads group 1.n1");
    drop(agent);
    let counter = home.path().join("data1/counter");
    let whole = std::fs::read(&counter).unwrap();
    std::fs::write(&counter, &whole[..whole.len() - 1]).unwrap();
    let (code, stderr) = home.refused(&file);
    assert_eq!(code, Some(6), "{stderr}");
    assert!(stderr.contains("counter"), "{stderr}");
    std::fs::remove_file(&counter).unwrap();
    let (code, stderr) = home.refused(&file);
    assert_eq!(code, Some(6), "{stderr}");
    std::fs::write(&counter, &whole).unwrap();
    assert!(number(&Agent::start(&home, &file).tells("leads group")) > 1);
}

#[test]
fn a_copied_store_is_refused_until_it_is_adopted() {
    let home = Home::new();
    let file = home.file(1, "");
    Agent::start(&home, &file).tells("leads group 1.n1");
    let copied = Command::new("cp").args(["-a", "data1", "copy"]).current_dir(home.path()).status();
    assert!(copied.unwrap().success());
    std::fs::remove_dir_all(home.path().join("data1")).unwrap();
    std::fs::rename(home.path().join("copy"), home.path().join("data1")).unwrap();
    let (code, stderr) = home.refused(&file);
    assert_eq!(code, Some(6), "{stderr}");
    assert!(stderr.contains("tanist store adopt"), "{stderr}");
    let adopt = ["store", "adopt", "data1", "--node", "n1", "--group", "billing"];
    let adopted = home.command().args(adopt).output().unwrap();
    assert!(adopted.status.success(), "{adopted:?}");
    assert!(number(&Agent::start(&home, &file).tells("leads group")) > 1);
}

#[test]
fn an_older_copy_of_the_store_does_not_reuse_a_number_that_a_peer_saw() {
    let home = Home::new();
    let (one, two) = (home.file(1, BULLY), home.file(2, BULLY));
    let mut second = Agent::start(&home, &two);
    second.tells("leads group 1.n2 of {n2}");
    drop(second);
    let counter = home.path().join("data2/counter");
    let old = std::fs::read(&counter).unwrap();

    let mut first = Agent::start(&home, &one);
    let mut second = Agent::start(&home, &two);
    let line = second.tells("of {n1 n2} under n2");
    let used = number(&line);
    assert!(used > 1);
    drop(second);
    // The disk comes back as it was before.
    std::fs::write(&counter, old).unwrap();
    first.tells("of {n1} under n1");
    let mut second = Agent::start(&home, &two);
    let line = second.tells("leads group");
    assert!(number(&line) > used, "{line} although {used}.n2 was used");
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let home = Home::new();
    let (code, stderr) = home.refused(&home.file(1, "algorythm = \"bully\"\n"));
    assert_eq!(code, Some(6));
    assert!(stderr.starts_with("n1.toml:7:") && stderr.contains("algorithm"), "{stderr}");
    let (code, stderr) = home.refused(&home.file(1, "[timing]\nsuspect_after = \"10ms\"\n"));
    assert_eq!(code, Some(6));
    assert!(stderr.contains("at least") && stderr.contains("heartbeat"), "{stderr}");
    let (code, stderr) = home.refused("nowhere.toml");
    assert_eq!(code, Some(6));
    assert!(stderr.contains("tanist config init"), "{stderr}");
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let home = Home::new();
    let file = home.file(1, "");
    let opened = Command::new("chmod").args(["644", "group.key"]).current_dir(home.path()).status();
    assert!(opened.unwrap().success());
    let (code, stderr) = home.refused(&file);
    assert_eq!(code, Some(6));
    assert!(stderr.contains("chmod"), "{stderr}");
}

#[test]
fn agents_with_different_keys_do_not_meet() {
    let home = Home::new();
    let (one, two) = (home.file(1, ""), home.file(2, ""));
    let mut first = Agent::start(&home, &one);
    first.tells("leads group 1.n1 of {n1}");
    std::fs::remove_file(home.path().join("group.key")).unwrap();
    let made = home.command().args(["keygen", "group.key"]).output().unwrap();
    assert!(made.status.success());
    let mut second = Agent::start(&home, &two);
    second.tells("leads group 1.n2 of {n2}");
}
