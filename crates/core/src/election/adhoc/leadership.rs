//! The leader that a node follows, and the heartbeats by which it knows that the leader is in
//! reach.
//!
//! A heartbeat is flooded: every follower of its leader passes it on once. It counts the links that
//! it has crossed and is void beyond the limit. So the last heartbeat of a crashed leader is not
//! passed on forever, and no sequence number is needed to tell old heartbeats from new ones: for as
//! long as copies of the one that was passed on may arrive, no other is passed on.

use core::time::Duration;

use minicbor::{Decode, Encode};

use super::{limit, pace};
use crate::election::ElectionAlgorithm;
use crate::group::GroupNumber;
use crate::membership::NodeId;
use crate::mutant::{Mutant, mutants};
use crate::protocol::{Context, Effects};
use crate::timing::Timing;
use crate::trace::{Kind, MessageFacts, TimerName};

/// What a node knows of leaders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Leadership {
    /// The leader that it follows, possibly itself; none during an election.
    leader: Option<GroupNumber>,
    /// Whether copies of the last heartbeat may still arrive.
    is_echoing: bool,
}

/// A heartbeat of a leader, passed on by every node that follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Beat {
    /// The leader, and the number under which it leads.
    #[n(0)]
    pub group: GroupNumber,
    /// How many links it has crossed when it arrives.
    #[n(1)]
    pub hops: u32,
    /// Whether it is the first: the announcement.
    #[n(2)]
    pub is_new: bool,
}

/// Timers, named for what they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The time between two heartbeats of a leader.
    Beat,
    /// The longest time that a follower waits for a heartbeat.
    Silence,
    /// The time in which copies of a heartbeat arrive.
    Relay,
}

/// What a heartbeat means to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Nothing.
    Nothing,
    /// It is from the leader that this node follows.
    Known,
    /// It is from a leader that this node should follow.
    Better,
    /// It is from a worse leader than this node, which leads.
    Worse,
}

/// An algorithm that floods heartbeats.
pub(super) trait Floods: ElectionAlgorithm {
    fn beat(beat: Beat) -> Self::Message;
    fn timer(timer: Timer) -> Self::Timer;
}

impl Leadership {
    /// A node that has been a follower or a leader for a while.
    pub(super) fn established<P: Floods>(
        cx: &mut Context<'_>,
        group: GroupNumber,
        out: &mut Effects<P>,
    ) -> Self {
        if group.node == cx.me {
            out.set_timer(P::timer(Timer::Beat), pace::period(cx.config));
        } else {
            out.set_timer(P::timer(Timer::Silence), pace::silence(cx));
        }
        Self { leader: Some(group), is_echoing: false }
    }

    pub(super) const fn leader(&self) -> Option<GroupNumber> {
        self.leader
    }

    pub(super) fn is_own(&self, me: NodeId) -> bool {
        self.leader.is_some_and(|leader| leader.node == me)
    }

    /// What a heartbeat means; a node without a leader takes any that outranks it.
    pub(super) fn weigh(&self, cx: &Context<'_>, beat: &Beat) -> Meaning {
        let (me, node, members) = (cx.me, beat.group.node, cx.members);
        if node == me || beat.hops > limit::of(cx.config, cx.members) {
            return Meaning::Nothing;
        }
        match self.leader {
            Some(leader) if leader.node == node => match beat.group.cmp(&leader) {
                core::cmp::Ordering::Less => Meaning::Nothing,
                core::cmp::Ordering::Equal => Meaning::Known,
                core::cmp::Ordering::Greater => Meaning::Better,
            },
            Some(leader) if members.outranks(node, leader.node) => {
                if leader.node == me && cx.is_mutated(Mutant::KEEP_LEADERSHIP) {
                    return Meaning::Nothing;
                }
                Meaning::Better
            }
            Some(leader) if leader.node == me => Meaning::Worse,
            Some(_) => Meaning::Nothing,
            None if members.outranks(node, me) => Meaning::Better,
            None => Meaning::Nothing,
        }
    }

    /// This node leads, under a number that is on disk.
    pub(super) fn claim<P: Floods>(
        &mut self,
        cx: &Context<'_>,
        group: GroupNumber,
        out: &mut Effects<P>,
    ) {
        self.leader = Some(group);
        out.cancel_timer(P::timer(Timer::Silence));
        self.tell(cx, group, true, out);
    }

