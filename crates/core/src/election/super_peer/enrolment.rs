//! Enrolment: how a node takes and leaves a seat, and finds the holders of the other seats.
//!
//! Without failures the seat of a group belongs to its node of highest rank, so that node is asked
//! first. If it does not answer within T, all nodes of its group are asked, and any of them answers
//! whom the group has selected. Holders that may not know of this node are asked again every check
//! period. So of two nodes that take seats one after the other, the later one tells the earlier; a
//! seat is taken T after the group was formed, so that its members know it by then. Holders change,
//! so those outside the elected group are asked for again, and during an election that does not end
//! all of them are.
//!
//! Assumes that a node of every group with a super-peer can be reached. Leaves out: groups of which
//! no node answers; their place stays empty until one does.

use alloc::vec::Vec;

use super::seat::{Place, Seat, Stage};
use super::{Message, SuperPeer, Timer};
use crate::election;
use crate::group::Status;
use crate::membership::{Hierarchy, NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::protocol::{Context, Effects, Event};

/// After this many rounds of questions the election begins with the holders found by then.
const ROUNDS_BEFORE_START: u16 = 2;

impl SuperPeer {
    /// Takes or leaves the seat above a level, according to the selection of its group there.
    pub(super) fn sit_or_leave(
        &mut self,
        cx: &mut Context<'_>,
        level: u8,
        out: &mut Effects<Self>,
    ) {
        let Some(hierarchy) = cx.members.hierarchy().cloned() else { return };
        let above = level + 1;
        if usize::from(above) >= hierarchy.depth() {
            return;
        }
        let chosen = self.selection(level).chosen.clone();
        let has_seat = self.seats.len() > usize::from(level);
        if !chosen.contains(cx.me) {
            if has_seat && !cx.is_mutated(Mutant::KEEP_SEAT) {
                self.leave(cx, above, out);
            }
        } else if !has_seat {
            let places = places(cx, &hierarchy, above);
            self.seats.push(Seat::new(cx, chosen, places));
            out.set_timer(Timer::Settle(above), cx.config.timing().answer());
        } else if self.seat(above).is_some_and(|seat| seat.own_holders != chosen) {
            self.sit_with_others(cx, above, chosen, out);
        }
    }

    /// The wait is over: looks for the holders of the other seats.
    pub(super) fn take_seat(&mut self, cx: &mut Context<'_>, level: u8, out: &mut Effects<Self>) {
        let Some(seat) = self.seat_mut(level) else { return };
        if seat.stage != Stage::Settling {
            return;
        }
        seat.stage = Stage::Enrolling;
        self.ask(cx, level, out);
        self.go_on_enrolling(cx, level, out);
    }

    /// A round of questions is over.
    pub(super) fn ask_again(&mut self, cx: &mut Context<'_>, level: u8, out: &mut Effects<Self>) {
        let rounds = rounds(cx, level);
        let Some(seat) = self.seat_mut(level) else { return };
        seat.is_asking = false;
        seat.asked = NodeSet::new();
        seat.round = if seat.round < rounds { seat.round + 1 } else { ROUNDS_BEFORE_START };
        if seat.stage == Stage::Enrolling && seat.round >= ROUNDS_BEFORE_START {
            // A group of which no node has answered has no holder.
            let guesses = seat.places.iter_mut().filter(|place| !place.is_known);
            guesses.for_each(|place| place.holders = NodeSet::new());
            self.start_seat(cx, level, out);
        }
        self.ask(cx, level, out);
    }

    /// A node has a seat in a group in which this node has one, or might have one.
    pub(super) fn enrol(
        &mut self,
        cx: &mut Context<'_>,
        level: u8,
        from: NodeId,
        holders: NodeSet,
        out: &mut Effects<Self>,
    ) {
        let Some(place) = place_of(cx, level, from) else { return };
        if let Some(seat) = self.seat(level) {
            let holders_here = seat.own_holders.clone();
            let answer = Message::Enrolled { level, holders: holders_here, is_holder: true };
            out.send(from, answer);
            self.note(cx, level, place, holders, Some(from), out);
        } else if self.seats.len() + 1 >= usize::from(level) {
            let holders = self.selection(level - 1).chosen.clone();
            if !holders.is_empty() {
                out.send(from, Message::Enrolled { level, holders, is_holder: false });
            }
        } else {
            let highest = u8::try_from(self.seats.len()).unwrap_or(u8::MAX);
            let knowing = self.selection(highest).chosen.iter().find(|node| *node != cx.me);
            if let Some(to) = knowing {
                out.send(from, Message::Refer { level, to });
            }
        }
    }

    /// An answer: the holders of the seats of the answering node's group.
    pub(super) fn enrolled(
        &mut self,
        cx: &mut Context<'_>,
        level: u8,
        from: NodeId,
        holders: NodeSet,
        is_holder: bool,
        out: &mut Effects<Self>,
    ) {
        let Some(place) = place_of(cx, level, from) else { return };
        let Some(seat) = self.seat(level) else { return };
        // The answer of a holder counts more than that of another node.
        let is_outdone = !is_holder && seat.places.get(place).is_some_and(Place::is_confirmed);
        if is_outdone || seat.stage == Stage::Settling {
            return;
        }
        self.note(cx, level, place, holders, is_holder.then_some(from), out);
        let Some(seat) = self.seat_mut(level) else { return };
        let Some(place) = seat.places.get(place) else { return };
        let open = place.holders.without(&place.confirmed).without(&seat.asked);
        open.iter().for_each(|holder| seat.put_question(level, holder, out));
        self.go_on_enrolling(cx, level, out);
    }

    /// The asked node refers to another one that should know.
    pub(super) fn referred(
        &mut self,
        cx: &mut Context<'_>,
        level: u8,
        from: NodeId,
        to: NodeId,
        out: &mut Effects<Self>,
    ) {
        let is_same_place = place_of(cx, level, from) == place_of(cx, level, to);
        let Some(place) = place_of(cx, level, from) else { return };
        let Some(seat) = self.seat_mut(level) else { return };
        let is_open = seat.places.get(place).is_some_and(|place| !place.is_confirmed());
        if is_same_place && is_open && !seat.asked.contains(to) {
            seat.put_question(level, to, out);
        }
    }

    /// Asks the holders that may not know of this node, and for each place without a known holder
    /// the nodes that should know one.
    fn ask(&mut self, cx: &Context<'_>, level: u8, out: &mut Effects<Self>) {
        let Some(hierarchy) = cx.members.hierarchy().cloned() else { return };
        let Some(own) = hierarchy.place(cx.me, usize::from(level)) else { return };
        let children = hierarchy.children(usize::from(level), own);
        let Some(seat) = self.seat_mut(level) else { return };
        let size = cx.config.options().super_peer.max.count();
        let joined = seat.joined(cx);
        let mut questions = NodeSet::new();
        for (place, child) in seat.places.iter_mut().zip(children) {
            if place.is_complete(joined.as_ref()) {
                continue;
            }
            if let Some(group) = &joined {
                place.confirmed = place.confirmed.iter().filter(|id| group.contains(*id)).collect();
            }
            let guesses = place.holders.without(&place.confirmed);
            guesses.iter().for_each(|holder| {
                questions.insert(holder);
            });
            if let Some(chunk) = usize::from(seat.round).checked_sub(1) {
                let all: Vec<NodeId> = hierarchy.nodes(usize::from(level) - 1, child).collect();
                let chunks = chunks(all.len(), cx);
                for node in all.chunks(size).nth(chunk % chunks).into_iter().flatten() {
                    questions.insert(*node);
                }
            }
        }
        questions.remove(cx.me);
        for node in questions.iter() {
            seat.put_question(level, node, out);
        }
        seat.wait(cx, level, out);
    }

    /// Begins the election as soon as something is known of every place.
    fn go_on_enrolling(&mut self, cx: &mut Context<'_>, level: u8, out: &mut Effects<Self>) {
        let Some(seat) = self.seat(level) else { return };
        if seat.stage == Stage::Enrolling && seat.places.iter().all(|place| place.is_known) {
            if let Some(seat) = self.seat_mut(level) {
                seat.is_asking = false;
                out.cancel_timer(Timer::Enrol(level));
            }
            self.start_seat(cx, level, out);
        }
        if let Some(seat) = self.seat_mut(level) {
            seat.wait(cx, level, out);
        }
    }

    /// Records the holders of another group's seats; a node that lost its seat counts as failed at
    /// this level.
    fn note(
        &mut self,
        cx: &mut Context<'_>,
        level: u8,
        place: usize,
        holders: NodeSet,
        confirmed: Option<NodeId>,
        out: &mut Effects<Self>,
    ) {
        let holders: NodeSet =
            holders.iter().filter(|holder| place_of(cx, level, *holder) == Some(place)).collect();
        let Some(seat) = self.seat_mut(level) else { return };
        let Some(place) = seat.places.get_mut(place) else { return };
        let gone = place.holders.without(&holders);
        place.is_known = true;
        place.confirmed = place.confirmed.without(&gone);
        place.holders = holders;
        if let Some(node) = confirmed
            && place.holders.contains(node)
        {
            place.confirmed.insert(node);
        }
        for node in gone.iter() {
            let failed = election::Command::Failed(node);
            self.step_seat(cx, level, Event::Command(failed), out);
        }
        self.go_on_enrolling(cx, level, out);
    }

    /// The group below has selected others beside this node: all holders must learn it.
    fn sit_with_others(
        &mut self,
        cx: &mut Context<'_>,
        level: u8,
        chosen: NodeSet,
        out: &mut Effects<Self>,
    ) {
        let Some(seat) = self.seat_mut(level) else { return };
        let gone = seat.own_holders.without(&chosen);
        seat.own_holders = chosen;
        seat.places.iter_mut().for_each(|place| place.confirmed = NodeSet::new());
        seat.asked = NodeSet::new();
        seat.round = 0;
        let is_settling = seat.stage == Stage::Settling;
        for node in gone.iter() {
            let failed = election::Command::Failed(node);
            self.step_seat(cx, level, Event::Command(failed), out);
        }
        if !is_settling {
            self.ask(cx, level, out);
        }
    }

    /// Leaves this seat and all above it, as if this node had crashed there.
    fn leave(&mut self, cx: &Context<'_>, level: u8, out: &mut Effects<Self>) {
        while self.seats.len() >= usize::from(level) {
            let top = u8::try_from(self.seats.len()).unwrap_or(u8::MAX);
            let Some(seat) = self.seats.pop() else { break };
            seat.timers(cx, top).into_iter().for_each(|timer| out.cancel_timer(timer));
        }
        self.watch(out);
    }
}

impl Seat {
    fn put_question(&mut self, level: u8, to: NodeId, out: &mut Effects<SuperPeer>) {
        self.asked.insert(to);
        out.send(to, Message::Enrol { level, holders: self.own_holders.clone() });
    }

    /// The members of this node's group here, if it knows them; empty during an election.
    fn joined(&self, cx: &Context<'_>) -> Option<NodeSet> {
        let view = self.view()?;
        match view.status {
            Status::Normal => {
                let is_listed = cx
                    .config
                    .options()
                    .super_peer
                    .inner
                    .algorithm()
                    .descriptor()
                    .handover
                    .is_some();
                let is_known = is_listed || view.coordinator == Some(cx.me);
                is_known.then(|| view.up.iter().chain(view.coordinator).collect())
            }
            Status::Down | Status::Election | Status::Reorganization => Some(NodeSet::new()),
        }
    }

    /// Waits for answers, if any are missing and no wait is running.
    pub(super) fn wait(&mut self, cx: &Context<'_>, level: u8, out: &mut Effects<SuperPeer>) {
        let joined = self.joined(cx);
        let is_open = self.places.iter().any(|place| !place.is_complete(joined.as_ref()));
        match (self.is_asking, is_open) {
            (false, true) => {
                let after = match self.stage {
                    Stage::Settling | Stage::Enrolling => cx.config.timing().answer(),
                    Stage::Electing(_) => cx.config.timing().check_every(),
                };
                self.is_asking = true;
                out.set_timer(Timer::Enrol(level), after);
            }
            (true, false) => {
                self.is_asking = false;
                out.cancel_timer(Timer::Enrol(level));
            }
            (false, false) | (true, true) => {}
        }
    }
}

impl Place {
    fn is_confirmed(&self) -> bool {
        !self.confirmed.is_empty()
    }

    /// Whether all its holders know of this node, and are in its group.
    fn is_complete(&self, joined: Option<&NodeSet>) -> bool {
        let is_filled = self.is_known && self.confirmed.len() == self.holders.len();
        let is_joined =
            joined.is_none_or(|group| self.holders.iter().all(|holder| group.contains(holder)));
        self.is_own || is_filled && self.is_confirmed() && is_joined
    }
}

/// The places of a seat, each with its likely holder.
fn places(cx: &Context<'_>, hierarchy: &Hierarchy, level: u8) -> Vec<Place> {
    let below = usize::from(level) - 1;
    let Some(group) = hierarchy.place(cx.me, below + 1) else { return Vec::new() };
    let own = hierarchy.place(cx.me, below);
    let place = |child| {
        if Some(child) == own {
            return Place { is_known: true, is_own: true, ..Place::default() };
        }
        let holders = hierarchy.first(below, child).into_iter().collect();
        Place { holders, ..Place::default() }
    };
    hierarchy.children(below + 1, group).map(place).collect()
}

/// The place of a node's group at a level; none if it does not meet there with this node's group.
fn place_of(cx: &Context<'_>, level: u8, node: NodeId) -> Option<usize> {
    let hierarchy = cx.members.hierarchy()?;
    let below = usize::from(level).checked_sub(1)?;
    let group = hierarchy.place(cx.me, below + 1)?;
    let (own, theirs) = (hierarchy.place(cx.me, below)?, hierarchy.place(node, below)?);
    let children = hierarchy.children(below + 1, group);
    (theirs != own && children.contains(&theirs)).then(|| theirs - children.start)
}

/// In how many rounds all possible holders of a level's seats are asked. Then the rounds after the
/// first repeat, so that the round number of a node that keeps asking stays bounded.
fn rounds(cx: &Context<'_>, level: u8) -> u16 {
    let longest = || {
        let hierarchy = cx.members.hierarchy()?;
        let own = hierarchy.place(cx.me, usize::from(level))?;
        let children = hierarchy.children(usize::from(level), own);
        children
            .map(|child| chunks(hierarchy.nodes(usize::from(level) - 1, child).count(), cx))
            .max()
    };
    let after_the_first = longest().and_then(|chunks| u16::try_from(chunks).ok());
    ROUNDS_BEFORE_START.max(after_the_first.unwrap_or(u16::MAX - 1) + 1)
}

/// In how many parts this many nodes are asked.
fn chunks(nodes: usize, cx: &Context<'_>) -> usize {
    nodes.div_ceil(cx.config.options().super_peer.max.count()).max(1)
}
