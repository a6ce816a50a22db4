//! The choices of a world that is driven without a clock: every event in flight, any of which may
//! be next.
//! | This is the same world that a seed drives. A message may arrive at any moment, a timer may
//! expire at any moment, and the caller decides which choices its assumptions allow. The
//! application answers at once, and equal messages in flight at the same time count as one.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use tanist_core::NodeId;
use tanist_core::node::Timer;
use tanist_core::trace::{Loss, MessageFacts};

use crate::explore::digest::{Digester, digest};
use crate::world::host::Due;
use crate::world::{Scheduled, World};

/// An event that may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its number in this world.
    pub number: u64,
    /// The node that it happens to.
    pub node: NodeId,
    /// What it is.
    pub what: What,
}

/// The kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A message arrives.
    Message {
        /// Its sender.
        from: NodeId,
        /// The message, in short.
        facts: MessageFacts,
    },
    /// A timer expires.
    Timer(Timer),
}

/// In which order the messages of one link arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// In any order.
    #[default]
    Any,
    /// In order of sending.
    Fifo,
}

/// The digest of a global state; messages are given link by link, each in order of sending.
pub(crate) fn state_digest(
    machines: impl Iterator<Item = u128>,
    memories: u128,
    messages: impl Iterator<Item = u128>,
    order: Order,
) -> u128 {
    let mut digester = Digester::new();
    machines.for_each(|machine| digester.write_u128(machine));
    digester.write_u128(memories);
    match order {
        // A sum does not depend on the order.
        Order::Any => digester.write_u128(messages.fold(0, u128::wrapping_add)),
        Order::Fifo => messages.for_each(|message| digester.write_u128(message)),
    }
    digester.wide()
}

