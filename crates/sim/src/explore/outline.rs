//! The outline of a snapshot, read without restoring it, and the change that an event makes to it.
//!
//! The effect of an event depends on the machines and the states of the monitors, never on other
//! messages in flight. So a [`Change`] that was computed once, in a restored world, holds for every
//! global state with the same machines and monitor states, whatever else is in flight there. Clocks
//! are left out: with them the effect depends on the time.

use std::hash::{Hash, Hasher};

use tanist_core::NodeId;
use tanist_core::node::Timer;

use crate::explore::choices::{Choice, Order, What, state_digest};
use crate::explore::digest::{Digester, digest};
use crate::explore::varint::{read, write};
use crate::world::World;
use crate::world::faults::Action;

use super::snapshot::{Interner, Store};

/// The parts of a global state.
#[derive(Clone, Debug)]
pub struct Outline {
    machines: Vec<Machine>,
    monitor_states: Place,
    messages: Vec<InFlight>,
    /// The running timers, each with its machine; they are numbered before the messages.
    timers: Vec<(usize, Timer)>,
}

/// Where a value is in a store, and its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    part: u32,
    digest: u128,
}

#[derive(Clone, Copy, Debug)]
struct Machine {
    place: Place,
    is_up: bool,
}

#[derive(Clone, Copy, Debug)]
struct InFlight {
    place: Place,
    host: usize,
    from: NodeId,
}

/// An event at one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message arrives or a timer expires; the node may crash after some effects of it.
    Take {
        /// Its number among the choices.
        number: u64,
        /// After how many effects the node crashes, if it does.
        crash_after: Option<u32>,
    },
    /// A node crashes.
    Crash(NodeId),
    /// A node restarts.
    Recover(NodeId),
    /// No event, for example when a message is lost.
    Nothing,
}

/// The change that an event makes to a global state.
#[derive(Clone, Debug)]
pub struct Change {
    host: usize,
    machine: Machine,
    monitor_states: Place,
    sent: Box<[InFlight]>,
}

impl Change {
    /// Whether the machine is up afterwards.
    #[must_use]
    pub const fn is_up(&self) -> bool {
        self.machine.is_up
    }
}

impl Store {
    /// Reads the snapshot of a world with this many machines.
    #[must_use]
    pub fn outline(&self, mut from: &[u8], machine_count: usize) -> Outline {
        let interner = self.machines.read();
        let mut timers = Vec::new();
        let machines = (0..machine_count).map(|at| {
            let (part, digest, machine) = interner.get(read(&mut from));
            timers.extend(machine.host.timers.iter().map(|timer| (at, *timer)));
            Machine { place: Place { part, digest }, is_up: machine.host.is_up() }
        });
        let machines = machines.collect();
        drop(interner);
        let monitor_states = place(&self.monitor_states.read(), read(&mut from));
        let interner = self.messages.read();
        let mut messages = Vec::new();
        while !from.is_empty() {
            let number = read(&mut from);
            let (_, _, message) = interner.get(number);
            messages.push(InFlight {
                place: place(&interner, number),
                host: message.host,
                from: message.from,
            });
        }
        Outline { machines, monitor_states, messages, timers }
    }

    /// Every message and timer in flight, as the restored world would list them.
    #[must_use]
    pub fn choices(&self, outline: &Outline, nodes: &[NodeId]) -> Vec<Choice> {
        let timers = outline.timers.iter().map(|(at, timer)| {
            let key = digest(&(1, *at, *timer));
            (key, nodes[*at], What::Timer(*timer))
        });
        let interner = self.messages.read();
        let messages = outline.messages.iter().map(|message| {
            let (_, key, stored) = interner.get(u64::from(message.place.part));
            (key, nodes[message.host], What::Message { from: message.from, facts: stored.facts })
        });
        let mut all: Vec<(u128, Choice)> = (1..)
            .zip(timers.chain(messages))
            .map(|(number, (key, node, what))| (key, Choice { number, node, what }))
            .collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all.into_iter().map(|(_, choice)| choice).collect()
    }

    /// Runs an event in a world restored from the outline without other messages, and returns the
    /// change; the world stays in the state after the event.
    pub fn change(&self, outline: &Outline, event: Event, world: &mut World) -> Change {
        let mut bytes = Vec::new();
        let before = outline.with_only(event);
        before.write(&mut bytes);
        self.restore(&bytes, world);
        let node = match event {
            Event::Take { number, crash_after } => {
                let node = world.hosts[outline.host(number)].id;
                if let Some(effects) = crash_after {
                    world.act(Action::CrashAfterEffects(node, effects));
                }
                let last = before.timers.len() as u64 + 1;
                world.choose(number.min(last));
                node
            }
            Event::Crash(node) => {
                world.impose(Action::Crash(node));
                node
            }
            Event::Recover(node) => {
                world.impose(Action::Restart { node, lost_writes: 0 });
                node
            }
            Event::Nothing => world.hosts[0].id,
        };
        bytes.clear();
        self.save(world, &mut bytes);
        let after = self.outline(&bytes, world.hosts.len());
        let host = world.position(node).unwrap_or(0);
        let (machine, monitor_states) = (after.machines[host], after.monitor_states);
        Change { host, machine, monitor_states, sent: after.messages.into() }
    }
}

