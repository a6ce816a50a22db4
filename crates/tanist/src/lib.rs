//! Coordinator election for your own program.
//!
//! N processes agree who leads them, without running a store beside them. The rules are the state
//! machines of [`tanist_core`]; this crate gives them sockets, a disk and a clock.
#![warn(missing_docs)]

pub mod key;
pub mod store;
pub mod transport;
