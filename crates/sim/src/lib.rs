//! A world for tanist's protocols that a seed drives.
//!
//! A run is a pure function: scenario + seed -> trace. The world holds nodes, disks, timers, a network
//! and a clock; every monitor looks at every step. Reading order: [`scenario`] (what a person writes),
//! [`world`] (what happens), [`monitors`] (what must hold), [`run`] (one scenario, judged), [`sweep`] and
//! [`theory`] (counts against formulas), [`fuzz`] and [`shrink`] (many seeds).

pub mod scenario;
pub mod world;
pub mod schedule;
pub mod host;
pub mod network;
pub mod application;
pub mod faults;
pub mod chance;
pub mod board;
pub mod monitors;
pub mod watch;
pub mod record;
pub mod run;
pub mod theory;
pub mod sweep;
pub mod fuzz;
pub mod shrink;
pub mod library;
pub mod story;
pub mod diagram;
pub mod plot;

pub use run::{Report, run};
pub use scenario::Scenario;
pub use world::World;
