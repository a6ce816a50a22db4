//! What must hold, one property per file, named after it.
//!
//! A monitor sees every entry of a trace together with the [`Board`] and says when its assertion is
//! broken. It knows nothing of where the trace comes from.

mod ack_after_children; // VKT-2
mod agreed_above; // V-05
mod all_under_one;
mod best_or_undefined; // G-15
mod best_wins; // G-14
mod cuts; // B-42 to B-45
mod definition_only_in_reorganization; // I-50
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
mod peers;
mod safe_inside; // V-04
mod same_coordinator;
mod same_definition;
mod settled;
mod stop_before_acknowledge; // B-37
mod unique_numbers; // I-07
mod withdrawn_takes_no_part; // P-01

use std::hash::{Hash, Hasher};

use tanist_core::election::Algorithm;
use tanist_core::trace::{Event, Header};
use tanist_core::{NodeId, Time};

use self::peers::Peers;
use crate::explore::digest::Digester;
use crate::observe::global_state::Board;

/// Watches one assertion.
pub trait Monitor: Replicate + Send + Sync {
    /// The assertion's id in the conformance list.
    fn id(&self) -> &'static str;

    /// Which events it wants to see.
    fn interest(&self) -> Interest;

    /// Looks at an event; the board already knows of it.
    fn see(&mut self, board: &Board, at: Time, event: &Event) -> Option<Breach>;

    /// Looks at the end of a run: what should come true eventually must be true.
    fn finish(&mut self, _board: &Board, _at: Time) -> Option<Breach> {
        None
    }

    /// Looks at a run that has come to rest: nothing is under way to anybody, and nobody waits for an
    /// answer. What is said of the end of a run holds there, too, whenever it comes.
    fn at_rest(&self, _board: &Board) -> Option<Breach> {
        None
    }

    /// What it remembers beyond the board, as a number: runs that differ in this are different.
    fn memory(&self) -> u64 {
        0
    }

    /// Whether it is judged at the end of a run, and so not at all in one that was cut short.
    fn is_about_the_end(&self) -> bool {
        false
    }

    /// Whether what should come true eventually is true now; a safety property always is.
    fn is_settled(&self, _board: &Board) -> bool {
        true
    }

    /// Whether the assertion said anything about this run.
    fn is_applicable(&self, _board: &Board) -> bool {
        true
    }
}

/// Lets a run fork: an explorer follows every branch with the same monitors.
pub trait Replicate {
    /// A monitor that has seen what this one has.
    fn replicate(&self) -> Box<dyn Monitor>;
}

impl<M: Monitor + Clone + 'static> Replicate for M {
    fn replicate(&self) -> Box<dyn Monitor> {
        Box::new(self.clone())
    }
}

/// What was seen where an assertion broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The nodes concerned.
    pub nodes: Vec<NodeId>,
    /// What was seen.
    pub why: String,
}

/// How an assertion fared in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It held after every step, and at the end.
    Holds,
    /// It did not.
    Broken,
    /// It speaks of another algorithm, or of a situation that the run did not end in.
    NotApplicable,
}

impl Verdict {
    /// The word in JSON and in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Broken => "broken",
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
    /// What is done to the world: crashes, restarts, cuts.
    pub const FAULT: Self = Self(16);
    const NOTHING: Self = Self(0);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the two have something in common.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// What kind an event is of.
    #[must_use]
    pub const fn of(event: &Event) -> Self {
        match event {
            Event::State { .. } => Self::STATE,
            Event::Send { .. } | Event::Broadcast { .. } => Self::SEND,
            Event::Receive { .. } => Self::RECEIVE,
            Event::Call { .. }
            | Event::End { .. }
            | Event::Stop { .. }
            | Event::Stopped { .. }
            | Event::Plan { .. }
            | Event::Begin { .. } => Self::MILESTONE,
            Event::Start { .. }
            | Event::Crash { .. }
            | Event::Pause { .. }
            | Event::Resume { .. }
            | Event::Aside { .. }
            | Event::Return { .. }
            | Event::Cut { .. }
            | Event::Heal { .. } => Self::FAULT,
            Event::Lose { .. }
            | Event::Timer { .. }
            | Event::Save { .. }
            | Event::Broken { .. } => Self::NOTHING,
        }
    }
}

/// Which assertions are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Also the cuts c1 to c4 (B-42 to B-45), which hold only while nobody recovers.
    pub has_cuts: bool,
    /// Assertion 4 as printed: for every connected component, clique or not (E-27).
    pub is_literal_a4: bool,
    /// Only what holds whatever the network does: the run leaves the algorithm's model.
    pub is_beyond_model: bool,
}

impl Selection {
    /// What is checked in every run.
    pub const STANDARD: Self =
        Self { has_cuts: false, is_literal_a4: false, is_beyond_model: false };
}

/// Every assertion that a monitor watches.
pub const IDS: &[&str] = &[
    "A-1.1", "A-1.2", "A-2", "A-3.1", "A-3.2", "A-4", "B-37", "G-09", "G-14", "G-15", "G-16",
    "I-02", "I-07", "I-50", "I-51", "P-01", "VKT-1", "VKT-2", "W-04", "W-05", "V-02", "V-03",
    "V-04", "V-05", "B-42", "B-43", "B-44", "B-45",
];

