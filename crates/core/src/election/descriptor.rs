//! Everything that is known about an algorithm, declared beside it.
//!
//! The command line, the documents, the simulator and the checker read these facts here and keep no
//! list of their own. A layer has messages and timers too ([`crate::detector`], [`crate::recall`],
//! [`crate::policy`], [`crate::reorganization`]); `tables.rs` joins all of them.

use crate::mutant::Mutant;
use crate::options::{OptionInfo, Options};
use crate::policy::{Preempt, PreemptError, PriorityError};
use crate::trace::{Kind, TimerName};

/// The facts of one algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// Its name in scenarios, configuration and on the command line.
    pub name: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What it guarantees under its model.
    pub guarantee: &'static str,
    /// The same in about ten words, for a table.
    pub summary: &'static str,
    /// The class of network that it is for (C-05).
    pub network: Network,
    /// What it assumes of time and failures (F-10).
    pub model: Model,
    /// How many groups there may be at the end.
    pub groups: Groups,
    /// The messages with which its coordinator hands a definition to the group; none: it hands over
    /// nothing, and does not say who is in the group (E-08).
    pub handover: Option<Handover>,
    /// What the algorithm allows if nodes may know different priorities; none: all nodes need the
    /// same priorities at all times, and the highest always takes over.
    pub adjustable: Option<Adjustable>,
    /// Its options.
    pub options: &'static [OptionInfo],
    /// The messages of its own.
    pub messages: &'static [MessageInfo],
    /// The timers of its own.
    pub timers: &'static [TimerInfo],
    /// The mutants of its rules, in lists as they are declared.
    pub mutants: &'static [&'static [Mutant]],
}

impl Descriptor {
    /// Whether a coordinator knows who is in its group. Only then can it see that every node that
    /// it can reach follows it, and act.
    #[must_use]
    pub const fn knows_members(&self) -> bool {
        self.handover.is_some()
    }
}

/// A class of network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Wired: every node has a link to every other.
    Links,
    /// Wired, and links may be cut for a while.
    Partitions,
    /// Wired: every node has a link to every other, and messages go round a logical ring.
    Ring,
    /// By radio: a node receives only from nodes in range (W-01).
    Radio,
    /// Very large: nodes are in groups, and groups have levels.
    Hierarchy,
}

impl Network {
    /// The class in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Links => "wired, every node reaches every other",
            Self::Partitions => "wired, with partitions",
            Self::Ring => "wired, a logical ring in which every node reaches every other",
            Self::Radio => {
                "ad hoc, by radio: a node reaches only the nodes in range, and nodes move"
            }
            Self::Hierarchy => {
                "very large: in groups by rack, zone or hash, as many levels as it takes"
            }
        }
    }
}

/// What is assumed of time and failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Messages and answers arrive within their bounds; nodes crash and recover.
    Synchronous,
    /// Messages may be late, lost, duplicated and reordered; links may be cut; nodes crash and
    /// recover.
    Asynchronous,
    /// As [`Model::Asynchronous`], and links come and go one direction at a time.
    Roaming,
    /// What the algorithm inside each group assumes.
    Inner,
}

impl Model {
    /// The assumptions in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Synchronous => {
                "synchronous: messages within Tm, answers within Tp, crash and recovery, no \
                 partition"
            }
            Self::Asynchronous => {
                "asynchronous: late, lost, duplicated and reordered messages, partitions, crash \
                 and recovery with a counter on stable storage"
            }
            Self::Roaming => {
                "late, lost, duplicated and reordered messages, links that come and go in both \
                 directions, crash and recovery with a counter on stable storage"
            }
            Self::Inner => "what the inner algorithm assumes, in each group",
        }
    }

    /// Whether late and lost messages are part of the model.
    #[must_use]
    pub const fn is_asynchronous(self) -> bool {
        match self {
            Self::Asynchronous | Self::Roaming => true,
            Self::Synchronous | Self::Inner => false,
        }
    }
}

/// How many groups there may be once nothing fails any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// One with all live nodes.
    One,
    /// One for each set of nodes that reach each other.
    PerComponent,
    /// Several on purpose, below groups of their coordinators.
    Several,
}

