//! Recall: a node that starts asks its peers for the highest group number that it has used.
//!
//! A disk that lost its last writes, or was restored from a backup, would make a node use a group
//! number again (F-01, I-07). So every node remembers the highest counter that it saw of every
//! other one, and a node that starts asks all others before anything else:
//!
//! ```text
//!   Asking --all have answered or failed, or T is over--> save the highest, go on from it --> Idle
//! ```
//!
//! While it asks, the node takes part in nothing: its status is Down, and it drops messages of
//! elections. A later message with a higher number of its own still raises the counter.
//!
//! Assumes that some peer that saw the number is up and answers within T; if no node that saw it is
//! left, none can be misled by it either, though a delayed message may bring it back. Leaves out:
//! the counter itself, which belongs to the election once that has started.

#[cfg(test)]
mod tests;

use alloc::collections::BTreeMap;

use minicbor::{Decode, Encode};

use crate::election::descriptor::{MessageInfo, TimerInfo, Topic};
use crate::group::{Counter, GroupNumber};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::{Mutant, mutants};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::trace::{Kind, MessageFacts, TimerName};

/// Whether nodes remember each other's numbers and ask for their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RecallMode {
    /// The disk is trusted: nothing is remembered and no node is asked.
    #[default]
    Off,
    /// A node asks before it starts.
    On,
}

/// The layer's state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recall {
    /// The highest counter of each other node that was seen; empty where recall is off.
    seen: BTreeMap<NodeId, Counter>,
    stage: Stage,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    /// The counter is known and the election has it.
    Idle,
    /// The others were asked for the numbers of this node.
    Asking { question: u32, awaiting: NodeSet, saved: Counter, highest: Counter },
}

/// The messages of recall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// What was the highest counter of the sender's group numbers?
    #[n(0)]
    Recall {
        /// Drawn at random at every start of a node.
        #[n(0)]
        question: u32,
    },
    /// The highest counter that the sender saw.
    #[n(1)]
    Recalled {
        /// Echoed: an answer to an earlier incarnation may be older than that incarnation's last
        /// number.
        #[n(0)]
        question: u32,
        /// The counter, if the sender saw any.
        #[n(1)]
        counter: Option<Counter>,
    },
}

impl Message {
    /// What a trace says of it.
    #[must_use]
    pub const fn facts(&self) -> MessageFacts {
        match self {
            Self::Recall { .. } => MessageFacts::new(Kind::Recall, None, None),
            Self::Recalled { counter, .. } => {
                let ok = Some(counter.is_some());
                MessageFacts::new(Kind::RecallAnswer, None, ok)
            }
        }
    }

    /// The highest counter in it; 0 if it has none.
    pub(crate) fn highest_counter(&self) -> Counter {
        match self {
            Self::Recall { .. } => Counter::default(),
            Self::Recalled { counter, .. } => counter.unwrap_or_default(),
        }
    }

    /// A message of every kind with every field filled, and without those that are optional.
    #[cfg(test)]
    pub(crate) const fn examples() -> [Self; 3] {
        [
            Self::Recall { question: u32::MAX },
            Self::Recalled { question: 7, counter: Some(Counter(5)) },
            Self::Recalled { question: 7, counter: None },
        ]
    }
}

/// Ends the wait for answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Answers;

/// What this layer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// A message or this node's own group has this number.
    Saw(GroupNumber),
    /// There is evidence that this peer has failed.
    Failed(NodeId),
}

/// What this layer tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// The election may start from this counter, which is on disk.
    Known(Option<Counter>),
    /// The election runs, and a peer knows of this counter of this node; it may be higher.
    Seen(Counter),
}

impl Protocol for Recall {
    type Message = Message;
    type Timer = Answers;
    type Record = Counter;
    type Command = Command;
    type Notice = Notice;

