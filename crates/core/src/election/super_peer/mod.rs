//! Super-peers: elections in groups of bounded size, and among the nodes that the groups select.
//!
//! Every peer belongs to one group of a [`Hierarchy`](crate::membership::Hierarchy), which elects
//! with any of the other algorithms. The coordinator selects the group's super-peers: itself, and
//! with k > 1 others. They take part in the election of a group of the next level, as nodes take
//! part in any election, and so on up to a group that is alone on its level. Its coordinator is the
//! top.
//!
//! ```text
//!             leads for T            all found, or 2T                selected there
//!   peer  -------------> Settling -------------------> Electing ---------------------> next level
//!     ^                  the seat is taken             an inner Election, a hand-over of nothing
//!     +------ Normal in a group that selects others: all seats are left ----------------------+
//! ```
//!
//! A node keeps the election of its own group and, for each seat, the holders of the other seats in
//! that group: its state grows with the sizes of its groups, never with the network. To the other
//! holders a seat that is left, or whose holder crashes, is a crashed node, and its next holder is
//! a node that restarts.
//!
//! Assumes what the inner algorithm assumes, in each group. Guarantees inside the peer groups what
//! the inner algorithm does; above them, where the members of a group change with the super-peers,
//! agreement once failures stop. Leaves out: any task of the levels above, merging groups whose
//! members have failed (sizes are bounded as configured), and recall of numbers that were used
//! above.

mod enrolment;
pub mod inner;
mod options;
mod ports;
mod seat;
mod selection;
#[cfg(test)]
mod tests;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

pub use options::{By, Disperse, Inner, K, Max, Min, OPTIONS, Options, Ratio};
pub use ports::{Message, Timer};

use self::seat::Seat;
use self::selection::Selection;
use super::{Command, Election, ElectionAlgorithm, EstablishedGroup, Notice, View, advance_to};
use crate::config::GroupConfig;
use crate::election::descriptor::{
    Descriptor, Groups, Handover, MessageInfo, Model, Network, TimerInfo, Topic,
};
use crate::group::Counter;
use crate::membership::{NodeId, NodeSet};
use crate::mutant::{Mutant, mutants};
use crate::protocol::compose::{Upward, lift};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::reorganization;
use crate::timing::Timing;
use crate::trace::{Contents, Kind, MessageFacts, SuperPeerStatus, TimerName};

/// A node that elects in its group, and above it if it is selected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SuperPeer {
    /// The election of its own group.
    home: Box<Election>,
    /// The super-peers that this group has selected.
    selection: Selection,
    /// The peers that the election of its own group wants watched.
    watched: NodeSet,
    /// Its seats in the groups above, the lowest first.
    seats: Vec<Seat>,
    /// The highest number that it has used, at any level.
    counter: Counter,
}

impl Protocol for SuperPeer {
    type Message = Message;
    type Timer = Timer;
    type Record = Counter;
    type Command = Command;
    type Notice = Notice;

    fn start(cx: &mut Context<'_>, saved: Option<Counter>, out: &mut Effects<Self>) -> Self {
        let mut effects = Effects::new();
        let home = at_home(cx, |cx| Election::start(cx, saved, &mut effects));
        let mut node = Self::new(home, saved.unwrap_or_default());
        node.carry_home(effects, out);
        node.review(cx, 0, out);
        node
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message } => self.on_message(cx, from, message, out),
            Event::Timer(Timer::Home(timer)) => {
                self.step_home(cx, Event::Timer(timer.into()), out);
            }
            Event::Timer(Timer::Above(level, timer)) => {
                self.step_seat(cx, level, Event::Timer(timer.into()), out);
            }
            Event::Timer(Timer::HandOver(level)) => {
                self.step_hand_over(cx, level, Event::Timer(reorganization::Handover), out);
            }
            Event::Timer(Timer::Settle(level)) => self.take_seat(cx, level, out),
            Event::Timer(Timer::Enrol(level)) => self.ask_again(cx, level, out),
            Event::Timer(Timer::Tell(level)) => self.tell_again(cx, level, out),
            Event::Command(command) => self.on_command(cx, command, out),
        }
    }
}

impl SuperPeer {
    fn new(home: Election, saved: Counter) -> Self {
        let counter = home.counter().max(saved);
        Self {
            home: Box::new(home),
            selection: Selection::default(),
            watched: NodeSet::new(),
            seats: Vec::new(),
            counter,
        }
    }

    /// The super-peers of its own group, as this node knows them, and its own seats above.
    #[must_use]
    pub fn super_peer_status(&self) -> SuperPeerStatus {
        let seats = self.seats.iter().map(Seat::state).collect();
        SuperPeerStatus { super_peers: self.selection.chosen.clone(), seats }
    }

