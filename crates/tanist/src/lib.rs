//! Coordinator election for your own program.
//!
//! N processes agree who leads them, without running a store beside them. Each process starts one
//! node with [`Group::builder`]; the nodes find each other over TCP, elect a coordinator, notice
//! when a process crashes, and elect again.
//!
//! ```text
//!                     your program
//!        ^ roles             |  ^            ^ stop, plan, start
//!        |                   v  | leads      |
//!   +----|--------------while_leader------GroupTask---+
//!   |  election: who coordinates whom                 |    one node: a thread of its own,
//!   |  hand-over: stop all, collect, plan, begin      |    whatever your program does
//!   |  detector: whom do we suspect?                  |
//!   +--------|-----------------|-----------------|----+
//!          disk           the other nodes      clock
//!    counter of groups   encrypted TCP, UDP
//! ```
//!
//! # Three ways to use it
//!
//! **A job that runs on the leader only.** [`Group::while_leader`] begins it when this node leads
//! and ends it when it does not:
//!
//! ```
//! use std::time::Duration;
//! use tanist::{Group, GroupKey};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scratch = tempfile::tempdir()?;
//! # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
//! # let (peers, data_dir) = ([format!("n1={address}")], scratch.path());
//! # let key = GroupKey::generate()?;
//! let group = Group::builder("billing")
//!     .node("n1")
//!     .peers(peers) // all nodes, for example n1=10.0.0.1:7400, this one included
//!     .data_dir(data_dir)
//!     .key(key) // or key_file
//!     .start()
//!     .await?;
//! let rounds = group.while_leader(Duration::from_secs(5), async |lead| {
//!     let mut rounds = 0;
//!     while rounds < 3 && lead.sleep(Duration::from_millis(1)).await.is_leading() {
//!         rounds += 1; // charge an account, and write lead.group_number() beside it
//!     }
//!     rounds
//! }).await?;
//! assert_eq!(rounds, 3);
//! group.shutdown().await?;
//! # Ok(()) }
//! ```
//!
//! **A service with a primary.** [`Group::roles`] is one ordered stream; its first item is the role
//! at the moment, so there is nothing to ask again:
//!
//! ```
//! use tanist::{Group, Role};
//!
//! async fn serve(group: &Group) {
//!     let mut roles = group.roles();
//!     while let Some(role) = roles.next().await {
//!         match role {
//!             Role::Leader(lead) => println!("take writes in group {}", lead.group_number()),
//!             Role::Member(view) => println!("send clients to {}", view.coordinator()),
//!             Role::Suspended(between) => println!("refuse: this node {}", between.why),
//!         }
//!     }
//! }
//! ```
//!
//! **Work that the group shares.** A [`GroupTask`] is stopped and reports whenever the group
//! re-forms; the coordinator plans from all reports, and all members continue under that plan. What
//! two halves of a cut network did apart is combined when they meet again. `tanist::sim` tests your
//! task against crashes and cuts in your own `cargo test`; this runs here, without a socket:
//!
//! ```
//! use tanist::sim::World;
//! use tanist::{GroupTask, Reports, View};
//!
//! /// Counts together: no share is lost.
//! #[derive(Default)]
//! struct Tally { mine: u32, all: u32 }
//!
//! impl GroupTask for Tally {
//!     type Report = u32;
//!     type Plan = u32;
//!
//!     async fn stop(&mut self, _: &View) -> u32 {
//!         self.mine
//!     }
//!
//!     async fn plan(&mut self, _: &View, reports: Reports<u32>) -> u32 {
//!         reports.into_values().sum()
//!     }
//!
//!     async fn start(&mut self, _: &View, plan: u32) {
//!         self.all = plan;
//!     }
//! }
//!
//! # fn main() -> Result<(), tanist::sim::NeverError> {
//! let mut world = World::new(7, 3, |_| Tally::default());
//! world.run_until(World::is_one_group)?;
//! for node in 1..=3 {
//!     world.task_mut(node).expect("all are up").mine = node;
//! }
//! world.cut([3]);
//! world.run_until(|world| world.is_settled() && world.groups().len() == 2)?;
//! assert_eq!(world.task(1).map(|tally| tally.all), Some(1 + 2));
//! world.heal();
//! world.run_until(World::is_one_group)?;
//! assert_eq!(world.task(1).map(|tally| tally.all), Some(1 + 2 + 3));
//! # Ok(()) }
//! ```
//!
//! The examples of the repository show each of them whole: `singleton`, `primary`, `shared_work`,
//! and `embed_axum` for a node inside a web service. Each runs by itself:
//! `cargo run --example singleton`.
//!
//! # What is promised
//!
//! - One coordinator in every group of nodes that can all reach each other, eventually.
//! - Group numbers are unique and never used again: the counter is on disk before a number is
//!   sent.
//! - Stop before acknowledge: a node answers an election only when its jobs, guards and tasks have
//!   stopped. So the members of one group never run two jobs; two groups do, until
//!   they are one.
//!
//! **It is not a lock.** While a network is cut every side has a leader, by design; a process that
//! was paused may wake up and believe for a moment that it still leads. What must never happen
//! twice needs a resource that checks for itself. `docs/guarantees.md` in the repository says what
//! holds under which assumptions, and how far the evidence goes.
//!
//! # How failures are noticed
//!
//! A process that crashes closes its connections: its peers notice at once. A machine that hangs or
//! vanishes is silent: its peers notice after [`TimingConfig::silence`], a second unless told
//! otherwise. A disk that does not take a record ends the node; see [`Failure`].
//!
//! # Limits
//!
//! - Nodes are called `n1`, `n2` and so on, and the list of them is fixed: all are configured with
//!   the same peers, priorities, algorithm, options and timing.
//! - Reports and plans travel as JSON in one message each: stay below 1 MiB.
//! - Every node reaches every other directly; groups of up to about a hundred nodes.
//! - One key for the whole group. Every process that has it is trusted.
//! - Linux.
//!
//! # Features
//!
//! | feature | what | default |
//! |---|---|---|
//! | `sim` | `tanist::sim`: simulated groups for your tests | off |
//!
//! tokio is not one: the driver's thread, sockets and channels are tokio's, and without it nothing
//! would be left but the state machines, which are a crate of their own, `tanist-core`. Your own
//! program may use any runtime; only [`Lead::sleep`], [`Group::while_leader`] and
//! [`Builder::start_with`] must be called within tokio's.
#![warn(missing_docs)]

