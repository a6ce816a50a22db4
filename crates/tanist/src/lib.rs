//! Coordinator election for your own program.
//!
//! N processes agree who leads them, without running a store beside them. Each process starts one
//! node with [`Group::builder`]; the nodes find each other over TCP, elect, notice at once when a
//! process dies, and elect again.
#![warn(missing_docs)]

mod application;
mod builder;
pub mod clock;
mod driver;
mod error;
mod group;
mod journal;
pub mod key;
mod lead;
mod meter;
mod role;
mod shared;
pub mod store;
mod task;
mod timers;
pub mod transport;

pub use builder::{Builder, default_timing, parse_node};
pub use error::{Failure, StartError};
pub use group::{Ended, Group};
pub use key::GroupKey;
pub use lead::{Lead, LeadGuard};
pub use meter::Meter;
pub use role::{Role, Suspension, View, Why};
pub use shared::{Change, Changes, Roles, Status};
pub use tanist_core::election::Algorithm;
pub use tanist_core::timing::TimingConfig;
pub use tanist_core::{GroupNumber, NodeId, NodeSet, Status as Phase};
pub use task::{GroupTask, Reports, TaskError};
