//! What people want of a node beyond being elected: that it steps aside and comes back, that the
//! group holds no elections for a while, and that its priority is another.
//!
//! ```text
//!   Present --StepAside--> Leaving --the application has stopped, farewells out--> Aside
//!      ^                                                                             |
//!      +------------ Return, or the hold is over; T after the last farewell ---------+
//! ```
//!
//! Stepping aside is an orderly crash, and returning an orderly recovery. The node stops its
//! application first, so that nobody begins elsewhere before it has stopped here; then it tells all
//! others that it is gone, and drops its election. Whoever hears [`Message::Farewell`] takes it for
//! evidence that the sender is dead, so every algorithm does at once what it does after a crash,
//! and no algorithm knows of this layer. What still comes for the dropped election is answered with
//! another farewell.
//!
//! A node never returns earlier than T after it last said farewell: by then every farewell has
//! arrived, so none speaks of a node that is back. While it waits for that it says no more.
//!
//! Pausing is a flag of the whole group; see `policy/pause.rs`. Whether a higher node takes over is
//! configured; see `policy/preempt.rs`. A priority that changes is in `policy/priority.rs`.
//!
//! Assumes messages within Tm. Where they are later, a farewell may speak of a node that is back: a
//! false suspicion, which costs an election. Leaves out: which group the others form, and keeping
//! any of this over a restart; a node that comes up takes part.

mod pause;
mod preempt;
mod priority;
#[cfg(test)]
mod tests;
mod withdrawal;

use alloc::collections::BTreeMap;
use core::time::Duration;

use minicbor::{Decode, Encode};

pub use pause::Stamp;
pub use preempt::{Preempt, PreemptError};
pub use priority::PriorityError;

use crate::detector::timeout::NoRecord;
use crate::election::descriptor::{MessageInfo, TimerInfo, Topic};
use crate::group::GroupNumber;
use crate::membership::{NodeId, NodeSet};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::trace::{Kind, MessageFacts, TimerName};

/// The layer's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Policy {
    presence: Presence,
    /// Whether elections are paused, and who said so last.
    pause: pause::Flag,
    /// Who was told that lately.
    told: NodeSet,
    /// Peers that the detector has reported, and the election was not told of.
    withheld: NodeSet,
    /// The group that this node coordinates and a higher one has a claim to.
    outranked_in: Option<GroupNumber>,
    /// What nodes have said of their priorities while they ran, this one among them.
    priorities: BTreeMap<NodeId, u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Presence {
    /// The node takes part.
    #[default]
    Present,
    /// It will step aside when its application has stopped.
    Leaving { hold: Option<Duration> },
    /// It takes no part.
    Withdrawn {
        /// Whether T has passed since the last farewell.
        is_quiet: bool,
        /// Whether it only waits for that to come back.
        wants_back: bool,
    },
}

/// What nodes say to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// The sender takes part in nothing until it is heard of again; its application has stopped.
    #[n(0)]
    Farewell,
    /// Whether the group holds elections of its own accord.
    #[n(1)]
    Pause {
        /// The highest counts.
        #[n(0)]
        stamp: Stamp,
        /// Whether elections are paused.
        #[n(1)]
        is_on: bool,
    },
    /// The sender's priority is another than it was.
    #[n(2)]
    Priority {
        /// What it is.
        #[n(0)]
        priority: u32,
    },
}

impl Message {
    /// What a trace says of it.
    #[must_use]
    pub const fn facts(&self) -> MessageFacts {
        match self {
            Self::Farewell => MessageFacts { kind: Kind::Farewell, group: None, ok: None },
            Self::Pause { is_on, .. } => {
                MessageFacts { kind: Kind::Pause, group: None, ok: Some(*is_on) }
            }
            Self::Priority { .. } => MessageFacts { kind: Kind::Priority, group: None, ok: None },
        }
    }
}

/// Timers, named for what they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The time for which the node stays aside.
    Hold,
    /// T after a farewell: all of them have arrived.
    Quiet,
    /// The time after which a peer that speaks up is told again that elections are paused.
    Remind,
    /// The time after which a coordinator makes room for a higher member.
    Yield,
}

impl Timer {
    /// What a trace calls it.
    #[must_use]
    pub const fn name(self) -> TimerName {
        match self {
            Self::Hold => TimerName::Hold,
            Self::Quiet => TimerName::Quiet,
            Self::Remind => TimerName::Remind,
            Self::Yield => TimerName::Yield,
        }
    }
}

