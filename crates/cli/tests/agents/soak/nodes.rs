//! Three nodes, each `tanist run -c` with the timings of a default configuration, HTTP, an agent
//! check, and a stderr that is full and never read.

use std::fs;
use std::io::{ErrorKind, PipeReader, Write};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::support::agent::Process;
use crate::support::fleet::Fleet;

/// A job that records when it runs beside another one, and its process id.
const JOB: &str =
    "exec 9>>lock; flock -n 9 || echo \"$TANIST_NODE $TANIST_GROUP_NUMBER\" >> overlaps
    echo $$ >> jobs; exec sleep 100000";

/// Three nodes, and where they can be attacked.
pub(crate) struct Nodes {
    pub(crate) fleet: Fleet,
    pub(crate) all: Vec<Node>,
}

pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) peer: SocketAddr,
    pub(crate) http: SocketAddr,
    pub(crate) check: SocketAddr,
    running: Option<Running>,
}

struct Running {
    process: Process,
    /// Kept open, so that a write to stderr blocks instead of failing.
    _stderr: PipeReader,
}

impl Nodes {
    /// Configurations of three nodes. None runs.
    pub(crate) fn new() -> Self {
        let fleet = Fleet::new(3);
        let node = |id: usize| {
            let (http, check) = (fleet.http(id), fleet.agent_check(id));
            let listen = format!("[http]\nlisten = \"{http}\"\nagent_check = \"{check}\"\n");
            fleet.configure(id, &listen);
            Node { name: format!("n{id}"), peer: fleet.peer(id), http, check, running: None }
        };
        let all = (1..=3).map(node).collect();
        Self { fleet, all }
    }

    pub(crate) fn start(&mut self) {
        for (at, node) in (1..).zip(&mut self.all) {
            let (reader, writer) = full_pipe();
            let mut command = self.fleet.job(at, &["--grace", "2s"], JOB);
            let process = Process::start(command.stderr(writer));
            node.running = Some(Running { process, _stderr: reader });
        }
    }

    /// The jobs that run at this moment.
    pub(crate) fn jobs(&self) -> usize {
        let jobs = self.fleet.read("jobs");
        let is_running = |job: &&str| {
            let command = fs::read(format!("/proc/{job}/cmdline")).unwrap_or_default();
            command.starts_with(b"sleep\x00100000")
        };
        jobs.lines().filter(is_running).count()
    }
}

impl Node {
    pub(crate) fn process(&self) -> u32 {
        self.running.as_ref().unwrap().process.id()
    }

    /// Fails if the node has ended.
    pub(crate) fn is_running(&mut self) {
        let ended = self.running.as_mut().unwrap().process.ended();
        assert_eq!(ended, None, "{} has ended", self.name);
    }
}

/// A pipe that is full and never read: a blocking write never returns.
fn full_pipe() -> (PipeReader, Stdio) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    let block = [b'.'; 4096];
    let full = std::iter::repeat_with(|| writer.write(&block)).find_map(Result::err).unwrap();
    assert_eq!(full.kind(), ErrorKind::WouldBlock);
    fcntl_setfl(&writer, flags).unwrap();
    (reader, Stdio::from(OwnedFd::from(writer)))
}
