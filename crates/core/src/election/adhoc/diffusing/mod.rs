//! Election by a diffusing computation, after Vasudevan, Kurose and Towsley (2004).
//!
//! A source asks its neighbours, and those ask theirs; the first node that asks becomes the parent.
//! A node answers its parent when all others have answered it, with the best node below it; other
//! nodes it answers at once. So the source learns the best node of all, and sends it down the tree.
//!
//! ```text
//!   start -----> Greeting --no leader-----> Computing --the best is known--> Settled
//!                    |                       ^    ^                             |
//!                    +--a leader-------------|----|---------------------------> |
//!                                  a better computation, or: no heartbeat <-----+
//! ```
//!
//! Computations are ordered by (counter, source), and a lower one is abandoned for a higher one. An
//! answer carries a group number that the best node has on its disk, so a node that learns the
//! winner can follow it at once. Questions, answers and the result are sent to one neighbour each,
//! since the message counts of the theory are per link. A node learns its neighbours from the
//! messages that it receives; a node that starts greets all nodes in reach, and if they have a
//! leader it needs no computation: it follows that leader, or leads if it is better.
//!
//! Assumes and leaves out: see [`super`].

mod computation;
mod message;
mod probing;

use alloc::vec::Vec;
use core::time::Duration;

use self::computation::Computation;
use super::leadership::{self, Beat, Floods, Leadership, Meaning};
use super::neighbours::Neighbours;
use super::{limit, pace};
use crate::election::descriptor::{
    Descriptor, Groups, MessageInfo, Model, Network, TimerInfo, Topic, rows,
};
use crate::election::{
    Command, ElectionAlgorithm, EstablishedGroup, Notice, View, advance_to, next_number, plain,
};
use crate::group::{Counter, GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::{Mutant, mutants};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::timing::Timing;
use crate::trace::{Contents, Kind, MessageFacts, Outcome, TimerName};

pub use self::message::Message;
pub use limit::{OPTIONS, Options};

/// A node that takes part in diffusing computations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diffusing {
    status: Status,
    leadership: Leadership,
    /// The highest counter that this node has used or received.
    counter: Counter,
    /// The highest computation that it has taken part in.
    last: GroupNumber,
    phase: Phase,
    neighbours: Neighbours,
    /// Always empty: this algorithm keeps no list of members.
    up: NodeSet,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Following or leading.
    Settled,
    /// Just started; the best leader that a neighbour follows, as far as is known.
    Greeting { best: Option<GroupNumber> },
    /// Taking part in a computation.
    Computing(Computation),
}

/// Timers, named for what they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// Those of leading and following.
    Leadership(leadership::Timer),
    /// T: the wait for greetings.
    Hello,
    /// T: the time between two probes of a neighbour.
    Probe,
    /// The wait for a computation to end.
    Stall,
    /// The time after which a neighbour that said nothing is forgotten.
    Age,
}

impl Protocol for Diffusing {
    type Message = Message;
    type Timer = Timer;
    type Record = Counter;
    type Command = Command;
    type Notice = Notice;

    fn start(cx: &mut Context<'_>, saved: Option<Counter>, out: &mut Effects<Self>) -> Self {
        let counter = saved.unwrap_or_default();
        out.broadcast(Message::Hello { is_answer: false, leader: None });
        out.set_timer(Timer::Hello, cx.config.timing().answer());
        out.set_timer(Timer::Age, pace::period(cx.config) * 2);
        Self {
            status: Status::Down,
            leadership: Leadership::default(),
            counter,
            last: Counter::default().group(cx.me),
            phase: Phase::Greeting { best: None },
            neighbours: Neighbours::default(),
            up: NodeSet::new(),
        }
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message } => {
                self.neighbours.note(from);
                self.on_message(cx, from, message, out);
            }
            Event::Timer(Timer::Hello) => self.look_round(cx, out),
            Event::Timer(Timer::Probe) => self.probe(cx, out),
            Event::Timer(Timer::Stall) => self.restart(cx, out),
            Event::Timer(Timer::Age) => {
                self.neighbours.age();
                out.set_timer(Timer::Age, pace::period(cx.config) * 2);
            }
            Event::Timer(Timer::Leadership(leadership::Timer::Beat)) => {
                self.leadership.beat(cx, out)
            }
            Event::Timer(Timer::Leadership(leadership::Timer::Relay)) => self.leadership.unmute(),
            Event::Timer(Timer::Leadership(leadership::Timer::Silence)) => self.miss(cx, out),
            Event::Command(command) => self.on_command(cx, command, out),
        }
    }
}

