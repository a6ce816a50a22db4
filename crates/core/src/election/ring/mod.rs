//! The ring algorithms: what they share, and one file for each.
//!
//! A node joins an election when it calls one or when a message of one reaches it. It stops its
//! application, does what its algorithm prescribes, and learns who won. The winner then hands over
//! as any other coordinator does: the nodes that learned of it say that they follow, and get the
//! definition.
//!
//! ```text
//!              call, or a message with a higher number              all that know it follow
//!   Settled ---------------------------------------> Running --won--> Gathering --> HandingOver
//!   Down, Normal       Stop                          Election |       Reorganization       |
//!      ^                                                      +-lost-> Following           |
//!      +------------------------ definition in place ------------------+-------------------+
//! ```
//!
//! Every election has a number, one above all that its caller has seen; nodes that call at the same
//! moment call the same election. A higher number ends an election with a lower one. The winner's
//! group is called (number, winner), so the number on disk is the counter that all algorithms keep.
//!
//! Assumes the synchronous model, that every node knows the whole ring (F-18), and that every node
//! can reach every other, so that a failed successor can be skipped. Leaves out: New_State, which
//! is [`crate::reorganization`]'s.

pub mod active_list;
mod assembly;
mod calling;
pub mod chang_roberts;
pub mod hirschberg_sinclair;
mod incumbent;
pub mod list;
mod listing;
pub mod modified;
mod order;
mod passing;
pub mod peterson;
mod rules;
mod succession;
#[cfg(test)]
mod tests;
mod token;

use alloc::vec::Vec;
use core::time::Duration;

use minicbor::{Decode, Encode};

use self::assembly::Gathering;
use self::incumbent::Leading;
use self::incumbent::may_keep_leading;
use self::passing::Succession;
use self::rules::Rule;
pub use self::token::{Label, Token};
use super::{
    Command, ElectionAlgorithm, EstablishedGroup, Notice, Reports, View, advance_to, plain,
};
use crate::election::descriptor::{Adjustable, MessageInfo, TimerInfo, Topic, rows};
use crate::group::{Counter, GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::mutants;
use crate::payload::Report;
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::timing::Timing;
use crate::trace::{Contents, Kind, MessageFacts, TimerName};

/// A node in a ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    status: Status,
    coordinator: Option<NodeId>,
    group: Option<GroupNumber>,
    up: NodeSet,
    /// The highest number that this node has used or received.
    counter: Counter,
    /// The election that this node takes part in, or took part in last.
    number: Counter,
    phase: Phase,
    /// Whether an election that this node called is in progress (G-09).
    is_caller: bool,
    /// What the application handed up when it stopped for this election.
    report: Option<Report>,
    /// Nodes that follow this node as the winner; some know that it won before it does.
    follows: Reports,
    /// The rule of this ring, with its state.
    rule: Rule,
    /// The check in progress, if any.
    check: Option<Check>,
    succession: Succession,
    /// Whether this node coordinates, or did before the election in progress.
    leading: Leading,
}

/// How far an election has come at this node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// No election is in progress.
    Settled,
    /// This node knows of no winner yet.
    Running,
    /// Another node has won; its definition is awaited.
    Following,
    /// This node has won and waits for its followers.
    Gathering(Gathering),
    /// The definition is on its way to the members.
    HandingOver,
}

/// A coordinator's check of all other nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Check {
    awaiting: NodeSet,
    /// A node is Normal in another group.
    has_changed: bool,
}