    /// Sends the leader's heartbeat; the leader does not pass it on itself.
    pub(super) fn beat<P: Floods>(&mut self, cx: &Context<'_>, out: &mut Effects<P>) {
        if let Some(group) = self.leader
            && group.node == cx.me
        {
            self.tell(cx, group, false, out);
        }
    }

    /// A worse leader is in reach and should learn of this one before the next heartbeat is due.
    pub(super) fn oppose<P: Floods>(&mut self, cx: &Context<'_>, out: &mut Effects<P>) {
        if !self.is_echoing {
            self.beat(cx, out);
        }
    }

    fn tell<P: Floods>(
        &mut self,
        cx: &Context<'_>,
        group: GroupNumber,
        is_new: bool,
        out: &mut Effects<P>,
    ) {
        out.broadcast(P::beat(Beat { group, hops: 1, is_new }));
        out.set_timer(P::timer(Timer::Beat), pace::period(cx.config));
        self.mute(cx, out);
    }

    /// Follows the sender of this heartbeat, and passes it on.
    pub(super) fn follow<P: Floods>(
        &mut self,
        cx: &mut Context<'_>,
        beat: &Beat,
        out: &mut Effects<P>,
    ) {
        self.adopt(cx, beat.group, out);
        self.relay(cx, beat, out);
    }

    /// Follows a leader that became known in another way.
    pub(super) fn adopt<P: Floods>(
        &mut self,
        cx: &mut Context<'_>,
        group: GroupNumber,
        out: &mut Effects<P>,
    ) {
        self.leader = Some(group);
        out.cancel_timer(P::timer(Timer::Beat));
        out.set_timer(P::timer(Timer::Silence), pace::silence(cx));
    }

    /// The leader is in reach: passes its heartbeat on to nodes further away.
    pub(super) fn renew<P: Floods>(
        &mut self,
        cx: &mut Context<'_>,
        beat: &Beat,
        out: &mut Effects<P>,
    ) {
        if !self.is_echoing {
            out.set_timer(P::timer(Timer::Silence), pace::silence(cx));
            self.relay(cx, beat, out);
        }
    }

    fn relay<P: Floods>(&mut self, cx: &Context<'_>, beat: &Beat, out: &mut Effects<P>) {
        out.broadcast(P::beat(Beat { hops: beat.hops.saturating_add(1), ..*beat }));
        self.mute(cx, out);
    }

    fn mute<P: Floods>(&mut self, cx: &Context<'_>, out: &mut Effects<P>) {
        self.is_echoing = true;
        out.set_timer(P::timer(Timer::Relay), pace::echo(cx.config));
    }

    /// All copies of the last heartbeat have arrived.
    pub(super) const fn unmute(&mut self) {
        self.is_echoing = false;
    }

    /// Stops following and leading.
    pub(super) fn leave<P: Floods>(&mut self, out: &mut Effects<P>) {
        *self = Self::default();
        timers().for_each(|timer| out.cancel_timer(P::timer(timer)));
    }
}

/// All timers.
pub(super) fn timers() -> impl Iterator<Item = Timer> {
    [Timer::Beat, Timer::Silence, Timer::Relay].into_iter()
}

impl Timer {
    pub(super) const fn name(self) -> TimerName {
        match self {
            Self::Beat => TimerName::Heartbeat,
            Self::Silence => TimerName::Silence,
            Self::Relay => TimerName::Relay,
        }
    }

    /// The end of a follower's wait begins an election.
    pub(super) const fn period(self, timing: &Timing) -> Option<Duration> {
        match self {
            Self::Silence => Some(timing.suspect_after()),
            Self::Beat | Self::Relay => None,
        }
    }
}

impl Beat {
    pub(super) const fn facts(&self) -> MessageFacts {
        let kind = if self.is_new { Kind::Leader } else { Kind::Heartbeat };
        MessageFacts::new(kind, Some(self.group), None)
    }
}

mutants! {
    /// Ad hoc: a leader goes on leading although a better one is in reach.
    KEEP_LEADERSHIP = "keep-reign",
    /// Ad hoc: a follower that receives no heartbeat does nothing.
    IGNORE_SILENCE = "ignore-silence",
}