/// Whether priorities may change with these options.
pub type MayChange = fn(&Options) -> Result<(), PriorityError>;

/// What an algorithm allows that does not need the same priorities at all nodes at all times.
#[derive(Clone, Copy, Debug)]
pub struct Adjustable {
    /// Whether priorities may change while nodes run; none where all nodes need one order.
    pub priorities: Option<MayChange>,
    /// Whether an established coordinator may keep leading, or yield later.
    pub preempt: fn(&Options, Preempt) -> Result<(), PreemptError>,
}

/// The messages that hand the definition to the members of a group.
#[derive(Clone, Copy, Debug)]
pub struct Handover {
    /// Carries the definition.
    pub request: Kind,
    /// Says whether it was taken.
    pub answer: Kind,
    /// Whether an answer says that a definition was ignored (E-12).
    pub has_verdict: fn(&Options) -> bool,
}

impl Handover {
    /// New_State and NS_answer, as with bully.
    pub const NEW_STATE: Self =
        Self { request: Kind::NewState, answer: Kind::NsAnswer, has_verdict: |_| true };
    /// Ready and Ready_answer, as with invitation.
    pub const READY: Self =
        Self { request: Kind::Ready, answer: Kind::ReadyAnswer, has_verdict: |_| true };
}

/// The facts of a kind of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageInfo {
    /// Which kind.
    pub kind: Kind,
    /// Whether its sender waits for something that comes back.
    pub is_request: bool,
    /// Whether its arrival may end a wait of its receiver, also of one that asked for nothing.
    pub is_awaited: bool,
    /// The kinds that it is the answer to, for `why`.
    pub answers: &'static [Kind],
    /// What it is about; pictures give each topic a colour.
    pub topic: Topic,
    /// Whether pictures draw it as an answer, with a dashed line.
    pub is_reply: bool,
    /// Whether its receiver may send it on for the node whose group it names.
    pub is_forwarded: bool,
    /// Whether its group is one that the sender forms with it (I-07).
    pub forms_group: bool,
    /// Whether it promises that the sender's application has stopped (B-34, B-37, I-46).
    pub promises_stop: bool,
    /// Whether a withdrawn node may send it (P-01).
    pub while_withdrawn: bool,
}

impl MessageInfo {
    /// A message that asks for nothing, answers nothing and promises nothing.
    #[must_use]
    pub const fn new(kind: Kind, topic: Topic) -> Self {
        Self {
            kind,
            is_request: false,
            is_awaited: true,
            answers: &[],
            topic,
            is_reply: false,
            is_forwarded: false,
            forms_group: false,
            promises_stop: false,
            while_withdrawn: false,
        }
    }

    /// A message whose sender waits for something that comes back.
    #[must_use]
    pub const fn request(kind: Kind, topic: Topic) -> Self {
        Self { is_request: true, is_awaited: false, ..Self::new(kind, topic) }
    }

    /// The answer to requests of these kinds.
    #[must_use]
    pub const fn answer(kind: Kind, topic: Topic, answers: &'static [Kind]) -> Self {
        Self { answers, is_reply: true, ..Self::new(kind, topic) }
    }
}

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Which nodes are up.
    Discovery,
    /// Whether a known node is still up.
    Liveness,
    /// Which node should coordinate.
    Election,
    /// Which node coordinates.
    Announcement,
    /// The definition of a group.
    Handover,
    /// Withdrawals, pauses, priorities, selections: what all nodes are told.
    Operation,
    /// Super-peers above their groups.
    Levels,
}

/// The facts of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerInfo {
    /// Which timer.
    pub name: TimerName,
    /// Whether it is set for as long as a request and its answer may take, so that within the timing
    /// model it fires after both have arrived. Other timers are for housekeeping.
    pub is_wait: bool,
    /// Whether the node gives up its open requests when it fires.
    pub gives_up: bool,
    /// Kinds of message that count as requests of this wait only.
    pub also_requests: &'static [Kind],
    /// Kinds of message that hold this timer back while they are in flight between any two nodes.
    pub blocked_by: &'static [Kind],
    /// Whether pictures mark the moment when it fires.
    pub is_drawn: bool,
    /// What the node does when it fires.
    pub text: &'static str,
}

