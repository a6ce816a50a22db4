//! Elections: which node coordinates which members, under which group number.
//!
//! One file per algorithm, which contains only the rules of its source. [`Election`] is the one
//! that the configuration names. All algorithms use the same [`Notice`]s and [`Command`]s towards
//! the layer above, so stopping, reports and hand-over exist once, in [`crate::reorganization`].

pub mod adhoc;
mod algorithm;
pub mod bully;
pub mod bully_lecture;
pub mod descriptor;
pub mod invitation;
pub(crate) mod numbering;
mod ports;
pub mod ring;
pub mod super_peer;
mod tables;

use alloc::vec::Vec;
use core::time::Duration;

use minicbor::{Decode, Encode};

pub use adhoc::{Diffusing, ExpandingRing};
pub use bully::Bully;
pub use bully_lecture::BullyLecture;
pub use descriptor::Descriptor;
pub use invitation::Invitation;
pub(crate) use numbering::{advance_to, next_number, save_late};
pub use ports::{Command, Formation, Notice, Reports};
pub use ring::Ring;
pub use super_peer::SuperPeer;
pub use tables::LayerInfo;

use crate::group::{Counter, GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::protocol::compose::{self, Upward};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::timing::Timing;
use crate::trace::{Contents, Kind, MessageFacts, SuperPeerStatus, TimerName};

/// The state that every algorithm exposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View<'a> {
    /// The status variable.
    pub status: Status,
    /// The coordinator that it follows, if any.
    pub coordinator: Option<NodeId>,
    /// Its group.
    pub group: Option<GroupNumber>,
    /// The other members it knows of.
    pub up: &'a NodeSet,
}

/// A group that exists already, for a simulation that begins in the middle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EstablishedGroup {
    /// Its number.
    pub group: GroupNumber,
    /// Its coordinator.
    pub coordinator: NodeId,
    /// All its members, the coordinator included.
    pub members: NodeSet,
}