/// The messages of the ring algorithms.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// Goes round the ring: each node takes it, passes it on, and acknowledges it.
    #[n(0)]
    Pass(#[n(0)] Token),
    /// The sender has taken a token.
    #[n(1)]
    Ack {
        /// Which token.
        #[n(0)]
        label: Label,
        /// If the election of the token is over at the sender: the highest number of an election
        /// that is.
        #[n(1)]
        past: Option<Counter>,
    },
    /// The sender has stopped its application and follows the receiver.
    #[n(2)]
    Follow {
        /// The receiver's new group.
        #[n(0)]
        group: GroupNumber,
        /// What the application handed up.
        #[n(1)]
        report: Report,
    },
    /// These nodes know that the receiver has won.
    #[n(5)]
    Told {
        /// The group in question.
        #[n(0)]
        group: GroupNumber,
        /// All nodes that received the result.
        #[n(1)]
        all: NodeSet,
    },
    /// Is the receiver Normal in this group?
    #[n(3)]
    AreYouNormal {
        /// The sender's group.
        #[n(0)]
        group: GroupNumber,
    },
    /// Whether the sender is Normal, and in which group it is.
    #[n(4)]
    AynAnswer {
        /// Status = Normal.
        #[n(0)]
        is_normal: bool,
        /// The group in question.
        #[n(1)]
        group: Option<GroupNumber>,
    },
}

/// Timers, named for what they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// T: the wait for the acknowledgement of one node.
    Acknowledgement(NodeId),
    /// The wait for a winner, and for the definition.
    Stall,
    /// T: the wait for followers.
    Follows,
    /// The time between two checks.
    Check,
    /// T: the wait for the answers to a check.
    Answers,
}

impl Protocol for Ring {
    type Message = Message;
    type Timer = Timer;
    type Record = Counter;
    type Command = Command;
    type Notice = Notice;

    /// A node that restarts calls an election (T-10).
    fn start(cx: &mut Context<'_>, saved: Option<Counter>, out: &mut Effects<Self>) -> Self {
        let counter = saved.unwrap_or_default();
        let mut node = Self {
            status: Status::Down,
            coordinator: None,
            group: None,
            up: NodeSet::new(),
            counter,
            number: counter,
            phase: Phase::Settled,
            is_caller: false,
            report: None,
            follows: Reports::new(),
            rule: Rule::of(cx.config),
            check: None,
            succession: Succession::default(),
            leading: Leading::No,
        };
        node.call(cx, out);
        node
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message } => self.on_message(cx, from, message, out),
            Event::Timer(Timer::Acknowledgement(node)) => self.skip(cx, node, out),
            Event::Timer(Timer::Stall) => self.stalled(cx, out),
            Event::Timer(Timer::Follows) => self.form(cx, out),
            Event::Timer(Timer::Check) => self.check_again(cx, out),
            Event::Timer(Timer::Answers) => self.conclude_check(cx, out),
            Event::Command(command) => self.on_command(cx, command, out),
        }
    }
}

impl Ring {
    fn on_message(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        message: Message,
        out: &mut Effects<Self>,
    ) {
        match message {
            Message::Pass(token) => self.take(cx, from, token, out),
            Message::Ack { label, past } => self.acknowledged(cx, from, label, past, out),
            Message::Follow { group, report } => self.followed(cx, from, group, report, out),
            Message::Told { group, all } => {
                if self.group == Some(group) && group.node == cx.me {
                    self.expect(cx, all, out);
                }
            }
            Message::AreYouNormal { group } => {
                let is_normal = self.status == Status::Normal;
                self.counter = self.counter.max(Counter(group.counter));
                out.send(from, Message::AynAnswer { is_normal, group: self.group });
            }
            Message::AynAnswer { is_normal, group } => self.found(from, is_normal, group),
        }
    }

    fn on_command(&mut self, cx: &mut Context<'_>, command: Command, out: &mut Effects<Self>) {
        match command {
            Command::Stopped(report) => self.stopped(cx, report, out),
            Command::Settled { missing, members } => self.settled(cx, &missing, members, out),
            // A formation of a ring is lenient, so this is not expected; the answer is a new
            // election.
            Command::Unsettled { missing: _ } => self.call(cx, out),
            Command::Silent(peer) => self.silent(cx, peer, out),
            Command::Failed(peer) => self.failed(cx, peer, out),
            Command::Succeed(peer) => self.succeed(cx, peer, out),
            Command::Suspect => {
                if self.coordinator != Some(cx.me) {
                    self.call_unless_running(cx, out);
                }
            }
            Command::Call => self.call_unless_running(cx, out),
            Command::Check => self.check(cx, out),
            Command::AdvanceTo(seen) => advance_to(&mut self.counter, seen, out),
        }
    }
}

