//! One simulated machine: a node, its disk, its timers, its clock and its application.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use tanist_core::node::{Command, Message, Node, Timer};
use tanist_core::time::micros;
use tanist_core::trace::NodeState;
use tanist_core::{GroupNumber, NodeId, NodeRecord, Time};

use crate::world::faults::FaultNumber;

/// The rate of a correct clock.
pub const RATE: u32 = 1_000_000;

/// How many of its last writes a disk can lose.
const WRITES_KEPT: usize = 8;

/// A machine.
#[derive(Clone, Debug)]
pub struct Host {
    /// The id of its node.
    pub id: NodeId,
    /// The node, while the machine is up.
    pub node: Option<Node>,
    /// The node's state as last written to the trace.
    pub(crate) told: Option<NodeState>,
    /// What the disk acknowledged, oldest first.
    disk: Vec<NodeRecord>,
    timers: Vec<(Timer, u64)>,
    /// What arrived during a pause; none while the node runs.
    pub(crate) held: Option<Vec<Due>>,
    /// The answers that an application owes since it hangs; none while it answers.
    pub(crate) unanswered: Option<Vec<Command>>,
    /// Added to the delay of every message from or to it.
    pub(crate) slow: Duration,
    /// How fast its clock runs, in millionths of the correct rate.
    pub(crate) rate: u32,
    /// Distinguishes the incarnations of a node: a timer or answer of an earlier one is ignored.
    pub(crate) incarnation: u32,
    /// The crash that the next step with so many effects ends in.
    pub(crate) crash_after: Option<CrashAfter>,
    /// The last message to each peer: a refusal of an earlier one says nothing about it.
    last_sent: Vec<(NodeId, u64)>,
    /// The highest group number of each node that this incarnation has received, where recall is
    /// on.
    heard: Vec<GroupNumber>,
    /// Its place in a store of snapshots, unless its state changed since.
    pub(crate) mark: Option<Mark>,
}

/// A crash in the next step of a node that has this many effects, after carrying them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CrashAfter {
    pub(crate) effects: u32,
    /// When it was asked for.
    pub(crate) at: Time,
    /// The fault that asked for it; none if that was no fault of a scenario.
    pub(crate) fault: Option<FaultNumber>,
}

/// One incarnation of the node of a machine. What it has begun ends with its crash, whatever
/// caused that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Incarnation {
    /// The index of the machine.
    pub(crate) host: usize,
    /// Which of its incarnations.
    pub(crate) number: u32,
}

/// A machine's place in a store of snapshots, and its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) part: u32,
    pub(crate) digest: u128,
}

/// Everything about a running machine with a correct clock that its future depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HostPart {
    node: Option<Node>,
    told: Option<NodeState>,
    saved: Option<NodeRecord>,
    pub(crate) timers: Vec<Timer>,
    incarnation: u32,
    heard: Vec<GroupNumber>,
}

impl HostPart {
    pub(crate) const fn is_up(&self) -> bool {
        self.node.is_some()
    }
}

/// Something that is due at a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Due {
    /// A message arrives.
    Deliver {
        /// From whom.
        from: NodeId,
        /// Its number in the trace.
        id: u64,
        /// The message itself.
        message: Message,
    },
    /// A timer runs out, unless it was replaced or cancelled.
    Timer {
        /// Which.
        timer: Timer,
        /// In which incarnation it was set.
        incarnation: u32,
    },
    /// The transport learns that the peer refused the connection for a message.
    Refusal {
        /// The addressee.
        peer: NodeId,
        /// Its number in the trace.
        id: u64,
        /// In which incarnation it was sent.
        incarnation: u32,
    },
    /// The application answers.
    Command {
        /// The answer.
        command: Command,
        /// In which incarnation it was asked.
        incarnation: u32,
    },
}

impl Host {
    /// A machine that is down, with an empty disk.
    #[must_use]
    pub fn new(id: NodeId) -> Self {
        Self {
            id,
            node: None,
            told: None,
            disk: Vec::new(),
            timers: Vec::new(),
            held: None,
            unanswered: None,
            slow: Duration::ZERO,
            rate: RATE,
            incarnation: 0,
            crash_after: None,
            last_sent: Vec::new(),
            heard: Vec::new(),
            mark: None,
        }
    }

    /// Its incarnation, where this is its index.
    pub(crate) const fn current(&self, host: usize) -> Incarnation {
        Incarnation { host, number: self.incarnation }
    }

    /// The part of its state that its future depends on.
    pub(crate) fn part(&self) -> HostPart {
        HostPart {
            node: self.node.clone(),
            told: self.told.clone(),
            saved: self.saved().cloned(),
            timers: self.running(),
            incarnation: self.incarnation,
            heard: self.heard.clone(),
        }
    }