impl Diffusing {
    fn on_message(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        message: Message,
        out: &mut Effects<Self>,
    ) {
        match message {
            Message::Hello { is_answer: false, leader: _ } => {
                let leader = self.leadership.leader();
                out.send(from, Message::Hello { is_answer: true, leader });
            }
            Message::Hello { is_answer: true, leader } => self.note_leader(cx, leader),
            Message::Election { index } => self.asked(cx, from, index, out),
            Message::Ack { index, best } => self.answered(cx, from, index, best, out),
            Message::Leader { index, group } => self.told(cx, from, index, group, out),
            Message::Probe { index, awaits_ack } => {
                self.probed(cx, from, index, awaits_ack, out);
            }
            Message::Reply { index, takes_part } => {
                self.replied(cx, from, index, takes_part, out);
            }
            Message::Beat(beat) => self.on_heartbeat(cx, &beat, out),
        }
    }

    fn on_command(&mut self, cx: &mut Context<'_>, command: Command, out: &mut Effects<Self>) {
        match command {
            Command::Silent(peer) | Command::Failed(peer) | Command::Succeed(peer) => {
                self.lose(cx, peer, out);
            }
            Command::Suspect => {
                if !self.leadership.is_own(cx.me) {
                    self.call_unless_computing(cx, out);
                }
            }
            Command::Call => self.call_unless_computing(cx, out),
            Command::Check => self.leadership.beat(cx, out),
            Command::AdvanceTo(seen) => advance_to(&mut self.counter, seen, out),
            // Without a hand-over there is nothing to wait for.
            Command::Stopped(_) | Command::Settled { .. } | Command::Unsettled { .. } => {}
        }
    }

    /// A node that takes part in a computation begins no other (G-09).
    fn call_unless_computing(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        match self.phase {
            Phase::Settled | Phase::Greeting { .. } => self.call(cx, out),
            Phase::Computing(_) => {}
        }
    }

    fn note_leader(&mut self, cx: &Context<'_>, leader: Option<GroupNumber>) {
        let Phase::Greeting { best } = &mut self.phase else { return };
        let Some(leader) = leader else { return };
        let members = cx.members;
        if best.is_none_or(|best| best < leader && !members.outranks(best.node, leader.node)) {
            *best = Some(leader);
        }
    }

    /// All nodes in reach have answered the greeting.
    fn look_round(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Phase::Greeting { best } = self.phase else { return };
        match best {
            Some(leader) if cx.members.outranks(leader.node, cx.me) => {
                self.leadership.adopt(cx, leader, out);
                self.settle(leader, out);
            }
            // This node, a component of one, meets a component with a worse leader.
            Some(_) => {
                out.notify(Notice::Called);
                let group = next_number(cx, &mut self.counter, out);
                self.lead(cx, group, out);
            }
            None => self.call(cx, out),
        }
    }

    fn on_heartbeat(&mut self, cx: &mut Context<'_>, beat: &Beat, out: &mut Effects<Self>) {
        self.counter = self.counter.max(Counter(beat.group.counter));
        if let Phase::Computing(computation) = &self.phase
            && !computation.may_follow(cx, beat.group.node)
        {
            return;
        }
        match self.leadership.weigh(cx, beat) {
            Meaning::Nothing => {}
            Meaning::Known => self.leadership.renew(cx, beat, out),
            Meaning::Worse => self.leadership.oppose(cx, out),
            Meaning::Better => {
                self.leadership.follow(cx, beat, out);
                self.settle(beat.group, out);
            }
        }
    }

