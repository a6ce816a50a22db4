//! The world driven by choices instead of by time, for the explorer and for scripts.
//!
//! [`choices`] lists what may happen next and runs it; [`snapshot`] stores such a world in a few
//! bytes.

pub mod choices;
pub mod digest;
pub mod outline;
pub mod run_script;
pub mod snapshot;
pub mod ticks;
pub mod varint;
