//! The list ring, after Tanenbaum: a list goes round, and the highest name in it coordinates.
//!
//! Every node appends its number to the election message (T-04). Back at its starter it becomes a
//! coordinator message with the same list (T-06), from which every node reads the coordinator
//! (T-07), and which the starter removes (T-08). The two rounds are in `listing.rs`.
//!
//! Assumes, as printed, that no node crashes between two election messages: otherwise they end in
//! different coordinators, one of which has failed (E-32). By default one message of an election
//! survives, and its winner must have received the result, as in the modified ring.

use super::listing::{self, Rules};
pub use super::listing::{Concurrent, Confirmation, Orphans};
use crate::election::descriptor::{Descriptor, Groups, Handover, Model, Network};
use crate::options::options;

options! {
    /// What happens to a message whose starter crashed (E-37).
    orphans / "orphans": Orphans,
    /// What happens to several messages of the same election (T-09, E-32).
    concurrent / "concurrent": Concurrent,
    /// Whether the coordinator must have received the result (E-32).
    confirmation / "confirmation": Confirmation,
}

pub(super) const fn rules(options: Options) -> Rules {
    Rules::of_list(options.concurrent, options.orphans, options.confirmation)
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
    adjustable: Some(super::ADJUSTABLE),
    options: OPTIONS,
    messages: super::LIST_MESSAGES,
    timers: super::TIMERS,
    mutants: &[super::MUTANTS, super::incumbent::MUTANTS, listing::MUTANTS],
};
