//! Runs a future to its end where it stands: the simulation has nothing that it could wait for.
//!
//! Assumes that what wakes the future is inside the future, as a lock or a channel of its
//! own. Leaves out: timers, sockets, other threads.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// What the future came to; none if it waits for something outside of itself.
pub(super) fn finish<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let call = Arc::new(Call(AtomicBool::new(false)));
    let waker = Waker::from(Arc::clone(&call));
    let mut context = Context::from_waker(&waker);
    for _ in 0..POLLS_MAX {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        if !call.0.swap(false, Ordering::Relaxed) {
            return None;
        }
    }
    None
}

/// Whether the future wants to be polled again.
struct Call(AtomicBool);

impl Wake for Call {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A future that has been woken this often is spinning.
const POLLS_MAX: u32 = 100_000;

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};

    use super::*;

    #[test]
    fn a_future_that_wakes_itself_is_run_to_its_end() {
        let mut polls = 0;
        let patient = poll_fn(|context| {
            polls += 1;
            if polls == 5 {
                return Poll::Ready("done");
            }
            context.waker().wake_by_ref();
            Poll::Pending
        });
        assert_eq!(finish(patient), Some("done"));
    }

    #[test]
    fn a_channel_within_the_future_is_no_obstacle() {
        let (to, mut from) = tokio::sync::mpsc::channel(1);
        let talk =
            async { tokio::join!(async { from.recv().await }, async { to.send(7).await.is_ok() }) };
        assert_eq!(finish(talk), Some((Some(7), true)));
    }

    #[test]
    fn a_future_that_nobody_will_wake_is_given_up() {
        assert_eq!(finish(pending::<()>()), None);
    }

    #[test]
    fn a_future_that_only_spins_is_given_up() {
        let spinning = poll_fn(|context| {
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert_eq!(finish(spinning), None);
    }
}
