//! The ports of a whole node: messages, timers, commands and notices.
//!
//! Messages and timers are those of the layers, one variant each; commands and notices are the
//! interface to the user and the driver. Leaves out: which layer sends what when.

use alloc::boxed::Box;
use core::time::Duration;

use minicbor::{Decode, Encode};

use crate::detector::{self, Heartbeat};
use crate::election::{self, Algorithm, LayerInfo, Reports};
use crate::group::{Counter, GroupNumber};
use crate::membership::{NodeId, NodeSet};
use crate::payload::{Definition, Report};
use crate::policy::{self, Objection};
use crate::recall;
use crate::reorganization::{self, Handover};
use crate::trace::{Contents, Event, MessageFacts, Outcome, TimerName};

/// The messages between nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// The election's.
    #[n(0)]
    Election(#[n(0)] election::Message),
    /// The hand-over's.
    #[n(1)]
    Reorganization(#[n(0)] reorganization::Message),
    /// The detector's.
    #[n(2)]
    Detector(#[n(0)] Heartbeat),
    /// The recall layer's.
    #[n(3)]
    Recall(#[n(0)] recall::Message),
    /// The policy layer's: farewells, pauses, and priorities that change.
    #[n(4)]
    Policy(#[n(0)] policy::Message),
}

impl Message {
    /// What a trace says of it.
    #[must_use]
    pub fn facts(&self, algorithm: Algorithm) -> MessageFacts {
        match self {
            Self::Election(message) => message.facts(),
            Self::Reorganization(message) => message.facts(algorithm),
            Self::Detector(heartbeat) => heartbeat.facts(),
            Self::Recall(message) => message.facts(),
            Self::Policy(message) => message.facts(),
        }
    }

    /// What it says beyond that, for people who read a trace; none if nothing. It is made again for
    /// each event, so ask only where a trace is kept.
    #[must_use]
    pub fn contents(&self) -> Option<Box<Contents>> {
        let contents = match self {
            Self::Election(message) => message.contents(),
            Self::Reorganization(message) => message.contents(),
            Self::Policy(message) => message.contents(),
            Self::Detector(_) | Self::Recall(_) => return None,
        };
        contents.boxed()
    }

    /// The highest counter in it; 0 if it has none.
    pub(crate) fn highest_counter(&self) -> Counter {
        match self {
            Self::Election(message) => message.highest_counter(),
            Self::Reorganization(message) => message.highest_counter(),
            Self::Detector(Heartbeat) => Counter::default(),
            Self::Recall(message) => message.highest_counter(),
            Self::Policy(message) => message.highest_counter(),
        }
    }

    /// A message of every kind, with every field filled, and without those that are optional.
    #[cfg(test)]
    pub(crate) fn examples() -> alloc::vec::Vec<Self> {
        let election = election::Message::examples().into_iter().map(Self::Election);
        let handover = reorganization::Message::examples().into_iter().map(Self::Reorganization);
        let recall = recall::Message::examples().into_iter().map(Self::Recall);
        let policy = policy::Message::examples().into_iter().map(Self::Policy);
        let heartbeat = [Self::Detector(Heartbeat)];
        election.chain(handover).chain(heartbeat).chain(recall).chain(policy).collect()
    }
}

/// A node's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The detector's.
    Detector(detector::Timer),
    /// The election's.
    Election(election::Timer),
    /// The hand-over's.
    Reorganization(Handover),
    /// The recall layer's.
    Recall(recall::Answers),
    /// The policy layer's.
    Policy(policy::Timer),
}

impl Timer {
    /// What a trace calls it.
    #[must_use]
    pub fn name(&self) -> TimerName {
        match self {
            Self::Detector(timer) => timer.name(),
            Self::Election(timer) => timer.name(),
            Self::Reorganization(Handover) => TimerName::Handover,
            Self::Recall(recall::Answers) => TimerName::Recall,
            Self::Policy(timer) => timer.name(),
        }
    }
}

/// The layers around the election, with what is known of their messages, timers and mutants.
pub const LAYERS: &[LayerInfo] = &[
    LayerInfo {
        name: "reorganization",
        messages: reorganization::MESSAGES,
        timers: reorganization::TIMERS,
        mutants: &[reorganization::MUTANTS],
    },
    LayerInfo {
        name: "detector",
        messages: detector::MESSAGES,
        timers: detector::TIMERS,
        mutants: &[],
    },
    LayerInfo {
        name: "recall",
        messages: recall::MESSAGES,
        timers: recall::TIMERS,
        mutants: &[recall::MUTANTS],
    },
    LayerInfo {
        name: "policy",
        messages: policy::MESSAGES,
        timers: policy::TIMERS,
        mutants: policy::MUTANTS,
    },
];

/// What the user and the driver tell a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// The application has drained; the answer to [`Notice::Stop`] and [`Notice::Yield`].
    Stopped(Report),
    /// The application has planned; the answer to [`Notice::Plan`].
    Define {
        /// The group that the plan is for.
        group: GroupNumber,
        /// The plan.
        definition: Definition,
    },
    /// Call an election now.
    Call,
    /// Check the other nodes now.
    Check,
    /// Suspect the coordinator now.
    SuspectCoordinator,
    /// The transport has evidence that this peer failed: the last message to it was refused.
    ///
    /// Evidence about an earlier message is void as soon as another has been sent, since the peer
    /// may have restarted in between; the driver waits for the outcome of the later one.
    Refused(NodeId),
    /// Stop the application, hand over to the others at once, and take no part: for a while, or
    /// until [`Command::Rejoin`]. [`Notice::Withdrawn`] says when that is done.
    Withdraw {
        /// For how long; none means until [`Command::Rejoin`].
        hold: Option<Duration>,
    },
    /// Stop the application and hand over to this node, which must be in the group that this one
    /// leads; ignored where [`policy::HandOverError`] says why. [`Notice::Withdrawn`] says when this
    /// node has stopped; it rejoins by itself.
    HandOver {
        /// The successor.
        to: NodeId,
    },
    /// Stop the application and withdraw for good, since the process ends; a leader names its
    /// successor. [`Notice::Withdrawn`] says when it has stopped.
    Leave,
    /// The application acts as the leader of this group; all others are told.
    Acting(GroupNumber),
    /// Take part again, as a node that has just started; [`Notice::Rejoined`] says when.
    Rejoin,
    /// This objection stands from here on: withdraw, and do not rejoin before it is lifted.
    Object(Objection),
    /// It stands no more. If it was the last one the node rejoins, unless an operator's hold lasts.
    Lift(Objection),
    /// Pause: the group calls no elections by itself from here on.
    Pause,
    /// Resume: the group calls elections again, and first makes up for postponed checks.
    Resume,
    /// This node has another priority from here on, until it restarts. It counts when the next
    /// group is formed; ignored where [`policy::PriorityError`] says why.
    SetPriority(u32),
}

/// What a node tells its user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// Accept no further operation, drain, and answer with [`Command::Stopped`]. What a leader does
    /// as a leader goes on.
    Stop,
    /// The same, and what this node does as a leader ends before the answer.
    Yield,
    /// This node coordinates; answer with [`Command::Define`].
    Plan {
        /// The new group.
        group: GroupNumber,
        /// All its members.
        members: NodeSet,
        /// The reports of all members.
        reports: Reports,
    },
    /// Go on under this definition.
    Begin {
        /// The group.
        group: GroupNumber,
        /// Its coordinator.
        coordinator: NodeId,
        /// All its members.
        members: NodeSet,
        /// The state of the task.
        definition: Definition,
    },
    /// An election of this node's own began.
    Called,
    /// That election ended.
    Ended(Outcome),
    /// This node has withdrawn: its application has stopped, and all other nodes were told.
    Withdrawn,
    /// The application has not stopped or planned in time. This node is silent, so that the others
    /// elect without it, until [`Command::Stopped`] or [`Command::Define`]; then it withdraws.
    Overdue,
    /// This node takes part again.
    Rejoined,
    /// This peer has withdrawn; a group that it coordinated elects again.
    Farewell(NodeId),
    /// This peer acts as the leader of a group.
    Acting {
        /// Who does.
        peer: NodeId,
        /// Which group.
        group: GroupNumber,
    },
    /// Elections are paused, by a command at this or another node.
    Paused,
    /// Elections are not paused any more.
    Resumed,
}

impl Notice {
    /// What a trace says of it; none where the message that led to it says it already.
    #[must_use]
    pub const fn event(&self, node: NodeId) -> Option<Event> {
        Some(match self {
            Self::Stop => Event::Stop { node },
            Self::Yield => Event::Yield { node },
            Self::Plan { group, .. } => Event::Plan { node, group: *group },
            Self::Begin { group, .. } => Event::Begin { node, group: *group },
            Self::Called => Event::Call { node },
            Self::Ended(outcome) => Event::End { node, outcome: *outcome },
            Self::Withdrawn => Event::Withdraw { node },
            Self::Overdue => Event::Overdue { node },
            Self::Rejoined => Event::Rejoin { node },
            Self::Farewell(_) | Self::Acting { .. } | Self::Paused | Self::Resumed => return None,
        })
    }

    /// Whether the application hears of it, or only those who operate the node.
    #[must_use]
    pub const fn is_for_application(&self) -> bool {
        match self {
            Self::Stop | Self::Yield | Self::Plan { .. } | Self::Begin { .. } => true,
            Self::Called
            | Self::Ended(_)
            | Self::Withdrawn
            | Self::Overdue
            | Self::Rejoined
            | Self::Farewell(_)
            | Self::Acting { .. }
            | Self::Paused
            | Self::Resumed => false,
        }
    }
}
