//! A group that `tanist dev` runs in a directory of its own, for one test.

use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::agent::{Process, is_running};
use super::fleet::tanist;
use super::wait::{LIMIT, until, within};

pub(crate) struct Dev {
    process: Process,
    lines: Receiver<String>,
    told: Vec<String>,
    home: tempfile::TempDir,
    limit: Duration,
}

/// The lines that a process prints, as they come.
pub(crate) fn lines_of(stdout: ChildStdout) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    lines
}

impl Dev {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_within(arguments, LIMIT)
    }

    /// The same with another limit for its waits.
    pub(crate) fn start_within(arguments: &[&str], limit: Duration) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = tanist(home.path());
        // As in the other groups of tests, the highest node takes over.
        command.args(["dev", "--preempt", "always"]).args(arguments).stdout(Stdio::piped());
        let mut process = Process::start(&mut command);
        let stdout = process.child().stdout.take().unwrap();
        Self { process, lines: lines_of(stdout), told: Vec::new(), home, limit }
    }

    /// The directory in which commands look for the group.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.home.path().join("tanist/dev")
    }

    /// Waits for a line with these words, and returns it.
    pub(crate) fn tells(&mut self, words: &str) -> String {
        let end = Instant::now() + self.limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    self.told.push(line.clone());
                    if line.contains(words) {
                        return line;
                    }
                }
                Err(error) => panic!("no `{words}` ({error}) in:\n{}", self.told.join("\n")),
            }
        }
    }

    /// Waits until so many nodes agree, and returns their leader.
    pub(crate) fn agree(&mut self, who: &str) -> String {
        let line = self.tells(&format!("{who} agree: "));
        let leader = line.split("agree: ").nth(1).and_then(|rest| rest.split(' ').next());
        leader.expect("a line names the leader").to_owned()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        tanist(self.home.path()).args(arguments).output().unwrap()
    }

    /// Runs `tanist dev ACTION`, which must succeed.
    pub(crate) fn act(&self, arguments: &[&str]) {
        let output = self.run(&[&["dev"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    /// The JSON that a command prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["-o", "json"]].concat());
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Waits until the status of a node is as wanted, and returns it.
    pub(crate) fn status_when(&self, node: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let last = RefCell::new(Value::Null);
        let look = || {
            let status = self.json(&["status", "--node", node]);
            let found = wanted(&status).then(|| status.clone());
            last.replace(status);
            found
        };
        within(LIMIT, look, || format!("{node} as wanted; it stays {}", last.borrow()))
    }

    /// The processes of the agents.
    pub(crate) fn agents(&self) -> Vec<u32> {
        agents_of(self.process.id())
    }

    pub(crate) fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    /// Waits for its end, and returns the exit code.
    pub(crate) fn ends(&mut self) -> Option<i32> {
        self.process.ends().code()
    }
}

/// The children of a process that are agents.
pub(crate) fn agents_of(parent: u32) -> Vec<u32> {
    let parent = format!("PPid:\t{parent}");
    let is_agent = |process: &u32| {
        let read = |name| std::fs::read_to_string(format!("/proc/{process}/{name}"));
        let status = read("status").unwrap_or_default();
        let command = read("cmdline").unwrap_or_default();
        status.lines().any(|line| line == parent) && command.contains("agent")
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_agent).collect()
}

/// Waits until none of the processes runs.
pub(crate) fn all_gone(processes: &[u32]) {
    until(&format!("the end of {processes:?}"), || {
        (!processes.iter().any(|process| is_running(*process))).then_some(())
    });
}