/// What this layer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// The user wants the node to step aside: for this long, or until it is told to return.
    Withdraw {
        /// How long; none means until [`Command::Rejoin`].
        hold: Option<Duration>,
    },
    /// The user wants it back.
    Rejoin,
    /// The application has stopped, and the node is leaving.
    Stopped,
    /// This peer said something to the election of a node that is aside.
    Asked(NodeId),
    /// The user wants elections paused, or not any more.
    Pause {
        /// Paused or not.
        is_on: bool,
    },
    /// This peer said something.
    Heard(NodeId),
    /// The detector has reported this peer, and the election was not told.
    Withhold(NodeId),
    /// This node coordinates this group, and somebody in it outranks it; or that is not so.
    Outranked(Option<GroupNumber>),
    /// The user wants this node to have this priority; ignored where [`PriorityError`] says why.
    SetPriority(u32),
    /// This peer has just come up.
    Greet(NodeId),
}

/// What this layer tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// To the node: drop the election and everything that runs for it.
    Drop,
    /// To the user: the node is aside, and everybody was told.
    Withdrawn,
    /// To the node and its user: the node takes part again.
    Rejoined,
    /// To the node and its user: this peer is aside.
    Farewell(NodeId),
    /// To the user: elections are paused.
    Paused,
    /// To the node and its user: they are not any more.
    Resumed,
}

impl Protocol for Policy {
    type Message = Message;
    type Timer = Timer;
    type Record = NoRecord;
    type Command = Command;
    type Notice = Notice;

    fn start(_: &mut Context<'_>, _: Option<NoRecord>, _: &mut Effects<Self>) -> Self {
        Self::default()
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message: Message::Farewell } => {
                self.tell_priority(cx, from, out);
                out.notify(Notice::Farewell(from));
            }
            Event::Message { from, message: Message::Priority { priority } } => {
                self.on_priority(cx, from, priority);
            }
            Event::Message { from, message: Message::Pause { stamp, is_on } } => {
                self.hear_flag(cx, from, stamp, is_on, out);
            }
            Event::Timer(Timer::Hold) => self.rejoin(cx, out),
            Event::Timer(Timer::Quiet) => self.calm_down(out),
            Event::Timer(Timer::Remind) => self.remind(cx, out),
            Event::Timer(Timer::Yield) => self.yield_leadership(cx, out),
            Event::Command(Command::Withdraw { hold }) => self.withdraw(cx, hold, out),
            Event::Command(Command::Rejoin) => self.rejoin(cx, out),
            Event::Command(Command::Stopped) => self.leave(cx, out),
            Event::Command(Command::Asked(peer)) => self.refuse(cx, peer, out),
            Event::Command(Command::Pause { is_on }) => self.set_flag(cx, is_on, out),
            Event::Command(Command::Outranked(group)) => self.note_outranked(cx, group, out),
            Event::Command(Command::Heard(peer)) => self.meet(peer, out),
            Event::Command(Command::SetPriority(priority)) => self.set_priority(cx, priority, out),
            Event::Command(Command::Greet(peer)) => self.greet(cx, peer, out),
            Event::Command(Command::Withhold(peer)) => {
                self.withheld.insert(peer);
            }
        }
    }
}

impl Policy {
    /// Whether the node waits for its application to stop, and then steps aside.
    #[must_use]
    pub const fn is_leaving(&self) -> bool {
        matches!(self.presence, Presence::Leaving { .. })
    }

    /// Whether the node takes part in nothing.
    #[must_use]
    pub const fn is_withdrawn(&self) -> bool {
        matches!(self.presence, Presence::Withdrawn { .. })
    }

    /// Whether elections are paused.
    #[must_use]
    pub const fn is_paused(&self) -> bool {
        self.pause.is_on
    }

    /// Takes the peers that the detector reported while elections were paused.
    pub(crate) fn take_withheld(&mut self) -> NodeSet {
        core::mem::take(&mut self.withheld)
    }
}

pub(crate) const MESSAGES: &[MessageInfo] = &[
    MessageInfo {
        promises_stop: true,
        while_withdrawn: true,
        ..MessageInfo::new(Kind::Farewell, Topic::Operation)
    },
    MessageInfo { while_withdrawn: true, ..MessageInfo::new(Kind::Pause, Topic::Operation) },
    MessageInfo { while_withdrawn: true, ..MessageInfo::new(Kind::Priority, Topic::Operation) },
];

pub(crate) const TIMERS: &[TimerInfo] = &[
    TimerInfo::new(TimerName::Hold, "has been withdrawn for long enough"),
    TimerInfo::new(TimerName::Quiet, "knows that its farewells have arrived"),
    TimerInfo::new(TimerName::Remind, "will tell others again that elections are paused"),
    TimerInfo::new(TimerName::Yield, "makes room for a higher member"),
];

pub(crate) const MUTANTS: &[&[crate::mutant::Mutant]] = &[withdrawal::MUTANTS, pause::MUTANTS];
