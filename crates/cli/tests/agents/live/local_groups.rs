//! Several local groups at once, where their files and ports are, and how they end.

use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::mpsc::Receiver;

use crate::support::agent::Process;
use crate::support::dev::{Dev, agents_of, all_gone, lines_of};
use crate::support::fleet::{Fleet, tanist};
use crate::support::wait::{LIMIT, until};

/// `tanist dev` with what it prints.
struct Group {
    process: Process,
    lines: Receiver<String>,
}

impl Group {
    fn start(home: &Path, arguments: &[&str]) -> Self {
        let mut command = tanist(home);
        command.arg("dev").args(arguments).stdout(Stdio::piped());
        let mut process = Process::start(&mut command);
        let lines = lines_of(process.child().stdout.take().unwrap());
        Self { process, lines }
    }

    /// Waits for a line with these words.
    fn tells(&self, words: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(LIMIT).expect(words);
            if line.contains(words) {
                return line;
            }
        }
    }
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    tanist(home).args(arguments).output().unwrap()
}

/// What a command prints, which must succeed.
fn text(home: &Path, arguments: &[&str]) -> String {
    let output = run(home, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn groups_run_side_by_side_and_are_chosen_by_name() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let blue = Group::start(home, &["--nodes", "2", "--name", "blue"]);
    blue.tells("all 2 nodes agree");
    // The only one needs no name.
    assert!(text(home, &["status"]).contains("blue"));
    text(home, &["dev", "heal"]);
    let green = Group::start(home, &["--nodes", "3", "--name", "green"]);
    green.tells("all 3 nodes agree");

    let which = run(home, &["dev", "heal"]);
    assert_eq!(which.status.code(), Some(2), "{which:?}");
    let told = String::from_utf8_lossy(&which.stderr).into_owned();
    assert!(told.contains("blue, green") && told.contains("--name"), "{told}");
    assert_eq!(run(home, &["members"]).status.code(), Some(2));

    text(home, &["dev", "kill", "n1", "--name", "blue"]);
    blue.tells("1 of 2 nodes agree");
    text(home, &["dev", "kill", "n1", "--name", "green"]);
    green.tells("2 of 3 nodes agree");
    assert!(text(home, &["status", "--node", "green/n2"]).contains("green"));
    assert!(text(home, &["status", "--node", "blue/"]).contains("blue"));
    let nowhere = run(home, &["dev", "kill", "n1", "--name", "red"]);
    assert_eq!(nowhere.status.code(), Some(3), "{nowhere:?}");

    let again = run(home, &["dev", "--name", "blue", "--once"]);
    assert_eq!(again.status.code(), Some(5), "{again:?}");
    assert!(String::from_utf8_lossy(&again.stderr).contains("`blue` is running already"));
    let wrong = run(home, &["dev", "--name", "a/b"]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}

#[test]
fn the_log_of_a_node_is_printed_and_followed() {
    let mut dev = Dev::start(&["--nodes", "2"]);
    dev.agree("all 2 nodes");
    let log = text(dev.home(), &["dev", "logs", "n2"]);
    assert_eq!(log, std::fs::read_to_string(dev.directory().join("n2.log")).unwrap());
    assert!(!log.is_empty());
    let mut command = tanist(dev.home());
    let command = command.args(["dev", "logs", "n1", "-f"]).stdout(Stdio::piped());
    let mut follower = Process::start(command);
    let lines = lines_of(follower.child().stdout.take().unwrap());
    lines.recv_timeout(LIMIT).unwrap();
    dev.act(&["restart", "n1"]);
    dev.agree("all 2 nodes");
    let unknown = run(dev.home(), &["dev", "logs", "n9"]);
    assert_eq!(unknown.status.code(), Some(3), "{unknown:?}");
    dev.signal("-TERM");
    assert_eq!(dev.ends(), Some(130));
    // The log is gone with its group.
    assert_eq!(follower.code(), 0);
    assert_eq!(run(dev.home(), &["dev", "logs", "n1"]).status.code(), Some(3));
}

#[test]
fn files_stay_in_a_directory_that_is_named_and_ports_are_as_asked() {
    let fleet = Fleet::on_localhost(1);
    let (home, kept) = (fleet.path(), fleet.file("kept"));
    let kept = kept.to_str().unwrap();
    let base = fleet.spare(1).port();
    let port = base.to_string();
    let arguments = ["--nodes", "2", "--name", "blue", "--dir", kept, "--base-port", &port];
    let mut group = Group::start(home, &arguments);
    assert!(group.tells("their files are in").ends_with(kept));
    assert!(group.tells("http://").contains(&format!("n1 http://127.0.0.1:{}", base + 2)));
    group.tells("all 2 nodes agree");
    let members = text(home, &["members", "--node", "blue/n1"]);
    assert!(members.contains(&format!("127.0.0.1:{}", base + 1)), "{members}");

    let other = run(home, &["dev", "--name", "green", "--base-port", &port, "--once"]);
    assert_eq!(other.status.code(), Some(7), "{other:?}");
    assert!(String::from_utf8_lossy(&other.stderr).contains(&format!("port {port} is taken")));

    group.process.signal("-INT");
    assert_eq!(group.process.code(), 130);
    group.tells(&format!("all nodes stopped; their files are in {kept}"));
    assert!(Path::new(kept).join("n1.log").exists());
    assert!(!home.join("tanist/dev-blue").is_symlink());
    let taken = run(home, &["dev", "--dir", kept, "--once"]);
    assert_eq!(taken.status.code(), Some(2), "{taken:?}");
    assert!(String::from_utf8_lossy(&taken.stderr).contains("is not empty"));
}

#[test]
fn a_group_whose_reader_is_gone_ends_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut command = tanist(home.path());
    let mut process = Process::start(command.args(["dev", "--nodes", "3"]).stdout(Stdio::piped()));
    // `| head -n 1`: nothing is written after the nodes have agreed, so a write does not tell.
    let agents = until("all agents run", || {
        Some(agents_of(process.id())).filter(|agents| agents.len() == 3)
    });
    assert!(home.path().join("tanist/dev").exists());
    drop(process.child().stdout.take());
    assert_eq!(process.code(), 0);
    all_gone(&agents);
    assert!(!home.path().join("tanist/dev").exists());
}

#[test]
fn a_group_that_is_told_to_end_names_its_directory_and_removes_it() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let home = tempfile::tempdir().unwrap();
        let mut group = Group::start(home.path(), &["--nodes", "2"]);
        let line = group.tells("their files are in ");
        let path = home.path().join("tanist/dev");
        assert!(line.contains(path.to_str().unwrap()), "{line}");
        group.process.signal(signal);
        assert_eq!(group.process.code(), 130, "{signal}");
        group.tells("all nodes stopped; their files are removed");
        assert!(!path.exists(), "{signal}");
    }
}
