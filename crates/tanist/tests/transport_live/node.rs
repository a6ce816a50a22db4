//! A node for tests: a transport on a thread and runtime of its own, which can be killed.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, LazyLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tanist::key::{GroupKey, Identities, Keyring};
use tanist::settings::Settings;
use tanist::transport::introduction::About;
use tanist::transport::version::Versions;
use tanist::transport::{Config, Counters, Incoming, Limits, Secrets, Sockets, Ticket, Transport};
use tanist_core::membership::NodeId;
use tokio::sync::mpsc;

use crate::addresses::Host;

/// Long enough for a loaded machine; a test that waits so long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

type Command = Box<dyn FnOnce(&mut State) + Send>;

/// The state on the node's thread.
pub(crate) struct State {
    transport: Transport,
    is_draining: bool,
}

/// A running node.
pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) address: SocketAddr,
    commands: Option<mpsc::UnboundedSender<Command>>,
    incoming: Receiver<Incoming>,
    seen: RefCell<Vec<Incoming>>,
    thread: Option<JoinHandle<()>>,
}

/// How a node is set up, before it starts.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) key: GroupKey,
    /// More keys that are accepted.
    pub(crate) more: Vec<GroupKey>,
    pub(crate) identities: Option<Identities>,
    pub(crate) versions: Versions,
    pub(crate) settings: Settings,
    pub(crate) group: &'static str,
    pub(crate) limits: Limits,
}

/// The settings that all nodes of a test share.
pub(crate) fn settings() -> Settings {
    Settings {
        digest: [1; 16],
        text: "algorithm=bully\n".to_owned(),
        defaults: String::new(),
        names: Default::default(),
    }
}

impl Plan {
    pub(crate) fn new() -> Self {
        let limits = Limits { backoff_min: Duration::from_millis(1), ..Limits::default() };
        Self {
            key: GroupKey::generate().unwrap(),
            more: Vec::new(),
            identities: None,
            versions: Versions::RELEASED,
            settings: settings(),
            group: "jobs",
            limits,
        }
    }

    /// Nodes 1 to n that all know each other.
    pub(crate) fn start(&self, n: u32) -> Vec<Node> {
        let sockets: Vec<Sockets> = (0..n).map(|_| bind()).collect();
        let peers: Vec<(NodeId, String)> =
            (1..).zip(&sockets).map(|(id, own)| (NodeId(id), own.address().to_string())).collect();
        (1..).zip(sockets).map(|(id, own)| self.start_one(id, own, &peers)).collect()
    }

    pub(crate) fn secrets(&self) -> Secrets {
        let mut keyring = Keyring::of(self.key.clone());
        for key in &self.more {
            keyring.add(key.clone()).unwrap();
        }
        let identities = self.identities.clone();
        Secrets { keyring, identities: identities.unwrap_or(Identities::unconfigured().unwrap()) }
    }

    /// One node on these sockets.
    pub(crate) fn start_one(&self, id: u32, own: Sockets, peers: &[(NodeId, String)]) -> Node {
        let config = Config {
            me: NodeId(id),
            group: Arc::from(self.group),
            secrets: self.secrets(),
            settings: self.settings.clone(),
            about: About::release(),
            versions: self.versions,
            peers: peers.to_vec(),
            limits: self.limits.clone(),
        };
        Node::start(config, own)
    }
}

pub(crate) fn bind() -> Sockets {
    Sockets::bind("127.0.0.1:0").unwrap()
}

/// An address where no process listens, another one each time.
pub(crate) fn unused_address() -> String {
    static HOST: LazyLock<Host> = LazyLock::new(Host::claim);
    static NEXT: AtomicU16 = AtomicU16::new(7400);
    HOST.port(NEXT.fetch_add(1, Ordering::Relaxed)).to_string()
}

