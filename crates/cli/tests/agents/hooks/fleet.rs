//! Agents with hooks, in a directory where hooks may be.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Nothing takes longer, even on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(90);

/// A directory with a key, hooks and files for agents that know each other.
pub(crate) struct Fleet {
    directory: tempfile::TempDir,
    ports: Vec<u16>,
}

impl Fleet {
    pub(crate) fn new(nodes: usize) -> Self {
        // Everything under /tmp is refused, since anybody can write there.
        let home = std::env::var_os("HOME").unwrap();
        let directory = tempfile::tempdir_in(home).unwrap();
        let fleet = Self { directory, ports: (0..nodes).map(|_| free_port()).collect() };
        let made = fleet.tanist().args(["keygen", "group.key"]).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        fleet
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn tanist(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tanist"));
        command.env_remove("TANIST_SOCKET").env_remove("NOTIFY_SOCKET");
        command.current_dir(self.directory.path());
        command
    }

    /// Writes a script that may be a hook; `@` stands for the directory.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.path(name);
        let body = body.replace('@', self.directory.path().to_str().unwrap());
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        path
    }

    /// Writes the file of a node; `@` stands for the directory.
    pub(crate) fn file(&self, node: usize, more: &str) -> PathBuf {
        let ports = self.ports.iter().enumerate();
        let peers: Vec<String> =
            ports.map(|(index, port)| format!("\"n{}=127.0.0.1:{port}\"", index + 1)).collect();
        let text = format!(
            "group = \"billing\"\nnode = \"n{node}\"\npeers = [{}]\nalgorithm = \"bully\"\n\
             data_dir = \"@/data{node}\"\nkey_file = \"@/group.key\"\n\
             socket = \"@/n{node}.sock\"\n{more}",
            peers.join(", ")
        );
        let text = text.replace('@', self.directory.path().to_str().unwrap());
        let path = self.path(&format!("n{node}.toml"));
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Starts the node whose file was written.
    pub(crate) fn start(&self, node: usize) -> Agent {
        self.start_with(node, |_| {})
    }

    pub(crate) fn start_with(&self, node: usize, more: impl FnOnce(&mut Command)) -> Agent {
        let mut command = self.tanist();
        command.arg("agent").arg("-c").arg(self.path(&format!("n{node}.toml")));
        more(&mut command);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let told = lines_of(child.stdout.take().unwrap());
        let log = lines_of(child.stderr.take().unwrap());
        Agent { child, told, log, heard: Vec::new(), socket: self.path(&format!("n{node}.sock")) }
    }

    /// The lines of a file that hooks write to.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// A running agent.
pub(crate) struct Agent {
    pub(crate) child: Child,
    told: Receiver<String>,
    log: Receiver<String>,
    heard: Vec<String>,
    socket: PathBuf,
}

impl Agent {
    /// Waits for a line on stdout with these words.
    pub(crate) fn tells(&mut self, words: &str) -> String {
        wait_for(&self.told, &mut self.heard, words)
    }

    /// Waits for a line of the log with these words.
    pub(crate) fn logs(&mut self, words: &str) -> String {
        wait_for(&self.log, &mut self.heard, words)
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    /// Waits for its end, and gives the exit code.
    pub(crate) fn ends(&mut self) -> Option<i32> {
        until("the agent ends", || self.child.try_wait().unwrap()).code()
    }

    /// Asks over the control socket.
    pub(crate) fn ask(&self, what: &str) -> Value {
        let mut stream = until("the socket is there", || UnixStream::connect(&self.socket).ok());
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.write_all(format!("{{\"ask\":\"{what}\"}}\n").as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        answer["ok"].clone()
    }

    /// Looks until the status is as wanted.
    pub(crate) fn status_when(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        until(what, || Some(self.ask("status")).filter(&wanted))
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Looks until there is something.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "not within {LIMIT:?}: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Signals a process that a test has started.
pub(crate) fn signal(process: u32, name: &str) {
    let process = process.to_string();
    assert!(Command::new("kill").args([name, &process]).status().unwrap().success());
}

/// Whether a process runs; one that only waits to be buried does not.
pub(crate) fn is_running(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    status.is_ok_and(|status| !status.contains("State:\tZ"))
}

/// Changes who may do what with a file.
pub(crate) fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn wait_for(lines: &Receiver<String>, heard: &mut Vec<String>, words: &str) -> String {
    let end = Instant::now() + LIMIT;
    while let Ok(line) = lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
        heard.push(line.clone());
        if line.contains(words) {
            return line;
        }
    }
    panic!("no `{words}` in {heard:#?}")
}

fn lines_of(from: impl Read + Send + 'static) -> Receiver<String> {
    let (to, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let _ = to.send(line);
        }
    });
    lines
}

/// A port that nobody uses, below those that the system gives to connections.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let base = 11_000 + u16::try_from(std::process::id() % 100).unwrap() * 50;
    let mut ports = (0..50).map(|_| base + NEXT.fetch_add(1, Ordering::Relaxed) % 50);
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("one of fifty ports is free")
}