    fn start(cx: &mut Context<'_>, saved: Option<Counter>, out: &mut Effects<Self>) -> Self {
        let mut recall = Self::established();
        let others: NodeSet = match cx.config.recall() {
            RecallMode::Off => NodeSet::new(),
            RecallMode::On => cx.members.peer_group(cx.me).others(cx.me).collect(),
        };
        if others.is_empty() {
            out.notify(Notice::Known(saved));
        } else {
            recall.ask(cx, saved.unwrap_or_default(), others, out);
        }
        recall
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message: Message::Recall { question } } => {
                let counter = self.seen.get(&from).copied();
                out.send(from, Message::Recalled { question, counter });
            }
            Event::Message { from, message: Message::Recalled { question, counter } } => {
                if let Some(counter) = counter {
                    self.learn(cx, counter, out);
                }
                self.count(from, question, out);
            }
            Event::Timer(Answers) => self.conclude(out),
            Event::Command(Command::Saw(group)) if group.node == cx.me => {
                self.learn(cx, Counter(group.counter), out);
            }
            Event::Command(Command::Saw(group)) => self.remember(cx, group),
            Event::Command(Command::Failed(peer)) => self.strike_off(peer, out),
        }
    }
}

impl Recall {
    /// Nothing seen yet and nothing to ask.
    #[must_use]
    pub const fn established() -> Self {
        Self { seen: BTreeMap::new(), stage: Stage::Idle }
    }

    fn ask(
        &mut self,
        cx: &mut Context<'_>,
        saved: Counter,
        others: NodeSet,
        out: &mut Effects<Self>,
    ) {
        let question = cx.dice.roll(u32::MAX);
        for other in others.iter() {
            out.send(other, Message::Recall { question });
        }
        out.set_timer(Answers, cx.config.timing().answer());
        self.stage = Stage::Asking { question, awaiting: others, saved, highest: saved };
    }

    fn remember(&mut self, cx: &Context<'_>, group: GroupNumber) {
        if cx.config.recall() == RecallMode::On && !cx.is_mutated(Mutant::FORGET_SEEN) {
            let highest = self.seen.entry(group.node).or_default();
            *highest = (*highest).max(Counter(group.counter));
        }
    }

    /// Counts whichever question it answers: a number of this node that a peer saw was used.
    fn learn(&mut self, cx: &Context<'_>, counter: Counter, out: &mut Effects<Self>) {
        if cx.config.recall() == RecallMode::Off || cx.is_mutated(Mutant::IGNORE_RECALL) {
            return;
        }
        match &mut self.stage {
            Stage::Asking { highest, .. } => *highest = (*highest).max(counter),
            Stage::Idle => out.notify(Notice::Seen(counter)),
        }
    }

    fn count(&mut self, from: NodeId, answered: u32, out: &mut Effects<Self>) {
        match self.stage {
            Stage::Asking { question, .. } if question == answered => self.strike_off(from, out),
            Stage::Asking { .. } | Stage::Idle => {}
        }
    }

    fn strike_off(&mut self, peer: NodeId, out: &mut Effects<Self>) {
        if let Stage::Asking { awaiting, .. } = &mut self.stage {
            awaiting.remove(peer);
            if awaiting.is_empty() {
                self.conclude(out);
            }
        }
    }

    fn conclude(&mut self, out: &mut Effects<Self>) {
        let Stage::Asking { saved, highest, .. } = self.stage else { return };
        self.stage = Stage::Idle;
        out.cancel_timer(Answers);
        if highest > saved {
            out.save(highest);
        }
        out.notify(Notice::Known(Some(highest)));
    }
}

pub(crate) const MESSAGES: &[MessageInfo] = &[
    MessageInfo::request(Kind::Recall, Topic::Discovery),
    MessageInfo {
        while_withdrawn: true,
        ..MessageInfo::answer(Kind::RecallAnswer, Topic::Discovery, &[Kind::Recall])
    },
];

pub(crate) const TIMERS: &[TimerInfo] =
    &[TimerInfo::wait(TimerName::Recall, "gives up waiting for what the others remember")];

mutants! {
    /// Recall: what others remember of a node's numbers is ignored.
    IGNORE_RECALL = "ignore-recall",
    /// Recall: no node remembers the numbers of others.
    FORGET_SEEN = "forget-seen",
}
