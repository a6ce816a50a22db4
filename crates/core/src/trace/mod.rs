//! Traces: one schema for the events of simulator, live node, checker, lab page and audit.
//!
//! A trace is a [`Header`] and then [`Entry`] after [`Entry`] in order of time, each one line of
//! JSON. Monitors read traces and nothing else, so one monitor judges every kind of run. The schema
//! is described for other programs in `docs/trace.md`.

mod contents;
mod facts;
mod names;
mod state;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use contents::Contents;
pub use facts::MessageFacts;
pub use names::{Kind, TimerName};
pub use state::{NodeState, SeatState, SuperPeerStatus};

use crate::group::GroupNumber;
use crate::membership::{Labels, Member, NodeId, NodeNames};
use crate::time::{Time, micros};
use crate::timing::STOP_WITHIN;

/// The version of the schema; raised when a reader of the old one would misread the new one.
pub const SCHEMA: u32 = 2;

/// The first line of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub tanist_trace: u32,
    /// Where the trace comes from.
    pub source: Source,
    /// The scenario's name, or the group's.
    pub scenario: String,
    /// The algorithm's name in the catalogue.
    pub algorithm: String,
    /// Options that differ from the default, as `name=value`.
    pub options: Vec<String>,
    /// The seed, for a simulated run.
    pub seed: u64,
    /// The configured nodes.
    pub nodes: Vec<Member>,
    /// Their labels, as far as they are configured.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub labels: Vec<(NodeId, Labels)>,
    /// What people call them, as far as they have names.
    #[serde(skip_serializing_if = "NodeNames::is_empty", default)]
    pub names: NodeNames,
    /// The order of the nodes in the ring, if it is not by id.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ring: Vec<NodeId>,
    /// T, in microseconds: what a reader needs to judge silence.
    pub answer_us: u64,
    /// Period of Check, in microseconds.
    pub check_every_us: u64,
    /// How long an application may take to stop, in microseconds; 30 seconds unless it says so.
    #[serde(skip_serializing_if = "is_usual_stop", default = "usual_stop")]
    pub stop_within_us: u64,
    /// Whether an established coordinator keeps leading: `never`, or how long a higher member waits
    /// before it takes over; empty if the highest node takes over.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub preempt: String,
}

impl Header {
    /// The run in a few words: the scenario, the algorithm, and what identifies the run.
    #[must_use]
    pub fn title(&self) -> String {
        let Self { scenario, algorithm, seed, .. } = self;
        match self.source {
            Source::Sim | Source::Check => format!("{scenario} · {algorithm} · seed {seed}"),
            Source::Live => format!("{scenario} · {algorithm} · live"),
        }
    }

    /// The nodes in the order of the ring, or in order of id.
    #[must_use]
    pub fn in_ring_order(&self) -> Vec<NodeId> {
        if !self.ring.is_empty() {
            return self.ring.clone();
        }
        let mut ids: Vec<NodeId> = self.nodes.iter().map(|member| member.id).collect();
        ids.sort_unstable();
        ids
    }
}

fn usual_stop() -> u64 {
    micros(STOP_WITHIN)
}

// serde hands over a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_usual_stop(within_us: &u64) -> bool {
    *within_us == usual_stop()
}

