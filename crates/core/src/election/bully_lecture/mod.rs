//! The lectures' bully algorithm: election, answer, coordinator.
//!
//! ```text
//!            no answer within T
//!   Asking --------------------------> announces itself: Normal
//!     |  any answer                      ^ coordinator message of a higher node
//!     v                                  |
//!   Waiting -----------------------------+      T' without one: Asking again
//! ```
//!
//! Assumes the synchronous model and that every process can message every other (F-16, L-22).
//! Leaves out: the state of the task (E-08) and any acknowledgement of the announcement, so the old
//! coordinator's followers and the new one's may overlap for a message delay. A coordinator repeats
//! its announcement every check period; it serves as a heartbeat, unless heartbeats are configured.
//! The coordinator keeps no list of its followers, so it sends heartbeats to every node to which it
//! announced itself, and ignores the silence of its peers.

#[cfg(test)]
mod tests;

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use minicbor::{Decode, Encode};

use super::{
    Command, ElectionAlgorithm, EstablishedGroup, Notice, View, advance_to, next_number, plain,
    save_late,
};
use crate::election::descriptor::{
    Descriptor, Groups, MessageInfo, Model, Network, TimerInfo, rows,
};
use crate::group::{Counter, GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::{Mutant, mutants};
use crate::options::options;
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::timing::Timing;
use crate::trace::{Contents, Kind, MessageFacts, Outcome, TimerName};

options! {
    /// Whether a process that knows it is the highest left announces itself at once (L-11, E-04);
    /// unsafe with recovery: the coordinator may have restarted since it was suspected.
    shortcut / "shortcut": Shortcut {
        /// It asks the suspected coordinator once more.
        #[default] Off = "off",
        /// If only the suspected coordinator outranks it, it asks no other process.
        On = "on" [literal],
    },
    /// What the current coordinator does with an election message (E-06).
    guard / "guard": Guard {
        /// It announces itself to the sender only.
        #[default] On = "on",
        /// It runs an election and announces itself to all.
        Off = "off",
    },
    /// Which processes get the announcement (E-05).
    announce / "announce": Announce {
        /// Processes of lower rank; higher ones have failed.
        #[default] Lower = "lower",
        /// All processes.
        All = "all",
    },
    /// Whether announcements carry election numbers, and an outdated one is ignored (E-39).
    numbers / "numbers": Numbers {
        /// A lower coordinator is followed only if it replaces the very announcement that the node
        /// follows.
        #[default] On = "on",
        /// The latest announcement counts, as printed.
        Off = "off" [literal],
    },
}

/// A node that runs the lectures' bully algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BullyLecture {
    status: Status,
    /// G-12; undefined during an election (E-33).
    elected: Option<NodeId>,
    /// The announcement that the node follows, or followed last.
    number: Option<GroupNumber>,
    counter: Counter,
    phase: Phase,
    /// Always empty: this algorithm keeps no list of members.
    up: NodeSet,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    /// Election messages were sent, and no process has answered.
    Asking,
    /// A higher process answered, and the announcement is awaited.
    Waiting,
}

/// The messages of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// An election has begun: is the receiver up?
    #[n(0)]
    Election,
    /// The sender is up and takes over the election.
    #[n(1)]
    Answer,
    /// The sender is the coordinator.
    #[n(2)]
    Coordinator {
        /// The number of this announcement.
        #[n(0)]
        number: GroupNumber,
        /// The announcement that this one replaces, because its coordinator failed.
        #[n(1)]
        replaces: Option<GroupNumber>,
    },
}

/// Timers, named for what they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// T: the wait for answers.
    Answers,
    /// T': the wait for the announcement.
    Announcement,
    /// The time between two announcements of a coordinator.
    Announce,
}

impl Protocol for BullyLecture {
    type Message = Message;
    type Timer = Timer;
    type Record = Counter;
    type Command = Command;
    type Notice = Notice;

