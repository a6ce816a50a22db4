//! Explores every run of a small world, within stated bounds.
//!
//! The explorer drives the simulator's own world by choice instead of by time: breadth first, so
//! that the first counterexample of an assertion is a shortest one. An [`Assumption`] says which
//! steps may be taken; [`Bounds`] say how far. What lies beyond a bound is reported as unexplored,
//! never as safe.

mod assumption;
mod enabled;
mod explore;
mod export;
mod model;
mod report;
mod spec;

pub use assumption::{Assumption, Reachability};
pub use explore::{Exploration, Found, Limit, Progress, explore, explore_on, replay};
pub use export::{Shows, export, words};
pub use model::{Bounds, KeepsTrace, Model, Step};
pub use report::{
    CheckReport, Counterexample, ELECTION_SUCCEEDS, HIGHER_PREEMPTS, Property, Verdict,
};
pub use spec::{Beginning, CheckSpec, CheckSpecError};
pub use tanist_sim::explore::choices::Order;
