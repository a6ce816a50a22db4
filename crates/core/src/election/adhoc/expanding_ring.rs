//! Election by expanding ring search (W-04, W-05; the sources leave the rules open, E-34).
//!
//! A candidate floods its number as far as TTL 1, then 2, 4 and so on. A better node that is a
//! candidate or leads answers, and does not pass the flood on; a candidate that learns of a better
//! node yields. A candidate that met no better node within the limit announces itself to all.
//!
//! ```text
//!                 no better node within ttl: double it
//!                    +--------+
//!                    v        |   ... up to the limit
//!   silence ----> Candidate --+----------------------------> leads: Settled
//!      ^             | a better flood, or an answer             ^
//!      |             v                                          | heartbeat of a better leader
//!      +---------- Waiting -------------------------------------+
//!       no announcement in time
//! ```
//!
//! A node that follows a leader keeps following it, and passes floods on: if the leader is in reach
//! it answers for itself. An answer goes back the way the flood came, link by link.
//!
//! Assumes and leaves out: see [`super`].

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use super::leadership::{self, Beat, Floods, Leadership, Meaning};
use super::{limit, pace};
use crate::election::descriptor::{
    Descriptor, Groups, MessageInfo, Model, Network, TimerInfo, rows,
};
use crate::election::{
    Command, ElectionAlgorithm, EstablishedGroup, Notice, View, advance_to, next_number, save_late,
};
use crate::group::{Counter, GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::{Mutant, mutants};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::timing::Timing;
use crate::trace::{Contents, Kind, MessageFacts, Outcome, TimerName};

pub use super::search_message::Message;
pub use limit::{OPTIONS, Options};

/// A node that elects by expanding ring search.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExpandingRing {
    status: Status,
    leadership: Leadership,
    counter: Counter,
    phase: Phase,
    /// The last flood of each candidate that passed here.
    seen: BTreeMap<NodeId, Seen>,
    /// Always empty: this algorithm keeps no list of members.
    up: NodeSet,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Following or leading.
    Settled,
    /// A candidate that no better node has answered, and how far its last flood went.
    Candidate { number: GroupNumber, ttl: u32 },
    /// A better candidate should announce itself; the number is that of this node's own abandoned
    /// election.
    Waiting { number: GroupNumber },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Seen {
    counter: u64,
    ttl: u32,
    /// The neighbour that delivered it first: the way back.
    via: NodeId,
    /// Whether an answer has gone back; one is enough.
    is_answered: bool,
}

/// Timers, named for what they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// Those of leading and following.
    Leadership(leadership::Timer),
    /// The ring traversal time: the wait for answers to a flood.
    Ring,
    /// The wait for a better node to announce itself.
    Stall,
}

impl Protocol for ExpandingRing {
    type Message = Message;
    type Timer = Timer;
    type Record = Counter;
    type Command = Command;
    type Notice = Notice;

    fn start(cx: &mut Context<'_>, saved: Option<Counter>, out: &mut Effects<Self>) -> Self {
        let mut node = Self {
            status: Status::Down,
            leadership: Leadership::default(),
            counter: saved.unwrap_or_default(),
            phase: Phase::Settled,
            seen: BTreeMap::new(),
            up: NodeSet::new(),
        };
        node.call(cx, out);
        node
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message: Message::Election { number, ttl, hops } } => {
                self.on_flood(cx, from, number, ttl, hops, out);
            }
            Event::Message { message: Message::Answer { number, leader }, .. } => {
                self.on_answer(cx, number, leader, out);
            }
            Event::Message { message: Message::Beat(beat), .. } => {
                self.on_heartbeat(cx, &beat, out)
            }
            Event::Timer(Timer::Ring) => self.widen(cx, out),
            Event::Timer(Timer::Stall) => self.restart(cx, out),
            Event::Timer(Timer::Leadership(leadership::Timer::Beat)) => {
                self.leadership.beat(cx, out)
            }
            Event::Timer(Timer::Leadership(leadership::Timer::Relay)) => self.leadership.unmute(),
            Event::Timer(Timer::Leadership(leadership::Timer::Silence)) => self.miss(cx, out),
            Event::Command(command) => self.on_command(cx, command, out),
        }
    }
}