impl Outline {
    /// Writes the snapshot that it is an outline of.
    pub fn write(&self, to: &mut Vec<u8>) {
        let machines = self.machines.iter().map(|machine| machine.place);
        let messages = self.messages.iter().map(|message| message.place);
        for place in machines.chain([self.monitor_states]).chain(messages) {
            write(to, u64::from(place.part));
        }
    }

    /// The digest of the global state, equal to that of the restored world.
    #[must_use]
    pub fn fingerprint(&self, order: Order) -> u128 {
        let machines = self.machines.iter().map(|machine| machine.place.digest);
        let memories = self.monitor_states.digest;
        match order {
            Order::Any => {
                let messages = self.messages.iter().map(|message| message.place.digest);
                state_digest(machines, memories, messages, order)
            }
            Order::Fifo => {
                let mut messages: Vec<&InFlight> = self.messages.iter().collect();
                // A stable sort keeps the order of sending on each link.
                messages.sort_by_key(|message| (message.host, message.from));
                let messages = messages.into_iter().map(|message| message.place.digest);
                state_digest(machines, memories, messages, order)
            }
        }
    }

    /// Whether the machine at this index is up.
    #[must_use]
    pub fn is_up(&self, at: usize) -> bool {
        self.machines[at].is_up
    }

    /// A digest of everything that the change by an event depends on.
    #[must_use]
    pub fn key(&self, event: Event) -> u128 {
        let mut digester = Digester::new();
        for machine in &self.machines {
            digester.write_u32(machine.place.part);
        }
        let what = match event {
            Event::Take { number, crash_after } => match self.message_at(number) {
                None => (0, number, crash_after.unwrap_or(0)),
                Some(at) => (1, u64::from(self.messages[at].place.part), crash_after.unwrap_or(0)),
            },
            Event::Crash(node) => (2, u64::from(node.0), 0),
            Event::Recover(node) => (3, u64::from(node.0), 0),
            Event::Nothing => (4, 0, 0),
        };
        (self.monitor_states.part, what).hash(&mut digester);
        digester.wide()
    }

    /// The global state after a change; the list of timers is not updated.
    #[must_use]
    pub fn after(&self, change: &Change) -> Self {
        let mut next = self.clone();
        next.machines[change.host] = change.machine;
        next.monitor_states = change.monitor_states;
        for message in &change.sent {
            // Equal messages in flight count as one, and the first of them stays.
            if next.messages.iter().all(|known| known.place.part != message.place.part) {
                next.messages.push(*message);
            }
        }
        next
    }

    /// Drops a message.
    pub fn lose(&mut self, number: u64) {
        if let Some(at) = self.message_at(number) {
            self.messages.remove(at);
        }
    }

    /// Whether a message is in flight to a node that is up.
    #[must_use]
    pub fn has_messages_to_live_nodes(&self) -> bool {
        self.messages.iter().any(|message| self.machines[message.host].is_up)
    }

    /// Drops every message to a node that is down.
    pub fn drop_messages_to_crashed_nodes(&mut self) {
        let machines = &self.machines;
        self.messages.retain(|message| machines[message.host].is_up);
    }

    /// The index of the message with this number.
    fn message_at(&self, number: u64) -> Option<usize> {
        let at = usize::try_from(number).ok()?.checked_sub(self.timers.len() + 1)?;
        (at < self.messages.len()).then_some(at)
    }

    /// The same machines, with no message except the one that the event takes.
    fn with_only(&self, event: Event) -> Self {
        let taken = match event {
            Event::Take { number, .. } => self.message_at(number),
            Event::Crash(_) | Event::Recover(_) | Event::Nothing => None,
        };
        let messages = taken.map(|at| self.messages[at]).into_iter().collect();
        Self { messages, ..self.clone() }
    }

    /// The machine that the event with this number happens at.
    fn host(&self, number: u64) -> usize {
        match self.message_at(number) {
            Some(at) => self.messages[at].host,
            None => {
                let at = usize::try_from(number).unwrap_or(0).saturating_sub(1);
                self.timers.get(at).map_or(0, |(host, _)| *host)
            }
        }
    }
}

fn place<T>(interner: &Interner<T>, number: u64) -> Place {
    let (part, digest, _) = interner.get(number);
    Place { part, digest }
}
