//! A world whose next step somebody else picks: everything that is under way, each taken up at
//! will.
//!
//! The same world as a seed drives, without its clock: a message may arrive at any moment, a timer
//! may run out at any moment, and whoever picks decides what the assumptions allow. The application
//! answers at once, and equal messages that are under way at the same time are one.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use tanist_core::NodeId;
use tanist_core::node::Timer;
use tanist_core::trace::{Loss, MessageFacts};

use crate::host::Due;
use crate::world::{Thing, World};

/// Something that may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its number in this world.
    pub number: u64,
    /// To whom it happens.
    pub node: NodeId,
    /// What it is.
    pub what: What,
}

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A message arrives.
    Message {
        /// From whom.
        from: NodeId,
        /// What it says, in short.
        facts: MessageFacts,
    },
    /// A timer runs out.
    Timer(Timer),
}

impl World {
    /// Everything that is under way, in a canonical order; equal messages appear once.
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        let mut seen = BTreeSet::new();
        let mut choices: Vec<(u64, Choice)> = Vec::new();
        for (number, thing) in self.schedule.entries() {
            let Thing::At { host, due } = thing else { continue };
            let node = self.hosts[*host].id;
            let what = match due {
                Due::Deliver { from, message, .. } => {
                    let facts = message.facts(self.config.algorithm);
                    What::Message { from: *from, facts }
                }
                Due::Timer { timer, life } => {
                    let host = &self.hosts[*host];
                    if *life != host.life || !host.is_running(*timer, number) {
                        continue;
                    }
                    What::Timer(*timer)
                }
                Due::Command { .. } | Due::Refusal { .. } => continue,
            };
            let key = self.content(thing);
            if seen.insert(key) {
                choices.push((key, Choice { number, node, what }));
            }
        }
        choices.sort_unstable_by_key(|(key, _)| *key);
        choices.into_iter().map(|(_, choice)| choice).collect()
    }

    /// Lets one of the choices happen, and everything that the application says to it.
    pub fn choose(&mut self, number: u64) {
        self.advance();
        if let Some(Thing::At { host, due }) = self.schedule.remove(number) {
            self.take_up(host, number, due);
        }
        self.settle();
    }

    /// Loses a message.
    pub fn lose_message(&mut self, number: u64) {
        self.advance();
        if let Some(Thing::At { host, due: Due::Deliver { from, id, message } }) =
            self.schedule.remove(number)
        {
            let facts = message.facts(self.config.algorithm);
            self.lose(from, self.hosts[host].id, id, facts, Loss::Dropped);
        }
        self.settle();
    }

    /// Does something to the world, as a fault of a scenario would.
    pub fn impose(&mut self, action: crate::faults::Action) {
        self.advance();
        self.act(action);
        self.settle();
    }

    /// Lets the application answer whatever it was asked, and forgets what can never happen.
    pub fn settle(&mut self) {
        loop {
            let next = self.schedule.entries().find_map(|(number, thing)| match thing {
                Thing::At { due: Due::Command { .. }, .. } => Some(number),
                Thing::At {
                    due: Due::Deliver { .. } | Due::Timer { .. } | Due::Refusal { .. },
                    ..
                } => None,
                Thing::Fault(_) => None,
            });
            let Some(number) = next else { break };
            if let Some(Thing::At { host, due }) = self.schedule.remove(number) {
                self.take_up(host, number, due);
            }
        }
        let mut seen = BTreeSet::new();
        let mut entries: Vec<(u64, &Thing)> = self.schedule.entries().collect();
        entries.sort_unstable_by_key(|(number, _)| *number);
        let stale: Vec<u64> = entries
            .into_iter()
            .filter(|(number, thing)| match thing {
                Thing::At { host, due: Due::Timer { timer, life } } => {
                    let host = &self.hosts[*host];
                    *life != host.life || !host.is_running(*timer, *number)
                }
                // Without a clock a node could ask the same thing for ever before it is heard once.
                Thing::At { due: Due::Deliver { .. }, .. } => !seen.insert(self.content(thing)),
                Thing::At { due: Due::Command { .. } | Due::Refusal { .. }, .. }
                | Thing::Fault(_) => false,
            })
            .map(|(number, _)| number)
            .collect();
        for number in stale {
            self.schedule.remove(number);
        }
    }

    /// A number that two worlds share if and, but for a collision, only if they are in the same
    /// situation: nodes, disks, timers, messages under way, and what the monitors remember.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for host in &self.hosts {
            host.node.hash(&mut hasher);
            host.saved().hash(&mut hasher);
            host.life.hash(&mut hasher);
            host.running().hash(&mut hasher);
        }
        self.watch.memory().hash(&mut hasher);
        let messages = self
            .schedule
            .entries()
            .filter(|(_, thing)| matches!(thing, Thing::At { due: Due::Deliver { .. }, .. }));
        // A sum does not depend on the order, and counts equal messages.
        let under_way =
            messages.fold(0_u64, |sum, (_, thing)| sum.wrapping_add(self.content(thing)));
        under_way.hash(&mut hasher);
        hasher.finish()
    }

    /// Time passes with every choice, so that the trace is in order.
    fn advance(&mut self) {
        self.now = self.now + Duration::from_micros(1);
    }

    fn content(&self, thing: &Thing) -> u64 {
        let mut hasher = DefaultHasher::new();
        match thing {
            Thing::At { host, due: Due::Deliver { from, message, .. } } => {
                (0, *host, *from, message).hash(&mut hasher);
            }
            Thing::At { host, due: Due::Timer { timer, .. } } => {
                (1, *host, *timer).hash(&mut hasher);
            }
            Thing::At { host, due: Due::Command { command, .. } } => {
                (2, *host, command).hash(&mut hasher);
            }
            Thing::At { host, due: Due::Refusal { peer, .. } } => {
                (3, *host, *peer).hash(&mut hasher);
            }
            Thing::Fault(_) => 4.hash(&mut hasher),
        }
        hasher.finish()
    }
}
