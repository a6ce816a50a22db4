//! Agents that serve HTTP, described by files of their own.

use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

/// What allows actions in these tests.
pub(crate) const TOKEN: &str = "correct-horse-battery-staple";

pub(crate) struct Agents {
    directory: tempfile::TempDir,
    nodes: Vec<Node>,
    more: String,
}

struct Node {
    child: Option<Child>,
    peer: SocketAddr,
    http: SocketAddr,
    check: SocketAddr,
}

impl Agents {
    /// So many agents, with these lines at the top of their files.
    pub(crate) fn start(count: usize, more: &str) -> Self {
        let mut agents = Self::describe(count, more);
        for node in 1..=count {
            agents.launch(node);
        }
        agents
    }

    /// The same, before anybody runs.
    pub(crate) fn describe(count: usize, more: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let node = |_| Node { child: None, peer: free(), http: free(), check: free() };
        let nodes = (0..count).map(node).collect();
        let agents = Self { directory, nodes, more: more.to_owned() };
        let token = agents.path("token");
        std::fs::write(&token, format!("{TOKEN}\n")).unwrap();
        std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(agents.command().args(["keygen", "group.key"]).status().unwrap().success());
        agents
    }

    pub(crate) fn launch(&mut self, node: usize) {
        let file = self.write(node, "token_file = \"token\"\n");
        let child = self
            .command()
            .args(["agent", "-c", &file])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.nodes[node - 1].child = Some(child.unwrap());
    }

    /// Writes the file of a node, with these lines in its table for HTTP.
    pub(crate) fn write(&self, node: usize, http: &str) -> String {
        let peers: Vec<String> =
            (1..).zip(&self.nodes).map(|(id, node)| format!("\"n{id}={}\"", node.peer)).collect();
        let Node { http: listen, check, .. } = &self.nodes[node - 1];
        let text = format!(
            "group = \"billing\"\nnode = \"n{node}\"\npeers = [{}]\ndata_dir = \"data{node}\"\n\
             key_file = \"group.key\"\nsocket = \"n{node}.sock\"\n{}\n[http]\n\
             listen = \"{listen}\"\nagent_check = \"{check}\"\n{http}",
            peers.join(", "),
            self.more,
        );
        let name = format!("n{node}.toml");
        std::fs::write(self.path(&name), text).unwrap();
        name
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tanist"));
        command.current_dir(self.directory.path());
        command
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn peer(&self, node: usize) -> SocketAddr {
        self.nodes[node - 1].peer
    }

    pub(crate) fn http(&self, node: usize) -> SocketAddr {
        self.nodes[node - 1].http
    }

    pub(crate) fn check(&self, node: usize) -> SocketAddr {
        self.nodes[node - 1].check
    }

    pub(crate) fn process(&self, node: usize) -> u32 {
        self.nodes[node - 1].child.as_ref().unwrap().id()
    }

    /// Kills a node where it stands.
    pub(crate) fn kill(&mut self, node: usize) {
        let mut child = self.nodes[node - 1].child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Waits for the end of a node that was told to end; its exit code.
    pub(crate) fn ends(&mut self, node: usize) -> Option<i32> {
        let mut child = self.nodes[node - 1].child.take().unwrap();
        child.wait().unwrap().code()
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        for child in self.nodes.iter_mut().filter_map(|node| node.child.as_mut()) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// An address that nobody uses, below those that the system gives to connections, and another one
/// for every test process.
pub(crate) fn free() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let base = 10_000 + u16::try_from(std::process::id() % 180).unwrap() * 100;
    let mut ports = (0..100).map(|_| base + NEXT.fetch_add(1, Ordering::Relaxed) % 100);
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = ports.find(is_free).expect("one of a hundred ports is free");
    SocketAddr::from(([127, 0, 0, 1], port))
}
