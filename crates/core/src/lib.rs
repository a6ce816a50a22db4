//! Coordinator election as pure state machines.
//!
//! This crate holds the rules of the algorithms: which node asks which, which yields, which wins,
//! and how a new group gets its state. It has no clock, no socket, no thread and no disk; a driver
//! owns those and calls [`Protocol::step`]. The simulator, the model checker and a live node are
//! three drivers of the same code.
//!
//! Reading order: [`protocol`] (the box with four ports), [`node`] (the layers wired together),
//! [`election`] (one file per algorithm), [`reorganization`], [`detector`], [`recall`] and
//! [`policy`] (what every algorithm shares), [`trace`] (what happened, one schema for all readers).
#![no_std]
#![warn(missing_docs)]

extern crate alloc;

pub mod config;
pub mod counter_cap;
pub mod detector;
pub mod dice;
pub mod duration;
pub mod election;
pub mod group;
pub mod membership;
pub mod mutant;
pub mod node;
pub mod options;
pub mod payload;
pub mod policy;
pub mod protocol;
pub mod recall;
pub mod record;
pub mod reorganization;
#[cfg(test)]
mod testing;
pub mod time;
pub mod timing;
pub mod trace;
pub mod wire;

pub use config::{GroupConfig, GroupSettings};
pub use dice::Dice;
pub use group::{GroupNumber, Phase, Status};
pub use membership::{Member, Membership, NodeId, NodeSet, Priority};
pub use payload::{Definition, Report};
pub use protocol::{Context, Effect, Effects, Event, Protocol};
pub use record::NodeRecord;
pub use time::Time;
pub use timing::Timing;
