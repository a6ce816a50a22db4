//! Snapshots of worlds that are driven by choices, in a few bytes each.
//!
//! A global state has a handful of machines, the states of the monitors, and messages in flight.
//! Each of these has few different values even where their combinations are many millions, so a
//! [`Store`] keeps every value once, and a snapshot is the list of their places: some tens of bytes
//! instead of some thousands. Restoring writes only what differs from the given world.
//!
//! Assumes a settled world ([`World::settle`]) of running machines with correct clocks, links as
//! they were at the beginning, and nothing on the schedule except messages and timers. Leaves out
//! what no later event depends on: counts, the trace, refused connections, all disk writes except
//! the last.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use tanist_core::node::Message;
use tanist_core::trace::MessageFacts;
use tanist_core::{NodeId, Time};

use crate::explore::varint::{read, write};
use crate::monitors::Monitor;
use crate::observe::global_state::NodeView;
use crate::world::host::{Due, HostPart, Mark};
use crate::world::{Scheduled, World};

/// Whether a snapshot contains how long its messages and timers have left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// No: any event may happen at any moment.
    Ignored,
    /// Yes, in whole ticks of this many microseconds.
    Ticks(u64),
}

/// Every value that occurs in a snapshot, once.
pub struct Store {
    clock: Clock,
    pub(super) machines: Parts<Machine>,
    pub(super) messages: Parts<StoredMessage>,
    pub(super) monitor_states: Parts<MonitorStates>,
}

/// A machine and its node view.
pub(super) struct Machine {
    pub(super) host: HostPart,
    view: NodeView,
}

/// A message in flight.
pub(super) struct StoredMessage {
    pub(super) host: usize,
    pub(super) from: NodeId,
    message: Message,
    pub(super) facts: MessageFacts,
}

/// The states of the monitors that have any.
pub(crate) struct MonitorStates(pub(crate) Vec<(u64, Option<Box<dyn Monitor>>)>);

/// How many values a store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holdings {
    /// Different states of machines.
    pub machines: usize,
    /// Different messages.
    pub messages: usize,
    /// Different states of all monitors together.
    pub monitor_states: usize,
}

impl Store {
    /// An empty store.
    #[must_use]
    pub const fn new(clock: Clock) -> Self {
        Self { clock, machines: Parts::new(), messages: Parts::new(), monitor_states: Parts::new() }
    }

    /// How many values it holds.
    #[must_use]
    pub fn holdings(&self) -> Holdings {
        Holdings {
            machines: self.machines.read().items.len(),
            messages: self.messages.read().items.len(),
            monitor_states: self.monitor_states.read().items.len(),
        }
    }

    /// Saves a snapshot of a world; equal worlds need not give equal bytes.
    pub fn save(&self, world: &World, to: &mut Vec<u8>) {
        for (at, host) in world.hosts.iter().enumerate() {
            let place = host.mark.map(|mark| mark.part);
            let place = place.unwrap_or_else(|| {
                let view = || world.observers.global.views()[at].clone();
                let make = || Machine { host: host.part(), view: view() };
                self.machines.place(world.host_digest(at), make)
            });
            write(to, u64::from(place));
        }
        let make = || world.observers.monitor_states();
        let place = self.monitor_states.place(world.observers.memories_digest(), make);
        write(to, u64::from(place));
        let mut entries: Vec<(u64, Time, &Scheduled)> = world.schedule.all().collect();
        entries.sort_unstable_by_key(|(number, ..)| *number);
        self.save_timers(world, &entries, to);
        for (_, due_at, scheduled) in entries {
            if let Scheduled::At { host, due: Due::Deliver { from, message, .. } } = scheduled {
                let (host, from) = (*host, *from);
                let make = || {
                    let facts = message.facts(world.config.algorithm());
                    StoredMessage { host, from, message: message.clone(), facts }
                };
                write(to, u64::from(self.messages.place(world.digest_of(scheduled), make)));
                self.save_time(world.now, due_at, to);
            }
        }
    }