    /// Whether its status is this one; compares without building it.
    pub(crate) fn is_super_peer_status(&self, status: &SuperPeerStatus) -> bool {
        self.selection.chosen == status.super_peers
            && self.seats.len() == status.seats.len()
            && self.seats.iter().zip(&status.seats).all(|(seat, state)| seat.is_in(state))
    }

    fn on_message(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        message: Message,
        out: &mut Effects<Self>,
    ) {
        match message {
            Message::Home(message) => {
                // A peer of another group is misconfigured: its message is dropped.
                if cx.members.peer_group(cx.me).contains(from) {
                    self.step_home(cx, Event::Message { from, message: message.into() }, out);
                }
            }
            Message::Above { level, message } => {
                if self.sits_with(level, from) {
                    let event = Event::Message { from, message: message.into() };
                    self.step_seat(cx, level, event, out);
                }
            }
            Message::HandOver { level, message } => {
                if self.sits_with(level, from) {
                    self.step_hand_over(cx, level, Event::Message { from, message }, out);
                }
            }
            Message::Selected { level, group, super_peers } => {
                self.selected(cx, level, from, group, super_peers, out);
            }
            Message::Enrol { level, holders } => self.enrol(cx, level, from, holders, out),
            Message::Enrolled { level, holders, is_holder } => {
                self.enrolled(cx, level, from, holders, is_holder, out);
            }
            Message::Refer { level, to } => self.referred(cx, level, from, to, out),
        }
    }

    fn on_command(&mut self, cx: &mut Context<'_>, command: Command, out: &mut Effects<Self>) {
        match command {
            Command::Stopped(_) | Command::Settled { .. } | Command::Unsettled { .. } => {
                self.step_home(cx, Event::Command(command), out);
            }
            Command::Silent(peer) | Command::Failed(peer) => self.lose(cx, peer, command, out),
            Command::Succeed(peer) => self.lose(cx, peer, Command::Failed(peer), out),
            Command::Call => self.step_home(cx, Event::Command(command), out),
            Command::Suspect | Command::Check => {
                self.step_home(cx, Event::Command(command), out);
                for level in self.levels() {
                    // A leader above checks the others; a follower checks its leader.
                    let leads = self.seats[usize::from(level) - 1].coordinator() == Some(cx.me);
                    let command = if leads { Command::Check } else { Command::Suspect };
                    self.step_seat(cx, level, Event::Command(command), out);
                }
            }
            Command::AdvanceTo(seen) => advance_to(&mut self.counter, seen, out),
        }
    }

    /// A peer is silent or has failed, in every group that this node shares with it.
    fn lose(
        &mut self,
        cx: &mut Context<'_>,
        peer: NodeId,
        command: Command,
        out: &mut Effects<Self>,
    ) {
        let is_ignored = cx.is_mutated(Mutant::KEEP_LOST_SUPER_PEER)
            && self.selection.chosen.contains(peer)
            && self.home.view().coordinator != Some(cx.me);
        if cx.members.peer_group(cx.me).contains(peer) && !is_ignored {
            self.step_home(cx, Event::Command(command.clone()), out);
        }
        for level in self.levels() {
            if self.sits_with(level, peer) {
                self.step_seat(cx, level, Event::Command(command.clone()), out);
            }
        }
    }

    fn step_home(&mut self, cx: &mut Context<'_>, event: Event<Election>, out: &mut Effects<Self>) {
        let (home, counter) = (&mut self.home, self.counter);
        let mut effects = Effects::new();
        at_home(cx, |cx| {
            catch_up(cx, home, counter);
            home.step(cx, event, &mut effects);
        });
        self.counter = self.counter.max(self.home.counter());
        self.carry_home(effects, out);
        self.review(cx, 0, out);
    }

    fn carry_home(&mut self, effects: Effects<Election>, out: &mut Effects<Self>) {
        let message = |message| inner::Message::of(message).map(Message::Home);
        let timer = |timer| inner::Timer::of(timer).map(Timer::Home);
        lift(effects, out, message, timer, |upward, out| match upward {
            Upward::Save(counter) => out.save(counter),
            Upward::Notify(Notice::Watch(peers)) => {
                self.watched = peers;
                self.watch(out);
            }
            Upward::Notify(notice) => out.notify(notice),
        });
    }

    /// Watches the peers that are watched in any of its groups.
    fn watch(&self, out: &mut Effects<Self>) {
        let above = self.seats.iter().flat_map(|seat| seat.watched.iter());
        out.notify(Notice::Watch(self.watched.iter().chain(above).collect()));
    }

    /// The levels at which it has a seat.
    fn levels(&self) -> impl Iterator<Item = u8> + use<> {
        (1..).take(self.seats.len())
    }

