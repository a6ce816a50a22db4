//! What looks at a run while it happens: the global state, the monitors, the counters, the recording.
//!
//! Nothing here changes what happens.

pub mod counts;
pub mod global_state;
pub mod observers;
pub mod recording;