    /// A recovered process immediately runs the algorithm (L-14).
    fn start(cx: &mut Context<'_>, saved: Option<Counter>, out: &mut Effects<Self>) -> Self {
        let mut node = Self {
            status: Status::Down,
            elected: None,
            number: None,
            counter: saved.unwrap_or_default(),
            phase: Phase::Idle,
            up: NodeSet::new(),
        };
        node.elect(cx, None, out);
        node
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message: Message::Election } => self.answer(cx, from, out),
            Event::Message { message: Message::Answer, .. } => self.yield_claim(cx, out),
            Event::Message { from, message: Message::Coordinator { number, replaces } } => {
                self.weigh(cx, from, number, replaces, out);
            }
            Event::Timer(Timer::Answers) => {
                if self.phase == Phase::Asking {
                    self.announce(cx, out);
                }
            }
            Event::Timer(Timer::Announcement) => self.restart(cx, out),
            Event::Timer(Timer::Announce) => self.announce_again(cx, out),
            Event::Command(command) => self.on_command(cx, command, out),
        }
    }
}

impl BullyLecture {
    fn on_command(&mut self, cx: &mut Context<'_>, command: Command, out: &mut Effects<Self>) {
        match command {
            // L-01: only the coordinator's failure is a reason to call an election.
            Command::Silent(peer) | Command::Failed(peer) | Command::Succeed(peer) => {
                if self.elected == Some(peer) && peer != cx.me {
                    self.elect(cx, Some(peer), out);
                }
            }
            Command::Suspect => match self.elected {
                Some(elected) if elected == cx.me => {}
                suspect => self.elect(cx, suspect, out),
            },
            Command::Call => self.elect(cx, None, out),
            Command::Check => self.announce_again(cx, out),
            Command::AdvanceTo(seen) => advance_to(&mut self.counter, seen, out),
            // Without a hand-over there is nothing to wait for.
            Command::Stopped(_) | Command::Settled { .. } | Command::Unsettled { .. } => {}
        }
    }

    /// L-01, L-11; a node runs one election of its own at a time (G-09).
    fn elect(&mut self, cx: &mut Context<'_>, suspect: Option<NodeId>, out: &mut Effects<Self>) {
        if self.phase != Phase::Idle && !cx.is_mutated(Mutant::CALL_AGAIN) {
            return;
        }
        out.notify(Notice::Called);
        self.status = Status::Election;
        self.elected = None;
        out.cancel_timer(Timer::Announce);
        out.notify(Notice::Watch(NodeSet::new()));
        out.notify(Notice::Yield);
        let mut above: NodeSet = cx.members.above(cx.me).collect();
        if cx.is_mutated(Mutant::SKIP_NEXT_HIGHER)
            && let Some(next) = cx.members.above(cx.me).next()
        {
            above.remove(next);
        }
        let only_suspect_is_higher = above.iter().all(|higher| Some(higher) == suspect);
        let knows_it_is_highest = above.is_empty()
            || (cx.config.options().bully_lecture.shortcut == Shortcut::On
                && only_suspect_is_higher);
        if knows_it_is_highest {
            return self.announce(cx, out);
        }
        self.phase = Phase::Asking;
        for higher in above.iter() {
            out.send(higher, Message::Election);
        }
        out.set_timer(Timer::Answers, cx.config.timing().answer());
    }

    /// L-08, L-13: reply, and take over unless an election of this node is in progress.
    fn answer(&mut self, cx: &mut Context<'_>, from: NodeId, out: &mut Effects<Self>) {
        out.send(from, Message::Answer);
        let is_incumbent = self.elected == Some(cx.me);
        if is_incumbent && cx.config.options().bully_lecture.guard == Guard::On {
            if let Some(number) = self.number {
                out.send(from, Message::Coordinator { number, replaces: None });
            }
            return;
        }
        if cx.members.outranks(cx.me, from) {
            self.elect(cx, None, out);
        }
    }

    /// L-05, L-06: T' counts from the first answer (E-35).
    fn yield_claim(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        if self.phase != Phase::Asking {
            return;
        }
        self.phase = Phase::Waiting;
        out.notify(Notice::Ended(Outcome::Yielded));
        out.cancel_timer(Timer::Answers);
        out.set_timer(Timer::Announcement, cx.config.timing().announcement());
    }