impl TimerInfo {
    /// A housekeeping timer that is not drawn.
    #[must_use]
    pub const fn new(name: TimerName, text: &'static str) -> Self {
        Self {
            name,
            is_wait: false,
            gives_up: false,
            also_requests: &[],
            blocked_by: &[],
            is_drawn: false,
            text,
        }
    }

    /// A housekeeping timer that is drawn.
    #[must_use]
    pub const fn drawn(name: TimerName, text: &'static str) -> Self {
        Self { is_drawn: true, ..Self::new(name, text) }
    }

    /// A timer that ends a wait for an answer, in pictures and in stories as well.
    #[must_use]
    pub const fn wait(name: TimerName, text: &'static str) -> Self {
        Self { is_wait: true, gives_up: true, ..Self::drawn(name, text) }
    }
}

/// Rows that several algorithms and layers share.
pub(crate) mod rows {
    use super::{Kind, MessageInfo, TimerInfo, TimerName, Topic};

    pub(crate) const ELECTION: MessageInfo = MessageInfo::request(Kind::Election, Topic::Election);
    pub(crate) const ANSWER: MessageInfo =
        MessageInfo::answer(Kind::Answer, Topic::Election, &[Kind::Election]);
    pub(crate) const COORDINATOR: MessageInfo = MessageInfo {
        forms_group: true,
        ..MessageInfo::new(Kind::Coordinator, Topic::Announcement)
    };
    pub(crate) const LEADER: MessageInfo =
        MessageInfo { forms_group: true, ..MessageInfo::new(Kind::Leader, Topic::Announcement) };
    pub(crate) const HEARTBEAT: MessageInfo =
        MessageInfo { forms_group: true, ..MessageInfo::new(Kind::Heartbeat, Topic::Liveness) };
    pub(crate) const ACK: MessageInfo =
        MessageInfo::answer(Kind::Ack, Topic::Liveness, CIRCULATING);
    pub(crate) const ARE_YOU_NORMAL: MessageInfo =
        MessageInfo::request(Kind::AreYouNormal, Topic::Liveness);
    pub(crate) const AYN_ANSWER: MessageInfo =
        MessageInfo::answer(Kind::AynAnswer, Topic::Liveness, &[Kind::AreYouNormal]);

    pub(crate) const ANSWERS: TimerInfo =
        TimerInfo::wait(TimerName::Answers, "gives up waiting for answers");
    pub(crate) const CHECK: TimerInfo = TimerInfo::new(TimerName::Check, "checks on the others");
    pub(crate) const SILENCE: TimerInfo =
        TimerInfo::drawn(TimerName::Silence, "has heard nothing for too long");
    pub(crate) const BEAT: TimerInfo = TimerInfo::new(TimerName::Heartbeat, "sends a heartbeat");
    pub(crate) const RELAY: TimerInfo =
        TimerInfo::new(TimerName::Relay, "would pass on another heartbeat");
    /// A node that waits for the election of another to end waits for every message of it.
    pub(crate) const STALL: TimerInfo = TimerInfo {
        gives_up: true,
        blocked_by: &[
            Kind::EnterElection,
            Kind::EeAnswer,
            Kind::SetCoordinator,
            Kind::ScAnswer,
            Kind::NewState,
            Kind::NsAnswer,
            Kind::Election,
            Kind::Elected,
            Kind::Elect,
            Kind::Okay,
            Kind::Coordinator,
            Kind::Follow,
        ],
        ..TimerInfo::drawn(TimerName::Stall, "gives up on an election that stalls")
    };

    /// The tokens of a ring: they hold back every wait for them, and for nodes that they pass.
    pub(crate) const CIRCULATING: &[Kind] =
        &[Kind::Election, Kind::Elected, Kind::Elect, Kind::Okay, Kind::Coordinator];
}
