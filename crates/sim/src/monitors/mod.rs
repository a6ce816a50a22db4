//! The assertions that must hold: one property per file, named after it.
//!
//! A monitor sees every entry of a trace together with the [`GlobalState`] and reports when its
//! assertion is violated. It does not know where the trace comes from.

mod ack_after_children; // VKT-2
mod agreed_above; // V-05
mod all_under_one;
mod best_or_undefined; // G-15
mod best_wins; // G-14
pub(crate) mod cuts; // B-42 to B-45
mod definition_only_in_reorganization; // I-50
mod down_does_nothing; // P-04
mod everybody_has_super_peers; // V-02
mod everybody_knows; // G-16
mod group_agrees_on_coordinator;
mod group_agrees_on_definition;
mod members_accepted; // I-51
mod of_own_group; // V-03
mod one_election_at_a_time; // G-09
mod one_group_each; // I-02
mod one_group_per_clique;
mod one_leader_in_reach; // W-04
mod one_leader_per_component; // W-05
mod one_parent; // VKT-1
mod overdue_takes_no_part; // P-05
mod peers;
mod safe_inside; // V-04
mod same_coordinator;
mod same_definition;
mod settled;
mod steady_leader; // P-02
mod stop_before_acknowledge; // B-37
mod unique_numbers; // I-07
mod withdrawn_takes_no_part; // P-01
mod yield_before_acknowledge; // P-03

use std::hash::{Hash, Hasher};

use tanist_core::election::Algorithm;
use tanist_core::trace::{Event, EventClass, Header};
use tanist_core::{NodeId, Time};

use self::settled::Eventual;
use crate::algorithms;
use crate::explore::digest::Digester;
use crate::observe::global_state::GlobalState;

pub(crate) use self::ack_after_children::AckAfterChildren;
pub(crate) use self::agreed_above::AgreedAbove;
pub(crate) use self::all_under_one::AllUnderOne;
pub(crate) use self::best_or_undefined::BestOrUndefined;
pub(crate) use self::best_wins::BestWins;
pub(crate) use self::definition_only_in_reorganization::DefinitionOnlyInReorganization;
pub(crate) use self::down_does_nothing::DownDoesNothing;
pub(crate) use self::everybody_has_super_peers::EverybodyHasSuperPeers;
pub(crate) use self::everybody_knows::EverybodyKnows;
pub(crate) use self::group_agrees_on_coordinator::GroupAgreesOnCoordinator;
pub(crate) use self::group_agrees_on_definition::GroupAgreesOnDefinition;
pub(crate) use self::members_accepted::MembersAccepted;
pub(crate) use self::of_own_group::OfOwnGroup;
pub(crate) use self::one_election_at_a_time::OneElectionAtATime;
pub(crate) use self::one_group_each::OneGroupEach;
pub(crate) use self::one_group_per_clique::OneGroupPerClique;
pub(crate) use self::one_leader_in_reach::OneLeaderInReach;
pub(crate) use self::one_leader_per_component::OneLeaderPerComponent;
pub(crate) use self::one_parent::OneParent;
pub(crate) use self::overdue_takes_no_part::OverdueTakesNoPart;
pub(crate) use self::peers::Peers;
pub(crate) use self::safe_inside::SafeInside;
pub(crate) use self::same_coordinator::SameCoordinator;
pub(crate) use self::same_definition::SameDefinition;
pub(crate) use self::settled::Eventually;
pub(crate) use self::steady_leader::SteadyLeader;
pub(crate) use self::stop_before_acknowledge::StopBeforeAcknowledge;
pub(crate) use self::unique_numbers::UniqueNumbers;
pub(crate) use self::withdrawn_takes_no_part::WithdrawnTakesNoPart;
pub(crate) use self::yield_before_acknowledge::YieldBeforeAcknowledge;

/// Checks one assertion.
pub trait Monitor: Replicate + Send + Sync {
    /// The assertion's id in the conformance list.
    fn id(&self) -> &'static str;

    /// Which events it needs to see.
    fn interest(&self) -> Interest;

    /// Checks an event; the global state already includes it.
    fn see(&mut self, global: &GlobalState, at: Time, event: &Event) -> Option<Violation>;

    /// Checks the end of a run: a liveness assertion must hold.
    fn finish(&mut self, _global: &GlobalState, _at: Time) -> Option<Violation> {
        None
    }

    /// Checks a run that has come to rest: no message is in flight, and no node waits for an
    /// answer. Assertions about the end of a run must hold there too.
    fn at_rest(&self, _global: &GlobalState) -> Option<Violation> {
        None
    }

    /// A digest of its own state beyond the global state: runs that differ in it are different.
    fn memory(&self) -> u64 {
        0
    }

    /// Whether it is judged at the end of a run, and so not in a run that was cut short.
    fn is_about_the_end(&self) -> bool {
        false
    }

    /// Whether a liveness assertion holds now; a safety assertion always does.
    fn is_settled(&self, _global: &GlobalState) -> bool {
        true
    }