    /// No heartbeat of the leader has come for too long.
    fn miss(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if cx.is_mutated(Mutant::IGNORE_SILENCE) {
            return;
        }
        if self.leadership.leader().is_some() && !self.leadership.is_own(cx.me) {
            self.call(cx, out);
        }
    }

    fn settle(&mut self, group: GroupNumber, out: &mut Effects<Self>) {
        self.end_computation(Outcome::Yielded, out);
        self.status = Status::Normal;
        out.notify(Notice::Yield);
        out.notify(Notice::Followed { group, coordinator: group.node });
    }

    /// This node is the best; its number is on disk.
    fn lead(&mut self, cx: &Context<'_>, group: GroupNumber, out: &mut Effects<Self>) {
        self.end_computation(Outcome::Won, out);
        self.status = Status::Normal;
        self.leadership.claim(cx, group, out);
        out.notify(Notice::Ended(Outcome::Won));
        out.notify(Notice::Followed { group, coordinator: cx.me });
    }

    /// Ends the computation at this node.
    fn end_computation(&mut self, outcome: Outcome, out: &mut Effects<Self>) {
        if let Phase::Computing(computation) = &self.phase
            && computation.is_own()
            && outcome != Outcome::Won
        {
            out.notify(Notice::Ended(outcome));
        }
        self.phase = Phase::Settled;
        for timer in [Timer::Hello, Timer::Probe, Timer::Stall] {
            out.cancel_timer(timer);
        }
    }
}

impl Floods for Diffusing {
    fn beat(beat: Beat) -> Message {
        Message::Beat(beat)
    }

    fn timer(timer: leadership::Timer) -> Timer {
        Timer::Leadership(timer)
    }
}

impl ElectionAlgorithm for Diffusing {
    fn established(
        cx: &mut Context<'_>,
        saved: Counter,
        established: &EstablishedGroup,
        out: &mut Effects<Self>,
    ) -> Self {
        out.set_timer(Timer::Age, pace::period(cx.config) * 2);
        Self {
            status: Status::Normal,
            leadership: Leadership::established(cx, established.group, out),
            counter: saved.max(Counter(established.group.counter)),
            last: established.group,
            phase: Phase::Settled,
            neighbours: Neighbours::default(),
            up: NodeSet::new(),
        }
    }

