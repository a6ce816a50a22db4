//! A seat in a group above: an inner election among the holders of its seats, and an empty
//! hand-over.
//!
//! The notices of that election are answered here: there is no task above the peer groups, so a
//! request to stop is answered at once, and a definition is empty.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::selection::Selection;
use super::{Message, SuperPeer, Timer, catch_up, inner, inner_config};
use crate::election::{self, Election, Notice, View};
use crate::group::Status;
use crate::membership::{Membership, NodeId, NodeSet};
use crate::payload::{Definition, Report};
use crate::protocol::compose::{Upward, lift};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::reorganization::{self, Handover, Reorganization};
use crate::trace::SeatState;

/// One node's part in a group above its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Seat {
    pub(super) stage: Stage,
    /// The nodes that were selected with this node, itself included.
    pub(super) own_holders: NodeSet,
    /// The holders of the other groups' seats, in the order of the groups; its own place is empty.
    pub(super) places: Vec<Place>,
    /// The number of the round of questions.
    pub(super) round: u16,
    /// The nodes that were asked in this round.
    pub(super) asked: NodeSet,
    /// Whether a wait for answers is running.
    pub(super) is_asking: bool,
    pub(super) watched: NodeSet,
    /// The super-peers that this group has selected.
    pub(super) selection: Selection,
    hand_over: Reorganization,
}

/// The state of a seat.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// Waiting until the group below has lasted for T.
    Settling,
    /// Asking for the holders of the other seats.
    Enrolling,
    /// Taking part in the election.
    Electing(Box<Election>),
}

/// The holders of another group's seats.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// The holders, as far as they are known.
    pub(super) holders: NodeSet,
    /// Holders that know of this node.
    pub(super) confirmed: NodeSet,
    /// Whether the holders are known from an answer.
    pub(super) is_known: bool,
    /// Whether it is the place of this node's own group, whose holders are `own_holders`.
    pub(super) is_own: bool,
}

enum Work {
    Election(Event<Election>),
    HandOver(Event<Reorganization>),
}

impl SuperPeer {
    pub(super) fn step_seat(
        &mut self,
        cx: &mut Context<'_>,
        level: u8,
        event: Event<Election>,
        out: &mut Effects<Self>,
    ) {
        self.work(cx, level, Work::Election(event), out);
    }

    pub(super) fn step_hand_over(
        &mut self,
        cx: &mut Context<'_>,
        level: u8,
        event: Event<Reorganization>,
        out: &mut Effects<Self>,
    ) {
        self.work(cx, level, Work::HandOver(event), out);
    }

    /// Starts the election of this seat, as a node that restarts.
    pub(super) fn start_seat(&mut self, cx: &mut Context<'_>, level: u8, out: &mut Effects<Self>) {
        let counter = self.counter;
        let Some(seat) = self.seat_mut(level) else { return };
        let Some(members) = seat.membership(cx) else { return };
        let mut effects = Effects::new();
        let election = cx.within(&inner_config(cx), &members, |cx| {
            Election::start(cx, Some(counter), &mut effects)
        });
        seat.stage = Stage::Electing(Box::new(election));
        let mut queue = VecDeque::new();
        seat.carry(level, effects, &mut queue, out);
        self.finish(cx, level, queue, out);
    }

    fn work(&mut self, cx: &mut Context<'_>, level: u8, work: Work, out: &mut Effects<Self>) {
        self.finish(cx, level, VecDeque::from([work]), out);
    }

    /// Lets the election and the hand-over exchange events until there are no more.
    fn finish(
        &mut self,
        cx: &mut Context<'_>,
        level: u8,
        mut queue: VecDeque<Work>,
        out: &mut Effects<Self>,
    ) {
        let mut counter = self.counter;
        let Some(seat) = self.seat_mut(level) else { return };
        let Some(members) = seat.membership(cx) else { return };
        let watched = seat.watched.clone();
        let config = inner_config(cx);
        while let Some(work) = queue.pop_front() {
            match work {
                Work::Election(event) => {
                    let Stage::Electing(election) = &mut seat.stage else { return };
                    let mut effects = Effects::new();
                    cx.within(&config, &members, |cx| {
                        catch_up(cx, election, counter);
                        election.step(cx, event, &mut effects);
                    });
                    counter = counter.max(election.counter());
                    seat.carry(level, effects, &mut queue, out);
                }
                Work::HandOver(event) => {
                    let mut effects = Effects::new();
                    cx.within(&config, &members, |cx| {
                        seat.hand_over.step(cx, event, &mut effects);
                    });
                    carry_hand_over(level, effects, &mut queue, out);
                }
            }
        }
        let has_changed = watched != seat.watched;
        if let Stage::Electing(election) = &seat.stage {
            counter = counter.max(election.counter());
        }
        self.counter = counter;
        if has_changed {
            self.watch(out);
        }
        self.review(cx, level, out);
    }
}

impl Seat {
    /// A seat that will be taken once the group below has lasted.
    pub(super) fn new(cx: &mut Context<'_>, own_holders: NodeSet, places: Vec<Place>) -> Self {
        Self {
            stage: Stage::Settling,
            own_holders,
            places,
            round: 0,
            asked: NodeSet::new(),
            is_asking: false,
            watched: NodeSet::new(),
            selection: Selection::default(),
            hand_over: Reorganization::start(cx, None, &mut Effects::new()),
        }
    }