    /// Which timers run is stored with the machines; how long they have left is not.
    fn save_timers(&self, world: &World, entries: &[(u64, Time, &Scheduled)], to: &mut Vec<u8>) {
        if self.clock == Clock::Ignored {
            return;
        }
        for (at, host) in world.hosts.iter().enumerate() {
            for timer in host.running() {
                let set = entries.iter().find(|(number, _, scheduled)| match scheduled {
                    Scheduled::At { host: of, .. } => *of == at && host.is_running(timer, *number),
                    Scheduled::Fault(_) | Scheduled::Look => false,
                });
                self.save_time(world.now, set.map_or(world.now, |(_, due_at, _)| *due_at), to);
            }
        }
    }

    fn save_time(&self, now: Time, due_at: Time, to: &mut Vec<u8>) {
        if let Clock::Ticks(tick) = self.clock {
            let whole = |time: Time| time.as_micros() / tick;
            write(to, whole(due_at).saturating_sub(whole(now)));
        }
    }

    /// Restores a snapshot into a world. The saved world and this one must have begun alike.
    pub fn restore(&self, mut from: &[u8], world: &mut World) {
        world.reset();
        let machines = self.machines.read();
        let places: Vec<u64> = world.hosts.iter().map(|_| read(&mut from)).collect();
        for (at, place) in places.iter().enumerate() {
            let (part, digest, machine) = machines.get(*place);
            if world.hosts[at].mark.is_none_or(|mark| mark.part != part) {
                world.hosts[at].put_back(&machine.host);
                world.observers.global.put_back(at, &machine.view);
                world.hosts[at].mark = Some(Mark { part, digest });
            }
        }
        let monitor_states = self.monitor_states.read();
        world.observers.put_back(monitor_states.get(read(&mut from)).2);
        drop(monitor_states);
        for (at, place) in places.iter().enumerate() {
            let (_, _, machine) = machines.get(*place);
            world.hosts[at].clear_timers();
            for timer in &machine.host.timers {
                let due_at = self.restore_time(&mut from);
                world.set_timer_at(at, *timer, due_at);
            }
        }
        let messages = self.messages.read();
        while !from.is_empty() {
            let (_, _, stored) = messages.get(read(&mut from));
            let due_at = self.restore_time(&mut from);
            let due = Due::Deliver { from: stored.from, id: 0, message: stored.message.clone() };
            world.deliver(stored.host, due_at, due);
        }
    }

    fn restore_time(&self, from: &mut &[u8]) -> Time {
        match self.clock {
            Clock::Ignored => Time::ZERO,
            Clock::Ticks(tick) => Time::from_micros(read(from) * tick),
        }
    }
}

/// Values of one type, each once, found by digest.
pub(super) struct Parts<T>(RwLock<Interner<T>>);

pub(super) struct Interner<T> {
    places: BTreeMap<u128, u32>,
    items: Vec<(u128, T)>,
}

impl<T> Parts<T> {
    const fn new() -> Self {
        Self(RwLock::new(Interner { places: BTreeMap::new(), items: Vec::new() }))
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, Interner<T>> {
        // A thread that panicked had either added a value or not.
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of a value, which is added if it is not there yet.
    fn place(&self, digest: u128, make: impl FnOnce() -> T) -> u32 {
        if let Some(place) = self.read().places.get(&digest) {
            return *place;
        }
        let mut interner = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Interner { places, items } = &mut *interner;
        *places.entry(digest).or_insert_with(|| {
            items.push((digest, make()));
            u32::try_from(items.len() - 1).expect("four billion parts do not fit into memory")
        })
    }
}

impl<T> Interner<T> {
    pub(super) fn get(&self, place: u64) -> (u32, u128, &T) {
        let part = u32::try_from(place).expect("a snapshot has only places of its own store");
        let (digest, item) = &self.items[part as usize];
        (part, *digest, item)
    }
}