/// Whether an assertion is watched only if asked for.
#[must_use]
pub fn is_on_request(id: &str) -> bool {
    ["B-42", "B-43", "B-44", "B-45"].contains(&id)
}

/// The monitors for an algorithm.
#[must_use]
pub fn all(algorithm: Algorithm, selection: Selection, header: &Header) -> Vec<Box<dyn Monitor>> {
    let mut monitors: Vec<Box<dyn Monitor>> = vec![
        Box::new(one_election_at_a_time::OneElectionAtATime),
        Box::new(unique_numbers::UniqueNumbers::default()),
    ];
    monitors.push(Box::new(withdrawn_takes_no_part::AsideTakesNoPart::default()));
    let peers = (algorithm == Algorithm::SuperPeer).then(|| Peers::of(header)).flatten();
    match algorithm {
        Algorithm::Bully
        | Algorithm::RingChangRoberts
        | Algorithm::RingModified
        | Algorithm::RingList
        | Algorithm::RingActiveList => {
            if !selection.is_beyond_model {
                monitors.push(Box::new(same_coordinator::SameCoordinator));
                monitors.push(Box::new(same_definition::SameDefinition));
            }
            // Its ring stays as it is for an election: whoever comes up waits for the next.
            if !selection.is_beyond_model && algorithm != Algorithm::RingActiveList {
                monitors.push(Box::new(best_wins::BestWins::default()));
            }
            monitors.push(Box::new(all_under_one::AllUnderOne::new(header)));
            if algorithm != Algorithm::Bully {
                monitors.push(Box::new(best_or_undefined::BestOrUndefined));
                monitors.push(Box::new(everybody_knows::EverybodyKnows));
            }
        }
        Algorithm::Invitation => {
            let is_literal = selection.is_literal_a4;
            monitors
                .push(Box::new(one_group_per_clique::OneGroupPerClique::new(header, is_literal)));
        }
        Algorithm::BullyLecture => {
            if !selection.is_beyond_model {
                monitors.push(Box::new(best_wins::BestWins::default()));
            }
            monitors.push(Box::new(best_or_undefined::BestOrUndefined));
            monitors.push(Box::new(everybody_knows::EverybodyKnows));
        }
        Algorithm::AdhocExpandingRing => {
            monitors.push(Box::new(one_leader_in_reach::OneLeaderInReach::new(header)));
            monitors.push(Box::new(one_leader_per_component::OneLeaderPerComponent::new(header)));
        }
        Algorithm::AdhocDiffusing => {
            monitors.push(Box::new(one_parent::OneParent::default()));
            monitors.push(Box::new(ack_after_children::AckAfterChildren::new(header)));
            monitors.push(Box::new(one_leader_in_reach::OneLeaderInReach::new(header)));
            monitors.push(Box::new(one_leader_per_component::OneLeaderPerComponent::new(header)));
        }
        Algorithm::SuperPeer => {
            if let Some(peers) = &peers {
                monitors.push(Box::new(everybody_has_super_peers::EverybodyHasSuperPeers::new(
                    peers.clone(),
                    header,
                )));
                monitors.push(Box::new(of_own_group::OfOwnGroup::new(peers.clone())));
                let is_beyond = selection.is_beyond_model;
                monitors.push(Box::new(safe_inside::SafeInside::new(peers.clone(), is_beyond)));
                monitors.push(Box::new(agreed_above::AgreedAbove::new(peers.clone(), header)));
            }
        }
    }
    // Super-peers promise inside a group what the algorithm there does.
    let algorithm = peers.as_ref().map_or(algorithm, Peers::inner);
    match algorithm {
        Algorithm::Bully
        | Algorithm::Invitation
        | Algorithm::RingChangRoberts
        | Algorithm::RingModified
        | Algorithm::RingList
        | Algorithm::RingActiveList => {
            monitors.push(Box::new(group_agrees_on_coordinator::GroupAgreesOnCoordinator));
            monitors.push(Box::new(group_agrees_on_definition::GroupAgreesOnDefinition));
            monitors.push(Box::new(stop_before_acknowledge::StopBeforeAcknowledge));
            monitors.push(Box::new(one_group_each::OneGroupEach));
            monitors
                .push(Box::new(definition_only_in_reorganization::DefinitionOnlyInReorganization));
            monitors.push(Box::new(members_accepted::MembersAccepted::default()));
        }
        Algorithm::BullyLecture
        | Algorithm::AdhocExpandingRing
        | Algorithm::AdhocDiffusing
        | Algorithm::SuperPeer => {}
    }
    if selection.has_cuts && algorithm == Algorithm::Bully {
        monitors.extend(cuts::all());
    }
    monitors
}

/// Where the super-peers of a network that should have settled are not what they should be, if
/// anywhere: what V-02 and V-05 look for at the end of a run.
#[must_use]
pub fn unsettled_super_peers(header: &Header, board: &Board) -> Option<Breach> {
    let peers = Peers::of(header)?;
    let below = everybody_has_super_peers::EverybodyHasSuperPeers::new(peers.clone(), header)
        .without(board);
    below.or_else(|| agreed_above::AgreedAbove::new(peers, header).discord(board))
}

/// Some numbers as one.
fn mix(numbers: &[u64]) -> u64 {
    let mut hasher = Digester::new();
    numbers.hash(&mut hasher);
    hasher.finish()
}
