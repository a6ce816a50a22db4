//! How many connections there may be at once, and which one gives way to another.
//!
//! ```text
//!   TCP client --> ordinary place: all paths    (bounded, and bounded for each address)
//!              \-> reserve: health paths only   (when there is no ordinary place)
//!   agent check --> a reserve of its own
//! ```
//!
//! A connection is accepted before it is known what it asks for. So no client is turned away
//! unheard: the reserve always takes the newest connection, and closes another if it is full. A
//! health checker sends its request right behind its connection and is answered before its turn to
//! give way comes; a client that holds a connection without using it gives way to it. This works
//! also where all clients have the same address.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use crate::process::descriptors::Budget;

/// How many connections of every kind there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionLimits {
    /// Connections that may ask for anything.
    pub(super) ordinary: usize,
    /// How many of them one address may have.
    pub(super) per_address: usize,
    /// How many clients may watch or wait.
    pub(super) watchers: usize,
    /// Connections beyond those, each for one question about health.
    pub(super) reserve: usize,
    /// Connections of the agent check.
    pub(super) checks: usize,
    /// Connections over the Unix socket.
    pub(super) local: usize,
}

impl ConnectionLimits {
    /// What HTTP may take of the descriptors of this process.
    pub(super) const fn of(budget: &Budget) -> Self {
        Self {
            ordinary: budget.http,
            per_address: budget.http.div_ceil(2),
            watchers: budget.http - budget.http.div_ceil(4),
            reserve: budget.http_reserve,
            checks: budget.agent_check,
            local: budget.http_local,
        }
    }
}

/// Whose connection it is, as far as limits go. A client with one IPv6 address has 2^64 of them, so
/// they count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Remote {
    V4(Ipv4Addr),
    /// The first 64 bits.
    V6(u64),
}

impl From<IpAddr> for Remote {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address),
            IpAddr::V6(address) => Self::V6((address.to_bits() >> 64) as u64),
        }
    }
}

/// Places for connections that may ask for anything.
#[derive(Debug)]
pub(super) struct Ordinary {
    max: usize,
    per_address: usize,
    counts: Mutex<BTreeMap<Remote, usize>>,
}

impl Ordinary {
    pub(super) fn new(limits: &ConnectionLimits) -> Arc<Self> {
        let ConnectionLimits { ordinary, per_address, .. } = *limits;
        Arc::new(Self { max: ordinary, per_address, counts: Mutex::default() })
    }

    /// A place, if there is one left, and one left for this address.
    pub(super) fn enter(self: &Arc<Self>, remote: Remote) -> Option<Permit> {
        let mut counts = self.lock();
        let total: usize = counts.values().sum();
        let mine = counts.get(&remote).copied().unwrap_or(0);
        if total >= self.max || mine >= self.per_address {
            return None;
        }
        counts.insert(remote, mine + 1);
        Some(Permit { of: Arc::clone(self), remote })
    }

    /// How many places are taken.
    pub(super) fn count(&self) -> usize {
        self.lock().values().sum()
    }

    fn leave(&self, remote: Remote) {
        let mut counts = self.lock();
        if let Some(count) = counts.get_mut(&remote) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&remote);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Remote, usize>> {
        // No holder can panic: numbers are only counted.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An ordinary place, until it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    of: Arc<Ordinary>,
    remote: Remote,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.of.leave(self.remote);
    }
}

/// Places of which the newest connection always gets one.
#[derive(Debug)]
pub(super) struct Reserve {
    slots: Mutex<Slots<AbortHandle>>,
}

impl Reserve {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { slots: Mutex::new(Slots::new(max)) })
    }

    /// Serves a connection; closes another one if there are too many.
    pub(super) fn serve<F>(self: &Arc<Self>, remote: Remote, serve: impl FnOnce(Slot) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (number, evicted) = self.lock().admit(remote);
        if let Some(evicted) = evicted {
            evicted.abort();
        }
        let slot = Slot { of: Arc::clone(self), number };
        let task = tokio::spawn(serve(slot));
        self.lock().set_handle(number, task.abort_handle());
    }

    /// How many places are taken.
    pub(super) fn count(&self) -> usize {
        self.lock().held.len()
    }

    /// How many connections were closed to make room.
    pub(super) fn evictions(&self) -> u64 {
        self.lock().evictions
    }

    fn lock(&self) -> MutexGuard<'_, Slots<AbortHandle>> {
        // No holder can panic: entries are only moved.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in a reserve, until it is dropped or another connection needs it.
#[derive(Debug)]
pub(super) struct Slot {
    of: Arc<Reserve>,
    number: u64,
}

impl Slot {
    /// Says how far the connection is.
    pub(super) fn reached(&self, stage: Stage) {
        self.of.lock().reached(self.number, stage);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.of.lock().held.remove(&self.number);
    }
}

/// How far a connection in a reserve is, in the order in which they give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// It has its answer, and only its end is waited for.
    Answered,
    /// Its question is not complete.
    Reading,
    /// It has asked, and the answer is being made.
    Answering,
}

