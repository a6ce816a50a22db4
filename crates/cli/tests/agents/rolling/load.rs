//! Clients that query every agent all the time, over its socket and by HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::group::Group;
use crate::support::agent::ask;

/// Clients of one group. They stop when they are dropped.
pub(crate) struct Load {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    answers: AtomicU64,
    is_ended: AtomicBool,
}

impl Load {
    pub(crate) fn start(group: &Group) -> Self {
        let shared = Arc::new(Shared::default());
        let start = |(socket, http): (PathBuf, SocketAddr)| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.ask(&socket, http))
        };
        let places = group.nodes.iter().map(|node| (node.socket.clone(), node.http));
        Self { threads: places.map(start).collect(), shared }
    }

    /// How many questions were answered so far.
    pub(crate) fn answers(&self) -> u64 {
        self.shared.answers.load(Ordering::Relaxed)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.shared.is_ended.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Queries one agent, which does not answer while it restarts.
    fn ask(&self, socket: &Path, http: SocketAddr) {
        for turn in 0.. {
            if self.is_ended.load(Ordering::Relaxed) {
                return;
            }
            let told = ask(socket, ASKS[turn % ASKS.len()]).is_some();
            let got = get(http, PATHS[turn % PATHS.len()]).is_ok();
            self.answers.fetch_add(u64::from(told) + u64::from(got), Ordering::Relaxed);
            thread::sleep(PAUSE);
        }
    }
}

fn get(to: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&to, Duration::from_secs(10))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

const ASKS: [&str; 4] = ["status", "members", "history", "metrics"];
const PATHS: [&str; 5] = ["/livez", "/v1/status", "/leader", "/metrics", "/v1/members"];
/// Leaves most of two cores to the agents.
const PAUSE: Duration = Duration::from_millis(5);
