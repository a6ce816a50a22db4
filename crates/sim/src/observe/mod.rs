//! The observers of a run while it happens: global state, monitors, counters, recording.
//!
//! An observer never changes what happens.

pub mod counts;
pub mod global_state;
pub mod observers;
pub mod recording;
