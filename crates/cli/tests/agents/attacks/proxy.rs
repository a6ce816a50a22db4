//! A proxy in front of an agent's peer port. It relays connections and datagrams, records what a
//! dialler sends first, and breaks and holds connections when a test asks for it.
//!
//! Assumes nothing about the bytes that it relays.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The proxy of one agent. It ends when it is dropped.
pub(crate) struct Proxy {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    /// Where the proxy listens, for TCP and UDP.
    address: SocketAddr,
    /// Where the agent listens.
    agent: Mutex<SocketAddr>,
    /// Locked while a connection is accepted.
    listener: Mutex<TcpListener>,
    is_held: AtomicBool,
    is_ended: AtomicBool,
    /// Both sides of every connection.
    streams: Mutex<Vec<TcpStream>>,
    /// The first bytes of every dialler, in the order in which they were read.
    openings: Mutex<Vec<Vec<u8>>>,
}

impl Proxy {
    pub(crate) fn start(address: SocketAddr, agent: SocketAddr) -> Self {
        let shared = Arc::new(Shared {
            address,
            agent: Mutex::new(agent),
            listener: Mutex::new(listen(address)),
            is_held: AtomicBool::new(false),
            is_ended: AtomicBool::new(false),
            streams: Mutex::default(),
            openings: Mutex::default(),
        });
        let udp = UdpSocket::bind(address).unwrap();
        udp.set_read_timeout(Some(LOOK)).unwrap();
        let (tcp, datagrams) = (Arc::clone(&shared), Arc::clone(&shared));
        let threads = vec![
            thread::spawn(move || relay_connections(&tcp)),
            thread::spawn(move || relay_datagrams(&datagrams, &udp)),
        ];
        Self { shared, threads }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// Relays to another process from here on.
    pub(crate) fn point_at(&self, agent: SocketAddr) {
        *self.shared.agent.lock().unwrap() = agent;
    }

    /// The first bytes of each dialler so far.
    pub(crate) fn openings(&self) -> Vec<Vec<u8>> {
        self.shared.openings.lock().unwrap().clone()
    }

    /// Breaks all connections. New ones are relayed as before.
    pub(crate) fn cut(&self) {
        for stream in self.shared.streams.lock().unwrap().drain(..) {
            // The agent may have closed it already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Accepts no new connections: the kernel queues them, and nothing is relayed.
    pub(crate) fn hold(&self) {
        self.shared.is_held.store(true, Ordering::Relaxed);
        // A connection that is being accepted is accepted before this returns.
        drop(self.shared.listener.lock().unwrap());
    }

    /// Relays the queued connections, and new ones.
    pub(crate) fn release(&self) {
        self.shared.is_held.store(false, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_ended.store(true, Ordering::Relaxed);
        self.cut();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn listen(address: SocketAddr) -> TcpListener {
    let listener = TcpListener::bind(address).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

fn relay_connections(shared: &Arc<Shared>) {
    while !shared.is_ended.load(Ordering::Relaxed) {
        let accepted = {
            let listener = shared.listener.lock().unwrap();
            let is_held = shared.is_held.load(Ordering::Relaxed);
            Some(&*listener).filter(|_| !is_held).and_then(|listener| listener.accept().ok())
        };
        match accepted {
            Some((dialler, _)) => relay(shared, dialler),
            None => thread::sleep(PAUSE),
        }
    }
}

/// Relays one connection, in two threads that end with it.
fn relay(shared: &Arc<Shared>, dialler: TcpStream) {
    dialler.set_nonblocking(false).unwrap();
    let agent = *shared.agent.lock().unwrap();
    // Without an agent the dialler sees its connection closed.
    let Ok(listener) = TcpStream::connect(agent) else { return };
    let clone = |stream: &TcpStream| {
        stream.set_nodelay(true).unwrap();
        stream.try_clone().unwrap()
    };
    let (from_dialler, from_listener) = (clone(&dialler), clone(&listener));
    shared.streams.lock().unwrap().extend([clone(&dialler), clone(&listener)]);
    let recorder = Arc::clone(shared);
    thread::spawn(move || {
        pump(from_dialler, listener, |opening| {
            recorder.openings.lock().unwrap().push(opening.to_vec());
        });
    });
    thread::spawn(move || pump(from_listener, dialler, |_| {}));
}

/// Copies bytes until one side ends, and then ends the other. Calls `tell` with the first bytes.
fn pump(mut from: TcpStream, mut to: TcpStream, tell: impl FnOnce(&[u8])) {
    let mut buffer = vec![0; 64 << 10];
    let mut tell = Some(tell);
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..length];
        if let Some(tell) = tell.take() {
            tell(bytes);
        }
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

fn relay_datagrams(shared: &Shared, udp: &UdpSocket) {
    let mut buffer = vec![0; 64 << 10];
    while !shared.is_ended.load(Ordering::Relaxed) {
        if let Ok((length, _)) = udp.recv_from(&mut buffer) {
            let agent = *shared.agent.lock().unwrap();
            // A datagram to a process that has ended is lost.
            let _ = udp.send_to(&buffer[..length], agent);
        }
    }
}

/// How long a new connection may wait for the proxy.
const PAUSE: Duration = Duration::from_millis(1);
/// How soon the proxy ends when it is dropped.
const LOOK: Duration = Duration::from_millis(50);
