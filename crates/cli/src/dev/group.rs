//! A group of real agent processes on this machine, and everything that can be done to it.
//!
//! Every agent is a child that writes its changes to stdout and is killed with its parent. The
//! caller must start them from the main thread, since "parent" means the thread that forked.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use tanist::{GroupKey, NodeId, NodeNames, clock};
use tanist_core::Time;

use super::harness::Harness;
use super::places;
use super::plan::Plan;
use crate::agent::change::{Changed, RoleChange};
use crate::control::client::Client;
use crate::control::protocol::Ask;

/// A group that runs.
#[derive(Debug)]
pub(crate) struct LocalGroup {
    directory: PathBuf,
    pub(super) nodes: BTreeMap<NodeId, LocalNode>,
    received: Receiver<Report>,
    sender: Sender<Report>,
    harness: Option<Harness>,
    /// Whether members learn from their coordinator who else is one.
    pub(super) knows_members: bool,
    /// Who is in one group with whom when all is well.
    pub(super) groups: Vec<Vec<NodeId>>,
    cut: Option<(Vec<NodeId>, Vec<NodeId>)>,
}

/// One of its nodes.
#[derive(Debug)]
pub(super) struct LocalNode {
    child: Option<Child>,
    is_paused: bool,
    incarnation: u32,
    /// What it said last.
    pub(super) last: Option<RoleChange>,
}

#[derive(Debug)]
enum Report {
    Change { node: NodeId, incarnation: u32, line: Box<RoleChange> },
    Closed { node: NodeId, incarnation: u32 },
}

/// Something that a group did.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    /// A node took a role.
    Change(RoleChange),
    /// A node stopped by itself, with this explanation.
    Stopped(NodeId, String),
    /// A node ended before it said anything: it could not start.
    Refused(NodeId, String),
}

impl LocalGroup {
    /// Starts all nodes of a plan, with everything that they write in one directory.
    pub(crate) fn start(plan: &Plan, directory: &Path) -> anyhow::Result<Self> {
        places::private(directory)?;
        GroupKey::generate()?.write_new(&directory.join("group.key"))?;
        let ids: Vec<NodeId> = (1..=plan.nodes).map(NodeId).collect();
        let peers: Vec<String> = ids
            .iter()
            .zip(plan.ports()?)
            .map(|(id, port)| format!("{id}=127.0.0.1:{port}"))
            .collect();
        let traces = directory.join("traces");
        if plan.is_traced {
            places::private(&traces)?;
        }
        let (sender, received) = mpsc::channel();
        let mut group = Self {
            directory: directory.to_owned(),
            nodes: BTreeMap::new(),
            received,
            sender,
            harness: plan.is_traced.then(|| Harness::new(&traces)),
            knows_members: plan.algorithm.descriptor().handover.is_some(),
            groups: plan.groups()?,
            cut: None,
        };
        for id in ids {
            let text = plan.agent_file(directory, id, &peers);
            std::fs::write(directory.join(format!("{id}.toml")), text)?;
            group.nodes.insert(
                id,
                LocalNode { child: None, is_paused: false, incarnation: 0, last: None },
            );
            group.spawn(id)?;
        }
        Ok(group)
    }

    /// The nodes of the plan.
    pub(crate) fn ids(&self) -> Vec<NodeId> {
        self.nodes.keys().copied().collect()
    }

    /// The nodes that run and are not stopped.
    pub(crate) fn awake(&self) -> Vec<NodeId> {
        let nodes = self.nodes.iter();
        nodes.filter(|(_, node)| node.is_awake()).map(|(id, _)| *id).collect()
    }

    /// The groups that stand at the moment, by coordinator.
    pub(crate) fn groups(&self) -> BTreeMap<NodeId, Vec<NodeId>> {
        let mut groups: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for (id, node) in self.nodes.iter().filter(|(_, node)| node.is_awake()) {
            let last = node.last.as_ref().filter(|last| last.is_in_group());
            if let Some(coordinator) = last.and_then(|last| last.coordinator) {
                groups.entry(coordinator).or_default().push(*id);
            }
        }
        groups
    }

    /// The process of a node, while it runs.
    pub(crate) fn process(&self, id: NodeId) -> Option<u32> {
        self.nodes.get(&id)?.child.as_ref().map(Child::id)
    }

