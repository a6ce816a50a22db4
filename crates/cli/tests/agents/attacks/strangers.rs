//! Strangers at a peer port: connections that send recorded bytes, or none, and stay open.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

/// Strangers at one port. They stop when they are dropped.
pub(crate) struct Strangers {
    attack: Arc<Attack>,
    threads: Vec<JoinHandle<()>>,
}

struct Attack {
    to: SocketAddr,
    /// What connections send, in turn; it may be empty.
    openings: Vec<Vec<u8>>,
    made: AtomicU64,
    is_ended: AtomicBool,
}

impl Strangers {
    /// Ten connections. Each stays open until the agent closes it, and is then made again.
    pub(crate) fn patient(to: SocketAddr, openings: Vec<Vec<u8>>) -> Self {
        Self::start(to, openings, 10, Attack::wait_until_closed)
    }

    /// As many connections as the agent takes. Only the latest are kept open.
    pub(crate) fn fast(to: SocketAddr, openings: Vec<Vec<u8>>) -> Self {
        Self::start(to, openings, 2, Attack::replace_the_oldest)
    }

    fn start(to: SocketAddr, openings: Vec<Vec<u8>>, threads: usize, run: fn(&Attack)) -> Self {
        let attack = Arc::new(Attack {
            to,
            openings,
            made: AtomicU64::new(0),
            is_ended: AtomicBool::new(false),
        });
        let spawn = |_| {
            let attack = Arc::clone(&attack);
            thread::spawn(move || run(&attack))
        };
        Self { threads: (0..threads).map(spawn).collect(), attack }
    }

    /// How many connections were made.
    pub(crate) fn made(&self) -> u64 {
        self.attack.made.load(Ordering::Relaxed)
    }
}

impl Drop for Strangers {
    fn drop(&mut self) {
        self.attack.is_ended.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Attack {
    fn wait_until_closed(&self) {
        while !self.is_ended.load(Ordering::Relaxed) {
            if let Some(mut stream) = self.connect() {
                stream.set_read_timeout(Some(LOOK)).unwrap();
                let mut is_open = true;
                while is_open && !self.is_ended.load(Ordering::Relaxed) {
                    is_open = stays_open(&mut stream);
                }
            }
            thread::sleep(PAUSE);
        }
    }

    fn replace_the_oldest(&self) {
        let mut streams = VecDeque::new();
        while !self.is_ended.load(Ordering::Relaxed) {
            streams.extend(self.connect());
            if streams.len() > KEPT {
                streams.pop_front();
            }
        }
    }

    fn connect(&self) -> Option<TcpStream> {
        let mut stream = TcpStream::connect_timeout(&self.to, CONNECT_MAX).ok()?;
        // A closed connection must leave no TIME_WAIT behind: the ports of the machine are not the
        // target.
        set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
        stream.set_nodelay(true).unwrap();
        let made = self.made.fetch_add(1, Ordering::Relaxed);
        let turn = usize::try_from(made).unwrap() % self.openings.len();
        // The agent may have closed it already.
        let _ = stream.write_all(&self.openings[turn]);
        Some(stream)
    }
}

/// Whether the agent keeps a connection open for a moment. Data from it is ignored.
fn stays_open(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0; 1024]) {
        Ok(length) => length > 0,
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}

/// A full queue of a listener drops connections; a stranger then tries again.
const CONNECT_MAX: Duration = Duration::from_millis(200);
/// How many connections of each fast stranger stay open.
const KEPT: usize = 100;
const LOOK: Duration = Duration::from_millis(50);
/// Of ten strangers, most wait; the others make about 25 connections per second.
const PAUSE: Duration = Duration::from_millis(40);