    fn seat(&self, level: u8) -> Option<&Seat> {
        self.seats.get(usize::from(level).checked_sub(1)?)
    }

    fn seat_mut(&mut self, level: u8) -> Option<&mut Seat> {
        self.seats.get_mut(usize::from(level).checked_sub(1)?)
    }

    fn sits_with(&self, level: u8, peer: NodeId) -> bool {
        self.seat(level).is_some_and(|seat| seat.members().any(|member| member == peer))
    }
}

impl ElectionAlgorithm for SuperPeer {
    /// The peer groups are established; the coordinator of one takes its seat above as usual. A
    /// node whose coordinator is in another group starts as after a restart.
    fn established(
        cx: &mut Context<'_>,
        saved: Counter,
        established: &EstablishedGroup,
        out: &mut Effects<Self>,
    ) -> Self {
        let peer_group = cx.members.peer_group(cx.me);
        if !peer_group.contains(established.coordinator) {
            return Self::start(cx, Some(saved), out);
        }
        let members =
            established.members.iter().filter(|node| peer_group.contains(*node)).collect();
        let established = EstablishedGroup { members, ..*established };
        let mut effects = Effects::new();
        let home = at_home(cx, |cx| Election::established(cx, saved, &established, &mut effects));
        let mut node = Self::new(home, saved);
        node.carry_home(effects, out);
        node.review(cx, 0, out);
        node
    }

    fn view(&self) -> View<'_> {
        self.home.view()
    }

    fn heartbeat_peers(&self, cx: &Context<'_>) -> NodeSet {
        let mut peers = look_home(cx, |cx| self.home.heartbeat_peers(cx));
        for seat in &self.seats {
            seat.heartbeat_peers(cx).iter().for_each(|peer| {
                peers.insert(peer);
            });
        }
        peers
    }

    fn counter(&self) -> Counter {
        self.counter
    }

    fn timers(cx: &Context<'_>) -> Vec<Timer> {
        let depth = cx.members.hierarchy().map_or(1, |hierarchy| hierarchy.depth());
        let levels = 0..u8::try_from(depth).unwrap_or(u8::MAX);
        levels
            .flat_map(|level| {
                let named = [Timer::HandOver, Timer::Settle, Timer::Enrol, Timer::Tell];
                named.map(|timer| timer(level))
            })
            .collect()
    }

    fn timers_now(&self, cx: &Context<'_>) -> Vec<Timer> {
        let home = look_home(cx, |cx| self.home.timers(cx));
        let home = home.into_iter().filter_map(inner::Timer::of).map(Timer::Home);
        let seats = self.levels().zip(&self.seats);
        let above = seats.flat_map(|(level, seat)| seat.timers(cx, level));
        home.chain(core::iter::once(Timer::Tell(0))).chain(above).collect()
    }

    fn period(timer: &Timer, timing: &Timing) -> Option<Duration> {
        match timer {
            Timer::Home(timer) | Timer::Above(_, timer) => {
                super::Timer::from(*timer).period(timing)
            }
            Timer::HandOver(_) | Timer::Settle(_) | Timer::Enrol(_) | Timer::Tell(_) => None,
        }
    }

    fn highest_counter(message: &Message) -> Counter {
        match message {
            Message::Home(message) | Message::Above { message, .. } => message.highest_counter(),
            Message::HandOver { message, .. } => message.highest_counter(),
            Message::Selected { group, .. } => Counter(group.counter),
            Message::Enrol { .. } | Message::Enrolled { .. } | Message::Refer { .. } => {
                Counter::default()
            }
        }
    }

    fn facts(message: &Message) -> MessageFacts {
        let above = |group| MessageFacts::new(Kind::AmongSuperPeers, group, None);
        match message {
            Message::Home(message) => super::Message::from(message.clone()).facts(),
            Message::Above { message, .. } => {
                above(super::Message::from(message.clone()).facts().group)
            }
            Message::HandOver { message, .. } => {
                let (reorganization::Message::NewState { group, .. }
                | reorganization::Message::NewStateAnswer { group, .. }) = message;
                above(Some(*group))
            }
            Message::Selected { group, .. } => {
                MessageFacts::new(Kind::Selected, Some(*group), None)
            }
            Message::Enrol { .. } => super::plain(Kind::Enrol),
            Message::Enrolled { is_holder, .. } => {
                MessageFacts::new(Kind::Enrolled, None, Some(*is_holder))
            }
            Message::Refer { .. } => super::plain(Kind::Refer),
        }
    }

    fn contents(message: &Message) -> Contents {
        match message {
            Message::Home(message) | Message::Above { message, .. } => {
                super::Message::from(message.clone()).contents()
            }
            Message::HandOver { message, .. } => message.contents(),
            Message::Selected { super_peers: nodes, .. }
            | Message::Enrol { holders: nodes, .. }
            | Message::Enrolled { holders: nodes, .. } => Contents::list(nodes.iter()),
            Message::Refer { to, .. } => Contents::list([*to]),
        }
    }

    fn timer_name(timer: &Timer) -> TimerName {
        match timer {
            Timer::Home(timer) | Timer::Above(_, timer) => super::Timer::from(*timer).name(),
            Timer::HandOver(_) => TimerName::Handover,
            Timer::Settle(_) => TimerName::Settle,
            Timer::Enrol(_) => TimerName::Enrol,
            Timer::Tell(_) => TimerName::Tell,
        }
    }

    #[cfg(test)]
    fn examples() -> Vec<Message> {
        use alloc::vec;

        use crate::testing;
        use testing::nodes;
        let (group, level) = (testing::number(7, 3), 2);
        let asked = || inner::Message::Bully(super::bully::Message::AreYouUp { nudge: false });
        let message = reorganization::Message::NewStateAnswer { group, ok: true };
        vec![
            Message::Home(asked()),
            Message::Above { level, message: asked() },
            Message::HandOver { level, message },
            Message::Selected { level, group, super_peers: nodes([1, 300]) },
            Message::Enrol { level, holders: nodes([4]) },
            Message::Enrolled { level, holders: nodes([4, 5]), is_holder: true },
            Message::Refer { level, to: group.node },
        ]
    }
}

