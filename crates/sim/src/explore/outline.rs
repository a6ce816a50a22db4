//! A frozen situation looked at without thawing it, and what an event makes of it.
//!
//! What an event does depends on the machines and on what the monitors remember, never on other mail
//! that is under way. So a [`Change`] that was found once, in a thawed world, holds for every
//! situation with the same machines and memories, whatever is under way there. Leaves out clocks:
//! with them it matters what time it is.

use std::hash::{Hash, Hasher};

use tanist_core::NodeId;
use tanist_core::node::Timer;

use crate::explore::choices::{Choice, Order, What, situation};
use crate::explore::digest::{Digester, digest};
use crate::explore::varint::{read, write};
use crate::world::World;
use crate::world::faults::Action;

use super::snapshot::{Shelf, Store};

/// The parts of a situation.
#[derive(Clone, Debug)]
pub struct Outline {
    machines: Vec<Machine>,
    monitor_states: Place,
    mail: Vec<Letter>,
    /// The timers that run, at which machine: what is numbered first.
    timers: Vec<(usize, Timer)>,
}

/// Where a value is in a store, and the number that stands for it.
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
struct Letter {
    place: Place,
    host: usize,
    from: NodeId,
}

/// Something that happens to one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message arrives or a timer runs out; the machine may die after so many effects of it.
    Take {
        /// Its number among the choices.
        number: u64,
        /// After how many effects the machine dies, if it does.
        crash_after: Option<u32>,
    },
    /// A node dies.
    Crash(NodeId),
    /// A node comes back.
    Recover(NodeId),
    /// Nothing, as when a message is lost: a change that changes nothing.
    Nothing,
}

/// What an event does to a situation.
#[derive(Clone, Debug)]
pub struct Change {
    host: usize,
    machine: Machine,
    monitor_states: Place,
    sent: Box<[Letter]>,
}

impl Change {
    /// Whether the machine is up afterwards.
    #[must_use]
    pub const fn is_up(&self) -> bool {
        self.machine.is_up
    }
}

impl Store {
    /// Looks at what was frozen of a world with so many machines.
    #[must_use]
    pub fn outline(&self, mut from: &[u8], machine_count: usize) -> Outline {
        let shelf = self.machines.read();
        let mut timers = Vec::new();
        let machines = (0..machine_count).map(|at| {
            let (part, digest, machine) = shelf.get(read(&mut from));
            timers.extend(machine.host.timers.iter().map(|timer| (at, *timer)));
            Machine { place: Place { part, digest }, is_up: machine.host.is_up() }
        });
        let machines = machines.collect();
        drop(shelf);
        let monitor_states = place(&self.monitor_states.read(), read(&mut from));
        let shelf = self.mail.read();
        let mut mail = Vec::new();
        while !from.is_empty() {
            let number = read(&mut from);
            let (_, _, letter) = shelf.get(number);
            mail.push(Letter {
                place: place(&shelf, number),
                host: letter.host,
                from: letter.from,
            });
        }
        Outline { machines, monitor_states, mail, timers }
    }

    /// Everything that is under way, as the thawed world would tell it.
    #[must_use]
    pub fn choices(&self, outline: &Outline, nodes: &[NodeId]) -> Vec<Choice> {
        let timers = outline.timers.iter().map(|(at, timer)| {
            let key = digest(&(1, *at, *timer));
            (key, nodes[*at], What::Timer(*timer))
        });
        let shelf = self.mail.read();
        let mail = outline.mail.iter().map(|letter| {
            let (_, key, mail) = shelf.get(u64::from(letter.place.part));
            (key, nodes[letter.host], What::Message { from: letter.from, facts: mail.facts })
        });
        let mut all: Vec<(u128, Choice)> = (1..)
            .zip(timers.chain(mail))
            .map(|(number, (key, node, what))| (key, Choice { number, node, what }))
            .collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all.into_iter().map(|(_, choice)| choice).collect()
    }

    /// Lets an event happen in a world that is made what the outline says, other mail left out;
    /// afterwards the world is what became of it.
    pub fn change(&self, outline: &Outline, event: Event, world: &mut World) -> Change {
        let mut bytes = Vec::new();
        let before = outline.with_only(event);
        before.write(&mut bytes);
        self.thaw(&bytes, world);
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
        self.freeze(world, &mut bytes);
        let after = self.outline(&bytes, world.hosts.len());
        let host = world.position(node).unwrap_or(0);
        let (machine, monitor_states) = (after.machines[host], after.monitor_states);
        Change { host, machine, monitor_states, sent: after.mail.into() }
    }
}

