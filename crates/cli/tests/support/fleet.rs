//! A fleet: a directory with a key and a configuration for each node, a loopback host at which its
//! agents listen, and every process that is started from there.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use serde_json::Value;

use super::addresses::Host;
use super::agent::{Agent, is_running, signal};
use super::wait::{LIMIT, until, within};

/// The program under test, with a directory for its sockets.
pub(crate) fn tanist(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tanist"));
    command.env("XDG_RUNTIME_DIR", directory);
    command.env_remove("TANIST_SOCKET").env_remove("NOTIFY_SOCKET");
    // For the tests, not for the program, which would warn of it.
    command.env_remove("TANIST_TEST_REQUIRE_NETNS");
    command
}

/// When it is dropped, every process that was started from it is killed.
pub(crate) struct Fleet {
    directory: tempfile::TempDir,
    host: Host,
    nodes: usize,
}

impl Fleet {
    /// For nodes n1 to nN. None has a configuration yet.
    pub(crate) fn new(nodes: usize) -> Self {
        Self::create(tempfile::tempdir().unwrap(), Host::claim(), nodes)
    }

    /// A fleet whose nodes listen at localhost.
    pub(crate) fn on_localhost(nodes: usize) -> Self {
        Self::create(tempfile::tempdir().unwrap(), until("localhost", Host::localhost), nodes)
    }

    /// A fleet whose directory may hold hooks: every hook below /tmp is refused, since other users
    /// can write there.
    pub(crate) fn with_hooks(nodes: usize) -> Self {
        let home = std::env::var_os("HOME").unwrap();
        Self::create(tempfile::tempdir_in(home).unwrap(), Host::claim(), nodes)
    }

    /// For nodes that all have a configuration, with the same lines at its end.
    pub(crate) fn configured(nodes: usize, more: &str) -> Self {
        let fleet = Self::new(nodes);
        (1..=nodes).for_each(|node| drop(fleet.configure(node, more)));
        fleet
    }

    fn create(directory: tempfile::TempDir, host: Host, nodes: usize) -> Self {
        let fleet = Self { directory, host, nodes };
        fleet.keygen("group.key");
        fleet
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The text of a file; empty if there is no such file.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        self.read(name).lines().map(str::to_owned).collect()
    }

    /// Waits until the text of a file passes, and returns it.
    pub(crate) fn read_when(&self, name: &str, passes: impl Fn(&str) -> bool) -> String {
        until(&format!("{name} as wanted"), || Some(self.read(name)).filter(|text| passes(text)))
    }
}

/// Where the nodes listen.
impl Fleet {
    /// For peers. Also nodes that the fleet does not have get an address.
    pub(crate) fn peer(&self, node: usize) -> SocketAddr {
        self.at(PEERS, node)
    }

    pub(crate) fn http(&self, node: usize) -> SocketAddr {
        self.at(HTTP, node)
    }

    pub(crate) fn agent_check(&self, node: usize) -> SocketAddr {
        self.at(AGENT_CHECK, node)
    }

    /// For a proxy in front of a node, a service beside it, or another process with its id.
    pub(crate) fn spare(&self, number: usize) -> SocketAddr {
        self.at(SPARE, number)
    }

    fn at(&self, first: u16, number: usize) -> SocketAddr {
        self.host.port(first + u16::try_from(number).unwrap())
    }
}

/// Configurations.
impl Fleet {
    pub(crate) fn keygen(&self, name: &str) {
        let made = self.run(&["keygen", name]);
        assert!(made.status.success(), "{made:?}");
    }

    /// Writes the configuration of a node, with more lines at its end. `@` in them stands for the
    /// directory. Returns the name of the file.
    pub(crate) fn configure(&self, node: usize, more: &str) -> String {
        let name = format!("n{node}");
        let mut all = self.base(&name, &name);
        all.retain(|(key, _)| *key != "preempt" || !more.contains("preempt ="));
        let text = all.iter().fold(String::new(), line);
        self.write(&name, &(text + &more.replace('@', self.path().to_str().unwrap())))
    }

    /// Writes a configuration for a node under any name, with lines that may replace the usual
    /// ones. All nodes use `bully`, and wait long for a peer on a busy machine. Returns the name of
    /// the file.
    pub(crate) fn configure_as(&self, name: &str, node: &str, lines: &[(&str, String)]) -> String {
        let mut all = self.base(name, node);
        all.push(("algorithm", "\"bully\"".to_owned()));
        all.push(("timing", "{ suspect_after = \"5s\" }".to_owned()));
        for (key, value) in lines {
            all.retain(|(known, _)| known != key);
            all.push((key, value.clone()));
        }
        self.write(name, &all.iter().fold(String::new(), line))
    }

    fn base<'a>(&self, name: &str, node: &str) -> Vec<(&'a str, String)> {
        let path = |name: &str| format!("{:?}", self.file(name));
        vec![
            ("group", "\"billing\"".to_owned()),
            ("node", format!("\"{node}\"")),
            ("peers", peers((1..=self.nodes).map(|node| (node, self.peer(node))))),
            ("data_dir", path(&format!("data-{name}"))),
            ("key_file", path("group.key")),
            ("socket", path(&format!("{name}.sock"))),
            // Most tests let the highest node take over; those of leaders that stay say so.
            ("preempt", "\"always\"".to_owned()),
        ]
    }

    fn write(&self, name: &str, text: &str) -> String {
        let file = format!("{name}.toml");
        fs::write(self.file(&file), text).unwrap();
        file
    }

    /// Writes a script that may be a hook. `@` stands for the directory.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.file(name);
        let body = body.replace('@', self.path().to_str().unwrap());
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        set_mode(&path, 0o700);
        path
    }
}

