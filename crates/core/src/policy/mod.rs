//! Policy: what operators ask of a node: to withdraw and rejoin, to pause elections, to change its
//! priority.
//!
//! ```text
//!   Present --Withdraw--> Leaving --the application has stopped, farewells sent--> Withdrawn
//!      |  ^                  | no answer in time                                 ^    |
//!      |  |                  v                                                   |    |
//!      +--|--------------> Overdue --the application has answered at last--------+    |
//!         +---------- Rejoin, or the hold is over; T after the last farewell ---------+
//! ```
//!
//! A withdrawal is an orderly crash, and rejoining an orderly recovery. The node stops its
//! application first, so that no other node begins before it has stopped here; then it tells all
//! others, and drops its election. The receiver of a [`Message::Farewell`] takes it for evidence
//! that the sender has failed, so every algorithm does at once what it does after a crash, and no
//! algorithm knows of this layer. Further messages to the dropped election are answered with
//! another farewell.
//!
//! A node never rejoins earlier than T after its last farewell: by then every farewell has arrived,
//! so none arrives after the node has rejoined. While it waits for that it sends no more.
//!
//! An application that hangs must not keep a group under a node that never answers. So there is a
//! limit, [`stop_within`](crate::timing::Timing::stop_within), to whatever the application is asked
//! for: to stop for a withdrawal or an election, and to plan. When it is over the node drops its
//! election and is silent, as one that has crashed; the others miss it, and elect without it. It
//! sends no farewell, since that would say that its application has stopped. When the application
//! has answered at last the node withdraws as usual, and rejoins unless it was asked to stay away.
//!
//! A node does not rejoin while an objection stands; see `policy/objection.rs`. Pausing is a flag of
//! the whole group; see `policy/pause.rs`. Whether a higher node takes over is configured; see
//! `policy/preempt.rs`. A priority that changes is in `policy/priority.rs`, and handing over to a
//! named node in `policy/succession.rs`.
//!
//! Assumes messages within Tm. Where they are later, a farewell may arrive after its sender has
//! rejoined: a false suspicion, which costs an election. Leaves out: which group the others form,
//! and keeping any of this over a restart; a node that restarts takes part.

mod objection;
mod pause;
mod preempt;
mod priority;
mod succession;
#[cfg(test)]
mod tests;
mod withdrawal;

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use minicbor::{Decode, Encode};

pub use objection::Objection;
pub use pause::Stamp;
pub(crate) use preempt::join_wait;
pub use preempt::{Preempt, PreemptError};
pub use priority::PriorityError;
pub use succession::HandOverError;

use crate::detector::timeout::NoRecord;
use crate::election::descriptor::{MessageInfo, TimerInfo, Topic};
use crate::group::{Counter, GroupNumber};
use crate::membership::{NodeId, NodeSet};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::trace::{Contents, Kind, MessageFacts, TimerName};

/// The layer's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Policy {
    presence: Presence,
    /// Why the node must not take part, whatever operators want.
    objections: BTreeSet<Objection>,
    /// Whether elections are paused, and by which command.
    pause: pause::Flag,
    /// Peers that were told of that in this period.
    told: NodeSet,
    /// Peers that the detector reported during a pause, withheld from the election.
    withheld: NodeSet,
    /// The group that this node coordinates although a member outranks it, if any.
    outranked_in: Option<GroupNumber>,
    /// Priorities that nodes announced at run time, this node's own included.
    priorities: BTreeMap<NodeId, u32>,
    /// The node that this one names in its farewells.
    successor: Option<NodeId>,
    /// The group whose leader has named another node than this one.
    handed_over: Option<GroupNumber>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Presence {
    /// The node takes part.
    #[default]
    Present,
    /// It withdraws when its application has stopped.
    Leaving { hold: Option<Duration> },
    /// Its application has not stopped or planned in time. It takes no part and says nothing, and
    /// withdraws when the application has.
    Overdue { hold: Option<Duration> },
    /// It takes no part.
    Withdrawn {
        /// Whether T has passed since the last farewell.
        is_quiet: bool,
        /// Whether it rejoins as soon as T has passed.
        wants_back: bool,
    },
}

/// The messages of this layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// The sender has stopped its application, and takes no part until it sends another message.
    #[n(0)]
    Farewell {
        /// The node that is to lead instead of the sender, if the sender led.
        #[n(0)]
        successor: Option<NodeId>,
    },
    /// Whether the group calls elections by itself.
    #[n(1)]
    Pause {
        /// Orders the commands; the highest stamp counts.
        #[n(0)]
        stamp: Stamp,
        /// Whether elections are paused.
        #[n(1)]
        is_on: bool,
    },
    /// The sender's priority has changed.
    #[n(2)]
    Priority {
        /// The new priority.
        #[n(0)]
        priority: u32,
    },
    /// The sender acts as the leader of this group.
    #[n(3)]
    Acting {
        /// Which group.
        #[n(0)]
        group: GroupNumber,
    },
}

