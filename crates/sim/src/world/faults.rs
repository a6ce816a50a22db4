//! What a scenario does to a world, and when.

use std::time::Duration;

use tanist_core::trace::{Event, Kind, Link};
use tanist_core::{NodeId, Status, Time};

use crate::world::places::Position;

/// Something done to the world from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The node dies.
    Crash(NodeId),
    /// The node dies in its next step that has this many effects, after carrying them out.
    CrashAfterEffects(NodeId, u32),
    /// The node comes up with what its disk kept, less its last writes.
    Restart {
        /// Which.
        node: NodeId,
        /// How many writes the disk had acknowledged and lost.
        lost_writes: u32,
    },
    /// The disk of a node that is down loses its last writes, if a node that is up and runs has
    /// heard of the last one: what nobody has heard of, nobody can recall.
    Forget {
        /// Whose disk.
        node: NodeId,
        /// How many writes.
        lost_writes: u32,
    },
    /// The node stops running; its clock and its mail go on.
    Pause(NodeId),
    /// It runs on.
    Resume(NodeId),
    /// Links go down.
    Cut(Vec<Link>),
    /// Links come back; all of them if none is named.
    Heal(Vec<Link>),
    /// Messages from and to this node take longer by this much.
    Slow(NodeId, Duration),
    /// The node's clock runs at this rate, in millionths of the right one.
    ClockRate(NodeId, u32),
    /// The network loses this many messages, in millionths.
    Loss(u32),
    /// The network doubles this many messages, in millionths.
    Duplicate(u32),
    /// The network keeps its bounds from here on: every message within Tm, none lost or doubled.
    Calm,
    /// The node calls an election.
    Call(NodeId),
    /// The node checks the others.
    Check(NodeId),
    /// The node takes its coordinator for suspiciously silent.
    Suspect(NodeId),
    /// The node's transport has evidence that the peer is dead.
    Refuse {
        /// Who learns it.
        node: NodeId,
        /// Who is dead.
        peer: NodeId,
    },
    /// The node withdraws.
    Withdraw {
        /// Which.
        node: NodeId,
        /// For how long; none means until it is told to rejoin.
        hold: Option<Duration>,
    },
    /// The node rejoins.
    Rejoin(NodeId),
    /// Elections are paused, by a command to this node.
    PauseElections(NodeId),
    /// They are not any more, by a command to this node.
    ResumeElections(NodeId),
    /// The node's priority is another from here on.
    Priority {
        /// Whose.
        node: NodeId,
        /// What it is.
        value: u32,
    },
    /// The node walks there in a straight line, where nodes have places.
    Move {
        /// Which.
        node: NodeId,
        /// To where.
        to: Position,
        /// How long it takes; zero means that it is there at once.
        over: Duration,
    },
}

/// When an action is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// At this time.
    At(Time),
    /// This long after something happened.
    When {
        /// What.
        condition: Condition,
        /// How long after; zero means right then, between two effects if need be.
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
    /// The node's status becomes this.
    Enters(Status),
    /// The node sends such a message.
    Sends(Kind),
    /// The node receives such a message.
    Receives(Kind),
}

impl Trigger {
    /// Whether an event is this, at this node; `was` is the status before a change of state.
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

/// An action and its moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// When.
    pub moment: Moment,
    /// What.
    pub action: Action,
}
