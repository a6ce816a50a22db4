//! A health check as a load balancer makes it: `/livez` once a second, on a new connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::support::wait::LIMIT;

/// Checks of one node. They stop when this is dropped.
pub(crate) struct Health {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    to: SocketAddr,
    checks: Mutex<Checks>,
    is_ended: AtomicBool,
}

/// The results so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    /// How long each answered check took, all tries included.
    pub(crate) took: Vec<Duration>,
    /// Tries that failed and were repeated, with the reason of the last.
    pub(crate) retried: u64,
    pub(crate) last_error: Option<String>,
    /// Set if a check was not answered at all.
    pub(crate) failed: Option<String>,
}

impl Health {
    pub(crate) fn start(to: SocketAddr) -> Self {
        let shared =
            Arc::new(Shared { to, checks: Mutex::default(), is_ended: AtomicBool::new(false) });
        let checked = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            while !checked.is_ended.load(Ordering::Relaxed) {
                checked.check();
                thread::sleep(Duration::from_secs(1));
            }
        });
        Self { shared, thread: Some(thread) }
    }

    pub(crate) fn checks(&self) -> Checks {
        self.shared.checks.lock().unwrap().clone()
    }
}

impl Drop for Health {
    fn drop(&mut self) {
        self.shared.is_ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn check(&self) {
        let began = Instant::now();
        loop {
            let answer = self.ask();
            let mut checks = self.checks.lock().unwrap();
            let error = match answer {
                Ok(answer) if answer.starts_with("HTTP/1.1 200") => {
                    return checks.took.push(began.elapsed());
                }
                Ok(answer) => answer.chars().take(200).collect(),
                Err(error) => error.to_string(),
            };
            checks.retried += 1;
            checks.last_error = Some(error.clone());
            if began.elapsed() > LIMIT || self.is_ended.load(Ordering::Relaxed) {
                checks.failed = Some(format!("no answer for {:?}: {error}", began.elapsed()));
                return;
            }
        }
    }

    fn ask(&self) -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&self.to, TRY_MAX)?;
        stream.set_read_timeout(Some(TRY_MAX))?;
        let request =
            format!("GET /livez HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.to);
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

/// How long one try may take.
const TRY_MAX: Duration = Duration::from_secs(5);