impl ExpandingRing {
    fn on_command(&mut self, cx: &mut Context<'_>, command: Command, out: &mut Effects<Self>) {
        match command {
            Command::Silent(peer) | Command::Failed(peer) | Command::Succeed(peer) => {
                let is_leader = self.leadership.leader().is_some_and(|leader| leader.node == peer);
                if is_leader && peer != cx.me {
                    self.call(cx, out);
                }
            }
            Command::Suspect => {
                if !self.leadership.is_own(cx.me) {
                    self.call(cx, out);
                }
            }
            Command::Call => self.call(cx, out),
            Command::Check => self.leadership.beat(cx, out),
            Command::AdvanceTo(seen) => advance_to(&mut self.counter, seen, out),
            // Without a hand-over there is nothing to wait for.
            Command::Stopped(_) | Command::Settled { .. } | Command::Unsettled { .. } => {}
        }
    }

    /// Becomes a candidate; a node runs one election of its own at a time (G-09).
    fn call(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        match self.phase {
            Phase::Candidate { .. } => return,
            Phase::Settled | Phase::Waiting { .. } => {}
        }
        out.notify(Notice::Called);
        let number = next_number(cx, &mut self.counter, out);
        self.status = Status::Election;
        self.leadership.leave(out);
        out.cancel_timer(Timer::Stall);
        out.notify(Notice::Yield);
        self.flood(cx, number, 1, out);
        save_late(cx, self.counter, out);
    }

    fn flood(&mut self, cx: &Context<'_>, number: GroupNumber, ttl: u32, out: &mut Effects<Self>) {
        self.phase = Phase::Candidate { number, ttl };
        out.broadcast(Message::Election { number, ttl, hops: 1 });
        out.set_timer(Timer::Ring, pace::ring(cx.config, ttl));
    }

    /// No better node has answered within the reach of the last flood.
    fn widen(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Phase::Candidate { number, ttl } = self.phase else { return };
        let limit = limit::of(cx.config, cx.members);
        if ttl >= limit {
            self.announce(cx, number, out);
        } else if cx.is_mutated(Mutant::NEVER_WIDEN) {
            self.flood(cx, number, ttl, out);
        } else {
            self.flood(cx, number, ttl.saturating_mul(2).min(limit), out);
        }
    }

    fn announce(&mut self, cx: &Context<'_>, group: GroupNumber, out: &mut Effects<Self>) {
        self.phase = Phase::Settled;
        self.status = Status::Normal;
        self.leadership.claim(cx, group, out);
        out.notify(Notice::Ended(Outcome::Won));
        out.notify(Notice::Followed { group, coordinator: cx.me });
    }

    /// W-05: a better node that is a candidate or leads answers; every other node passes the flood
    /// on.
    fn on_flood(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        number: GroupNumber,
        ttl: u32,
        hops: u32,
        out: &mut Effects<Self>,
    ) {
        let is_known = self
            .seen
            .get(&number.node)
            .is_some_and(|seen| (seen.counter, seen.ttl) >= (number.counter, ttl));
        if number.node == cx.me || is_known {
            return;
        }
        let is_better = cx.members.outranks(cx.me, number.node);
        let is_standing = matches!(self.phase, Phase::Candidate { .. });
        let answers = is_better && (is_standing || self.leadership.is_own(cx.me));
        let seen = Seen { counter: number.counter, ttl, via: from, is_answered: answers };
        self.seen.insert(number.node, seen);
        if answers {
            let leader = self.leadership.leader();
            return out.send(from, Message::Answer { number, leader });
        }
        if !is_better {
            self.wait(cx, out);
        }
        if hops < ttl {
            out.broadcast(Message::Election { number, ttl, hops: hops + 1 });
        }
    }

    fn on_answer(
        &mut self,
        cx: &mut Context<'_>,
        number: GroupNumber,
        leader: Option<GroupNumber>,
        out: &mut Effects<Self>,
    ) {
        if number.node != cx.me {
            return self.pass_back(number, leader, out);
        }
        let Phase::Candidate { number: established, .. } = self.phase else { return };
        if established != number {
            return;
        }
        match leader.filter(|leader| cx.members.outranks(leader.node, cx.me)) {
            Some(leader) => {
                self.leadership.adopt(cx, leader, out);
                self.settle(leader, out);
            }
            None => self.wait(cx, out),
        }
    }

    /// One answer for each flood goes back the way that the flood came.
    fn pass_back(
        &mut self,
        number: GroupNumber,
        leader: Option<GroupNumber>,
        out: &mut Effects<Self>,
    ) {
        if let Some(seen) = self.seen.get_mut(&number.node)
            && seen.counter == number.counter
            && !seen.is_answered
        {
            seen.is_answered = true;
            out.send(seen.via, Message::Answer { number, leader });
        }
    }

    /// There is a better candidate: waits for it as long as an election takes.
    fn wait(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let number = match self.phase {
            Phase::Settled => return,
            Phase::Candidate { number, .. } | Phase::Waiting { number } => number,
        };
        self.end_candidacy(out);
        self.phase = Phase::Waiting { number };
        out.set_timer(Timer::Stall, pace::rings(cx));
    }

