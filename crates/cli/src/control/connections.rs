//! How many clients the control socket has, by what they do there.
//!
//! ```text
//!   accepted --> asking (idle or being answered) --watch--> watching
//!                   |                            --attach-> running a job
//!                   +-- idle, and a slot is needed: closed, the longest idle first
//! ```
//!
//! Each of the three has slots of its own, so that no crowd of one kind keeps out another. A
//! client that asks at once is always served: silent ones give way to it. Only when every slot is
//! taken by a client that is being answered, or that watches or runs a job, a further one is
//! refused, with a line that says so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::process::descriptors::Budget;

/// All clients of a control socket. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Connections {
    crowd: Arc<Mutex<Crowd>>,
    /// One for each open connection, whatever it does, and some for those that are being closed.
    open: Arc<Semaphore>,
    budget: Budget,
}

#[derive(Debug, Default)]
struct Crowd {
    next: u64,
    asking: BTreeMap<u64, Asking>,
    watchers: usize,
    jobs: usize,
}

/// A client that asks.
#[derive(Debug)]
struct Asking {
    /// Its place in the order of those that are idle; none while it is being answered.
    idle_since: Option<u64>,
    give_way: Arc<Notify>,
}

/// A client's slot. Free again when this is dropped.
#[derive(Debug)]
pub(crate) struct ClientSlot {
    connections: Connections,
    id: u64,
    kind: Kind,
    give_way: Arc<Notify>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Asking,
    Watching,
    Job,
}

/// Every slot of a kind is taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this agent has {count} {kind} already and takes no more. Close some, or raise its limit of \
     open files (LimitNOFILE= in the unit) if it warned of it at its start"
)]
pub(crate) struct Full {
    count: usize,
    kind: &'static str,
}

impl Connections {
    /// Within a budget.
    pub(crate) fn new(budget: Budget) -> Self {
        let Budget { questions, watchers, jobs, .. } = budget;
        let open = Arc::new(Semaphore::new(questions + watchers + jobs + CLOSING_MAX));
        Self { crowd: Arc::default(), open, budget }
    }

    /// Waits until one more connection may be open. Those that are being closed are, soon.
    pub(crate) async fn ready(&self) -> Option<OwnedSemaphorePermit> {
        // An error means that it was closed, which never happens.
        Arc::clone(&self.open).acquire_owned().await.ok()
    }

    /// A slot for a new client. The one that has been idle for longest gives way if it must.
    pub(crate) fn enter(&self) -> Result<ClientSlot, Full> {
        let mut crowd = self.lock();
        if crowd.asking.len() >= self.budget.questions {
            let idle = |(id, client): (&u64, &Asking)| Some((client.idle_since?, *id));
            let longest = crowd.asking.iter().filter_map(idle).min();
            let gone = longest.and_then(|(_, id)| crowd.asking.remove(&id));
            let count = self.budget.questions;
            gone.ok_or(Full { count, kind: "clients" })?.give_way.notify_one();
        }
        let (id, give_way) = (crowd.tick(), Arc::new(Notify::new()));
        let client = Asking { idle_since: Some(id), give_way: Arc::clone(&give_way) };
        crowd.asking.insert(id, client);
        Ok(ClientSlot { connections: self.clone(), id, kind: Kind::Asking, give_way })
    }

    fn lock(&self) -> MutexGuard<'_, Crowd> {
        // No thread panics while holding it: every change is a plain assignment.
        self.crowd.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Crowd {
    const fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

impl ClientSlot {
    /// Waits until another client needs the slot.
    pub(crate) async fn is_needed(&self) {
        self.give_way.notified().await;
    }

    /// It has asked and is being answered.
    pub(crate) fn begin(&self) {
        if let Some(client) = self.connections.lock().asking.get_mut(&self.id) {
            client.idle_since = None;
        }
    }

    /// It was answered.
    pub(crate) fn finish(&self) {
        let mut crowd = self.connections.lock();
        let now = crowd.tick();
        if let Some(client) = crowd.asking.get_mut(&self.id) {
            client.idle_since = Some(now);
        }
    }

    /// It watches from here on.
    pub(crate) fn watch(&mut self) -> Result<(), Full> {
        let count = self.connections.budget.watchers;
        let mut crowd = self.connections.lock();
        if crowd.watchers >= count {
            return Err(Full { count, kind: "watchers" });
        }
        crowd.watchers += 1;
        crowd.asking.remove(&self.id);
        self.kind = Kind::Watching;
        Ok(())
    }

    /// It runs a job from here on.
    pub(crate) fn attach(&mut self) -> Result<(), Full> {
        let count = self.connections.budget.jobs;
        let mut crowd = self.connections.lock();
        if crowd.jobs >= count {
            return Err(Full { count, kind: "jobs" });
        }
        crowd.jobs += 1;
        crowd.asking.remove(&self.id);
        self.kind = Kind::Job;
        Ok(())
    }
}

impl Drop for ClientSlot {
    fn drop(&mut self) {
        let mut crowd = self.connections.lock();
        match self.kind {
            Kind::Asking => drop(crowd.asking.remove(&self.id)),
            Kind::Watching => crowd.watchers -= 1,
            Kind::Job => crowd.jobs -= 1,
        }
    }
}

/// Connections that were told why they are closed and are not closed yet.
const CLOSING_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn connections() -> Connections {
        let budget = Budget { questions: 2, watchers: 1, jobs: 1, ..Budget::WANTED };
        Connections::new(budget)
    }

    /// Whether it was told to give way.
    fn gives_way(slot: &ClientSlot) -> bool {
        let waiting = std::pin::pin!(slot.is_needed());
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        waiting.poll(&mut cx).is_ready()
    }

    #[test]
    fn the_client_that_was_idle_for_longest_gives_way() {
        let all = connections();
        let (first, second) = (all.enter().unwrap(), all.enter().unwrap());
        first.begin();
        first.finish();
        let third = all.enter().unwrap();
        let told = [&first, &second, &third].map(gives_way);
        assert_eq!(told, [false, true, false]);
        // Its slot went to the third; leaving frees nothing more.
        drop(second);
        let _fourth = all.enter().unwrap();
        assert!(gives_way(&first));
    }

    #[test]
    fn clients_that_are_being_answered_do_not_give_way() {
        let all = connections();
        let (first, second) = (all.enter().unwrap(), all.enter().unwrap());
        first.begin();
        second.begin();
        let refused = all.enter().unwrap_err();
        assert_eq!(refused.count, 2);
        second.finish();
        assert!(all.enter().is_ok());
        assert!(!gives_way(&first));
    }

    #[test]
    fn watchers_and_jobs_take_no_places_of_those_that_ask_nor_of_each_other() {
        let all = connections();
        let (mut watcher, mut job) = (all.enter().unwrap(), all.enter().unwrap());
        watcher.watch().unwrap();
        job.attach().unwrap();
        let (mut one, two) = (all.enter().unwrap(), all.enter().unwrap());
        assert!(!gives_way(&watcher) && !gives_way(&job));
        assert_eq!(one.watch().unwrap_err().kind, "watchers");
        assert_eq!(one.attach().unwrap_err().kind, "jobs");
        drop(watcher);
        one.watch().unwrap();
        drop((one, two, job));
        let crowd = all.lock();
        assert_eq!((crowd.asking.len(), crowd.watchers, crowd.jobs), (0, 0, 0));
    }
}