    /// Whether the assertion says anything about this run.
    fn is_applicable(&self, _global: &GlobalState) -> bool {
        true
    }
}

/// Copies a monitor: an explorer follows every branch of a run with its own copy.
pub trait Replicate {
    /// A monitor with the same state.
    fn replicate(&self) -> Box<dyn Monitor>;
}

impl<M: Monitor + Clone + 'static> Replicate for M {
    fn replicate(&self) -> Box<dyn Monitor> {
        Box::new(self.clone())
    }
}

/// What was seen when an assertion was violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The nodes concerned.
    pub nodes: Vec<NodeId>,
    /// What was seen.
    pub why: String,
}

/// The result of an assertion in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It held after every step, and at the end.
    Holds,
    /// It was violated.
    Violated,
    /// It is about another algorithm, or about a global state that the run did not end in.
    NotApplicable,
}

impl Verdict {
    /// The word in JSON and in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::NotApplicable => "not-applicable",
        }
    }
}

/// A set of event kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(u8);

impl Interest {
    /// Changes of a node's defining state.
    pub const STATE: Self = Self(1);
    /// Sent messages.
    pub const SEND: Self = Self(2);
    /// Received messages.
    pub const RECEIVE: Self = Self(4);
    /// Elections that begin and end, plans, stopping and beginning.
    pub const MILESTONE: Self = Self(8);
    /// Faults: crashes, restarts, cuts.
    pub const FAULT: Self = Self(16);
    /// Everything else: losses, timers, saves.
    pub const DETAIL: Self = Self(32);
    /// Every event.
    pub const ALL: Self = Self(63);

    /// The union of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the two sets have a common element.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The kind of an event.
    #[must_use]
    pub const fn of(event: &Event) -> Self {
        match event.class() {
            EventClass::State => Self::STATE,
            EventClass::Sent => Self::SEND,
            EventClass::Received => Self::RECEIVE,
            EventClass::Milestone => Self::MILESTONE,
            EventClass::Fault => Self::FAULT,
            EventClass::Detail => Self::DETAIL,
        }
    }
}

/// Which assertions are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Also the cuts c1 to c4 (B-42 to B-45), which hold only while no node recovers.
    pub has_cuts: bool,
    /// Assertion 4 as printed: for every connected component, clique or not (E-27).
    pub is_literal_a4: bool,
    /// Only what holds whatever the network does: the run leaves the algorithm's model.
    pub is_beyond_model: bool,
    /// Also that no leader is replaced without cause (P-02), which holds while the network keeps its
    /// bounds and loses nothing.
    pub is_steady: bool,
}

impl Selection {
    /// The assertions that are checked in every run.
    pub const STANDARD: Self =
        Self { has_cuts: false, is_literal_a4: false, is_beyond_model: false, is_steady: false };
}

/// Every assertion that has a monitor.
pub const IDS: &[&str] = &[
    "A-1.1", "A-1.2", "A-2", "A-3.1", "A-3.2", "A-4", "B-37", "G-09", "G-14", "G-15", "G-16",
    "I-02", "I-07", "I-50", "I-51", "P-01", "P-02", "P-03", "P-04", "P-05", "VKT-1", "VKT-2",
    "W-04", "W-05", "V-02", "V-03", "V-04", "V-05", "B-42", "B-43", "B-44", "B-45",
];

/// Whether an assertion is checked only on request.
#[must_use]
pub fn is_on_request(id: &str) -> bool {
    ["B-42", "B-43", "B-44", "B-45", "P-02"].contains(&id)
}

/// The monitors for an algorithm: those of every run, those of the algorithm, and those of its
/// groups.
#[must_use]
pub fn all(algorithm: Algorithm, selection: Selection, header: &Header) -> Vec<Box<dyn Monitor>> {
    let mut monitors: Vec<Box<dyn Monitor>> = vec![
        Box::new(OneElectionAtATime),
        Box::new(UniqueNumbers::default()),
        Box::new(WithdrawnTakesNoPart::default()),
        Box::new(DownDoesNothing),
        Box::new(OverdueTakesNoPart::new(header)),
    ];
    let study = algorithms::study(algorithm);
    monitors.extend((study.monitors)(header, selection));
    monitors.extend((study.inside.monitors)(selection));
    monitors
}

/// Where the super-peers of a network that should have settled are wrong, if anywhere: what V-02
/// and V-05 check at the end of a run.
#[must_use]
pub fn unsettled_super_peers(header: &Header, global: &GlobalState) -> Option<Violation> {
    let peers = Peers::of(header)?;
    let below = EverybodyHasSuperPeers::new(peers.clone()).violation(global);
    below.or_else(|| AgreedAbove::new(peers).violation(global))
}

/// One digest of several numbers.
fn mix(numbers: &[u64]) -> u64 {
    let mut hasher = Digester::new();
    numbers.hash(&mut hasher);
    hasher.finish()
}
