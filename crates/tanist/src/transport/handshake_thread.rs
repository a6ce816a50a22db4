//! The thread for handshakes: connections that are not authenticated yet, and dials.
//!
//! Accepting connections, reading what they send first, and the arithmetic of handshakes happen
//! here, on a runtime of their own, so that a flood of them takes no time from the thread that
//! elects. A connection whose handshake is done is handed over as a plain socket, and the links
//! themselves are read and written by the node's own thread. Dials go through here too.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The thread and its runtime. Dropping it ends both, and every task on it.
#[derive(Debug)]
pub(super) struct HandshakeThread {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl HandshakeThread {
    /// Starts the thread.
    pub(super) fn open(name: String) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name(name).spawn(move || {
            // An error means that the sender was dropped, which ends the thread as well.
            let _ = runtime.block_on(stopped);
            // A name that is being looked up may take its time, and holds nothing of ours.
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }

    /// Where tasks can be started.
    pub(super) const fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for HandshakeThread {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        // All its sockets are closed when this returns: a node that is gone accepts no connection.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A task on that thread. It is aborted when this is dropped.
#[derive(Debug)]
pub(super) struct HandshakeTask<T>(JoinHandle<T>);

impl<T: Send + 'static> HandshakeTask<T> {
    /// Starts it.
    pub(super) fn spawn(thread: &Handle, task: impl Future<Output = T> + Send + 'static) -> Self {
        Self(thread.spawn(task))
    }
}

impl<T> Future for HandshakeTask<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match Pin::new(&mut self.0).poll(cx) {
            Poll::Ready(Ok(outcome)) => Poll::Ready(outcome),
            // A panic there is one here; a task whose thread is gone never completes.
            Poll::Ready(Err(error)) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Poll::Pending,
            },
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T> Drop for HandshakeTask<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