    fn end_candidacy(&self, out: &mut Effects<Self>) {
        if let Phase::Candidate { .. } = self.phase {
            out.notify(Notice::Ended(Outcome::Yielded));
            out.cancel_timer(Timer::Ring);
        }
    }

    fn restart(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if let Phase::Waiting { .. } = self.phase {
            self.call(cx, out);
        }
    }

    fn on_heartbeat(&mut self, cx: &mut Context<'_>, beat: &Beat, out: &mut Effects<Self>) {
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

    fn settle(&mut self, group: GroupNumber, out: &mut Effects<Self>) {
        self.end_candidacy(out);
        self.phase = Phase::Settled;
        self.status = Status::Normal;
        out.cancel_timer(Timer::Stall);
        out.notify(Notice::Yield);
        out.notify(Notice::Followed { group, coordinator: group.node });
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
}

impl Floods for ExpandingRing {
    fn beat(beat: Beat) -> Message {
        Message::Beat(beat)
    }

    fn timer(timer: leadership::Timer) -> Timer {
        Timer::Leadership(timer)
    }
}

impl ElectionAlgorithm for ExpandingRing {
    fn established(
        cx: &mut Context<'_>,
        saved: Counter,
        established: &EstablishedGroup,
        out: &mut Effects<Self>,
    ) -> Self {
        Self {
            status: Status::Normal,
            leadership: Leadership::established(cx, established.group, out),
            counter: saved,
            phase: Phase::Settled,
            seen: BTreeMap::new(),
            up: NodeSet::new(),
        }
    }

    fn view(&self) -> View<'_> {
        let coordinator = self.leadership.leader().map(|leader| leader.node);
        let group = match self.phase {
            Phase::Settled => self.leadership.leader(),
            Phase::Candidate { number, .. } | Phase::Waiting { number } => Some(number),
        };
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
        leadership::timers().map(Timer::Leadership).chain([Timer::Ring, Timer::Stall]).collect()
    }

    fn period(timer: &Timer, timing: &Timing) -> Option<Duration> {
        match timer {
            Timer::Leadership(timer) => timer.period(timing),
            Timer::Ring | Timer::Stall => None,
        }
    }

    fn highest_counter(message: &Message) -> Counter {
        match message {
            Message::Election { number, .. } => Counter(number.counter),
            Message::Answer { number, leader } => Counter(number.counter).max(Counter::of(*leader)),
            Message::Beat(beat) => Counter(beat.group.counter),
        }
    }

    fn facts(message: &Message) -> MessageFacts {
        let about = |kind, number| MessageFacts::new(kind, Some(number), None);
        match message {
            Message::Election { number, .. } => about(Kind::Election, *number),
            Message::Answer { number, .. } => about(Kind::Answer, *number),
            Message::Beat(beat) => beat.facts(),
        }
    }

    fn contents(message: &Message) -> Contents {
        message.contents()
    }

    fn timer_name(timer: &Timer) -> TimerName {
        match timer {
            Timer::Leadership(timer) => timer.name(),
            Timer::Ring => TimerName::Ring,
            Timer::Stall => TimerName::Stall,
        }
    }

    #[cfg(test)]
    fn examples() -> Vec<Message> {
        use alloc::vec;

        use crate::testing;
        let (number, leader) = (testing::number(7, 3), testing::number(9, 70_000));
        let beat = Beat { group: leader, hops: 300, is_new: true };
        vec![
            Message::Election { number, ttl: 64, hops: 33 },
            Message::Answer { number, leader: Some(leader) },
            Message::Answer { number, leader: None },
            Message::Beat(beat),
            Message::Beat(Beat { is_new: false, ..beat }),
        ]
    }
}

/// The facts about the expanding ring search.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "adhoc-expanding-ring",
    source: "the lectures' broadcasts in rings that widen, with rules of our own",
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

pub(crate) const MESSAGES: &[MessageInfo] =
    &[rows::ELECTION, rows::ANSWER, rows::LEADER, rows::HEARTBEAT];

pub(crate) const TIMERS: &[TimerInfo] = &[
    rows::BEAT,
    rows::SILENCE,
    rows::RELAY,
    TimerInfo {
        is_wait: true,
        blocked_by: rows::CIRCULATING,
        ..TimerInfo::new(TimerName::Ring, "has heard of no better node in this ring")
    },
    rows::STALL,
];

mutants! {
    /// Expanding ring: the ring stays as it is.
    NEVER_WIDEN = "never-widen",
}