impl ElectionAlgorithm for Ring {
    fn established(
        cx: &mut Context<'_>,
        saved: Counter,
        established: &EstablishedGroup,
        out: &mut Effects<Self>,
    ) -> Self {
        let mut up = established.members.clone();
        up.remove(cx.me);
        if established.coordinator == cx.me {
            out.set_timer(Timer::Check, cx.config.timing().check_every());
        } else {
            out.notify(Notice::Watch([established.coordinator].into_iter().collect()));
        }
        let number = Counter(established.group.counter).max(saved);
        Self {
            status: Status::Normal,
            coordinator: Some(established.coordinator),
            group: Some(established.group),
            up,
            counter: number,
            number,
            phase: Phase::Settled,
            is_caller: false,
            report: None,
            follows: Reports::new(),
            rule: Rule::of(cx.config),
            check: None,
            succession: Succession::default(),
            leading: if established.coordinator == cx.me { Leading::Yes } else { Leading::No },
        }
    }

    fn view(&self) -> View<'_> {
        View { status: self.status, coordinator: self.coordinator, group: self.group, up: &self.up }
    }

    fn counter(&self) -> Counter {
        self.counter
    }

    fn timers(cx: &Context<'_>) -> Vec<Timer> {
        let acknowledgements = cx.members.others(cx.me).map(Timer::Acknowledgement);
        let others = [Timer::Stall, Timer::Follows, Timer::Check, Timer::Answers];
        acknowledgements.chain(others).collect()
    }

    fn period(timer: &Timer, timing: &Timing) -> Option<Duration> {
        match timer {
            Timer::Check => Some(timing.check_every()),
            Timer::Acknowledgement(_) | Timer::Stall | Timer::Follows | Timer::Answers => None,
        }
    }

    fn highest_counter(message: &Message) -> Counter {
        match message {
            Message::Pass(token) => token.label().number,
            Message::Ack { label, past } => label.number.max(past.unwrap_or_default()),
            Message::Follow { group, .. }
            | Message::Told { group, .. }
            | Message::AreYouNormal { group } => Counter(group.counter),
            Message::AynAnswer { group, .. } => Counter::of(*group),
        }
    }

    fn facts(message: &Message) -> MessageFacts {
        match message {
            Message::Pass(token) => token.facts(),
            Message::Ack { .. } => plain(Kind::Ack),
            Message::Follow { group, .. } => MessageFacts::new(Kind::Follow, Some(*group), None),
            Message::Told { group, .. } => MessageFacts::new(Kind::Told, Some(*group), None),
            Message::AreYouNormal { .. } => plain(Kind::AreYouNormal),
            Message::AynAnswer { is_normal, group } => {
                MessageFacts::new(Kind::AynAnswer, *group, Some(*is_normal))
            }
        }
    }

    fn contents(message: &Message) -> Contents {
        match message {
            Message::Pass(token) => token.contents(),
            Message::Told { all, .. } => Contents { told: all.clone(), ..Contents::default() },
            Message::Ack { .. }
            | Message::Follow { .. }
            | Message::AreYouNormal { .. }
            | Message::AynAnswer { .. } => Contents::default(),
        }
    }

    fn timer_name(timer: &Timer) -> TimerName {
        match timer {
            Timer::Acknowledgement(_) => TimerName::Acknowledgement,
            Timer::Stall => TimerName::Stall,
            Timer::Follows => TimerName::Follows,
            Timer::Check => TimerName::Check,
            Timer::Answers => TimerName::Answers,
        }
    }

    #[cfg(test)]
    fn examples() -> Vec<Message> {
        use alloc::vec;

        use crate::membership::Direction;
        use crate::testing;
        use testing::nodes;
        let (group, number) = (testing::number(7, 3), Counter(7));
        let owner = group.node;
        let label = Label { kind: 1, number, owner, hops: 70_000 };
        let tokens = [
            Token::Election { number, candidate: owner, hops: 300, leads: true },
            Token::Elected { number, winner: owner, told: nodes([1, 2]), leads: false },
            Token::Elect { number, node: owner, place: 3, leads: true },
            Token::Probe {
                number,
                candidate: owner,
                phase: 16,
                left: 65_536,
                direction: Direction::Back,
                leads: true,
            },
            Token::Okay {
                number,
                candidate: owner,
                phase: 3,
                direction: Direction::Onward,
                leads: false,
            },
            Token::List {
                number,
                initiator: owner,
                names: vec![owner, group.node],
                leader: Some(owner),
            },
            Token::List { number, initiator: owner, names: vec![owner], leader: None },
            Token::Coordinator {
                number,
                owner,
                winner: owner,
                names: vec![owner],
                told: nodes([3]),
                initiator: owner,
                leader: Some(group.node),
            },
        ];
        let others = [
            Message::Ack { label, past: Some(Counter(9)) },
            Message::Ack { label, past: None },
            Message::Follow { group, report: crate::payload::Report::from("half done") },
            Message::Told { group, all: nodes([1, 3]) },
            Message::AreYouNormal { group },
            Message::AynAnswer { is_normal: false, group: None },
        ];
        tokens.into_iter().map(Message::Pass).chain(others).collect()
    }
}