/// The places of a reserve: which one is given up for another. `H` is how a connection is ended.
#[derive(Debug)]
struct Slots<H> {
    max: usize,
    next: u64,
    held: BTreeMap<u64, Held<H>>,
    evictions: u64,
}

#[derive(Debug)]
struct Held<H> {
    remote: Remote,
    stage: Stage,
    handle: Option<H>,
}

impl<H> Slots<H> {
    const fn new(max: usize) -> Self {
        Self { max, next: 0, held: BTreeMap::new(), evictions: 0 }
    }

    /// A place for one more, and the connection that must end for it. The address with the most
    /// places gives one up: of its own connections the one that needs it least, then the oldest.
    fn admit(&mut self, remote: Remote) -> (u64, Option<H>) {
        let mut evicted = None;
        if self.held.len() >= self.max
            && let Some(number) = self.least(remote)
        {
            evicted = self.held.remove(&number).and_then(|held| held.handle);
            self.evictions += 1;
        }
        let number = self.next;
        self.next += 1;
        self.held.insert(number, Held { remote, stage: Stage::Reading, handle: None });
        (number, evicted)
    }

    fn least(&self, newest: Remote) -> Option<u64> {
        let mut counts: BTreeMap<Remote, usize> = BTreeMap::from([(newest, 1)]);
        for held in self.held.values() {
            *counts.entry(held.remote).or_default() += 1;
        }
        // The newest itself is not among those that can end, so an address must have another one.
        let rank = |(number, held): (&u64, &Held<H>)| {
            let places = counts.get(&held.remote).copied().unwrap_or(0);
            (std::cmp::Reverse(places), held.stage, *number)
        };
        self.held.iter().map(rank).min().map(|(_, _, number)| number)
    }

    fn set_handle(&mut self, number: u64, handle: H) {
        // One that is closed already needs none.
        if let Some(held) = self.held.get_mut(&number) {
            held.handle = Some(handle);
        }
    }

    fn reached(&mut self, number: u64, stage: Stage) {
        if let Some(held) = self.held.get_mut(&number) {
            held.stage = stage;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(last: u8) -> Remote {
        Remote::from(IpAddr::from([10, 0, 0, last]))
    }

    fn slots(max: usize, remotes: &[u8]) -> Slots<u64> {
        let mut slots = Slots::new(max);
        for last in remotes {
            let (number, evicted) = slots.admit(remote(*last));
            assert_eq!(evicted, None);
            slots.set_handle(number, number);
        }
        slots
    }

    #[test]
    fn watchers_and_one_address_leave_places_to_others() {
        let most = ConnectionLimits::of(&Budget::WANTED);
        assert_eq!((most.ordinary, most.per_address, most.watchers), (512, 256, 384));
        let few = ConnectionLimits::of(&Budget { http: 2, ..Budget::WANTED });
        assert_eq!((few.ordinary, few.per_address, few.watchers), (2, 1, 1));
    }

    #[test]
    fn one_address_never_takes_all_places() {
        let limits = ConnectionLimits::of(&Budget::WANTED);
        let ordinary = Ordinary::new(&limits);
        let greedy: Vec<Permit> = (0..600).filter_map(|_| ordinary.enter(remote(1))).collect();
        assert_eq!(greedy.len(), limits.per_address);
        let other = ordinary.enter(remote(2)).unwrap();
        assert_eq!(ordinary.count(), greedy.len() + 1);
        drop((greedy, other));
        assert_eq!((ordinary.count(), ordinary.lock().len()), (0, 0));
    }

    #[test]
    fn all_addresses_of_one_network_count_as_one() {
        let parse = |text: &str| Remote::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(parse("2001:db8::1"), parse("2001:db8::ffff:1"));
        assert_ne!(parse("2001:db8::1"), parse("2001:db8:0:1::1"));
        assert_eq!(parse("::ffff:10.0.0.1"), remote(1));
    }

    #[test]
    fn the_newest_gets_a_place_and_the_oldest_that_asks_nothing_gives_way() {
        let mut slots = slots(3, &[1, 1, 1]);
        slots.reached(0, Stage::Answering);
        assert_eq!(slots.admit(remote(1)).1, Some(1), "0 has asked, 1 has not");
        assert_eq!(slots.held.len(), 3);
        slots.reached(2, Stage::Answering);
        slots.reached(3, Stage::Answered);
        assert_eq!(slots.admit(remote(1)).1, None, "3 had no handle yet");
        assert!(!slots.held.contains_key(&3), "and is gone all the same");
        assert_eq!(slots.evictions, 2);
    }

    #[test]
    fn who_holds_most_gives_way_whoever_comes() {
        let mut slots = slots(4, &[2, 1, 1, 1]);
        assert_eq!(slots.admit(remote(1)).1, Some(1), "the oldest of the greedy address");
        assert_eq!(slots.admit(remote(3)).1, Some(2));
        assert!(slots.held.contains_key(&0), "the modest one keeps its place");
    }
}