/// Runs `work` with the configuration and the members of this node's own group.
fn at_home<R>(cx: &mut Context<'_>, work: impl FnOnce(&mut Context<'_>) -> R) -> R {
    let members = cx.members.peer_group(cx.me);
    cx.within(&inner_config(cx), members, work)
}

/// The same for work that only reads, and draws no random number.
fn look_home<R>(cx: &Context<'_>, look: impl FnOnce(&Context<'_>) -> R) -> R {
    let members = cx.members.peer_group(cx.me);
    cx.looking_within(&inner_config(cx), members, look)
}

/// What the election inside a group is configured with.
fn inner_config<'a>(cx: &Context<'a>) -> Cow<'a, GroupConfig> {
    let made = cx.members.hierarchy().map(|hierarchy| Cow::Borrowed(&hierarchy.inner));
    made.unwrap_or_else(|| Cow::Owned(cx.config.inner()))
}

/// Numbers are unique across levels: an election goes on from the highest counter of the others,
/// which is on disk.
fn catch_up(cx: &mut Context<'_>, election: &mut Election, counter: Counter) {
    if election.counter() < counter {
        election.step(cx, Event::Command(Command::AdvanceTo(counter)), &mut Effects::new());
    }
}

/// The facts about super-peers.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "super-peer",
    source: "super-peers: elections in groups of bounded size, and among those they select",
    guarantee: "inside each peer group what the inner algorithm guarantees; after the last failure \
                every peer has the super-peers of its group, those of each group above agree on a \
                coordinator, and the top is one node",
    summary: "the inner algorithm's in each peer group; one node at the top",
    network: Network::Hierarchy,
    model: Model::Inner,
    groups: Groups::Several,
    handover: Some(Handover::NEW_STATE),
    adjustable: None,
    options: OPTIONS,
    messages: MESSAGES,
    timers: TIMERS,
    mutants: &[MUTANTS],
};

pub(crate) const MESSAGES: &[MessageInfo] = &[
    MessageInfo { is_request: true, ..MessageInfo::new(Kind::AmongSuperPeers, Topic::Levels) },
    MessageInfo::new(Kind::Selected, Topic::Operation),
    MessageInfo::request(Kind::Enrol, Topic::Discovery),
    MessageInfo { is_reply: true, ..MessageInfo::new(Kind::Enrolled, Topic::Discovery) },
    MessageInfo { is_reply: true, ..MessageInfo::new(Kind::Refer, Topic::Discovery) },
];

pub(crate) const TIMERS: &[TimerInfo] = &[
    TimerInfo::new(
        TimerName::Settle,
        "has led for long enough to take its seat among the super-peers",
    ),
    TimerInfo::drawn(TimerName::Enrol, "gives up waiting for who has the other seats"),
    TimerInfo::new(TimerName::Tell, "tells its group again whom it has selected"),
];

mutants! {
    /// Super-peers: a peer takes the best node of another group for its super-peer.
    SUPER_PEER_OF_OTHER_GROUP = "super-peer-of-other-group",
    /// Super-peers: the loss of a super-peer is nothing to its peers.
    KEEP_LOST_SUPER_PEER = "keep-lost-super-peer",
    /// Super-peers: a node that is no longer selected keeps its seat above.
    KEEP_SEAT = "keep-seat",
}
