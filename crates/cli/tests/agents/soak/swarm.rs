//! Threads that do one thing to one node, again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// Some threads of one attack. They stop when they are dropped.
pub(crate) struct Swarm {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    made: AtomicU64,
    is_ended: AtomicBool,
}

impl Swarm {
    /// Each thread takes steps; a step that returns true counts.
    pub(crate) fn start<S>(threads: usize, stepper: impl Fn() -> S) -> Self
    where
        S: FnMut() -> bool + Send + 'static,
    {
        let shared = Arc::new(Shared::default());
        let spawn = |_| {
            let (shared, mut step) = (Arc::clone(&shared), stepper());
            thread::spawn(move || {
                while !shared.is_ended.load(Ordering::Relaxed) {
                    shared.made.fetch_add(u64::from(step()), Ordering::Relaxed);
                }
            })
        };
        Self { threads: (0..threads).map(spawn).collect(), shared }
    }

    /// How many steps have counted.
    pub(crate) fn made(&self) -> u64 {
        self.shared.made.load(Ordering::Relaxed)
    }
}

impl Drop for Swarm {
    fn drop(&mut self) {
        self.shared.is_ended.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
