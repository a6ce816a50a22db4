//! Explores every run of a small world, within stated bounds.
//!
//! The explorer drives the simulator's own world by choice instead of by time: breadth first, so that
//! the first counterexample of an assertion is a shortest one. An [`Assumption`] says which steps may
//! be taken; [`Bounds`] say how far. What lies beyond a bound is reported as unexplored, never as safe.

mod assumption;
mod expansion;
mod explorer;
mod frontier;
mod hope;
mod known;
mod memo;
mod model;
mod segments;

pub use assumption::Assumption;
pub use explorer::{Exploration, Found, Progress, explore, explore_on, replay};
pub use model::{Bounds, KeepsTrace, Model, Step};
pub use tanist_sim::choices::Order;