impl Outline {
    /// Writes it down as it was frozen.
    pub fn write(&self, to: &mut Vec<u8>) {
        let machines = self.machines.iter().map(|machine| machine.place);
        let mail = self.mail.iter().map(|letter| letter.place);
        for place in machines.chain([self.monitor_states]).chain(mail) {
            write(to, u64::from(place.part));
        }
    }

    /// The number that stands for the situation, as the thawed world would tell it.
    #[must_use]
    pub fn fingerprint(&self, order: Order) -> u128 {
        let machines = self.machines.iter().map(|machine| machine.place.digest);
        let memories = self.monitor_states.digest;
        match order {
            Order::Any => {
                let mail = self.mail.iter().map(|letter| letter.place.digest);
                situation(machines, memories, mail, order)
            }
            Order::Fifo => {
                let mut mail: Vec<&Letter> = self.mail.iter().collect();
                // A stable sort keeps the order of sending on each link.
                mail.sort_by_key(|letter| (letter.host, letter.from));
                let mail = mail.into_iter().map(|letter| letter.place.digest);
                situation(machines, memories, mail, order)
            }
        }
    }

    /// Whether the machine in this place is up.
    #[must_use]
    pub fn is_up(&self, at: usize) -> bool {
        self.machines[at].is_up
    }

    /// The number of everything that the change by an event depends on.
    #[must_use]
    pub fn key(&self, event: Event) -> u128 {
        let mut digester = Digester::new();
        for machine in &self.machines {
            digester.write_u32(machine.place.part);
        }
        let what = match event {
            Event::Take { number, crash_after } => match self.letter(number) {
                None => (0, number, crash_after.unwrap_or(0)),
                Some(at) => (1, u64::from(self.mail[at].place.part), crash_after.unwrap_or(0)),
            },
            Event::Crash(node) => (2, u64::from(node.0), 0),
            Event::Recover(node) => (3, u64::from(node.0), 0),
            Event::Nothing => (4, 0, 0),
        };
        (self.monitor_states.part, what).hash(&mut digester);
        digester.wide()
    }

    /// What a change makes of the situation; the timers are not told of it.
    #[must_use]
    pub fn after(&self, change: &Change) -> Self {
        let mut next = self.clone();
        next.machines[change.host] = change.machine;
        next.monitor_states = change.monitor_states;
        for letter in &change.sent {
            // Equal messages that are under way are one, and the first of them counts.
            if next.mail.iter().all(|known| known.place.part != letter.place.part) {
                next.mail.push(*letter);
            }
        }
        next
    }

    /// Forgets a message.
    pub fn lose(&mut self, number: u64) {
        if let Some(at) = self.letter(number) {
            self.mail.remove(at);
        }
    }

    /// Whether something is under way to a node that is up.
    #[must_use]
    pub fn has_mail_for_the_living(&self) -> bool {
        self.mail.iter().any(|letter| self.machines[letter.host].is_up)
    }

    /// Forgets every message to a node that is down.
    pub fn forget_mail_to_the_dead(&mut self) {
        let machines = &self.machines;
        self.mail.retain(|letter| machines[letter.host].is_up);
    }

    /// The message of this number.
    fn letter(&self, number: u64) -> Option<usize> {
        let at = usize::try_from(number).ok()?.checked_sub(self.timers.len() + 1)?;
        (at < self.mail.len()).then_some(at)
    }

    /// The same machines, with no mail but what the event takes.
    fn with_only(&self, event: Event) -> Self {
        let taken = match event {
            Event::Take { number, .. } => self.letter(number),
            Event::Crash(_) | Event::Recover(_) | Event::Nothing => None,
        };
        let mail = taken.map(|at| self.mail[at]).into_iter().collect();
        Self { mail, ..self.clone() }
    }

    /// The machine that something under way happens to.
    fn host(&self, number: u64) -> usize {
        match self.letter(number) {
            Some(at) => self.mail[at].host,
            None => {
                let at = usize::try_from(number).unwrap_or(0).saturating_sub(1);
                self.timers.get(at).map_or(0, |(host, _)| *host)
            }
        }
    }
}

fn place<T>(shelf: &Shelf<T>, number: u64) -> Place {
    let (part, digest, _) = shelf.get(number);
    Place { part, digest }
}
