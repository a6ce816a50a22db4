//! A simulated world for tanist's protocols, driven by a seed.
//!
//! A run is a pure function: scenario + seed -> trace. The world holds nodes, disks, timers, a
//! network and a clock; every monitor sees every step. Reading order: [`scenario`] (what a person
//! writes), [`world`] (what happens), [`observe`] (what observes it), [`monitors`] (what must
//! hold), [`studies`] (one run judged, counts against formulas, many seeds), [`pictures`] (a trace
//! drawn), [`recorded`] (traces of live nodes), [`explore`] (the world driven by choices instead of
//! time).

pub mod algorithms;
pub mod explore;
pub mod monitors;
pub mod observe;
pub mod pictures;
pub mod recorded;
pub mod scenario;
pub mod studies;
pub mod world;

pub use scenario::Scenario;
pub use studies::run::{Report, run};
pub use world::World;
