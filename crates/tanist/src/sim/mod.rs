//! A simulated group for your own tests: your leader's job, your program or your [`GroupTask`]
//! against crashes, partitions and merges, by seed, without sockets and without waiting.
//!
//! Every node of a [`World`] is the same state machine as a live one, and what stands above it is
//! called by the same code. Only the driver differs: network, clock, disk and chance are simulated,
//! and everything follows from the seed. A run of a minute takes milliseconds, and a failure can be
//! had again as often as you like.
//!
//! A job of the leader, through a storm for each of many seeds; a failure is shrunk
//! ([`for_each_seed`]), and no two nodes may act at once where tanist promises that
//! ([`LeaderCheck`]):
//!
//! ```
//! use std::time::Duration;
//! use tanist::sim::{Idle, LeaderCheck, Storm, for_each_seed};
//!
//! for_each_seed(0..10, |trial| {
//!     let check = LeaderCheck::connected();
//!     let job = check.around(async |lead| {
//!         while lead.sleep(Duration::from_millis(100)).await.is_leading() {} // your work
//!     });
//!     let world = trial.world(5).check(&check).while_leader(Duration::from_secs(1), job);
//!     let mut world = world.start(|_| Idle)?;
//!     world.storm(Storm::default());
//!     world.run_until(|world| world.is_one_group() && check.acting().len() == 1)?;
//!     Ok(world.verdict()?)
//! });
//! ```
//!
//! Work that the group shares:
//!
//! ```
//! use std::collections::BTreeSet;
//! use std::time::Duration;
//! use tanist::sim::World;
//! use tanist::{GroupTask, Reports, View};
//!
//! /// Every node collects things; the group knows what all of its members found.
//! #[derive(Default)]
//! struct Finds(BTreeSet<u32>);
//!
//! impl GroupTask for Finds {
//!     type Report = BTreeSet<u32>;
//!     type Plan = BTreeSet<u32>;
//!
//!     async fn stop(&mut self, _: &View) -> Self::Report {
//!         self.0.clone()
//!     }
//!
//!     async fn plan(&mut self, _: &View, reports: Reports<Self::Report>) -> Self::Plan {
//!         reports.into_values().flatten().collect()
//!     }
//!
//!     async fn start(&mut self, _: &View, plan: Self::Plan) {
//!         self.0 = plan;
//!     }
//! }
//!
//! # fn main() -> Result<(), tanist::sim::NeverError> {
//! let mut world = World::new(7, 5, |_node| Finds::default());
//! world.run_until(World::is_one_group)?;
//! world.cut([1, 2]);
//! world.run_until(|world| world.is_settled() && world.groups().len() == 2)?;
//! world.task_mut(1).expect("n1 is up").0.insert(10);
//! world.task_mut(5).expect("n5 is up").0.insert(50);
//! world.heal();
//! world.run_until(World::is_one_group)?;
//! assert_eq!(world.task(3).expect("n3 is up").0, BTreeSet::from([10, 50]));
//! assert!(world.violations().is_empty());
//! # Ok(()) }
//! ```
//!
//! # Time
//!
//! Nothing moves but in [`World::run_for`], [`World::run_until`] and [`World::storm`]. The clock of
//! the world is simulated; a task that reads the real one brings back what cannot be repeated. What
//! a task does with its time between `start` and `stop` is described by [`WorldBuilder::work`], or
//! done by the test itself with [`World::task_mut`].
//!
//! # Programs
//!
//! [`WorldBuilder::program`] and [`WorldBuilder::while_leader`] run your code around every node,
//! with the [`Group`](crate::Group) and the [`Lead`](crate::Lead) that it has live. tokio's clock
//! is the simulated one there. Programs run at whole milliseconds of it, as tokio's timers do; what
//! happens to a node between two of them its program sees at the next. A world runs them itself,
//! within another runtime as well as outside: their futures are `Send`, as tasks of live programs
//! are.
//!
//! A pause stops a program, a crash drops it where it stands. What it has given to `tokio::spawn`
//! is tokio's and does neither; `select!`, `join!` and a `JoinSet` end with the program. Write
//! `select! { biased; … }`: without `biased` tokio picks by chance between branches that are ready.
//! Threads, sockets and real time bring in what no seed repeats, too. [`Group::ask_peer`](crate::Group::ask_peer)
//! gets no answer, [`Group::recent`](crate::Group::recent) holds nothing, and keys have no meaning.
//!
//! # Futures of tasks
//!
//! `stop`, `plan` and `start` run to their end at the moment when they are called; how long they
//! *take* is said with [`WorldBuilder::stop_takes`] and [`WorldBuilder::plan_takes`]. They may
//! await whatever becomes ready by itself: channels within the task, locks, `yield_now`. A future
//! that waits for a socket, a timer or another thread waits for something that the simulation does
//! not have: that is a panic which says so. Put such things behind a trait of your own, or spawn
//! the real work in a part of the task that the test replaces.
//!
//! # Crashes
//!
//! A crash drops the task: its memory is lost. A restart makes a new one with the function that the
//! world was given. What is to survive, as a disk would, lives outside: an `Arc` that the function
//! clones into every incarnation of a node.
//!
//! # Failures
//!
//! When a test panics while it holds a world, the world writes the seed and where to find the story
//! and the picture of the run to stderr. The same happens in the errors of [`World::run_until`] and
//! [`World::verdict`]. [`World::write_trace`] writes what `tanist trace` reads.
//!
//! Left out: the transport and the store. What those do with real sockets and disks is tested with
//! real ones.

mod builder;
mod evidence;
mod executor;
mod expected_panics;
mod faults;
mod groups;
mod leader_check;
mod name;
mod peers;
pub(crate) mod process;
mod program;
mod runtime;
mod seat;
mod seeds;
mod storm;
mod time;
mod trial;
mod world;

pub use builder::{SetupError, WorldBuilder};
pub use evidence::{Evidence, NeverError, Violated, ViolationError};
pub use groups::Formed;
pub use leader_check::{ActingSpan, LeaderCheck};
pub use name::Name;
pub use seeds::for_each_seed;
pub use storm::Storm;
pub use trial::Trial;
pub use world::World;

use crate::role::View;
use crate::task::{GroupTask, Reports};

/// A task that does nothing, for a world in which only the elections matter.
///
/// ```
/// use tanist::sim::{Idle, World};
///
/// let mut world = World::new(7, 3, |_| Idle);
/// world.run_until(World::is_one_group).expect("three nodes find each other");
/// assert_eq!(world.view(1).expect("n1 is in a group").members().len(), 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Idle;

impl GroupTask for Idle {
    type Report = ();
    type Plan = ();

    async fn stop(&mut self, _: &View) {}

    async fn plan(&mut self, _: &View, _: Reports<()>) {}

    async fn start(&mut self, _: &View, (): ()) {}
}