/// What an algorithm provides beyond a [`Protocol`].
pub(crate) trait ElectionAlgorithm:
    Protocol<Record = Counter, Command = Command, Notice = Notice>
{
    /// A node that has been a Normal member of a group for a while.
    fn established(
        cx: &mut Context<'_>,
        saved: Counter,
        established: &EstablishedGroup,
        out: &mut Effects<Self>,
    ) -> Self;

    /// Its exposed state.
    fn view(&self) -> View<'_>;

    /// The heartbeat peers, which exchange heartbeats with this node: a coordinator's participants,
    /// a participant's coordinator.
    fn heartbeat_peers(&self, cx: &Context<'_>) -> NodeSet {
        let view = self.view();
        match view.coordinator {
            Some(coordinator) if view.status.has_coordinator() => {
                if coordinator == cx.me {
                    view.up.clone()
                } else {
                    [coordinator].into_iter().collect()
                }
            }
            Some(_) | None => NodeSet::new(),
        }
    }

    /// The counter, which outlives the election of a node that withdraws.
    fn counter(&self) -> Counter;

    /// Every timer that may be running.
    fn timers(cx: &Context<'_>) -> Vec<Self::Timer>;

    /// The same for an algorithm whose timers depend on its state.
    fn timers_now(&self, cx: &Context<'_>) -> Vec<Self::Timer> {
        Self::timers(cx)
    }

    /// The period of a periodic timer; none for one that ends a wait.
    fn period(timer: &Self::Timer, timing: &Timing) -> Option<Duration>;

    /// What a trace says of a message.
    fn facts(message: &Self::Message) -> MessageFacts;

    /// What a message says beyond that, for people who read a trace.
    fn contents(message: &Self::Message) -> Contents {
        let _ = message;
        Contents::default()
    }

    /// What a trace calls a timer.
    fn timer_name(timer: &Self::Timer) -> TimerName;

    /// The highest counter in a message; 0 if it has none.
    fn highest_counter(message: &Self::Message) -> Counter;

    /// A message of every kind with every field filled, and without those that are optional.
    #[cfg(test)]
    fn examples() -> Vec<Self::Message>;
}

macro_rules! algorithms {
    ($(
        $(#[$doc:meta])*
        $number:literal $field:ident => $variant:ident($type:ty) in $($module:ident)::+
    ),+ $(,)?) => {
        /// An algorithm's name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Algorithm {
            $( $(#[$doc])* $variant ),+
        }

        /// What is known of each algorithm, in the order of [`Algorithm::ALL`].
        pub(crate) const DESCRIPTORS: &[Descriptor] = &[$( $($module)::+::DESCRIPTOR ),+];

        impl Algorithm {
            /// All algorithms.
            pub const ALL: &'static [Self] = &[$( Self::$variant ),+];
        }

        /// The options of all algorithms; the defaults are safe.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Options {
            $( #[doc = concat!("Of [`", stringify!($($module)::+), "`].")]
            pub $field: $($module)::+::Options ),+
        }

        impl Options {
            /// Sets an option by name; false if there is no such option or value.
            pub(crate) fn set_by_name(
                &mut self,
                algorithm: Algorithm,
                name: &str,
                value: &str,
            ) -> bool {
                match algorithm {
                    $( Algorithm::$variant => self.$field.set(name, value) ),+
                }
            }

            /// The value of every option of an algorithm, by name.
            #[must_use]
            pub fn of(&self, algorithm: Algorithm) -> Vec<(&'static str, &'static str)> {
                match algorithm {
                    $( Algorithm::$variant => self.$field.values() ),+
                }
            }
        }

        /// The algorithm that the configuration names.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Election {
            $( #[doc = stringify!($variant)] $variant($type) ),+
        }

        /// A message of one of the algorithms.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
        pub enum Message {
            $(
                #[doc = stringify!($variant)]
                #[n($number)]
                $variant(#[n(0)] <$type as Protocol>::Message)
            ),+
        }

        /// A timer of one of the algorithms.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Timer {
            $( #[doc = stringify!($variant)] $variant(<$type as Protocol>::Timer) ),+
        }

        impl Protocol for Election {
            type Message = Message;
            type Timer = Timer;
            type Record = Counter;
            type Command = Command;
            type Notice = Notice;

            fn start(
                cx: &mut Context<'_>,
                saved: Option<Counter>,
                out: &mut Effects<Self>,
            ) -> Self {
                match cx.config.algorithm() {
                    $( Algorithm::$variant => {
                        let mut inner = Effects::new();
                        let node = <$type>::start(cx, saved, &mut inner);
                        lift(inner, out, Message::$variant, Timer::$variant);
                        Self::$variant(node)
                    } ),+
                }
            }

            fn step(
                &mut self,
                cx: &mut Context<'_>,
                event: Event<Self>,
                out: &mut Effects<Self>,
            ) {
                match self {
                    $( Self::$variant(node) => {
                        #[allow(irrefutable_let_patterns, reason = "one algorithm is enough")]
                        let event = match event {
                            Event::Message { from, message } => {
                                // A peer that runs another algorithm is misconfigured: its message
                                // is dropped.
                                let Message::$variant(message) = message else { return };
                                Event::Message { from, message }
                            }
                            Event::Timer(timer) => {
                                let Timer::$variant(timer) = timer else { return };
                                Event::Timer(timer)
                            }
                            Event::Command(command) => Event::Command(command),
                        };
                        let mut inner = Effects::new();
                        node.step(cx, event, &mut inner);
                        lift(inner, out, Message::$variant, Timer::$variant);
                    } ),+
                }
            }
        }

        impl Election {
            /// A node that has been a Normal member of a group for a while.
            pub fn established(
                cx: &mut Context<'_>,
                saved: Counter,
                established: &EstablishedGroup,
                out: &mut Effects<Self>,
            ) -> Self {
                match cx.config.algorithm() {
                    $( Algorithm::$variant => {
                        let mut inner = Effects::new();
                        let node = <$type>::established(cx, saved, established, &mut inner);
                        lift(inner, out, Message::$variant, Timer::$variant);
                        Self::$variant(node)
                    } ),+
                }
            }

            /// Its exposed state.
            #[must_use]
            pub fn view(&self) -> View<'_> {
                match self {
                    $( Self::$variant(node) => node.view() ),+
                }
            }

            /// The heartbeat peers, which exchange heartbeats with this node.
            #[must_use]
            pub fn heartbeat_peers(&self, cx: &Context<'_>) -> NodeSet {
                match self {
                    $( Self::$variant(node) => node.heartbeat_peers(cx) ),+
                }
            }

            /// The counter, which outlives the election of a node that withdraws.
            #[must_use]
            pub fn counter(&self) -> Counter {
                match self {
                    $( Self::$variant(node) => node.counter() ),+
                }
            }

            /// Every timer that may be running.
            #[must_use]
            pub fn timers(&self, cx: &Context<'_>) -> Vec<Timer> {
                match self {
                    $( Self::$variant(node) => {
                        node.timers_now(cx).into_iter().map(Timer::$variant).collect()
                    } ),+
                }
            }
        }

        impl Message {
            /// What a trace says of it.
            #[must_use]
            pub fn facts(&self) -> MessageFacts {
                match self {
                    $( Self::$variant(message) => <$type>::facts(message) ),+
                }
            }

            /// What it says beyond that, for people who read a trace.
            #[must_use]
            pub fn contents(&self) -> Contents {
                match self {
                    $( Self::$variant(message) => <$type>::contents(message) ),+
                }
            }

            /// The highest counter in it; 0 if it has none.
            #[must_use]
            pub(crate) fn highest_counter(&self) -> Counter {
                match self {
                    $( Self::$variant(message) => <$type>::highest_counter(message) ),+
                }
            }

            /// A message of every kind of every algorithm.
            #[cfg(test)]
            pub(crate) fn examples() -> Vec<Self> {
                let lists = [$(
                    <$type>::examples().into_iter().map(Self::$variant).collect::<Vec<_>>()
                ),+];
                lists.into_iter().flatten().collect()
            }
        }

        impl Timer {
            /// The period of a periodic timer; none for one that ends a wait.
            #[must_use]
            pub fn period(&self, timing: &Timing) -> Option<Duration> {
                match self {
                    $( Self::$variant(timer) => <$type>::period(timer, timing) ),+
                }
            }

            /// What a trace calls it.
            #[must_use]
            pub fn name(&self) -> TimerName {
                match self {
                    $( Self::$variant(timer) => <$type>::timer_name(timer) ),+
                }
            }
        }
    };
}

// The one list of algorithms. The numbers name them on the wire: never change one, never use one
// again.
algorithms! {
    /// Garcia-Molina's bully in the textbook's full version.
    0 bully => Bully(Bully) in bully,
    /// The lectures' bully: election, answer, coordinator.
    1 bully_lecture => BullyLecture(BullyLecture) in bully_lecture,
    /// Garcia-Molina's invitation.
    2 invitation => Invitation(Invitation) in invitation,
    /// Chang and Roberts' ring.
    3 ring_chang_roberts => RingChangRoberts(Ring) in ring::chang_roberts,
    /// The modified ring: a list, confirmed by the coordinator message.
    4 ring_modified => RingModified(Ring) in ring::modified,
    /// The list ring, after Tanenbaum.
    5 ring_list => RingList(Ring) in ring::list,
    /// The active-list ring.
    6 ring_active_list => RingActiveList(Ring) in ring::active_list,
    /// Expanding ring search, for ad-hoc networks.
    7 adhoc_expanding_ring => AdhocExpandingRing(ExpandingRing) in adhoc::expanding_ring,
    /// Vasudevan, Kurose and Towsley's diffusing computation, for ad-hoc networks.
    8 adhoc_diffusing => AdhocDiffusing(Diffusing) in adhoc::diffusing,
    /// Super-peers: groups of bounded size, and elections among the nodes that they select.
    9 super_peer => SuperPeer(SuperPeer) in super_peer,
    /// Peterson's ring, also by Dolev, Klawe and Rodeh.
    10 ring_peterson => RingPeterson(Ring) in ring::peterson,
    /// Hirschberg and Sinclair's ring, in both directions.
    11 ring_hirschberg_sinclair => RingHirschbergSinclair(Ring) in ring::hirschberg_sinclair,
}

/// Wraps an algorithm's own messages and timers; everything else is common to all.
fn lift<P: ElectionAlgorithm>(
    inner: Effects<P>,
    out: &mut Effects<Election>,
    message: impl Fn(P::Message) -> Message,
    timer: impl Fn(P::Timer) -> Timer,
) {
    let (message, timer) = (|inner| Some(message(inner)), |inner| Some(timer(inner)));
    compose::lift(inner, out, message, timer, |upward, out| match upward {
        Upward::Save(counter) => out.save(counter),
        Upward::Notify(notice) => out.notify(notice),
    });
}

impl Election {
    /// The super-peers of a node, as it knows them, and its seats above its group; none where the
    /// algorithm selects none.
    #[must_use]
    pub fn super_peer_status(&self) -> Option<SuperPeerStatus> {
        self.super_peer().map(SuperPeer::super_peer_status)
    }

    /// Whether its status is this one; compares without building it.
    pub(crate) fn is_super_peer_status(&self, told: Option<&SuperPeerStatus>) -> bool {
        match (self.super_peer(), told) {
            (Some(node), Some(told)) => node.is_super_peer_status(told),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    const fn super_peer(&self) -> Option<&SuperPeer> {
        if let Self::SuperPeer(node) = self { Some(node) } else { None }
    }
}

/// Facts of a message that has no group and no verdict.
pub(crate) const fn plain(kind: Kind) -> MessageFacts {
    MessageFacts::new(kind, None, None)
}
