//! The world driven by choice instead of by time: what an explorer and a script need.
//!
//! [`choices`] says what may happen next and does it; [`snapshot`] keeps such a world in a few bytes.

pub mod choices;
pub mod digest;
pub mod outline;
pub mod run_script;
pub mod snapshot;
pub mod ticks;
pub mod varint;