    /// All known holders of a seat in this group, this node included.
    pub(super) fn members(&self) -> impl Iterator<Item = NodeId> + '_ {
        let others = self.places.iter().flat_map(|place| place.holders.iter());
        self.own_holders.iter().chain(others)
    }

    pub(super) fn view(&self) -> Option<View<'_>> {
        match &self.stage {
            Stage::Settling | Stage::Enrolling => None,
            Stage::Electing(election) => Some(election.view()),
        }
    }

    pub(super) fn coordinator(&self) -> Option<NodeId> {
        self.view().and_then(|view| view.coordinator)
    }

    /// What a trace says of it.
    pub(super) fn state(&self) -> SeatState {
        let view = self.view();
        SeatState {
            status: view.map_or(Status::Down, |view| view.status),
            coordinator: view.and_then(|view| view.coordinator),
            group: view.and_then(|view| view.group),
            super_peers: self.selection.chosen.clone(),
        }
    }

    pub(super) fn is_in(&self, state: &SeatState) -> bool {
        let view = self.view();
        state.status == view.map_or(Status::Down, |view| view.status)
            && state.coordinator == view.and_then(|view| view.coordinator)
            && state.group == view.and_then(|view| view.group)
            && state.super_peers == self.selection.chosen
    }

    /// The peers to which the election of this seat owes heartbeats.
    pub(super) fn heartbeat_peers(&self, cx: &Context<'_>) -> NodeSet {
        let Stage::Electing(election) = &self.stage else { return NodeSet::new() };
        let Some(members) = self.membership(cx) else { return NodeSet::new() };
        cx.looking_within(&inner_config(cx), &members, |cx| election.heartbeat_peers(cx))
    }

    /// Every timer that may be running for it.
    pub(super) fn timers(&self, cx: &Context<'_>, level: u8) -> Vec<Timer> {
        let mut timers = alloc::vec![
            Timer::HandOver(level),
            Timer::Settle(level),
            Timer::Enrol(level),
            Timer::Tell(level),
        ];
        if let (Stage::Electing(election), Some(members)) = (&self.stage, self.membership(cx)) {
            let running = cx.looking_within(&inner_config(cx), &members, |cx| election.timers(cx));
            let running = running.into_iter().filter_map(inner::Timer::of);
            timers.extend(running.map(|timer| Timer::Above(level, timer)));
        }
        timers
    }

    /// The members of its election, as they are known at this moment.
    fn membership(&self, cx: &Context<'_>) -> Option<Membership> {
        Membership::new(self.members().filter_map(|id| cx.members.member(id))).ok()
    }

    fn carry(
        &mut self,
        level: u8,
        effects: Effects<Election>,
        queue: &mut VecDeque<Work>,
        out: &mut Effects<SuperPeer>,
    ) {
        use reorganization::Command as Reorganize;
        let message = |inner| Some(Message::Above { level, message: inner::Message::of(inner)? });
        let timer = |inner| Some(Timer::Above(level, inner::Timer::of(inner)?));
        lift(effects, out, message, timer, |upward, out| {
            let notice = match upward {
                Upward::Save(counter) => return out.save(counter),
                Upward::Notify(notice) => notice,
            };
            let command = match notice {
                Notice::Stop => Reorganize::Stop,
                Notice::Yield => Reorganize::Yield,
                Notice::Formed(formation) => Reorganize::Form(formation),
                Notice::Joined { group, coordinator } => Reorganize::Join { group, coordinator },
                Notice::Followed { group, coordinator } => {
                    Reorganize::Follow { group, coordinator }
                }
                Notice::Watch(peers) => {
                    self.watched = peers;
                    return;
                }
                // The trace counts the elections of peer groups.
                Notice::Called | Notice::Ended(_) => return,
            };
            queue.push_back(Work::HandOver(Event::Command(command)));
        });
    }
}

fn carry_hand_over(
    level: u8,
    effects: Effects<Reorganization>,
    queue: &mut VecDeque<Work>,
    out: &mut Effects<SuperPeer>,
) {
    use reorganization::Command as Reorganize;
    use reorganization::Notice as Told;
    let message = |message| Some(Message::HandOver { level, message });
    let timer = |Handover| Some(Timer::HandOver(level));
    lift(effects, out, message, timer, |upward, _| {
        let notice = match upward {
            Upward::Save(record) => match record {},
            Upward::Notify(notice) => notice,
        };
        let command = |command| Work::Election(Event::Command(command));
        queue.push_back(match notice {
            Told::Stop | Told::Yield => {
                Work::HandOver(Event::Command(Reorganize::Stopped(Report::default())))
            }
            Told::Plan { group, .. } => {
                let definition = Definition::default();
                Work::HandOver(Event::Command(Reorganize::Define { group, definition }))
            }
            Told::Begin { .. } => return,
            Told::Stopped(report) => command(election::Command::Stopped(report)),
            Told::Settled { missing, members } => {
                command(election::Command::Settled { missing, members })
            }
            Told::Unsettled { missing } => command(election::Command::Unsettled { missing }),
        });
    });
}
