//! Processes that a test starts: any process, and an agent with its socket and its output.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::wait::{LIMIT, until, within};

/// A process of a test. Killed when it is dropped.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().unwrap()
    }

    /// Waits for its end.
    pub(crate) fn ends(&mut self) -> ExitStatus {
        until("the end of a process", || self.ended())
    }

    /// Waits for its end, and returns the exit code.
    pub(crate) fn code(&mut self) -> i32 {
        let status = self.ends();
        status.code().unwrap_or_else(|| panic!("it was killed: {status}"))
    }

    /// The process itself, for its pipes.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl From<Child> for Process {
    fn from(child: Child) -> Self {
        Self(child)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running agent. Killed when it is dropped.
pub(crate) struct Agent {
    process: Process,
    socket: PathBuf,
    out: Output,
    log: Output,
}

impl Agent {
    /// Starts an agent that answers at NAME.sock in a directory. The command says where its stdout
    /// and stderr go; what is in NAME.out and NAME.log later is taken for them.
    pub(crate) fn start(command: &mut Command, directory: &Path, name: &str) -> Self {
        let file = |end: &str| directory.join(format!("{name}.{end}"));
        let (out, log) = (Output::new(file("out")), Output::new(file("log")));
        Self { process: Process::start(command), socket: file("sock"), out, log }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.process.ended()
    }

    /// Waits for its end, and returns the exit code.
    pub(crate) fn ends(&mut self) -> Option<i32> {
        let Self { process, log, .. } = self;
        within(LIMIT, || process.ended(), || format!("the agent's end: {}", log.text())).code()
    }

    /// What it has written on stderr.
    pub(crate) fn log(&self) -> String {
        self.log.text()
    }

    /// Waits for the next line on stdout with these words.
    pub(crate) fn tells(&mut self, words: &str) -> String {
        self.out.next(words, &self.log)
    }

    /// Waits for the next line on stderr with these words.
    pub(crate) fn logs(&mut self, words: &str) -> String {
        self.log.next(words, &self.out)
    }

    /// Asks it over its socket; waits until it answers.
    pub(crate) fn ask(&self, what: &str) -> Value {
        let question = || format!("an answer to {what}: {}", self.log());
        within(LIMIT, || self.try_ask(what), question)
    }

    /// Asks it once; nothing if it does not answer.
    pub(crate) fn try_ask(&self, what: &str) -> Option<Value> {
        ask(&self.socket, what)
    }

    /// One of the counts of its transport.
    pub(crate) fn count(&self, name: &str) -> u64 {
        let metrics = self.ask("metrics");
        metrics["transport"][name].as_u64().unwrap_or_else(|| panic!("no {name} in {metrics}"))
    }

    /// Waits until what it answers is as wanted, and returns that.
    pub(crate) fn when(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let last = RefCell::new(Value::Null);
        let look = || {
            let value = self.ask(what);
            let found = wanted(&value).then(|| value.clone());
            last.replace(value);
            found
        };
        let stays = || format!("{what} as wanted; it stays {}: {}", last.borrow(), self.log());
        within(LIMIT, look, stays)
    }

    /// Waits until it is in a group of exactly these.
    pub(crate) fn members_are(&self, nodes: &[&str]) {
        let nodes = json!(nodes);
        self.when("status", |status| status["role"] != "suspended" && status["members"] == nodes);
    }

    /// Whether it is in one group with another node at this moment.
    pub(crate) fn is_with(&self, node: &str) -> bool {
        let is_there = |status: Value| {
            let members = status["members"].as_array().cloned().unwrap_or_default();
            status["role"] != "suspended" && members.contains(&Value::from(node))
        };
        self.try_ask("status").is_some_and(is_there)
    }
}

/// What a process writes to a file, from the moment of its start.
struct Output {
    path: PathBuf,
    start: usize,
    /// How much of it was waited for.
    read: usize,
}

impl Output {
    fn new(path: PathBuf) -> Self {
        let start = fs::read(&path).map_or(0, |bytes| bytes.len());
        Self { path, start, read: 0 }
    }

    fn text(&self) -> String {
        let bytes = fs::read(&self.path).unwrap_or_default();
        String::from_utf8_lossy(bytes.get(self.start..).unwrap_or_default()).into_owned()
    }

    /// Waits for a line with these words after the line that was returned last. What the process
    /// says elsewhere is told, too, if the line does not come.
    fn next(&mut self, words: &str, other: &Self) -> String {
        let look = || {
            let text = self.text();
            // The last line may not be complete.
            let complete = text.rfind('\n').map_or(0, |end| end + 1);
            let mut end = self.read;
            for line in text.get(self.read..complete)?.split_inclusive('\n') {
                end += line.len();
                if line.contains(words) {
                    return Some((end, line.trim_end().to_owned()));
                }
            }
            None
        };
        let (end, line) =
            within(LIMIT, look, || format!("`{words}` in {}\n{}", self.text(), other.text()));
        self.read = end;
        line
    }
}

/// Asks an agent over its socket. None: there is no agent, or it does not answer.
pub(crate) fn ask(socket: &Path, what: &str) -> Option<Value> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(ANSWER_MAX)).ok()?;
    stream.write_all(format!("{{\"ask\":\"{what}\"}}\n").as_bytes()).ok()?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    let mut answer: Value = serde_json::from_str(&line).ok()?;
    answer.get_mut("ok").map(Value::take)
}

/// Sends a signal to a process, which may have ended.
pub(crate) fn signal(process: u32, name: &str) {
    let mut kill = Command::new("kill");
    kill.args([name, &process.to_string()]).stderr(Stdio::null()).status().unwrap();
}

/// Whether a process runs. One that has ended and was not waited for does not.
pub(crate) fn is_running(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status"));
    status.is_ok_and(|status| !status.contains("State:\tZ"))
}

/// A stopped agent takes a question and never answers it.
const ANSWER_MAX: Duration = Duration::from_secs(20);