impl Message {
    /// What a trace says of it.
    #[must_use]
    pub const fn facts(&self) -> MessageFacts {
        match self {
            Self::Farewell { successor } => MessageFacts {
                successor: *successor,
                ..MessageFacts::new(Kind::Farewell, None, None)
            },
            Self::Pause { is_on, .. } => MessageFacts::new(Kind::Pause, None, Some(*is_on)),
            Self::Priority { .. } => MessageFacts::new(Kind::Priority, None, None),
            Self::Acting { group } => MessageFacts::new(Kind::Acting, Some(*group), None),
        }
    }

    /// What it says beyond that.
    #[must_use]
    pub fn contents(&self) -> Contents {
        match self {
            Self::Farewell { .. } | Self::Pause { .. } => Contents::default(),
            Self::Priority { priority } => {
                Contents { priority: Some(*priority), ..Contents::default() }
            }
            Self::Acting { group } => Contents::coordinator(group.node),
        }
    }

    /// The highest counter in it; 0 if it has none.
    pub(crate) const fn highest_counter(&self) -> Counter {
        match self {
            Self::Farewell { .. } | Self::Priority { .. } => Counter(0),
            Self::Pause { stamp, .. } => Counter(stamp.counter),
            Self::Acting { group } => Counter(group.counter),
        }
    }

    /// A message of every kind with every field filled.
    #[cfg(test)]
    pub(crate) const fn examples() -> [Self; 5] {
        let stamp = Stamp { counter: 7, node: NodeId(3) };
        [
            Self::Farewell { successor: None },
            Self::Farewell { successor: Some(NodeId(2)) },
            Self::Pause { stamp, is_on: true },
            Self::Priority { priority: u32::MAX },
            Self::Acting { group: GroupNumber { counter: 7, node: NodeId(3) } },
        ]
    }
}

/// Timers, named for what they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The time for which the node stays withdrawn.
    Hold,
    /// T after a farewell: all of them have arrived.
    Quiet,
    /// The time after which a peer that sends a message is told again that elections are paused.
    Remind,
    /// The time after which a coordinator yields to a higher member.
    Yield,
    /// The time for which a named successor may keep the others waiting.
    Succession,
    /// The time that the application has to stop or to plan.
    Stop,
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
            Self::Succession => TimerName::Succession,
            Self::Stop => TimerName::Stop,
        }
    }
}

/// What this layer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// The user wants the node to withdraw: for this long, or until it is told to rejoin.
    Withdraw {
        /// How long; none means until [`Command::Rejoin`].
        hold: Option<Duration>,
    },
    /// The user wants the node, which leads, to hand over to this one.
    HandOver {
        /// The successor.
        to: NodeId,
    },
    /// The process of the node ends.
    Leave {
        /// The node that is to lead instead of this one, if this one leads.
        successor: Option<NodeId>,
    },
    /// The leader of this group has withdrawn, and has named another node than this one.
    AwaitSuccessor(GroupNumber),
    /// The user's application acts as the leader of this group.
    Acting(GroupNumber),
    /// The user wants it to rejoin.
    Rejoin,
    /// This objection stands from here on: the node withdraws.
    Object(Objection),
    /// It stands no more.
    Lift(Objection),
    /// The application has stopped, and the node is leaving.
    Stopped,
    /// A message of this peer arrived for the election of a withdrawn node.
    Asked(NodeId),
    /// The user wants elections paused, or not any more.
    Pause {
        /// Paused or not.
        is_on: bool,
    },
    /// A message of this peer arrived.
    Received(NodeId),
    /// The detector has reported this peer, and the election was not told.
    Withhold(NodeId),
    /// The group that this node coordinates although a member outranks it, if any.
    Outranked(Option<GroupNumber>),
    /// The user wants this node to have this priority; ignored where [`PriorityError`] says why.
    SetPriority(u32),
    /// This peer has just started.
    Greet(NodeId),
}