    /// L-07: no announcement came within T'.
    fn restart(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if self.phase == Phase::Waiting && !cx.is_mutated(Mutant::NEVER_RESTART) {
            self.phase = Phase::Idle;
            self.elect(cx, None, out);
        }
    }

    /// L-03, L-04: no higher process answered.
    fn announce(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let replaces = self.number;
        let number = next_number(cx, &mut self.counter, out);
        self.phase = Phase::Idle;
        self.status = Status::Normal;
        self.elected = Some(cx.me);
        self.number = Some(number);
        out.cancel_timer(Timer::Answers);
        out.cancel_timer(Timer::Announcement);
        self.tell(cx, number, replaces, out);
        save_late(cx, self.counter, out);
        out.notify(Notice::Ended(Outcome::Won));
        out.notify(Notice::Followed { group: number, coordinator: cx.me });
        out.set_timer(Timer::Announce, cx.config.timing().check_every());
    }

    fn announce_again(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        if self.elected == Some(cx.me)
            && let Some(number) = self.number
        {
            self.tell(cx, number, None, out);
            out.set_timer(Timer::Announce, cx.config.timing().check_every());
        }
    }

    fn tell(
        &self,
        cx: &Context<'_>,
        number: GroupNumber,
        replaces: Option<GroupNumber>,
        out: &mut Effects<Self>,
    ) {
        let message = Message::Coordinator { number, replaces };
        Self::audience(cx, |node| out.send(node, message.clone()));
    }

    /// The processes to which a coordinator announces itself (E-05).
    fn audience(cx: &Context<'_>, tell: impl FnMut(NodeId)) {
        match cx.config.options().bully_lecture.announce {
            Announce::Lower => cx.members.below(cx.me).for_each(tell),
            Announce::All => cx.members.others(cx.me).for_each(tell),
        }
    }

    /// L-12, L-16, E-39: decides whether an announcement is followed.
    fn weigh(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        number: GroupNumber,
        replaces: Option<GroupNumber>,
        out: &mut Effects<Self>,
    ) {
        let members = cx.members;
        if !members.outranks(from, cx.me) {
            // A process of lower rank cannot have asked this one, so this one calls an election
            // (L-16).
            return self.elect(cx, None, out);
        }
        let is_weighed = cx.config.options().bully_lecture.numbers == Numbers::On;
        let is_of_an_earlier_incarnation =
            self.number.is_some_and(|last| last.node == from && last.counter > number.counter);
        if is_weighed && is_of_an_earlier_incarnation {
            return;
        }
        let is_followed = match self.elected {
            None => true,
            Some(elected) if elected == from || members.outranks(from, elected) => true,
            Some(_) => !is_weighed || (replaces.is_some() && replaces == self.number),
        };
        if is_followed {
            self.follow(from, number, out);
        }
    }

    fn follow(&mut self, coordinator: NodeId, number: GroupNumber, out: &mut Effects<Self>) {
        let is_news = self.elected != Some(coordinator) || self.number != Some(number);
        if self.phase == Phase::Asking {
            out.notify(Notice::Ended(Outcome::Yielded));
        }
        self.phase = Phase::Idle;
        self.status = Status::Normal;
        self.elected = Some(coordinator);
        self.number = Some(number);
        out.cancel_timer(Timer::Answers);
        out.cancel_timer(Timer::Announcement);
        out.cancel_timer(Timer::Announce);
        if is_news {
            out.notify(Notice::Yield);
            out.notify(Notice::Watch([coordinator].into_iter().collect()));
            out.notify(Notice::Followed { group: number, coordinator });
        }
    }
}