/// A list of peers as configurations have it.
pub(crate) fn peers(all: impl IntoIterator<Item = (usize, SocketAddr)>) -> String {
    let all: Vec<String> =
        all.into_iter().map(|(node, address)| format!("\"n{node}={address}\"")).collect();
    format!("[{}]", all.join(", "))
}

/// Changes who may do what with a file.
pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn line(mut text: String, (key, value): &(&str, String)) -> String {
    writeln!(text, "{key} = {value}").unwrap();
    text
}

/// Processes.
impl Fleet {
    /// The program under test, in the directory. Everything that it starts can be found again.
    pub(crate) fn tanist(&self, arguments: &[&str]) -> Command {
        let mut command = tanist(self.path());
        command.args(arguments);
        self.mark(&mut command);
        command
    }

    /// Starts a command in the directory, and makes everything that it starts findable.
    pub(crate) fn mark(&self, command: &mut Command) {
        command.current_dir(self.path()).env(MARK, self.path());
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.tanist(arguments).output().unwrap()
    }

    /// Starts the agent of a configuration.
    pub(crate) fn start(&self, name: &str) -> Agent {
        self.spawn(name, &mut self.tanist(&["agent", "-c", &format!("{name}.toml")]))
    }

    /// Starts the agent of a configuration by any command.
    pub(crate) fn spawn(&self, name: &str, command: &mut Command) -> Agent {
        let file = |end: &str| {
            let path = self.file(&format!("{name}.{end}"));
            OpenOptions::new().create(true).append(true).open(path).unwrap()
        };
        let command = command.current_dir(self.path()).stdout(file("out")).stderr(file("log"));
        Agent::start(command, self.path(), name)
    }

    /// Starts the agents of some nodes, with the usual configuration, and waits until they are in
    /// one group.
    pub(crate) fn group(&self, nodes: &[&str]) -> Vec<Agent> {
        self.group_with(nodes, nodes)
    }

    /// The same, in one group with others that run already.
    pub(crate) fn group_with(&self, nodes: &[&str], all: &[&str]) -> Vec<Agent> {
        let start = |node: &&str| {
            self.configure_as(node, node, &[]);
            self.start(node)
        };
        let agents: Vec<Agent> = nodes.iter().map(start).collect();
        agents.iter().for_each(|agent| agent.members_are(all));
        agents
    }

    /// `tanist run` as a node of the fleet, with a shell script for a job.
    pub(crate) fn job(&self, node: usize, options: &[&str], script: &str) -> Command {
        let file = self.file(&format!("n{node}.toml"));
        let mut command = self.tanist(&["run", "-c", file.to_str().unwrap()]);
        command.args(options).args(["--", "sh", "-c", script]);
        command
    }

    /// What `tanist doctor` calls a problem of an agent, one line each.
    pub(crate) fn problems(&self, name: &str) -> String {
        let output = self.run(&["doctor", "--socket", &format!("{name}.sock"), "-o", "json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().iter();
        let all: Vec<String> = findings
            .filter(|finding| finding["severity"] == "problem")
            .map(|finding| format!("{}: {}", finding["place"], finding["what"]))
            .collect();
        assert_eq!(output.status.code(), Some(i32::from(!all.is_empty())), "{output:?}");
        all.join("\n")
    }

    /// The processes that were started from here and run.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mark = format!("{MARK}={}", self.path().display());
        let place = self.path().as_os_str().as_encoded_bytes();
        let is_ours = |process: &u32| {
            // The environment of a node is hidden from all but root; its arguments name its file.
            let read = |name| fs::read(format!("/proc/{process}/{name}")).unwrap_or_default();
            let (environment, arguments) = (read("environ"), read("cmdline"));
            let mut entries = environment.split(|byte| *byte == 0);
            let is_marked = entries.any(|entry| entry == mark.as_bytes())
                || arguments.split(|byte| *byte == 0).any(|argument| argument.starts_with(place));
            is_marked && is_running(*process)
        };
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }

    /// Waits until no process that was started from here runs.
    pub(crate) fn no_process_runs(&self) {
        let look = || self.processes().is_empty().then_some(());
        within(LIMIT, look, || format!("no process:\n{}", self.describe()));
    }

    /// No process that was started from here runs at this moment.
    pub(crate) fn no_process_runs_now(&self) {
        assert_eq!(self.describe(), "", "still there");
    }

    fn describe(&self) -> String {
        let read = |process, name| fs::read_to_string(format!("/proc/{process}/{name}"));
        let about =
            |process| format!("{:?} {:?}\n", read(process, "cmdline"), read(process, "stat"));
        self.processes().into_iter().map(about).collect()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let end = Instant::now() + LIMIT;
        // A killed process may just have started another, or make another node start one.
        loop {
            let left = self.processes();
            if left.is_empty() || Instant::now() > end {
                return;
            }
            left.into_iter().for_each(|process| signal(process, "-KILL"));
        }
    }
}

/// The variable by which a test finds what it has started.
const MARK: &str = "FLEET_OF_A_TEST";

/// The ports of all nodes are above these.
const PEERS: u16 = 7400;
const HTTP: u16 = 7500;
const AGENT_CHECK: u16 = 7600;
const SPARE: u16 = 7700;