/// Who wrote a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The simulator.
    Sim,
    /// A live node.
    Live,
    /// The model checker.
    Check,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When, in microseconds. In a simulated run this is the world's clock.
    #[serde(rename = "at_us")]
    pub at: Time,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A node started or restarted.
    Start {
        /// Which.
        node: NodeId,
        /// Whether it had been up before.
        restarted: bool,
    },
    /// A node crashed.
    Crash {
        /// Which.
        node: NodeId,
    },
    /// A node stopped running, as by SIGSTOP.
    Pause {
        /// Which.
        node: NodeId,
    },
    /// A paused node runs on.
    Resume {
        /// Which.
        node: NodeId,
    },
    /// A node withdrew: its application has stopped, and it takes part in nothing.
    Withdraw {
        /// Which.
        node: NodeId,
    },
    /// A withdrawn node takes part again.
    Rejoin {
        /// Which.
        node: NodeId,
    },
    /// A node's application has not stopped or planned in time: the node is silent until it has.
    Overdue {
        /// Which.
        node: NodeId,
    },
    /// A node's clock runs at another rate from here on; timers that are running are not changed.
    Clock {
        /// Whose.
        node: NodeId,
        /// In millionths of the right rate.
        rate_ppm: u32,
    },
    /// A message was sent.
    Send {
        /// The sender.
        node: NodeId,
        /// The receiver.
        to: NodeId,
        /// Pairs the sending with its delivery or loss.
        id: u64,
        /// The facts of the message.
        #[serde(flatten)]
        message: MessageFacts,
        /// What it says beyond them; only in a recorded trace.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        contents: Option<Box<Contents>>,
    },
    /// A message was broadcast: one transmission, any number of receptions.
    Broadcast {
        /// The sender.
        node: NodeId,
        /// Pairs the transmission with its receptions and losses.
        id: u64,
        /// The facts of the message.
        #[serde(flatten)]
        message: MessageFacts,
        /// What it says beyond them; only in a recorded trace.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        contents: Option<Box<Contents>>,
    },
    /// A message arrived and was handled.
    Receive {
        /// The receiver.
        node: NodeId,
        /// The sender.
        from: NodeId,
        /// As in the sending.
        id: u64,
        /// The facts of the message.
        #[serde(flatten)]
        message: MessageFacts,
        /// What it says beyond them; only in a recorded trace.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        contents: Option<Box<Contents>>,
    },
    /// A message was lost.
    Lose {
        /// The sender.
        node: NodeId,
        /// The receiver.
        to: NodeId,
        /// As in the sending.
        id: u64,
        /// The facts of the message.
        #[serde(flatten)]
        message: MessageFacts,
        /// What it says beyond them; only in a recorded trace.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        contents: Option<Box<Contents>>,
        /// Why it did not arrive.
        why: Loss,
    },
    /// A timer ran out.
    Timer {
        /// Whose.
        node: NodeId,
        /// Which.
        timer: TimerName,
    },
    /// The counter is on stable storage.
    Save {
        /// Whose.
        node: NodeId,
        /// The highest counter that may be used from here on.
        counter: u64,
    },
    /// The node's defining state changed.
    State {
        /// Whose.
        node: NodeId,
        /// The new state, whole.
        #[serde(flatten)]
        state: NodeState,
    },
    /// A node began an election of its own.
    Call {
        /// Which.
        node: NodeId,
    },
    /// The election of its own ended.
    End {
        /// Whose.
        node: NodeId,
        /// How.
        outcome: Outcome,
    },
    /// The gate closed: no operation is accepted from here on.
    Stop {
        /// Whose.
        node: NodeId,
    },
    /// The application is told to stop, and the node's leadership ends before it answers.
    Yield {
        /// The node.
        node: NodeId,
    },
    /// The application has drained and handed up its report.
    Stopped {
        /// Whose.
        node: NodeId,
    },
    /// The coordinator's application was asked for a definition.
    Plan {
        /// Which coordinator.
        node: NodeId,
        /// For which group.
        group: GroupNumber,
    },
    /// The gate opened under a definition.
    Begin {
        /// Whose.
        node: NodeId,
        /// In which group.
        group: GroupNumber,
    },
    /// Links went down, each in one direction.
    Cut {
        /// Which.
        links: Vec<Link>,
    },
    /// Links came back.
    Heal {
        /// Which.
        links: Vec<Link>,
    },
    /// A monitor found an assertion violated.
    Violation {
        /// The assertion's id, as in the conformance list.
        assertion: String,
        /// The nodes concerned.
        nodes: Vec<NodeId>,
        /// What was seen.
        why: String,
    },
}

