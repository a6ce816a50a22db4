//! Faults of a scenario: an action on the world, and when it is due.

use std::time::Duration;

use tanist_core::node::Command;
use tanist_core::trace::{Event, Kind, Link};
use tanist_core::{NodeId, NodeSet, Status, Time};

use crate::world::places::Position;

/// The place of a fault among those of its scenario, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FaultNumber(pub(crate) usize);

/// A fault of a scenario that is carried out when its time comes.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) number: FaultNumber,
    pub(crate) action: Action,
}

/// An action on the world from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The node crashes.
    Crash(NodeId),
    /// The node crashes in its next step that has this many effects, after carrying them out.
    CrashAfterEffects(NodeId, u32),
    /// The node restarts with the contents of its disk, except its last writes.
    Restart {
        /// Which.
        node: NodeId,
        /// How many writes the disk had acknowledged and lost.
        lost_writes: u32,
    },
    /// The disk of a node that is down loses its last writes, if a running node has seen the group
    /// number of the last one. A number that no running node has seen cannot be recalled.
    Forget {
        /// Whose disk.
        node: NodeId,
        /// How many writes.
        lost_writes: u32,
    },
    /// The node stops running; its clock goes on, and messages still arrive at its machine.
    Pause(NodeId),
    /// The node runs again.
    Resume(NodeId),
    /// The node's application hangs: it answers nothing, and the node itself goes on.
    Hang(NodeId),
    /// The node's application goes on, and answers what it was asked meanwhile.
    Unhang(NodeId),
    /// Links go down.
    Cut(Vec<Link>),
    /// Links are restored; all of them if none is named.
    Heal(Vec<Link>),
    /// Messages from and to this node take longer by this much.
    Slow(NodeId, Duration),
    /// The node's clock runs at this rate, in millionths of the right one.
    ClockRate(NodeId, u32),
    /// The network loses this many messages, in millionths.
    Loss(u32),
    /// The network duplicates this many messages, in millionths.
    Duplicate(u32),
    /// The network keeps its bounds from here on: every message within Tm, none lost or duplicated.
    Calm,
    /// The node calls an election.
    Call(NodeId),
    /// The node checks for other groups.
    Check(NodeId),
    /// The node suspects its coordinator.
    Suspect(NodeId),
    /// The node's transport learns that the peer refuses connections.
    Refuse {
        /// The node that learns it.
        node: NodeId,
        /// The peer that refuses.
        peer: NodeId,
    },
    /// The node withdraws.
    Withdraw {
        /// Which.
        node: NodeId,
        /// For how long; none means until it is told to rejoin.
        hold: Option<Duration>,
    },
    /// The node hands over to another one, if it leads.
    HandOver {
        /// Which.
        node: NodeId,
        /// To whom.
        to: NodeId,
    },
    /// The node rejoins.
    Rejoin(NodeId),
    /// Elections are paused, by a command to this node.
    PauseElections(NodeId),
    /// Elections are resumed, by a command to this node.
    ResumeElections(NodeId),
    /// The node's priority changes.
    Priority {
        /// Whose.
        node: NodeId,
        /// The new priority.
        value: u32,
    },
    /// The node moves there in a straight line, where nodes have positions.
    Move {
        /// Which.
        node: NodeId,
        /// To where.
        to: Position,
        /// How long it takes; zero means at once.
        over: Duration,
    },
}

impl Action {
    /// The command to a node that it is, if it is one.
    pub(crate) fn command(&self) -> Option<(NodeId, Command)> {
        match *self {
            Self::Call(node) => Some((node, Command::Call)),
            Self::Check(node) => Some((node, Command::Check)),
            Self::Suspect(node) => Some((node, Command::SuspectCoordinator)),
            Self::Refuse { node, peer } => Some((node, Command::Refused(peer))),
            Self::Withdraw { node, hold } => Some((node, Command::Withdraw { hold })),
            Self::HandOver { node, to } => Some((node, Command::HandOver { to })),
            Self::Rejoin(node) => Some((node, Command::Rejoin)),
            Self::PauseElections(node) => Some((node, Command::Pause)),
            Self::ResumeElections(node) => Some((node, Command::Resume)),
            Self::Priority { node, value } => Some((node, Command::SetPriority(value))),
            Self::Crash(_)
            | Self::CrashAfterEffects(..)
            | Self::Restart { .. }
            | Self::Forget { .. }
            | Self::Pause(_)
            | Self::Resume(_)
            | Self::Hang(_)
            | Self::Unhang(_)
            | Self::Cut(_)
            | Self::Heal(_)
            | Self::Slow(..)
            | Self::ClockRate(..)
            | Self::Loss(_)
            | Self::Duplicate(_)
            | Self::Calm
            | Self::Move { .. } => None,
        }
    }

    /// The nodes that it is done to; links and the network as a whole are none.
    #[must_use]
    pub fn nodes(&self) -> NodeSet {
        match self {
            Self::Crash(node)
            | Self::CrashAfterEffects(node, _)
            | Self::Restart { node, .. }
            | Self::Forget { node, .. }
            | Self::Pause(node)
            | Self::Resume(node)
            | Self::Hang(node)
            | Self::Unhang(node)
            | Self::Slow(node, _)
            | Self::ClockRate(node, _)
            | Self::Call(node)
            | Self::Check(node)
            | Self::Suspect(node)
            | Self::Withdraw { node, .. }
            | Self::Rejoin(node)
            | Self::PauseElections(node)
            | Self::ResumeElections(node)
            | Self::Priority { node, .. }
            | Self::Move { node, .. } => [*node].into_iter().collect(),
            Self::Refuse { node, peer: other } | Self::HandOver { node, to: other } => {
                [*node, *other].into_iter().collect()
            }
            Self::Cut(_) | Self::Heal(_) | Self::Loss(_) | Self::Duplicate(_) | Self::Calm => {
                NodeSet::new()
            }
        }
    }
}

/// When an action is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// At this time.
    At(Time),
    /// This long after a condition is met.
    When {
        /// The condition.
        condition: Condition,
        /// How long after; zero means at once, even between two effects of a step.
        after: Duration,
    },
}

/// What an action of a scenario waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The node that it happens to.
    pub node: NodeId,
    /// What happens.
    pub what: Trigger,
    /// How many times it must happen, at least 1.
    pub nth: u32,
}

/// An event that a condition counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The node's status changes to this.
    Enters(Status),
    /// The node sends a message of this kind.
    Sends(Kind),
    /// The node receives a message of this kind.
    Receives(Kind),
}

impl Trigger {
    /// Whether the event matches, at this node; `was` is its status before a change of state.
    #[must_use]
    pub fn is(self, node: NodeId, event: &Event, was: Status) -> bool {
        match (self, event) {
            (Self::Enters(status), Event::State { node: at, state }) => {
                *at == node && state.status == status && was != status
            }
            (
                Self::Sends(kind),
                Event::Send { node: at, message, .. } | Event::Broadcast { node: at, message, .. },
            )
            | (Self::Receives(kind), Event::Receive { node: at, message, .. }) => {
                *at == node && message.kind == kind
            }
            (Self::Enters(_) | Self::Sends(_) | Self::Receives(_), _) => false,
        }
    }
}

/// An action and when it is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// When.
    pub moment: Moment,
    /// What.
    pub action: Action,
}
