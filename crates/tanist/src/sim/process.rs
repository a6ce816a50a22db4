//! The process of one incarnation of a simulated node: the tasks of its program.
//!
//! A process hangs and crashes with its node. While it hangs none of its tasks goes on; what was
//! due meanwhile is due when it resumes. When it crashes its tasks are dropped where they stand.
//! Leaves out: tasks that a program spawns by itself with `tokio::spawn`, which tokio does not tell
//! apart. They neither hang nor crash with the node.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use tokio::runtime::Handle;
use tokio::task::AbortHandle;

/// The process of one incarnation of a node.
pub(crate) struct Process {
    runtime: Handle,
    is_paused: AtomicBool,
    tasks: Mutex<Vec<Arc<Task>>>,
    /// What a task panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// A task of a process.
#[derive(Default)]
struct Task {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// None when it has ended.
    future: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// What to wake when the process resumes.
    waker: Option<Waker>,
}

impl Process {
    /// A process without a task, in this runtime.
    pub(super) fn new(runtime: Handle) -> Arc<Self> {
        let (is_paused, tasks, panic) =
            (AtomicBool::new(false), Mutex::default(), Mutex::default());
        Arc::new(Self { runtime, is_paused, tasks, panic })
    }

    /// Runs a task in the process until it ends or is aborted; not at all if the process is gone.
    pub(crate) fn spawn(
        process: &Weak<Self>,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> AbortHandle {
        let Some(process) = process.upgrade() else {
            return tokio::spawn(async {}).abort_handle();
        };
        let inner = Inner { future: Some(Box::pin(future)), waker: None };
        let task = Arc::new(Task { inner: Mutex::new(inner) });
        let mut tasks = lock(&process.tasks);
        tasks.retain(|task| Arc::strong_count(task) > 1);
        tasks.push(Arc::clone(&task));
        drop(tasks);
        let runtime = process.runtime.clone();
        runtime.spawn(Gate { process: Arc::downgrade(&process), task }).abort_handle()
    }

    /// Lets the process hang, or go on; whether that changes anything.
    pub(super) fn set_paused(&self, is_paused: bool) -> bool {
        let changes = self.is_paused.swap(is_paused, Ordering::Relaxed) != is_paused;
        if changes && !is_paused {
            for task in lock(&self.tasks).iter() {
                if let Some(waker) = lock(&task.inner).waker.take() {
                    waker.wake();
                }
            }
        }
        changes
    }

    /// What a task panicked with, if one did.
    pub(super) fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        lock(&self.panic).take()
    }

    /// Ends the process: its tasks are dropped where they stand.
    pub(super) fn end(&self) {
        let _context = self.runtime.enter();
        let tasks = std::mem::take(&mut *lock(&self.tasks));
        for task in tasks {
            let future = lock(&task.inner).future.take();
            // Dropped without the lock, since a task may end another one.
            drop(future);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("is_paused", &self.is_paused).finish_non_exhaustive()
    }
}

/// What the runtime runs: the task, as long as its process runs.
struct Gate {
    process: Weak<Process>,
    task: Arc<Task>,
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(process) = self.process.upgrade() else { return Poll::Ready(()) };
        let mut inner = lock(&self.task.inner);
        let Some(future) = &mut inner.future else { return Poll::Ready(()) };
        if process.is_paused.load(Ordering::Relaxed) {
            inner.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(())) => {
                inner.future = None;
                Poll::Ready(())
            }
            Err(payload) => {
                inner.future = None;
                lock(&process.panic).get_or_insert(payload);
                Poll::Ready(())
            }
        }
    }
}

impl Drop for Gate {
    /// An aborted task is dropped, although its process lists it.
    fn drop(&mut self) {
        let future = lock(&self.task.inner).future.take();
        drop(future);
    }
}

fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    // What is kept stays whole if a task panics while it is polled: it is dropped.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
