//! Panics in the tasks of a node.
//!
//! A task that panics is caught by its runtime, and the rest of the node would go on without it: a
//! node that hears one peer and not the other, or answers and never asks. So every task of a node
//! holds a [`Guard`], and a panic in one of them ends the driver, as a crash does: the others see
//! the node die and elect without it. The process of a library's user goes on.
//!
//! Assumes that all tasks of a node run on its own thread (decision 0011), which is how a guard
//! finds its node. On another thread a guard does nothing.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use tokio::sync::Notify;

thread_local! {
    static ALARM: RefCell<Option<Rc<Notify>>> = const { RefCell::new(None) };
}

/// Tells a driver of panics in the tasks on its thread, from here on.
pub(crate) struct Panics(Rc<Notify>);

impl Panics {
    pub(crate) fn watch() -> Self {
        let alarm = Rc::new(Notify::new());
        ALARM.set(Some(Rc::clone(&alarm)));
        Self(alarm)
    }

    /// Waits until a task has panicked.
    pub(crate) async fn happened(&self) {
        self.0.notified().await;
    }
}

impl Drop for Panics {
    fn drop(&mut self) {
        ALARM.set(None);
    }
}

/// Held by a task for as long as it runs.
#[derive(Debug)]
pub(crate) struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The thread itself may be at its end, and its node with it.
            let _ = ALARM.try_with(|alarm| {
                if let Ok(alarm) = alarm.try_borrow()
                    && let Some(alarm) = alarm.as_ref()
                {
                    alarm.notify_one();
                }
            });
        }
    }
}

/// A task with a guard.
pub(crate) async fn guarded<T>(task: impl Future<Output = T>) -> T {
    let _guard = Guard;
    task.await
}

/// A frame that makes the task panic that reads it.
#[cfg(test)]
pub(crate) const ON_PURPOSE: &[u8] = b"panic on purpose";

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::driver::Request;
    use crate::transport::Sockets;
    use crate::{Group, GroupKey, NodeId};

    /// Long enough for a loaded machine; a test that waits so long has failed.
    const PATIENCE: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn a_panic_in_a_task_ends_the_node_and_the_others_see_it_die() {
        let folder = tempfile::tempdir().unwrap();
        let addresses = [1, 2].map(|_| Sockets::bind("127.0.0.1:0").unwrap().address());
        let key = GroupKey::generate().unwrap();
        let start = |node: usize| {
            let peers = (1..).zip(addresses).map(|(id, address)| format!("n{id}={address}"));
            let group = Group::builder("jobs").node(format!("n{node}")).peers(peers);
            let data = folder.path().join(format!("n{node}"));
            group.data_dir(data).key(key.clone()).start()
        };
        let (first, second) = (start(1).await.unwrap(), start(2).await.unwrap());
        let members = async |count: usize| {
            let end = Instant::now() + PATIENCE;
            while second.status().view.is_none_or(|view| view.members.len() != count) {
                assert!(Instant::now() < end, "{:?}", second.status());
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        members(2).await;
        let payload = ON_PURPOSE.to_vec();
        assert!(second.request(Request::Say { to: NodeId(1), payload }).is_ok());
        let ended = tokio::time::timeout(PATIENCE, first.ended()).await.unwrap();
        let reason = ended.unwrap_err().to_string();
        assert!(reason.contains("panicked"), "{reason}");
        members(1).await;
        // Port and store are free again.
        let again = start(1).await.unwrap();
        members(2).await;
        again.shutdown().await.unwrap();
        second.shutdown().await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_is_noticed_and_an_end_is_not() {
        let panics = Panics::watch();
        tokio::spawn(guarded(async {})).await.unwrap();
        let aborted = tokio::spawn(guarded(std::future::pending::<()>()));
        aborted.abort();
        aborted.await.unwrap_err();
        let early = tokio::time::timeout(Duration::ZERO, panics.happened()).await;
        early.unwrap_err();
        tokio::spawn(guarded(async { panic!("on purpose") })).await.unwrap_err();
        panics.happened().await;
    }
}