/// What this layer tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// To the node: drop the election and everything that runs for it.
    Drop,
    /// To the user: the node has withdrawn, and all others were told.
    Withdrawn,
    /// To the user: the application has not stopped or planned in time, and the node is silent
    /// until it has.
    Overdue,
    /// To the node and its user: the node takes part again.
    Rejoined,
    /// To the node and its user: this peer has withdrawn.
    Farewell {
        /// Who has.
        peer: NodeId,
        /// The node that it named to lead instead of it, if it led.
        successor: Option<NodeId>,
    },
    /// To the node: the named successor of this group's leader has not formed a group in time.
    NoSuccessor(GroupNumber),
    /// To the user: this peer acts as the leader of a group.
    Acting {
        /// Who does.
        peer: NodeId,
        /// Which group.
        group: GroupNumber,
    },
    /// To the user: elections are paused.
    Paused,
    /// To the node and its user: elections are not paused any more.
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
            Event::Message { from, message: Message::Farewell { successor } } => {
                self.tell_priority(cx, from, out);
                out.notify(Notice::Farewell { peer: from, successor });
            }
            Event::Message { from, message: Message::Acting { group } } => {
                if group.node == from {
                    out.notify(Notice::Acting { peer: from, group });
                }
            }
            Event::Message { from, message: Message::Priority { priority } } => {
                self.on_priority(cx, from, priority);
            }
            Event::Message { from, message: Message::Pause { stamp, is_on } } => {
                self.on_pause(cx, from, stamp, is_on, out);
            }
            Event::Timer(Timer::Hold) => self.rejoin(cx, out),
            Event::Timer(Timer::Quiet) => self.calm_down(out),
            Event::Timer(Timer::Remind) => self.remind(cx, out),
            Event::Timer(Timer::Yield) => self.yield_leadership(cx, out),
            Event::Timer(Timer::Succession) => {
                if let Some(group) = self.handed_over.take() {
                    out.notify(Notice::NoSuccessor(group));
                }
            }
            Event::Timer(Timer::Stop) => self.fall_silent(cx, out),
            Event::Command(Command::Withdraw { hold }) => self.withdraw(cx, hold, out),
            Event::Command(Command::HandOver { to }) => self.hand_over(cx, to, out),
            Event::Command(Command::Leave { successor }) => self.leave_for_good(cx, successor, out),
            Event::Command(Command::AwaitSuccessor(group)) => self.await_successor(cx, group, out),
            Event::Command(Command::Acting(group)) => Self::tell_acting(cx, group, out),
            Event::Command(Command::Rejoin) => self.rejoin(cx, out),
            Event::Command(Command::Object(objection)) => self.object(cx, objection, out),
            Event::Command(Command::Lift(objection)) => self.lift(objection, out),
            Event::Command(Command::Stopped) => self.leave(cx, out),
            Event::Command(Command::Asked(peer)) => self.refuse(cx, peer, out),
            Event::Command(Command::Pause { is_on }) => self.set_flag(cx, is_on, out),
            Event::Command(Command::Outranked(group)) => self.note_outranked(cx, group, out),
            Event::Command(Command::Received(peer)) => self.meet(peer, out),
            Event::Command(Command::SetPriority(priority)) => self.set_priority(cx, priority, out),
            Event::Command(Command::Greet(peer)) => self.greet(cx, peer, out),
            Event::Command(Command::Withhold(peer)) => {
                self.withheld.insert(peer);
            }
        }
    }
}

impl Policy {
    /// Whether the node waits for its application to stop, and then withdraws.
    #[must_use]
    pub const fn is_leaving(&self) -> bool {
        matches!(self.presence, Presence::Leaving { .. } | Presence::Overdue { .. })
    }

    /// Whether the application has not stopped or planned in time, and the node is silent until it
    /// has.
    #[must_use]
    pub const fn is_overdue(&self) -> bool {
        matches!(self.presence, Presence::Overdue { .. })
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

    /// Whether this peer was reported during a pause, and not heard since.
    pub(crate) fn is_withheld(&self, peer: NodeId) -> bool {
        self.withheld.contains(peer)
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
    MessageInfo::new(Kind::Acting, Topic::Operation),
];

pub(crate) const TIMERS: &[TimerInfo] = &[
    TimerInfo::new(TimerName::Hold, "has been withdrawn for long enough"),
    TimerInfo::new(TimerName::Quiet, "knows that its farewells have arrived"),
    TimerInfo::new(TimerName::Remind, "will tell others again that elections are paused"),
    TimerInfo::new(TimerName::Yield, "makes room for a higher member"),
    TimerInfo::new(TimerName::Succession, "gives up waiting for the named successor"),
    TimerInfo::new(TimerName::Stop, "gives up waiting for its application"),
];

pub(crate) const MUTANTS: &[&[crate::mutant::Mutant]] =
    &[withdrawal::MUTANTS, pause::MUTANTS, succession::MUTANTS];