impl Node {
    fn start(config: Config, sockets: Sockets) -> Self {
        let (id, address) = (config.me, sockets.address());
        let (commands, mut received) = mpsc::unbounded_channel::<Command>();
        let (out, incoming) = channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.unwrap();
            runtime.block_on(async move {
                let (sender, mut driver) = mpsc::channel(16);
                let transport = Transport::start(config, sockets, sender).unwrap();
                let mut state = State { transport, is_draining: true };
                loop {
                    tokio::select! {
                        command = received.recv() => match command {
                            Some(command) => command(&mut state),
                            None => return,
                        },
                        Some(event) = driver.recv(), if state.is_draining => {
                            // The test may have ended already.
                            let _ = out.send(event);
                        }
                    }
                }
            });
        });
        let seen = RefCell::default();
        Self { id, address, commands: Some(commands), incoming, seen, thread: Some(thread) }
    }

    /// Does something on the node's thread and waits for the result.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        action: impl FnOnce(&mut Transport) -> T + Send + 'static,
    ) -> T {
        let (out, result) = channel();
        self.command(move |state| {
            out.send(action(&mut state.transport)).unwrap();
        });
        result.recv_timeout(PATIENCE).expect("the node's thread answers")
    }

    /// Does something on the node's thread, without waiting for it.
    pub(crate) fn post(&self, action: impl FnOnce(&mut Transport) + Send + 'static) {
        self.command(move |state| action(&mut state.transport));
    }

    fn command(&self, command: impl FnOnce(&mut State) + Send + 'static) {
        let commands = self.commands.as_ref().unwrap();
        assert!(commands.send(Box::new(command)).is_ok(), "{} runs", self.id);
    }

    /// Whether the driver of this node takes incoming events.
    pub(crate) fn drain(&self, is_draining: bool) {
        self.command(move |state| state.is_draining = is_draining);
    }

    pub(crate) fn send(&self, to: &Self, id: u64) -> Ticket {
        self.send_bytes(to.id, id, Vec::new())
    }

    pub(crate) fn send_bytes(&self, to: NodeId, id: u64, payload: Vec<u8>) -> Ticket {
        self.call(move |transport| transport.send(to, id, payload))
    }

    pub(crate) fn counters(&self) -> Counters {
        self.call(|transport| transport.counters())
    }

    pub(crate) fn is_connected(&self, to: &Self) -> bool {
        let to = to.id;
        self.call(move |transport| {
            transport.peers().iter().any(|peer| peer.id == to && peer.is_connected)
        })
    }

    /// Waits until the events since the start satisfy a condition.
    pub(crate) fn until<T>(&self, what: &str, condition: impl Fn(&[Incoming]) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.seen.borrow_mut().extend(self.incoming.try_iter());
            if let Some(found) = condition(&self.seen.borrow()) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(event) = self.incoming.recv_timeout(left) else {
                let seen = self.seen.borrow();
                let seen: Vec<_> = seen.iter().filter(|event| !is_frame(event)).collect();
                let counters = self.counters();
                panic!("{}: {what} did not come; {counters:?}; evidence: {seen:?}", self.id);
            };
            self.seen.borrow_mut().push(event);
        }
    }

    /// Waits until the counters satisfy a condition.
    pub(crate) fn until_counted(&self, what: &str, condition: impl Fn(&Counters) -> bool) {
        until(&format!("{}: {what}", self.id), || {
            let counters = self.counters();
            if condition(&counters) { Ok(()) } else { Err(format!("{counters:?}")) }
        });
    }

    /// The ids of all frames from a node so far.
    pub(crate) fn frames_from(&self, from: &Self) -> Vec<u64> {
        self.until("anything", |seen| Some(frames_from(seen, from.id)))
    }

    /// Waits for so many frames from a node; returns their ids.
    pub(crate) fn expect_frames(&self, from: &Self, count: usize) -> Vec<u64> {
        let from = from.id;
        self.until(&format!("{count} frames of {from}"), |seen| {
            Some(frames_from(seen, from)).filter(|frames| frames.len() >= count)
        })
    }

    /// Waits for evidence that a peer is gone with this ticket.
    pub(crate) fn expect_gone(&self, peer: NodeId, ticket: Ticket) {
        self.until(&format!("Gone of {peer} with {ticket:?}"), |seen| {
            seen.contains(&Incoming::Gone { peer, ticket }).then_some(())
        });
    }

    /// Waits for this many processes of a peer; returns the last.
    pub(crate) fn expect_met(&self, peer: NodeId, count: usize) -> u64 {
        self.until(&format!("Met of {peer}, {count} times"), |seen| {
            let met: Vec<u64> = seen.iter().filter_map(|event| met(event, peer)).collect();
            met.last().copied().filter(|_| met.len() >= count)
        })
    }

    /// How often a peer was reported gone so far.
    pub(crate) fn gone_count(&self) -> usize {
        self.until("anything", |seen| {
            Some(seen.iter().filter(|event| matches!(event, Incoming::Gone { .. })).count())
        })
    }

    /// Ends the node as a crash does: its sockets close without a farewell.
    pub(crate) fn kill(mut self) -> SocketAddr {
        self.stop();
        self.address
    }

    fn stop(&mut self) {
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let result = thread.join();
            assert!(result.is_ok() || std::thread::panicking(), "the node's thread panicked");
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Polls until a condition holds; the error describes the current state.
pub(crate) fn until(what: &str, condition: impl Fn() -> Result<(), String>) {
    let deadline = Instant::now() + PATIENCE;
    while let Err(found) = condition() {
        assert!(Instant::now() < deadline, "{what} did not come: {found}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn frames_from(seen: &[Incoming], peer: NodeId) -> Vec<u64> {
    let frame = |event: &Incoming| match event {
        Incoming::Frame { from, id, .. } if *from == peer => Some(*id),
        Incoming::Frame { .. }
        | Incoming::Datagram { .. }
        | Incoming::Gone { .. }
        | Incoming::Met { .. }
        | Incoming::Twin { .. } => None,
    };
    seen.iter().filter_map(frame).collect()
}

fn met(event: &Incoming, of: NodeId) -> Option<u64> {
    match event {
        Incoming::Met { peer, incarnation } if *peer == of => Some(*incarnation),
        Incoming::Frame { .. }
        | Incoming::Datagram { .. }
        | Incoming::Gone { .. }
        | Incoming::Met { .. }
        | Incoming::Twin { .. } => None,
    }
}

fn is_frame(event: &Incoming) -> bool {
    matches!(event, Incoming::Frame { .. } | Incoming::Datagram { .. })
}