impl World {
    /// Every message and timer in flight, in a canonical order; equal messages appear once.
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        let mut choices: Vec<(u128, Choice)> = Vec::new();
        for (number, scheduled) in self.schedule.entries() {
            let Scheduled::At { host, due } = scheduled else { continue };
            let node = self.hosts[*host].id;
            let what = match due {
                Due::Deliver { from, message, .. } => {
                    let facts = message.facts(self.config.algorithm());
                    What::Message { from: *from, facts }
                }
                Due::Timer { timer, incarnation } => {
                    let host = &self.hosts[*host];
                    if *incarnation != host.incarnation || !host.is_running(*timer, number) {
                        continue;
                    }
                    What::Timer(*timer)
                }
                Due::Command { .. } | Due::Refusal { .. } => continue,
            };
            choices.push((self.digest_of(scheduled), Choice { number, node, what }));
        }
        choices.sort_unstable_by_key(|(digest, choice)| (*digest, choice.number));
        choices.dedup_by_key(|(digest, _)| *digest);
        choices.into_iter().map(|(_, choice)| choice).collect()
    }

    /// Runs one of the choices, and the answers of the application to it.
    pub fn choose(&mut self, number: u64) {
        self.advance();
        if let Some(Scheduled::At { host, due }) = self.schedule.remove(number) {
            self.on_event(host, number, due);
        }
        self.settle();
    }

    /// Loses a message.
    pub fn lose_message(&mut self, number: u64) {
        self.advance();
        if let Some(Scheduled::At { host, due: Due::Deliver { from, id, message } }) =
            self.schedule.remove(number)
        {
            self.lose(from, self.hosts[host].id, id, &message, Loss::Dropped);
        }
        self.settle();
    }

    /// Delivers a message, and leaves a copy of it in flight.
    pub fn repeat_message(&mut self, number: u64) {
        self.advance();
        let found = self.schedule.entries().find(|(known, _)| *known == number);
        if let Some((_, Scheduled::At { host, due: due @ Due::Deliver { .. } })) = found {
            let (host, due) = (*host, due.clone());
            self.on_event(host, number, due);
        }
        self.settle();
    }

    /// Applies an action, as a fault of a scenario would.
    pub fn impose(&mut self, action: crate::world::faults::Action) {
        self.advance();
        self.act(action);
        self.settle();
    }

    /// The highest counter on any disk.
    #[must_use]
    pub fn highest_counter(&self) -> u64 {
        let saved = self.hosts.iter().filter_map(|host| host.saved());
        saved.map(|record| record.counter.0).max().unwrap_or(0)
    }

    /// Lets the application answer all requests, and drops what can never happen and what no later
    /// event depends on.
    pub fn settle(&mut self) {
        while let Some(number) = self.next_command() {
            if let Some(Scheduled::At { host, due }) = self.schedule.remove(number) {
                self.on_event(host, number, due);
            }
        }
        let mut seen: Vec<(u128, u64)> = Vec::new();
        let mut stale: Vec<u64> = Vec::new();
        for (number, scheduled) in self.schedule.entries() {
            match scheduled {
                Scheduled::At { host, due: Due::Timer { timer, incarnation } } => {
                    let host = &self.hosts[*host];
                    if *incarnation != host.incarnation || !host.is_running(*timer, number) {
                        stale.push(number);
                    }
                }
                Scheduled::At { due: Due::Deliver { .. }, .. } => {
                    seen.push((self.digest_of(scheduled), number));
                }
                Scheduled::At { due: Due::Command { .. } | Due::Refusal { .. }, .. }
                | Scheduled::Fault(_)
                | Scheduled::Look => {}
            }
        }
        // Without a clock a node could send the same request any number of times before one
        // arrives.
        seen.sort_unstable();
        let again = seen.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1);
        stale.extend(again);
        self.schedule.remove_all(&stale);
        self.observers.global.forget_step();
        self.reset_dice();
    }

    /// The first answer of an application that is in flight.
    fn next_command(&self) -> Option<u64> {
        let commands = self.schedule.entries().filter_map(|(number, scheduled)| match scheduled {
            Scheduled::At { due: Due::Command { .. }, .. } => Some(number),
            Scheduled::At {
                due: Due::Deliver { .. } | Due::Timer { .. } | Due::Refusal { .. },
                ..
            }
            | Scheduled::Fault(_)
            | Scheduled::Look => None,
        });
        commands.min()
    }

    /// Drops every message to a node that is down.
    pub fn drop_messages_to_crashed_nodes(&mut self) {
        let dead: Vec<u64> = self
            .schedule
            .entries()
            .filter(|(_, scheduled)| match scheduled {
                Scheduled::At { host, due: Due::Deliver { .. } } => {
                    self.hosts[*host].node.is_none()
                }
                Scheduled::At { .. } | Scheduled::Fault(_) | Scheduled::Look => false,
            })
            .map(|(number, _)| number)
            .collect();
        self.schedule.remove_all(&dead);
    }

    /// A digest that two settled worlds share if, and except for a collision only if, they are in
    /// the same global state: nodes, disks, timers, node views, states of the monitors, and
    /// messages in flight.
    #[must_use]
    pub fn fingerprint(&self, order: Order) -> u128 {
        let machines = (0..self.hosts.len()).map(|at| self.host_digest(at));
        let mut messages: Vec<(usize, NodeId, u64, u128)> = self
            .schedule
            .entries()
            .filter_map(|(number, scheduled)| match scheduled {
                Scheduled::At { host, due: Due::Deliver { from, .. } } => {
                    Some((*host, *from, number, self.digest_of(scheduled)))
                }
                Scheduled::At { .. } | Scheduled::Fault(_) | Scheduled::Look => None,
            })
            .collect();
        messages.sort_unstable_by_key(|(host, from, number, _)| (*host, *from, *number));
        let messages = messages.into_iter().map(|(.., digest)| digest);
        state_digest(machines, self.observers.memories_digest(), messages, order)
    }

    /// The digest of a machine and its node view.
    pub(crate) fn host_digest(&self, at: usize) -> u128 {
        let host = &self.hosts[at];
        host.mark.map_or_else(
            || {
                let mut digester = Digester::new();
                host.hash_part(&mut digester);
                self.observers.global.views()[at].hash(&mut digester);
                digester.wide()
            },
            |mark| mark.digest,
        )
    }

    /// Time advances with every choice, so that the trace is in order.
    fn advance(&mut self) {
        self.now = self.now + Duration::from_micros(1);
    }

    /// The digest of an entry of the schedule, without its number.
    pub(crate) fn digest_of(&self, scheduled: &Scheduled) -> u128 {
        match scheduled {
            Scheduled::At { host, due: Due::Deliver { from, message, .. } } => {
                digest(&(0, *host, *from, message))
            }
            Scheduled::At { host, due: Due::Timer { timer, .. } } => digest(&(1, *host, *timer)),
            Scheduled::At { host, due: Due::Command { command, .. } } => {
                digest(&(2, *host, command))
            }
            Scheduled::At { host, due: Due::Refusal { peer, .. } } => digest(&(3, *host, *peer)),
            Scheduled::Fault(_) => digest(&4),
            Scheduled::Look => digest(&5),
        }
    }
}