    fn view(&self) -> View<'_> {
        let leader = self.leadership.leader();
        let group = match &self.phase {
            Phase::Settled | Phase::Greeting { .. } => leader,
            Phase::Computing(computation) => Some(computation.index()),
        };
        let coordinator = leader.map(|leader| leader.node);
        View { status: self.status, coordinator, group, up: &self.up }
    }

    /// None: heartbeats are the leader's, and flooded.
    fn heartbeat_peers(&self, _: &Context<'_>) -> NodeSet {
        NodeSet::new()
    }

    fn counter(&self) -> Counter {
        self.counter
    }

    fn timers(_: &Context<'_>) -> Vec<Timer> {
        let own = [Timer::Hello, Timer::Probe, Timer::Stall, Timer::Age];
        leadership::timers().map(Timer::Leadership).chain(own).collect()
    }

    fn period(timer: &Timer, timing: &Timing) -> Option<Duration> {
        match timer {
            Timer::Leadership(timer) => timer.period(timing),
            Timer::Hello | Timer::Probe | Timer::Stall | Timer::Age => None,
        }
    }

    fn highest_counter(message: &Message) -> Counter {
        match message {
            Message::Hello { leader, .. } => Counter::of(*leader),
            Message::Election { index }
            | Message::Probe { index, .. }
            | Message::Reply { index, .. } => Counter(index.counter),
            Message::Ack { index, best } => Counter(index.counter).max(Counter::of(*best)),
            Message::Leader { index, group } => Counter(index.counter.max(group.counter)),
            Message::Beat(beat) => Counter(beat.group.counter),
        }
    }

    fn facts(message: &Message) -> MessageFacts {
        let about = |kind, group, ok| MessageFacts::new(kind, Some(group), ok);
        match message {
            Message::Hello { .. } => plain(Kind::Hello),
            Message::Election { index } => about(Kind::Election, *index, None),
            Message::Ack { index, best } => about(Kind::Ack, *index, Some(best.is_some())),
            Message::Leader { group, .. } => about(Kind::Leader, *group, None),
            Message::Probe { index, .. } => about(Kind::Probe, *index, None),
            Message::Reply { index, takes_part } => about(Kind::Reply, *index, Some(*takes_part)),
            Message::Beat(beat) => MessageFacts { kind: Kind::Heartbeat, ..beat.facts() },
        }
    }

    fn contents(message: &Message) -> Contents {
        message.contents()
    }

    fn timer_name(timer: &Timer) -> TimerName {
        match timer {
            Timer::Leadership(timer) => timer.name(),
            Timer::Hello => TimerName::Hello,
            Timer::Probe => TimerName::Probe,
            Timer::Stall => TimerName::Stall,
            Timer::Age => TimerName::Age,
        }
    }

    #[cfg(test)]
    fn examples() -> Vec<Message> {
        use alloc::vec;

        use crate::testing;
        let (index, group) = (testing::number(7, 3), testing::number(9, 70_000));
        vec![
            Message::Hello { is_answer: false, leader: None },
            Message::Hello { is_answer: true, leader: Some(group) },
            Message::Election { index },
            Message::Ack { index, best: Some(group) },
            Message::Ack { index, best: None },
            Message::Leader { index, group },
            Message::Probe { index, awaits_ack: true },
            Message::Reply { index, takes_part: false },
            Message::Beat(Beat { group, hops: 300, is_new: true }),
        ]
    }
}

/// The facts about the diffusing computation.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "adhoc-diffusing",
    source: "Vasudevan, Kurose and Towsley 2004: a diffusing computation",
    guarantee: super::GUARANTEE,
    summary: "one leader in each part of the network; no state",
    network: Network::Radio,
    model: Model::Roaming,
    groups: Groups::PerComponent,
    handover: None,
    adjustable: None,
    options: OPTIONS,
    messages: MESSAGES,
    timers: TIMERS,
    mutants: &[leadership::MUTANTS, MUTANTS],
};

pub(crate) const MESSAGES: &[MessageInfo] = &[
    MessageInfo::request(Kind::Hello, Topic::Discovery),
    rows::ELECTION,
    rows::ACK,
    rows::LEADER,
    MessageInfo::request(Kind::Probe, Topic::Liveness),
    MessageInfo { is_reply: true, ..MessageInfo::new(Kind::Reply, Topic::Liveness) },
    rows::HEARTBEAT,
];

pub(crate) const TIMERS: &[TimerInfo] = &[
    rows::BEAT,
    rows::SILENCE,
    rows::RELAY,
    TimerInfo { is_wait: true, ..TimerInfo::new(TimerName::Hello, "knows who is in reach") },
    TimerInfo {
        is_wait: true,
        ..TimerInfo::new(TimerName::Probe, "asks whether those it waits for are there")
    },
    rows::STALL,
    TimerInfo::new(TimerName::Age, "forgets neighbours that say nothing"),
];

mutants! {
    /// Diffusing computation: the parent is told before those below have answered.
    ACK_BEFORE_CHILDREN = "ack-before-children",
    /// Diffusing computation: a node that asks later is a parent, too.
    TWO_PARENTS = "two-parents",
}
