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
//! assert_eq!(rounds, Some(3)); // none: the node was shut down first
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
//!             other => println!("refuse: this node {other}"), // between groups
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
//! # Test your failover
//!
//! The leader's job runs on simulated nodes as well, in simulated time, with the feature `sim`. What
//! fails for one of many seeds is shrunk and told as a story (`tanist::sim`, and `docs/testing.md` in
//! the repository):
//!
//! ```
//! use std::time::Duration;
//! use tanist::sim::{Idle, LeaderCheck, Storm, for_each_seed};
//!
//! for_each_seed(0..10, |trial| {
//!     let check = LeaderCheck::connected(); // two nodes must not act at once
//!     let job = check.around(async |lead| lead.lost().await);
//!     let world = trial.world(5).check(&check).while_leader(Duration::from_secs(1), job);
//!     let mut world = world.start(|_| Idle)?;
//!     world.storm(Storm::default());
//!     world.run_until(|world| world.is_one_group() && check.acting().len() == 1)?;
//!     Ok(world.verdict()?)
//! });
//! ```
//!
//! The examples of the repository show each way whole: `singleton`, `primary`, `shared_work`,
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
//! vanishes is silent: its peers notice after [`Timing::suspect_after`], a second unless told
//! otherwise. A disk that does not take a record ends the node; see [`Failure`].
//!
//! # Limits
//!
//! - Nodes are called `n1`, `n2` and so on, and the list of them is fixed: all are configured with
//!   the same peers, priorities, algorithm, options and timing.
//! - Reports and plans travel as JSON in one message each: stay below 1 MiB.
//! - Every node reaches every other directly; groups of up to about a hundred nodes.
//! - One key for the whole group. Every process that has it is trusted.
//!
//! # Features
//!
//! | feature | what | default |
//! |---|---|---|
//! | `sim` | `tanist::sim`: simulated groups for your tests; turns on tokio's `test-util`, so only for `[dev-dependencies]` | off |
//! | `test-versions` | a second version of the store's records, for tanist's own tests of upgrades; never in production | off |
//!
//! tokio is not one: the driver's thread, sockets and channels are tokio's, and without it nothing
//! would be left but the state machines, which are a crate of their own, `tanist-core`. Your own
//! program may use any runtime. Within tokio's must be called what uses its clock or spawns:
//! [`Lead::sleep`], [`Group::while_leader`], [`Group::unopposed`], [`Group::activity`],
//! [`Group::ask_peer`] and [`Builder::start_with`].
//!
//! # Platforms
//!
//! - Rust 1.95 or later (edition 2024); a release that needs a later one says so in the changelog.
//! - Linux only, `tanist::sim` included; x86-64 is what is tested. Deadlines go by `CLOCK_BOOTTIME`
//!   and a `timerfd`, so a machine that slept does not take an hour-old heartbeat for a fresh one.
//! - Every node has a thread of its own, and one for its disk, so that a program that blocks its
//!   runtime does not look crashed to the others.
//! - `tanist-core`, the state machines, is `no_std` and runs anywhere.
#![warn(missing_docs)]

mod activity;
mod builder;
pub mod cause;
pub mod clock;
mod digest;
mod driver;
mod ended;
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
#[doc(hidden)]
pub mod private_file;
mod questions;
pub mod radio;
mod role;
#[doc(hidden)]
pub mod settings;
#[cfg(feature = "sim")]
pub mod sim;
mod spawner;
mod status;
#[doc(hidden)]
pub mod store;
mod task;
mod timing;
pub mod trace;
mod trace_writer;
#[doc(hidden)]
pub mod transport;

pub use activity::{Activities, Activity, NoVeto, Verdict, Veto};
pub use builder::Builder;
pub use ended::{Ended, NodeStopped};
pub use error::{Failure, StartError, StartErrorKind, StopOverdue, is_temporary};
pub use group::Group;
pub use handover::{Acting, NotHandedOver};
pub use key::GroupKey;
pub use lead::{Lead, LeadGuard};
pub use metrics::Metrics;
pub use names::{Peer, PeerError, PeerList, PeerListError, parse_node};
pub use operations::{SetPriorityError, WithdrawError};
pub use questions::Questions;
pub use role::{ParseRoleError, Role, RoleKind, Suspension, View, Why};
#[doc(inline)]
pub use settings::Difference;
pub use status::{Change, Changes, PeerSign, Roles, Status};
pub use tanist_core::election::Algorithm;
pub use tanist_core::membership::{NodeName, NodeNames};
pub use tanist_core::policy::{HandOverError, Objection, Preempt, PriorityError};
pub use tanist_core::trace::{SeatState, SuperPeerStatus};
pub use tanist_core::{GroupNumber, NodeId, NodeSet, Phase, Time};
pub use task::{GroupTask, Reports, TaskError};
pub use timing::Timing;
pub use trace_writer::Recent;
#[doc(inline)]
pub use transport::introduction::Told;
#[doc(inline)]
pub use transport::question::{ANSWER_MAX, AskError, QUESTION_MAX, Question};
#[doc(inline)]
pub use transport::{Counters, DatagramPath, PeerView};

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