/// What all rings guarantee.
const GUARANTEE: &str = "assertions 1 and 2, as for bully: no node goes on under an old \
                         coordinator when a new one is known; after the last failure all live \
                         nodes are Normal under the highest";

/// Which settings the rings allow.
const ADJUSTABLE: Adjustable = Adjustable { priorities: None, preempt: may_keep_leading };

/// The messages of one ring: its tokens, and what all rings send besides.
macro_rules! messages {
    ($($token:expr),+ $(,)?) => {
        &[
            $($token,)+
            $crate::election::descriptor::rows::ACK,
            $crate::election::ring::FOLLOW,
            $crate::election::descriptor::rows::ARE_YOU_NORMAL,
            $crate::election::descriptor::rows::AYN_ANSWER,
        ]
    };
}
use messages;

/// The messages of the rings in which a list of names goes round.
const LIST_MESSAGES: &[MessageInfo] = messages![rows::ELECTION, rows::COORDINATOR, TOLD];

const ELECTED: MessageInfo =
    MessageInfo { forms_group: true, ..MessageInfo::request(Kind::Elected, Topic::Announcement) };
const ELECT: MessageInfo = MessageInfo::request(Kind::Elect, Topic::Election);
const OKAY: MessageInfo = MessageInfo::request(Kind::Okay, Topic::Election);
const FOLLOW: MessageInfo = MessageInfo {
    is_reply: true,
    promises_stop: true,
    ..MessageInfo::new(Kind::Follow, Topic::Announcement)
};
const TOLD: MessageInfo =
    MessageInfo { is_reply: true, ..MessageInfo::new(Kind::Told, Topic::Announcement) };

pub(crate) const TIMERS: &[TimerInfo] = &[
    TimerInfo {
        also_requests: &[Kind::Coordinator],
        ..TimerInfo::wait(TimerName::Acknowledgement, "gives up on its successor")
    },
    rows::STALL,
    TimerInfo {
        blocked_by: rows::CIRCULATING,
        ..TimerInfo::wait(TimerName::Follows, "gives up waiting for followers")
    },
    rows::CHECK,
    rows::ANSWERS,
];

mutants! {
    /// Ring: a successor that does not acknowledge is waited for all the same.
    NEVER_SKIP = "never-skip",
}