    /// Kills a node where it stands; says just before when that was.
    pub(crate) fn kill(&mut self, id: NodeId) -> anyhow::Result<Time> {
        let node = self.running(id)?;
        let Some(mut child) = node.child.take() else { bail!("error: {id} is not running") };
        node.is_paused = false;
        node.last = None;
        let at = clock::now();
        child.kill()?;
        child.wait()?;
        self.note(|harness| harness.crash(at, id))?;
        Ok(at)
    }

    /// Stops a node as if its machine hung; says just before when that was.
    pub(crate) fn pause(&mut self, id: NodeId) -> anyhow::Result<Time> {
        let node = self.running(id)?;
        if node.is_paused {
            bail!("error: {id} is stopped already; let it go on with: tanist dev resume {id}");
        }
        node.is_paused = true;
        let at = clock::now();
        node.signal(Signal::STOP)?;
        self.note(|harness| harness.pause(at, id))?;
        Ok(at)
    }

    /// Lets a stopped node go on.
    pub(crate) fn resume(&mut self, id: NodeId) -> anyhow::Result<()> {
        let node = self.running(id)?;
        if !node.is_paused {
            bail!("error: {id} is not stopped");
        }
        node.is_paused = false;
        let at = clock::now();
        node.signal(Signal::CONT)?;
        self.note(|harness| harness.resume(at, id))
    }

    /// Starts a node again on its own disk; one that runs is killed first.
    pub(crate) fn restart(&mut self, id: NodeId) -> anyhow::Result<()> {
        if self.node(id)?.child.is_some() {
            self.kill(id)?;
        }
        self.spawn(id)
    }

    /// Cuts every link between these nodes and the others.
    pub(crate) fn cut(&mut self, side: &[NodeId]) -> anyhow::Result<()> {
        if self.cut.is_some() {
            self.heal()?;
        }
        for id in side {
            self.node(*id)?;
        }
        let other: Vec<NodeId> = self.ids().into_iter().filter(|id| !side.contains(id)).collect();
        if side.is_empty() || other.is_empty() {
            bail!("error: a cut needs nodes on both sides");
        }
        self.cut = Some((side.to_vec(), other.clone()));
        self.note(|harness| harness.cut(side, &other))?;
        for id in self.awake() {
            self.apply_cut(id)?;
        }
        Ok(())
    }

    /// Makes every link whole.
    pub(crate) fn heal(&mut self) -> anyhow::Result<()> {
        let Some((one, other)) = self.cut.take() else { return Ok(()) };
        for id in self.awake() {
            self.ask::<serde_json::Value>(id, &Ask::Heal)?;
        }
        self.note(|harness| harness.heal(&one, &other))
    }

    /// Asks a node something over its socket.
    pub(crate) fn ask<R: serde::de::DeserializeOwned>(
        &self,
        id: NodeId,
        ask: &Ask,
    ) -> anyhow::Result<R> {
        let socket = places::socket_of(&self.directory, &id.to_string());
        Client::connect(&socket)?.ask(ask)
    }

