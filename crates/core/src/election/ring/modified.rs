//! The modified ring: a list passes over failed nodes, and the winner must confirm.
//!
//! Every node appends its name and attribute to the election message (M-02). Back at the initiator
//! the best of the list is elected (M-03), and a coordinator message with the winner's name
//! collects the names of the nodes that receive it (M-04). If the winner's is not among them it has
//! crashed, and the election is repeated (M-05). The two rounds are in `listing.rs`.
//!
//! Assumes, as printed, that the initiator survives; by default a node that has signed its message
//! adopts it, or a new election begins when one has had no winner for too long (M-07, E-37).

use super::listing::{self, Rules};
pub use super::listing::{Concurrent, Orphans};
use crate::election::descriptor::{Descriptor, Groups, Handover, Model, Network};
use crate::options::options;

options! {
    /// What happens to a message whose initiator crashed (E-37).
    orphans / "orphans": Orphans,
    /// What happens to several messages of the same election (E-32).
    concurrent / "concurrent": Concurrent,
}

pub(super) const fn rules(options: Options) -> Rules {
    Rules::of_modified(options.concurrent, options.orphans)
}

/// The facts about the modified ring.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "ring-modified",
    source: "the lectures' modified ring: a list of names, confirmed by the coordinator message",
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
