//! The list ring, after Tanenbaum: a list goes round, and the highest name in it coordinates.
//!
//! Every node appends its number to the election message (T-04). Back at its starter it becomes a
//! coordinator message with the same list (T-06), from which every node reads the coordinator
//! (T-07), and which the starter removes (T-08). The two rounds are in `listing.rs`.
//!
//! Assumes, as printed, that no node crashes between two election messages: otherwise they end in
//! different coordinators, one of which has failed (E-32). By default one message of an election
//! survives, and its winner must have received the result, as in the modified ring.

use super::listing;
use super::listing::Rules;
use crate::election::descriptor::{Descriptor, Groups, Handover, Model, Network};
use crate::options::options;

options! {
    /// What happens to a message whose starter crashed (E-37).
    orphans / "orphans": Orphans {
        /// A node that finds its own number in a list that it did not begin adopts it; and when an
        /// election has had no winner for too long, a new one begins.
        #[default] Adopted = "adopted",
        /// As printed: it circulates forever, and all nodes wait.
        Literal = "literal" [literal],
    },
    /// What happens to several messages of the same election (T-09, E-32).
    concurrent / "concurrent": Concurrent {
        /// Only the message of the highest starter is passed on.
        #[default] Highest = "highest",
        /// As printed: all of them complete the round, and the last one counts.
        All = "all" [literal],
    },
    /// Whether the coordinator must have received the result (E-32).
    confirmation / "confirmation": Confirmation {
        /// If it has not, it has failed and the election is repeated.
        #[default] Winner = "winner",
        /// As printed: that is not checked.
        Literal = "literal" [literal],
    },
}

pub(super) const fn rules(options: Options) -> Rules {
    let concurrent = match options.concurrent {
        Concurrent::Highest => listing::Concurrent::Highest,
        Concurrent::All => listing::Concurrent::All,
    };
    let orphans = match options.orphans {
        Orphans::Adopted => listing::Orphans::Adopted,
        Orphans::Literal => listing::Orphans::Literal,
    };
    let confirmation = match options.confirmation {
        Confirmation::Winner => listing::Confirmation::Winner,
        Confirmation::Literal => listing::Confirmation::Literal,
    };
    Rules::of_list(concurrent, orphans, confirmation)
}

/// The facts about the list ring.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "ring-list",
    source: "Tanenbaum's ring: a list of numbers, the highest coordinates",
    guarantee: super::GUARANTEE,
    summary: "one coordinator and one definition among all live nodes",
    network: Network::Ring,
    model: Model::Synchronous,
    groups: Groups::One,
    handover: Some(Handover::NEW_STATE),
    adjustable: None,
    options: OPTIONS,
    messages: super::MESSAGES,
    timers: super::TIMERS,
    mutants: &[super::MUTANTS, listing::MUTANTS],
};
