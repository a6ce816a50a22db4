//! A world for tanist's protocols that a seed drives.
//!
//! A run is a pure function: scenario + seed -> trace. The world holds nodes, disks, timers, a
//! network and a clock; every monitor looks at every step. Reading order: [`scenario`] (what a
//! person writes), [`world`] (what happens), [`monitors`] (what must hold), [`mod@run`] (one
//! scenario, judged), [`sweep`] and [`theory`] (counts against formulas), [`compare`] (algorithms
//! against each other), [`fuzz`] and [`shrink`] (many seeds).

pub mod agreement;
pub mod compare;
pub mod explore;
pub mod fuzz;
pub mod graph;
pub mod monitors;
pub mod observe;
pub mod pictures;
pub mod recorded;
pub mod roaming;
pub mod run;
pub mod sample;
pub mod scale;
pub mod scenario;
pub mod shrink;
pub mod sweep;
pub mod theory;
pub mod world;

pub use run::{Report, run};
pub use scenario::Scenario;
pub use world::World;