    /// Waits for the next thing that the group does, up to a limit.
    pub(crate) fn next(&mut self, limit: Duration) -> anyhow::Result<Option<Seen>> {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.received.recv_timeout(left) {
                Ok(received) => {
                    if let Some(seen) = self.take(received)? {
                        return Ok(Some(seen));
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// Every node in a line.
    pub(crate) fn describe(&self) -> String {
        let line = |(id, node): (&NodeId, &LocalNode)| match (&node.child, &node.last) {
            (None, _) => format!("  {id} is down\n"),
            (Some(_), _) if node.is_paused => format!("  {id} is stopped\n"),
            (Some(_), Some(last)) => format!("  {}\n", last.text),
            (Some(_), None) => format!("  {id} has said nothing yet\n"),
        };
        self.nodes.iter().map(line).collect()
    }

    fn spawn(&mut self, id: NodeId) -> anyhow::Result<()> {
        let program = std::env::current_exe().context("error: where is this program?")?;
        let mut child = Command::new(program)
            .args(["agent", "--dev", "-o", "ndjson", "-c"])
            .arg(self.directory.join(format!("{id}.toml")))
            // A Ctrl-C at the terminal is for the process that runs the group.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log_of(&self.directory, id)?)
            .spawn()
            .with_context(|| format!("error: cannot start {id}"))?;
        let stdout = child.stdout.take().context("error: the child has no stdout")?;
        let node = self.node(id)?;
        node.incarnation += 1;
        node.child = Some(child);
        node.is_paused = false;
        node.last = None;
        let incarnation = node.incarnation;
        let sender = self.sender.clone();
        thread::Builder::new()
            .name(format!("hears-{id}"))
            .spawn(move || read_changes(id, incarnation, stdout, &sender))?;
        Ok(())
    }

    fn take(&mut self, received: Report) -> anyhow::Result<Option<Seen>> {
        match received {
            Report::Change { node: id, incarnation, line } => {
                let node = self.node(id)?;
                if node.incarnation != incarnation || node.child.is_none() {
                    return Ok(None);
                }
                if line.event == Changed::Activity {
                    return Ok(None);
                }
                let is_first = node.last.is_none();
                node.last = Some((*line).clone());
                if is_first && self.cut.is_some() {
                    self.apply_cut(id)?;
                }
                Ok(Some(Seen::Change(*line)))
            }
            Report::Closed { node: id, incarnation } => {
                let node = self.node(id)?;
                if node.incarnation != incarnation {
                    return Ok(None);
                }
                let Some(mut child) = node.child.take() else { return Ok(None) };
                let has_started = node.last.take().is_some();
                let status = child.wait()?;
                self.note(|harness| harness.crash(clock::now(), id))?;
                let log = std::fs::read_to_string(self.directory.join(format!("{id}.log")));
                let why = match status.signal() {
                    Some(signal) => format!("killed by signal {signal}"),
                    None => log.unwrap_or_default().lines().last().unwrap_or("").to_owned(),
                };
                let seen = if has_started { Seen::Stopped } else { Seen::Refused };
                Ok(Some(seen(id, why)))
            }
        }
    }

    fn apply_cut(&self, id: NodeId) -> anyhow::Result<()> {
        let Some((one, other)) = &self.cut else { return Ok(()) };
        let away = if one.contains(&id) { other } else { one };
        let peers = away.iter().map(|peer| peer.to_string()).collect();
        self.ask::<serde_json::Value>(id, &Ask::Cut { peers }).map(|_| ())
    }

    fn note(
        &mut self,
        what: impl FnOnce(&mut Harness) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.harness.as_mut().map_or(Ok(()), what)
    }

    fn node(&mut self, id: NodeId) -> anyhow::Result<&mut LocalNode> {
        let known: Vec<String> = self.nodes.keys().map(|id| id.to_string()).collect();
        let wrong = || format!("error: there is no {id}; there is {}", known.join(" "));
        self.nodes.get_mut(&id).with_context(wrong)
    }

    fn running(&mut self, id: NodeId) -> anyhow::Result<&mut LocalNode> {
        let node = self.node(id)?;
        if node.child.is_none() {
            bail!("error: {id} is not running; start it with: tanist dev restart {id}");
        }
        Ok(node)
    }
}

impl Drop for LocalGroup {
    fn drop(&mut self) {
        // All are stopped before the first is killed, so that no election begins in the last
        // moment. What cannot be stopped or killed is gone already.
        for node in self.nodes.values() {
            let _ = node.signal(Signal::STOP);
        }
        for child in self.nodes.values_mut().filter_map(|node| node.child.as_mut()) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl LocalNode {
    const fn is_awake(&self) -> bool {
        self.child.is_some() && !self.is_paused
    }

    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let process = self.child.as_ref().and_then(|child| i32::try_from(child.id()).ok());
        let process = process.and_then(Pid::from_raw).context("error: no such process")?;
        Ok(kill_process(process, signal)?)
    }
}

fn read_changes(node: NodeId, incarnation: u32, stdout: ChildStdout, sender: &Sender<Report>) {
    for line in BufReader::new(stdout).lines() {
        let Ok(line) = line else { break };
        // Nodes of a local group have no names.
        let line = serde_json::from_str::<RoleChange<String>>(&line)
            .map(|line| Box::new(line.numbered(&NodeNames::default())));
        if let Ok(line) = line
            && sender.send(Report::Change { node, incarnation, line }).is_err()
        {
            return;
        }
    }
    // An error means that the group is gone.
    let _ = sender.send(Report::Closed { node, incarnation });
}

fn log_of(directory: &Path, id: NodeId) -> anyhow::Result<Stdio> {
    let path = directory.join(format!("{id}.log"));
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
    Ok(Stdio::from(file))
}
