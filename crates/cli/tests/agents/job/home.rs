//! A directory with everything that the nodes of a group need, and their processes.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::dev::{LIMIT, tanist};

/// A group's directory. When it is dropped, whatever was started in it is killed.
pub(crate) struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    /// For nodes n1 to nN, with more lines for their files.
    pub(crate) fn new(nodes: usize, more: &str) -> Self {
        let home = Self { directory: tempfile::tempdir().unwrap() };
        let made = tanist(home.path()).arg("keygen").arg(home.file("group.key")).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        let peers: Vec<String> =
            (1..=nodes).map(|node| format!("n{node}=127.0.0.1:{}", free_port())).collect();
        for node in 1..=nodes {
            let path = |name: String| format!("{:?}", home.file(&name));
            let text = format!(
                "group = \"billing\"\nnode = \"n{node}\"\npeers = {peers:?}\n\
                 data_dir = {}\nkey_file = {}\nsocket = {}\n{more}",
                path(format!("data{node}")),
                path("group.key".to_owned()),
                path(format!("n{node}.sock")),
            );
            fs::write(home.file(&format!("n{node}.toml")), text).unwrap();
        }
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// What a file holds; nothing if it is not there.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    /// Waits until a file holds something that passes, and gives it.
    pub(crate) fn read_when(&self, name: &str, passes: impl Fn(&str) -> bool) -> String {
        until(&format!("{name} to be as wanted"), || {
            let text = self.read(name);
            passes(&text).then_some(text)
        })
    }

    /// The program under test, in this directory. Everything that it starts can be found again.
    pub(crate) fn tanist(&self, arguments: &[&str]) -> Command {
        let mut command = tanist(self.path());
        command.args(arguments).current_dir(self.path()).env(MARK, self.path());
        command
    }

    /// `tanist run` as node N of the group, with a shell script for a job.
    pub(crate) fn run(&self, node: usize, options: &[&str], script: &str) -> Command {
        let file = self.file(&format!("n{node}.toml"));
        let mut command = self.tanist(&["run", "-c", file.to_str().unwrap()]);
        command.args(options).args(["--", "sh", "-c", script]);
        command
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
            is_marked && crate::support::dev::is_running(*process)
        };
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }

    /// Waits until nothing that was started from here runs.
    pub(crate) fn is_deserted(&self) {
        let end = Instant::now() + LIMIT;
        while !self.processes().is_empty() {
            assert!(Instant::now() < end, "still there:\n{}", self.describe());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Nothing that was started from here runs at this moment.
    pub(crate) fn is_deserted_already(&self) {
        let left = self.describe();
        assert_eq!(left, "", "still there");
    }

    fn describe(&self) -> String {
        let read = |process, name| fs::read_to_string(format!("/proc/{process}/{name}"));
        let about =
            |process| format!("{:?} {:?}\n", read(process, "cmdline"), read(process, "stat"));
        self.processes().into_iter().map(about).collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let end = Instant::now() + LIMIT;
        // What is killed may just have started something, or make another node start it.
        loop {
            let left = self.processes();
            if left.is_empty() || Instant::now() > end {
                return;
            }
            left.into_iter().for_each(|process| signal(process, "-KILL"));
        }
    }
}

/// A process of a test, killed with it.
pub(crate) struct Started(pub(crate) Child);

impl Started {
    pub(crate) fn new(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.0.id(), name);
    }

    /// Waits for its end.
    pub(crate) fn ends(&mut self) -> ExitStatus {
        let child = &mut self.0;
        until("the end of a process", || child.try_wait().unwrap())
    }

    /// Waits for its end, and gives the exit code.
    pub(crate) fn code(&mut self) -> i32 {
        let status = self.ends();
        status.code().unwrap_or_else(|| panic!("it was killed: {status}"))
    }
}

impl Deref for Started {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a signal to a process, which may have ended.
pub(crate) fn signal(process: u32, name: &str) {
    let mut kill = Command::new("kill");
    kill.args([name, &process.to_string()]).stderr(Stdio::null()).status().unwrap();
}

/// Looks until there is something to see.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A port that nobody uses, below those that the system gives to connections.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Apart from those of other fleets in the same program, and more than all its tests need.
    let base = 12_000 + u16::try_from(std::process::id() % 8).unwrap() * 1000;
    let mut ports = (0..1000).map(|_| base + NEXT.fetch_add(1, Ordering::Relaxed) % 1000);
    let is_free = |port: &u16| {
        let tcp = TcpListener::bind(("127.0.0.1", *port));
        tcp.is_ok() && UdpSocket::bind(("127.0.0.1", *port)).is_ok()
    };
    ports.find(is_free).expect("one of a thousand ports is free")
}

/// The variable by which a test finds what it has started.
const MARK: &str = "TANIST_TEST_HOME";