    /// Hashes the part of its state that its future depends on.
    pub(crate) fn hash_part(&self, hasher: &mut impl Hasher) {
        self.node.hash(hasher);
        // `told` follows from the node's state, so it adds nothing.
        self.saved().hash(hasher);
        self.running().hash(hasher);
        self.incarnation.hash(hasher);
        self.heard.hash(hasher);
    }

    /// Takes over a saved state; the caller sets its timers, since it has the schedule.
    pub(crate) fn put_back(&mut self, part: &HostPart) {
        self.node.clone_from(&part.node);
        self.told.clone_from(&part.told);
        self.disk.clear();
        self.disk.extend(part.saved.clone());
        self.incarnation = part.incarnation;
        self.heard.clone_from(&part.heard);
        self.timers.clear();
        (self.crash_after, self.held) = (None, None);
        self.last_sent.clear();
    }

    /// Forgets its timers, so that they can be set again.
    pub(crate) fn clear_timers(&mut self) {
        self.timers.clear();
    }

    /// The record that the disk holds.
    #[must_use]
    pub fn saved(&self) -> Option<&NodeRecord> {
        self.disk.last()
    }

    pub(crate) fn save(&mut self, record: NodeRecord) {
        if self.disk.len() == WRITES_KEPT {
            self.disk.remove(0);
        }
        self.disk.push(record);
    }

    pub(crate) fn lose_writes(&mut self, count: u32) {
        for _ in 0..count {
            self.disk.pop();
        }
    }

    pub(crate) fn crash(&mut self) {
        self.node = None;
        self.told = None;
        self.timers.clear();
        (self.held, self.unanswered) = (None, None);
        self.incarnation += 1;
        self.crash_after = None;
        self.heard.clear();
    }

    pub(crate) fn note_heard(&mut self, group: GroupNumber) {
        match self.heard.iter_mut().find(|known| known.node == group.node) {
            Some(known) => *known = (*known).max(group),
            None => self.heard.push(group),
        }
    }

    /// Whether it is running, is not about to crash, and has received this number or a higher one.
    pub(crate) fn has_heard_of(&self, group: GroupNumber) -> bool {
        let is_well = self.node.is_some() && self.held.is_none() && self.crash_after.is_none();
        let mut known = self.heard.iter().filter(|known| known.node == group.node);
        is_well && known.any(|known| known.counter >= group.counter)
    }

    pub(crate) fn note_sent(&mut self, to: NodeId, id: u64) {
        match self.last_sent.iter_mut().find(|(peer, _)| *peer == to) {
            Some((_, last)) => *last = id,
            None => self.last_sent.push((to, id)),
        }
    }

    /// Whether nothing was sent to this peer after this message.
    pub(crate) fn is_last_sent(&self, to: NodeId, id: u64) -> bool {
        self.last_sent.contains(&(to, id))
    }

    pub(crate) fn set_timer(&mut self, timer: Timer, number: u64) {
        match self.timers.iter_mut().find(|(name, _)| *name == timer) {
            Some((_, current)) => *current = number,
            None => self.timers.push((timer, number)),
        }
    }

    pub(crate) fn cancel_timer(&mut self, timer: Timer) {
        self.timers.retain(|(name, _)| *name != timer);
    }

    /// Whether a timer with this number is running.
    pub(crate) fn is_running(&self, timer: Timer, number: u64) -> bool {
        self.timers.contains(&(timer, number))
    }

    /// The timers that are running, in order of name.
    pub(crate) fn running(&self) -> Vec<Timer> {
        let mut names: Vec<Timer> = self.timers.iter().map(|(timer, _)| *timer).collect();
        names.sort_unstable();
        names
    }

    /// Takes a timer that ran out; false if it had been replaced or cancelled.
    pub(crate) fn take_timer(&mut self, timer: Timer, number: u64) -> bool {
        let found = self.timers.iter().position(|entry| *entry == (timer, number));
        found.map(|at| self.timers.swap_remove(at)).is_some()
    }

    /// The time that this machine's clock shows.
    #[must_use]
    pub fn clock(&self, now: Time) -> Time {
        if self.rate == RATE {
            return now;
        }
        Time::from_micros(scale(now.as_micros(), self.rate, RATE))
    }

    /// How long a duration of its own clock really takes.
    #[must_use]
    pub fn real(&self, span: Duration) -> Duration {
        if self.rate == RATE {
            return span;
        }
        Duration::from_micros(scale(micros(span), RATE, self.rate))
    }
}

fn scale(value: u64, by: u32, over: u32) -> u64 {
    let wide = u128::from(value) * u128::from(by) / u128::from(over.max(1));
    u64::try_from(wide).unwrap_or(u64::MAX)
}