mod activity;
mod builder;
pub mod clock;
mod digest;
mod driver;
mod error;
mod follower;
mod group;
mod handover;
pub mod key;
mod lead;
mod metrics;
mod names;
mod operations;

mod panics;
pub mod private_file;
mod questions;
mod role;
pub mod settings;
#[cfg(feature = "sim")]
pub mod sim;
mod status;
pub mod store;
mod task;
mod trace_writer;
pub mod transport;

pub use activity::{Activities, Activity, NoVeto, Verdict, Veto};
pub use builder::{Builder, default_timing};
pub use error::{Failure, StartError, StartErrorKind, is_temporary};
pub use group::{Group, NodeStopped};
pub use handover::{Acting, NotHandedOver};
pub use key::GroupKey;
pub use lead::{Lead, LeadGuard};
pub use metrics::Metrics;
pub use names::{Peer, PeerError, PeerList, PeerListError, parse_node};
pub use operations::SetPriorityError;
pub use questions::Questions;
pub use role::{ParseRoleError, Role, RoleKind, Suspension, View, Why};
pub use status::{Change, Changes, PeerSign, Roles, Status};
pub use tanist_core::election::Algorithm;
pub use tanist_core::membership::{NodeName, NodeNames};
pub use tanist_core::policy::{HandOverError, Objection, Preempt, PriorityError};
pub use tanist_core::timing::TimingConfig;
pub use tanist_core::trace::{SeatState, SuperPeerStatus};
pub use tanist_core::{GroupNumber, NodeId, NodeSet, Status as Phase};
pub use task::{GroupTask, Reports, TaskError};
pub use trace_writer::Recent;

/// Everything that most programs need: `use tanist::prelude::*`.
///
/// ```
/// use tanist::prelude::*;
///
/// fn describe(role: &Role) -> String {
///     role.to_string()
/// }
/// # let _ = describe;
/// ```
pub mod prelude {
    pub use crate::{
        Algorithm, Group, GroupKey, GroupTask, Lead, LeadGuard, NodeId, Reports, Role, View,
    };
}