impl Event {
    /// The node that it happened at; none for events of the network or a monitor.
    #[must_use]
    pub const fn actor(&self) -> Option<NodeId> {
        match self {
            Self::Start { node, .. }
            | Self::Crash { node }
            | Self::Pause { node }
            | Self::Resume { node }
            | Self::Withdraw { node }
            | Self::Overdue { node }
            | Self::Clock { node, .. }
            | Self::Rejoin { node }
            | Self::Send { node, .. }
            | Self::Broadcast { node, .. }
            | Self::Receive { node, .. }
            | Self::Timer { node, .. }
            | Self::Save { node, .. }
            | Self::State { node, .. }
            | Self::Call { node }
            | Self::End { node, .. }
            | Self::Stop { node }
            | Self::Yield { node }
            | Self::Stopped { node }
            | Self::Plan { node, .. }
            | Self::Begin { node, .. } => Some(*node),
            Self::Lose { .. } | Self::Cut { .. } | Self::Heal { .. } | Self::Violation { .. } => {
                None
            }
        }
    }

    /// What sort of event it is, for readers that look at some sorts only.
    #[must_use]
    pub const fn class(&self) -> EventClass {
        match self {
            Self::State { .. } => EventClass::State,
            Self::Send { .. } | Self::Broadcast { .. } => EventClass::Sent,
            Self::Receive { .. } => EventClass::Received,
            Self::Call { .. }
            | Self::End { .. }
            | Self::Stop { .. }
            | Self::Yield { .. }
            | Self::Stopped { .. }
            | Self::Plan { .. }
            | Self::Begin { .. } => EventClass::Milestone,
            Self::Start { .. }
            | Self::Crash { .. }
            | Self::Pause { .. }
            | Self::Resume { .. }
            | Self::Withdraw { .. }
            | Self::Overdue { .. }
            | Self::Rejoin { .. }
            | Self::Cut { .. }
            | Self::Heal { .. } => EventClass::Fault,
            Self::Clock { .. }
            | Self::Lose { .. }
            | Self::Timer { .. }
            | Self::Save { .. }
            | Self::Violation { .. } => EventClass::Detail,
        }
    }

    /// The message that was sent, received or lost.
    #[must_use]
    pub const fn message(&self) -> Option<&MessageFacts> {
        if let Self::Send { message, .. }
        | Self::Broadcast { message, .. }
        | Self::Receive { message, .. }
        | Self::Lose { message, .. } = self
        {
            return Some(message);
        }
        None
    }

    /// What the message that was sent, received or lost says beyond its facts.
    #[must_use]
    pub fn contents(&self) -> Option<&Contents> {
        if let Self::Send { contents, .. }
        | Self::Broadcast { contents, .. }
        | Self::Receive { contents, .. }
        | Self::Lose { contents, .. } = self
        {
            return contents.as_deref();
        }
        None
    }

    /// Whether it was done from outside: to a node, or to a link.
    #[must_use]
    pub const fn is_from_outside(&self) -> bool {
        matches!(
            self,
            Self::Crash { .. }
                | Self::Pause { .. }
                | Self::Resume { .. }
                | Self::Clock { .. }
                | Self::Cut { .. }
                | Self::Heal { .. }
        )
    }
}

/// What sort of event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventClass {
    /// A node's defining state changed.
    State,
    /// A message was sent, to one node or to all in reach.
    Sent,
    /// A message was received.
    Received,
    /// An election began or ended; an application stops, plans or begins.
    Milestone,
    /// Something was done to a node or to links: crashes, restarts, cuts.
    Fault,
    /// Anything else: losses, timers, saves, verdicts.
    Detail,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Link {
    /// From here.
    pub from: NodeId,
    /// To there.
    pub to: NodeId,
}

impl Event {
    /// Whether this is about a heartbeat, which stories leave out.
    #[must_use]
    pub const fn is_of_heartbeat(&self) -> bool {
        if let Self::Timer { timer, .. } = self {
            return matches!(timer, TimerName::Heartbeat | TimerName::Relay);
        }
        match self.message() {
            Some(message) => matches!(message.kind, Kind::Heartbeat),
            None => false,
        }
    }
}

/// Why a message did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The network dropped it.
    Dropped,
    /// The link was cut.
    Cut,
    /// The receiver was down.
    Down,
}

/// How an election that a node called ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// This node coordinates.
    Won,
    /// A node of higher rank answered, announced itself or refused.
    Yielded,
    /// A member was lost on the way; the election begins again.
    Failed,
}