impl ElectionAlgorithm for BullyLecture {
    fn established(
        cx: &mut Context<'_>,
        saved: Counter,
        established: &EstablishedGroup,
        out: &mut Effects<Self>,
    ) -> Self {
        if established.coordinator == cx.me {
            out.set_timer(Timer::Announce, cx.config.timing().check_every());
        } else {
            out.notify(Notice::Watch([established.coordinator].into_iter().collect()));
        }
        Self {
            status: Status::Normal,
            elected: Some(established.coordinator),
            number: Some(established.group),
            counter: saved,
            phase: Phase::Idle,
            up: NodeSet::new(),
        }
    }

    fn view(&self) -> View<'_> {
        View { status: self.status, coordinator: self.elected, group: self.number, up: &self.up }
    }

    fn heartbeat_peers(&self, cx: &Context<'_>) -> NodeSet {
        let mut peers = NodeSet::new();
        match self.elected {
            Some(elected) if elected == cx.me => Self::audience(cx, |node| {
                peers.insert(node);
            }),
            Some(elected) => {
                peers.insert(elected);
            }
            None => {}
        }
        peers
    }

    fn counter(&self) -> Counter {
        self.counter
    }

    fn timers(_: &Context<'_>) -> Vec<Timer> {
        vec![Timer::Answers, Timer::Announcement, Timer::Announce]
    }

    fn period(timer: &Timer, _: &Timing) -> Option<Duration> {
        match timer {
            // An announcement serves as a heartbeat to members.
            Timer::Answers | Timer::Announcement | Timer::Announce => None,
        }
    }

    fn highest_counter(message: &Message) -> Counter {
        match message {
            Message::Election | Message::Answer => Counter::default(),
            Message::Coordinator { number, replaces } => {
                Counter(number.counter).max(Counter::of(*replaces))
            }
        }
    }

    fn facts(message: &Message) -> MessageFacts {
        match message {
            Message::Election => plain(Kind::Election),
            Message::Answer => plain(Kind::Answer),
            Message::Coordinator { number, .. } => {
                MessageFacts::new(Kind::Coordinator, Some(*number), None)
            }
        }
    }

    fn contents(message: &Message) -> Contents {
        match message {
            Message::Election | Message::Answer => Contents::default(),
            Message::Coordinator { number, .. } => Contents::coordinator(number.node),
        }
    }

    fn timer_name(timer: &Timer) -> TimerName {
        match timer {
            Timer::Answers => TimerName::Answers,
            Timer::Announcement => TimerName::Announcement,
            Timer::Announce => TimerName::Announce,
        }
    }

    #[cfg(test)]
    fn examples() -> Vec<Message> {
        use crate::testing;
        use testing::number;
        let group = number(7, 3);
        vec![
            Message::Election,
            Message::Answer,
            Message::Coordinator { number: group, replaces: None },
            Message::Coordinator { number: number(u64::MAX, u32::MAX), replaces: Some(group) },
        ]
    }
}

/// The facts about the lectures' bully algorithm.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "bully-lecture",
    source: "the lectures' bully: election, answer, coordinator",
    guarantee: "at the end every live node has elected the highest live node; two coordinators may \
                overlap for a message delay, and no state is handed over",
    summary: "every live node ends with the highest as coordinator; no state",
    network: Network::Links,
    model: Model::Synchronous,
    groups: Groups::One,
    handover: None,
    adjustable: None,
    options: OPTIONS,
    messages: MESSAGES,
    timers: TIMERS,
    mutants: &[MUTANTS],
};

pub(crate) const MESSAGES: &[MessageInfo] = &[rows::ELECTION, rows::ANSWER, rows::COORDINATOR];

pub(crate) const TIMERS: &[TimerInfo] = &[
    rows::ANSWERS,
    TimerInfo::wait(TimerName::Announcement, "gives up waiting for an announcement"),
    TimerInfo::new(TimerName::Announce, "announces itself again"),
];

mutants! {
    /// Lecture bully: a waiting node never restarts.
    NEVER_RESTART = "never-restart",
    /// Lecture bully: every election message starts one more election.
    CALL_AGAIN = "call-again",
    /// Lecture bully: `<` for `<=` in whom to ask: the next higher node is left out.
    SKIP_NEXT_HIGHER = "skip-next-higher",
}
