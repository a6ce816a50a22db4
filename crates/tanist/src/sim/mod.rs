//! A simulated group for your own tests: your [`GroupTask`] against crashes,
//! partitions and merges, by seed, without sockets and without waiting.
//!
//! Every node of a [`World`] is the same state machine as a live one, and your task is called by
//! the same code. Only the driver differs: network, clock, disk and chance are simulated, and
//! everything follows from the seed. A run of a minute takes milliseconds, and a failure can be
//! had again as often as you like.
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
//! # Futures
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
//! and the picture of the run to stderr. The same happens in the error of [`World::run_until`].
//!
//! Left out: the transport, the store and [`Group`](crate::Group) itself. What those do with real
//! sockets and disks is tested with real ones.

mod builder;
mod evidence;
mod executor;
mod groups;
mod name;
mod seat;
mod storm;
mod world;

pub use builder::{SetupError, WorldBuilder};
pub use evidence::{Evidence, NeverError, Violated};
pub use groups::Formed;
pub use name::Name;
pub use storm::Storm;
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
