//! The list ring, after Tanenbaum: a list goes round, and the highest name in it coordinates.
//!
//! Everybody appends its number to the election message (T-04). Back at its starter it becomes a
//! coordinator message with the same list (T-06), from which everybody reads the coordinator (T-07),
//! and which the starter removes (T-08). The two rounds are in `listing.rs`.
//!
//! Assumes, as printed, that nobody dies between two messages: otherwise they end in different
//! coordinators, one of them dead (E-32). By default one message of an election survives, and its
//! winner must have been told, as in the modified ring.

use super::listing;
use super::listing::Rules;
use crate::election::descriptor::{Descriptor, Groups, Handover, Model, Network};
use crate::options::options;

options! {
    /// What becomes of a message whose starter died (E-37).
    orphans / "orphans": Orphans {
        /// A node that finds its own number in a list that it did not begin adopts it; and when
        /// nobody has won for too long, a new election begins.
        #[default] Adopted = "adopted",
        /// As printed: it circulates for ever, and everybody waits.
        Literal = "literal" [literal],
    },
    /// What becomes of several messages of the same election (T-09, E-32).
    concurrent / "concurrent": Concurrent {
        /// Only that of the highest starter is passed on.
        #[default] Highest = "highest",
        /// As printed: all of them come round, and the last one counts.
        All = "all" [literal],
    },
    /// Whether the coordinator must have been told (E-32).
    confirmation / "confirmation": Confirmation {
        /// If it was not, it is dead and the election is repeated.
        #[default] Winner = "winner",
        /// As printed: nobody asks.
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

/// What there is to know of the list ring.
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
