//! tokio's clock in step with the world's: the runtime in which simulated programs run.
//!
//! Its time is paused and moves only when the world says so, from one timer that is due to the
//! next. tokio's timers know whole milliseconds, so a program runs at whole milliseconds of the
//! simulated clock; what happens to its node between two of them it sees at the next.
//!
//! Assumes that the tasks wait for timers and for each other only. A task that waits for a thread
//! or a socket brings real time in, and with it what no seed repeats.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use tanist_core::Time;
use tokio::runtime::{Builder, Handle};
use tokio::time::{Instant, sleep_until};

use super::expected_panics::on_another_thread;

/// A runtime of one thread whose clock the world moves.
pub(super) struct Runtime {
    /// None only while it is dropped.
    tokio: Option<tokio::runtime::Runtime>,
    idle: Arc<Idle>,
    /// What the clock showed at the beginning of the world.
    begin: Instant,
    now: Time,
}

impl Runtime {
    pub(super) fn new() -> std::io::Result<Self> {
        let idle = Arc::new(Idle::default());
        let told = Arc::clone(&idle);
        let tokio = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .on_thread_park(move || told.note())
            .build()?;
        let begin = {
            let _context = tokio.enter();
            Instant::now()
        };
        Ok(Self { tokio: Some(tokio), idle, begin, now: Time::ZERO })
    }

    /// What tasks are spawned with.
    pub(super) fn handle(&self) -> &Handle {
        self.tokio().handle()
    }

    /// What its clock shows: a whole number of milliseconds.
    pub(super) const fn now(&self) -> Time {
        self.now
    }

    /// Moves the clock to then at once, and runs whatever is ready there: what was ready before as
    /// well as timers that are due.
    pub(super) fn step_to(&mut self, to: Time) {
        let span = to.since(self.now);
        self.now = to;
        self.idle.wait_for(Target::Rest);
        let idle = Arc::clone(&self.idle);
        self.block_on(async move {
            // The clock moves before any task runs, since this is polled first.
            tokio::time::advance(span).await;
            idle.comes().await;
        });
    }

    /// Lets the clock go on to the first timer that is due by then, or to then, and runs whatever
    /// is ready there. Part of a millisecond is left out.
    pub(super) fn advance(&mut self, to: Time) {
        let millis = to.since(Time::ZERO).as_millis();
        let to = self.begin + Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX));
        let from = self.begin + self.now.since(Time::ZERO);
        if to <= from {
            return;
        }
        self.idle.wait_for(Target::RestAfter(from));
        let idle = Arc::clone(&self.idle);
        let reached = self.block_on(async move {
            let mut end = pin!(sleep_until(to));
            let mut comes = pin!(idle.comes());
            // The timer only says how far the clock may go; its end is no end of this.
            let mut is_open = true;
            poll_fn(|cx| {
                is_open = is_open && end.as_mut().poll(cx).is_pending();
                comes.as_mut().poll(cx)
            })
            .await;
            Instant::now()
        });
        self.now = Time::ZERO + (reached - self.begin);
    }

    /// A runtime cannot run within another, so within one it gets a thread for a moment.
    fn block_on<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        if Handle::try_current().is_err() {
            return self.tokio().block_on(future);
        }
        on_another_thread(|| self.tokio().block_on(future))
    }

    const fn tokio(&self) -> &tokio::runtime::Runtime {
        self.tokio.as_ref().expect("it is taken only by drop")
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(tokio) = self.tokio.take() {
            // Waits for nothing, so that a world may be dropped within another runtime.
            tokio.shutdown_background();
        }
    }
}

/// Tells when all tasks wait: the runtime says so each time before it waits itself.
#[derive(Default)]
struct Idle {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    target: Target,
    has_come: bool,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, Default)]
enum Target {
    /// All tasks wait.
    #[default]
    Rest,
    /// The same, after the clock has moved.
    RestAfter(Instant),
}

impl Idle {
    fn wait_for(&self, target: Target) {
        let mut inner = self.lock();
        (inner.target, inner.has_come) = (target, false);
    }

    /// Called by the runtime when all tasks wait.
    fn note(&self) {
        let mut inner = self.lock();
        inner.has_come |= match inner.target {
            Target::Rest => true,
            Target::RestAfter(time) => Instant::now() > time,
        };
        let waker = if inner.has_come { inner.waker.take() } else { None };
        drop(inner);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    async fn comes(&self) {
        poll_fn(|cx| {
            let mut inner = self.lock();
            if inner.has_come {
                return Poll::Ready(());
            }
            inner.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No holder can panic: every change above is a plain assignment.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    fn seen(runtime: &Runtime) -> Arc<Mutex<Vec<u64>>> {
        let (seen, begin) = (Arc::new(Mutex::new(Vec::new())), runtime.begin);
        for millis in [30, 10, 20] {
            let seen = Arc::clone(&seen);
            runtime.handle().spawn(async move {
                for _ in 0..2 {
                    sleep(Duration::from_millis(millis)).await;
                    let now = (Instant::now() - begin).as_millis();
                    seen.lock().unwrap().push(u64::try_from(now).unwrap());
                }
            });
        }
        seen
    }

    #[test]
    fn the_clock_stops_at_every_timer_and_at_the_end() {
        let mut runtime = Runtime::new().unwrap();
        let seen = seen(&runtime);
        runtime.step_to(at(0));
        assert_eq!((runtime.now(), seen.lock().unwrap().len()), (at(0), 0));
        let mut stops = Vec::new();
        while runtime.now() < at(35) {
            runtime.advance(at(35));
            stops.push(runtime.now());
        }
        assert_eq!(stops, [10, 20, 30, 35].map(at));
        assert_eq!(*seen.lock().unwrap(), [10, 20, 20, 30]);
        while runtime.now() < at(100) {
            runtime.advance(at(100));
        }
        assert_eq!(*seen.lock().unwrap(), [10, 20, 20, 30, 40, 60]);
    }

    #[tokio::test(start_paused = true)]
    async fn it_runs_within_another_runtime() {
        let mut runtime = Runtime::new().unwrap();
        let seen = seen(&runtime);
        let outside = Instant::now();
        runtime.step_to(at(0));
        while runtime.now() < at(100) {
            runtime.advance(at(100));
        }
        assert_eq!(seen.lock().unwrap().len(), 6);
        assert_eq!(Instant::now(), outside, "the clock outside is another one");
    }
}
